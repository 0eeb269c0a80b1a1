"""The page of a study: verdicts, answers with figures, every run with its scores and its traversal strip; one file.

It knows no study: frames, answers and strips come in, so that pages of other tools' results can be made as well.
"""

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.evaluation.claims import VERDICTS
from unbraid.report.html import Report, static

VERDICT_NOTES = dict(zip(VERDICTS, ("good", "look", "bad", "", "", "")))  # the box that claims of a verdict stand in


class StudyPage(Report):
    """A report whose tables sort at a click and can be filtered, by a script in the page itself."""

    def strips(self, folded: str, strips: Iterable[tuple[str, str, NDArray]]) -> "StudyPage":
        """Pictures of runs (run, caption, uint8 image) behind a line; ``#run-`` and eight letters lead to one."""
        figures = "".join(
            f'<figure id="run-{escape(run[:8])}"><img src="{png(image)}" alt="Traversal of {escape(caption)}">'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
            for run, caption, image in strips
        )
        self._add(f'<details><summary>{escape(folded)}</summary><div class="strips">{figures}</div></details>')
        return self

    def html(self) -> str:
        """The page as text."""
        page = super().html().replace("</style>", f"\n{static('study.css')}</style>", 1)
        head, body, tail = page.rpartition("</body>")
        return f"{head}<script>\n{static('study.js')}</script>{body}{tail}"


def study_page(
    title: str,
    runs: Any,
    answers: Sequence[Any],
    *,
    unanswered: Mapping[str, str] | None = None,
    strips: Mapping[str, NDArray] | None = None,
    lead: str = "",
) -> StudyPage:
    """The page of a study.

    Parameters
    ----------
    title : str
    runs : DataFrame
        One row per run: run, dataset, method, strength, seed, and any further columns to show.
    answers : sequence of :class:`unbraid.study.analysis.Answer`, or of objects with what is shown of these
    unanswered : mapping of str to str, optional
        Questions that this study cannot answer, and why.
    strips : mapping of run to uint8 image, optional
        Traversals, (height, width) or (height, width, 3).
    lead : str

    Returns
    -------
    StudyPage
        With ``write(path)`` and ``html()``.
    """
    page = StudyPage(title, lead)
    _add_verdicts(page, answers, unanswered or {})
    for answer in answers:
        _add_answer(page, answer)
    page.section("All runs").text("A click on a column's name sorts by it.")
    shown = {"run": runs["run"].str[:8], "strength": [f"{x:g}" if x == x else "" for x in runs["strength"]]}
    _add_table(page, runs.assign(**shown), folded=f"{len(runs)} runs with their scores")
    _add_strips(page, runs, strips or {})
    return page


def _add_verdicts(page: StudyPage, answers: Sequence[Any], unanswered: Mapping[str, str]) -> None:
    page.section("Results beside the paper's")
    rows = [(claim.verdict, claim.text, claim.here, claim.paper) for answer in answers for claim in answer.claims]
    if rows:
        page.text(
            "Intervals are 95 %, over seeds: data sets, methods and strengths are as given. A sentence of the paper "
            "holds here if the whole interval is on the claimed side, and fails if all of it is on the other."
        )
        page.table(["verdict", "the paper's claim", "here (95 % interval)", "the paper's figure"], rows)
    if unanswered:
        page.note([f"{question}: {why}" for question, why in unanswered.items()], "look")


def _add_answer(page: StudyPage, answer: Any) -> None:
    page.section(answer.title)
    for verdict in dict.fromkeys(claim.verdict for claim in answer.claims):
        page.note([c.words for c in answer.claims if c.verdict == verdict], VERDICT_NOTES[verdict])
    page.figure(answer.figure(), f"{type(answer).figure.__doc__} {answer.n_runs} runs.")
    page.text(*answer.notes, f"Source: {answer.source}.")
    _add_table(page, answer.table, folded=f"The figures: {len(answer.table)} rows")


def _add_strips(page: StudyPage, runs: Any, strips: Mapping[str, NDArray]) -> None:
    shown = runs[runs["run"].isin(list(strips))]
    if not len(shown):
        return
    page.section("Moving along the codes").text(
        "A strip per run: each row moves one code and holds the others still. Rows in which one thing changes are good."
    )
    for (dataset, method), rows in shown.groupby(["dataset", "method"], sort=True):
        captions = [
            f"{method}{'' if isnan(strength) else f', strength {strength:g}'}, seed {seed}: {run[:8]}"
            for run, strength, seed in rows[["run", "strength", "seed"]].itertuples(index=False)
        ]
        images = [(run, caption, strips[run]) for run, caption in zip(rows["run"], captions)]
        page.strips(f"{dataset}, {method}: {len(rows)} runs", images)


def png(image: NDArray) -> str:
    """A uint8 image as a data address.

    >>> png(np.zeros((2, 2), np.uint8))[:22]
    'data:image/png;base64,'
    """
    from PIL import Image

    pixels = np.asarray(image)
    if pixels.dtype != np.uint8 or pixels.ndim not in (2, 3):
        raise ValueError(
            "a strip must be uint8, (height, width) or (height, width, channels); "
            f"received {pixels.dtype}, {pixels.shape}."
        )
    buffer = io.BytesIO()
    Image.fromarray(pixels[..., 0] if pixels.shape[2:] == (1,) else pixels).save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def _add_table(page: StudyPage, frame: Any, folded: str = "") -> None:
    rows = [["–" if isinstance(v, float) and isnan(v) else v for v in row] for row in frame.itertuples(index=False)]
    page.table(list(frame.columns), rows, folded=folded)
