"""What every page keeps: no "nan", long tables folded, equal panels, and colours that can be read in both modes."""

import re

import numpy as np
import pytest

import unbraid as ub
from unbraid.report.html import Report, static
from unbraid.report.pages import LONG


@pytest.fixture(scope="module")
def page():
    X, factors = ub.datasets.load("shapes-xy", image_size=16).sample(300, random_state=0)
    return ub.report.fit_report(ub.HessianICA(2, random_state=0).fit(X), X, factors).html()


def test_a_number_that_is_missing_is_a_dash():
    text = Report("scores").table(["k", "score"], [[3, np.nan], [4, 0.5]]).html()
    assert '<td class="number">–</td>' in text
    assert "nan" not in text


def test_cells_of_a_table_with_sentences_carry_their_column_for_phones():
    text = Report("figures").table(["figure", "value", "meaning"], [["gap", 3, 50 * "."]]).html()
    assert (
        f'<td>gap</td><td class="number" data-column="value">3</td><td class="long" data-column="meaning">{50 * "."}'
        in text
    )
    assert "data-column" not in Report("scores").table(["k", "score"], [[3, 0.5]]).html().split("</style>")[1]


def test_the_page_of_a_fit_has_no_nan_and_counts_in_words(page):
    shown = re.sub(r"<[^>]*>", " ", page.split("</style>")[1])
    assert not re.search(r"\bnan\b|\(s\)", shown)
    assert "1 piece " in shown


def test_long_tables_are_folded(page):
    for table in re.findall(r"(<details>.*?)?(<table>.*?</table>)", page, flags=re.DOTALL):
        folded, text = table
        if "candidates" in text or "closest pairs" in text:
            assert folded or text.count("<tr") <= LONG + 1


def luminance(colour):
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_can_be_read_on_every_ground(mode):
    """WCAG AA asks for a contrast of 4.5."""
    blocks = re.findall(r":root \{(.*?)\}", static("page.css"), flags=re.DOTALL)
    colours = dict(re.findall(r"--(\w+): (#\w{6})", blocks[mode == "dark"]))
    for ink in ("ink", "soft", "accent"):
        for ground in ("paper", "wash"):
            assert contrast(colours[ink], colours[ground]) > 4.5
    for ground in ("marked", "note", "look", "good"):
        assert contrast(colours["ink"], colours[ground]) > 4.5
