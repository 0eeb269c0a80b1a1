"""The chart "Which method for my data?" says what the diagnosis says."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import unbraid as ub

pytest.importorskip("sphinx")
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def chart(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import method_chart

    return method_chart


def bent(z):
    return np.column_stack([np.cos(z[:, 0]), np.sin(z[:, 0]), z[:, 1:]])


def world(name):
    """Data, and labels or None, to which the answer of one row is yes and all before it no."""
    rng = np.random.default_rng(0)
    z = rng.uniform(size=(500, 2))
    if name == "structure":
        return rng.normal(size=(500, 5)), None
    if name == "loops":
        angle = 2 * np.pi * z[:, 0]
        return np.column_stack([np.cos(angle), np.sin(angle), 4 * z[:, 1]]), None
    if name == "labels":
        X, _, labels = ub.datasets.load("gin-mixture").sample_conditional(600, random_state=0)
        return X, labels
    if name == "flat":
        return z @ rng.normal(size=(2, 6)), None
    if name == "pieces":
        curve = np.column_stack([np.cos(3 * z[:, 0]), np.sin(3 * z[:, 0]), np.cos(7 * z[:, 0]), z[:, 0] ** 2])
        return curve + 30 * rng.normal(size=(40, 4))[rng.integers(40, size=500)], None
    if name == "many":
        return np.sin(2 * rng.uniform(size=(300, 7)) @ rng.normal(size=(7, 20))), None
    return bent(1.5 * z), None


ANSWERS = ("structure", "loops", "labels", "flat", "pieces", "many", "curved")


def test_every_row_is_tried(chart):
    assert tuple(row.name for row in (*chart.ROWS, chart.LAST)) == ANSWERS


@pytest.mark.filterwarnings("ignore:UB210")
@pytest.mark.parametrize("name", ANSWERS)
def test_the_diagnosis_names_the_method_of_the_row(chart, name):
    X, labels = world(name)
    found = ub.diagnose(X, labels, n_factors=7 if name == "many" else "auto", random_state=0)
    row = next(row for row in (*chart.ROWS, chart.LAST) if row.name == name)
    assert found.method == row.method
    reasons = {
        "structure": "structure", "loops": "wraps around", "labels": "GIN needs neither", "flat": "are flat",
        "pieces": "disconnected", "many": "many factors", "curved": "are curved, with few factors",
    }  # fmt: skip
    assert reasons[name] in found.reasons[0], "the same method for another reason"


def test_the_drawing_and_the_list_say_the_same(chart):
    drawing = ElementTree.fromstring(chart.drawing(lambda page: f"{page}.html"))
    text = "".join(drawing.itertext())
    links = [node.get("href") for node in drawing.iter("{http://www.w3.org/2000/svg}a")]
    listed = "\n".join(chart.text_list())
    for row, link in zip((*chart.ROWS, chart.LAST), links, strict=True):
        assert link == f"{row.page}.html"
        assert all(line in text for line in row.lines)
        assert row.question in listed
        assert f"({row.method})" in text
        assert f"``{row.method}``" in listed
    assert drawing.find("{http://www.w3.org/2000/svg}title").text
