"""Directive ``.. study-answers::``: the questions of Locatello et al., answered from the committed study.

It reads reproductions/locatello/page.json, which ``unbraid reproduce locatello`` writes from the study's export; no
figure is typed.
"""

import json
from typing import Any

from reproduction_page import HERE, Lines, list_table
from sphinx.application import Sphinx

PAGE = HERE / "locatello" / "page.json"
COLUMNS = ["verdict", "the paper says", "its figure", "here (95 % interval over seeds)"]


def answer_lines(page: dict[str, Any]) -> list[str]:
    """A rubric and a table per question; where the export was not there, a line that says so."""
    tables = [t for t in page["tables"] if t["columns"][0] == "question"]
    if not tables:
        return ["The study was not there when the page was made.", ""]
    lines = [f"From the page of {page['made']}.", ""]
    rows = tables[0]["rows"]
    for question in dict.fromkeys(row[0] for row in rows):
        mine = [[verdict, said, paper, here] for asked, said, paper, here, verdict in rows if asked == question]
        lines += [f".. rubric:: {question}", "", *list_table(COLUMNS, mine)]
    return lines


class StudyAnswers(Lines):
    def lines(self) -> list[str]:
        self.env.note_dependency(str(PAGE))
        return answer_lines(json.loads(PAGE.read_text(encoding="utf-8")))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("study-answers", StudyAnswers)
    return {"parallel_read_safe": True}
