"""Every paper that is shipped: it loads, its claims rest on experiments that exist, and its page is in the docs."""

import json
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from unbraid.cli.reproduce import GROUP, find_paper
from unbraid.evaluation.claims import VERDICTS
from unbraid_papers.ledger import key_of
from unbraid_papers.paper import SCALES

PAPERS = sorted(point.name for point in entry_points(group=GROUP) if point.value.startswith("unbraid_papers."))
DOCS = Path(__file__).parents[2] / "docs" / "reproductions"


@pytest.mark.parametrize("name", PAPERS)
def test_paper_is_sound(name):
    paper = find_paper(name)
    assert paper.name == name
    names = [e.name for e in paper.experiments]
    assert len(set(names)) == len(names)
    for item in (*paper.claims, *paper.beyond, *paper.drawings, *paper.tables):
        assert item.experiments
        assert set(item.experiments) <= set(names)
    ids = [claim.id for claim in (*paper.claims, *paper.beyond)]
    assert len(set(ids)) == len(ids)
    for claim in (*paper.claims, *paper.beyond):
        assert claim.text.endswith(".")
        assert claim.source
        assert claim.paper
        assert claim.least > float("-inf") or claim.most < float("inf")
    for scale in SCALES:
        for experiment in paper.experiments:
            keys = [key_of(cell) for cell in experiment.cells(scale)]
            assert keys
            assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("name", PAPERS)
def test_committed_page_is_of_this_paper(name):
    page = json.loads((DOCS / name / "page.json").read_text(encoding="utf-8"))
    paper = find_paper(name)
    assert page["paper"] == name
    for written, claims in ((page["claims"], paper.claims), (page["beyond"], paper.beyond)):
        told = [(c["id"], c["text"], c["tolerance"]) for c in written]
        assert told == [(c.id, c.text, c.tolerance) for c in claims]
    for claim in (*page["claims"], *page["beyond"]):  # as the code of today would judge them
        verdict, parts, held = claim["verdict"], claim["parts"], claim["held"]
        assert verdict in VERDICTS
        assert (verdict == "cannot be tried here") == (not parts)
        if verdict != "not comparable":
            assert (verdict == "reproduced") == (len(held) == len(parts) > 0)
            assert (verdict == "partly") == (0 < len(held) < len(parts))
    for image in page["images"]:
        assert (DOCS / name / "images" / image["file"]).stat().st_size < 250_000
