"""The page of a study: complete, self-contained, and its tables sort in a browser."""

import re

import numpy as np
import pytest

from tests.facts import facts
from tests.study.analysis.planted import Planted, whole_study
from unbraid.report.study import png
from unbraid.study.analysis import study_report


@pytest.fixture(scope="module")
def study():
    return whole_study(n_seeds=3, strengths=(1.0, 4.0))


@pytest.fixture(scope="module")
def written(study, tmp_path_factory):
    return study_report(study, title="A <planted> study", n_resamples=10).write(tmp_path_factory.mktemp("p") / "s.html")


def test_the_page_holds_all_runs_and_strips(study, written):
    text = written.read_text()
    assert "A &lt;planted&gt; study" in text
    assert text.count('<figure id="run-') == len(study.runs())
    assert all(run[:8] in text for run in study.runs()["run"])
    assert text.count("data:image/png") == len(study.runs()) + 6
    assert "80.7 %" in text


def test_the_page_asks_for_nothing_outside(written):
    assert not re.findall(r"""(?:src|href)=["'](?!data:|#)""", written.read_text())
    assert "http" not in re.sub(r"base64,[^\"]*", "", written.read_text())


def test_a_question_without_an_answer_says_why():
    small = {"datasets": ("room",), "methods": ("vae",), "strengths": (1.0, 2.0), "n_seeds": 2}
    page = study_report(Planted(lambda *a: {("mean", "mig"): a[-1].normal()}, **small), n_resamples=2).html()
    assert re.search(facts("Independence", "&#x27;sampled&#x27;"), page)
    assert "seeds" in page


def test_a_study_without_any_score_has_a_page():
    page = study_report(Planted(lambda *a: {}), n_resamples=2).html()
    assert "&#x27;mean&#x27;" in page


def test_a_study_of_which_three_runs_are_done_has_a_page():
    """The first seed of each setting comes first, so this is how every study begins."""
    study = whole_study(n_seeds=2, datasets=("room",))
    first = study.runs().query("dataset == 'room' and method == 'dip-vae' and seed == 0")["run"]
    study._scores = study._scores[study._scores["run"].isin(first)]
    study._losses = study._losses[study._losses["run"].isin(first)]
    page = study_report(study, n_resamples=2).html()
    assert "one seed" in page
    assert "nan %" not in page
    assert page.count("<td>0000abcd") == 1


def test_a_large_study_shows_a_strip_of_each_setting(monkeypatch):
    monkeypatch.setattr("unbraid.study.analysis.page.MOST_STRIPS", 10)
    page = study_report(Planted(lambda *a: {}), n_resamples=2).html()
    assert page.count('<figure id="run-') == 2 * 3 * 3


def test_a_strip_must_be_bytes():
    with pytest.raises(ValueError, match=facts("uint8", "float64", (2, 2))):
        png(np.zeros((2, 2)))


def test_tables_sort_and_filter_in_a_browser(written, browser):
    page, faults = browser.new_page(), []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda r: None if r.url.startswith(("file:", "data:")) else faults.append(r.url))
    page.goto(written.as_uri())
    page.locator("summary", has_text="runs with their scores").click()
    table = page.locator("section", has_text="All runs").locator("table").last
    mig = [h.inner_text() for h in table.locator("th").all()].index("MIG")

    def column():
        return [float(x) for x in table.locator(f"tbody tr:not([hidden]) td:nth-child({mig + 1})").all_inner_texts()]

    table.locator("th button", has_text="MIG").click()
    assert column() == sorted(column())
    table.locator("th button", has_text="MIG").click()
    assert column() == sorted(column(), reverse=True)
    assert table.locator("th").nth(mig).get_attribute("aria-sort") == "descending"
    page.locator("input.filter").last.fill("room dip-vae")
    assert len(column()) == 6
    page.locator("input.filter").last.fill("")
    table.locator("a", has_text="0003abcd").click()
    assert page.locator("#run-0003abcd").is_visible()
    page.close()
    assert not faults
