"""Every theory page says what is assumed, what is proved and when it fails, with a picture that the script draws."""

import re
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path for path in (DOCS / "theory").glob("*.rst") if path.stem != "index")


@pytest.fixture
def pictures(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import theory_pictures

    return theory_pictures.PICTURES


def test_the_script_draws_the_pictures_of_all_pages(pictures):
    assert sorted(pictures) == [page.stem for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_whole(page):
    text = page.read_text(encoding="utf-8")
    titles = re.findall(r"^(.+)\n-+$", text, flags=re.M)
    if page.stem == "impossibility":  # it is the reason for assumptions, and has none
        assert titles[:2] == ["Theorem", "The construction"]
    else:
        assert titles[:3] == ["Assumption", "Theorem", "When it fails"]
    assert titles[-1] in ("Reference", "References")
    assert re.findall(r"image:: \.\./images/(.*)", text) == [f"theory-{page.stem}.png"]
    assert (DOCS / "images" / f"theory-{page.stem}.png").stat().st_size < 120_000


def test_the_script_draws_a_picture(pictures):
    figure = pictures["impossibility"]()
    scores = [float(found) for axes in figure.axes for found in re.findall(r"MCC (\S+)", axes.get_title())]
    rank_correlation = 6 / np.pi * np.arcsin(0.5 * np.cos(np.pi / 4))  # of two Gaussians that correlate by cos(45)
    assert scores == [pytest.approx(rank_correlation, abs=0.02)]
