"""The report: pictures show what they are given, and the page is one safe file."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from tests.facts import facts
from unbraid.report import (
    Report,
    plot_codes,
    plot_distances,
    plot_factor_maps,
    plot_images,
    plot_selection,
    plot_traversals,
)
from unbraid.report.drawing import as_pictures
from unbraid.report.fitted import nearby_distances


class Tags(HTMLParser):
    """Every tag with its attributes, and a check that all that open are closed."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def sheet(n=60, d=2):
    return np.random.default_rng(0).uniform(size=(n, d))


def test_factor_maps_colour_each_panel_by_its_code():
    z = sheet()
    fig = plot_factor_maps(z, z[:, ::-1], factor_names=("x", "y"))
    first, second = fig.axes
    assert (first.get_xlabel(), first.get_ylabel()) == ("x", "y")
    points = first.collections[0]
    np.testing.assert_allclose(points.get_offsets(), z)
    inside = (z[:, 1] > np.quantile(z[:, 1], 0.02)) & (z[:, 1] < np.quantile(z[:, 1], 0.98))
    np.testing.assert_allclose(points.get_array()[inside], z[inside, 1])
    assert first.get_title() == "code 1: y, r = +1.000"
    assert second.get_title() == "code 2: x, r = +1.000"


def test_factor_maps_take_the_two_factors_that_a_code_follows():
    z = sheet(d=3)
    fig = plot_factor_maps(z, z[:, :1] + 0.5 * z[:, 2:], factor_names=("a", "b", "c"))
    assert (fig.axes[0].get_xlabel(), fig.axes[0].get_ylabel()) == ("a", "c")


def test_factor_maps_of_one_factor_show_the_code_against_it():
    z = sheet(d=1)
    ax = plot_factor_maps(z, -z).axes[0]
    np.testing.assert_allclose(ax.collections[0].get_offsets(), np.c_[z, -z])


def test_factor_maps_refuse_rows_that_do_not_match():
    with pytest.raises(ValueError, match=facts("factors", 60, "codes", 50)):
        plot_factor_maps(sheet(), sheet(50))


def test_distances_of_an_isometry_lie_on_the_line():
    z = sheet()
    near = nearby_distances(3 * z, z * [10, 0.1])
    np.testing.assert_allclose(near.found, near.lengths, rtol=1e-6)
    assert near.isometry == pytest.approx(1)
    assert len(plot_distances(near.lengths, near.found, most=100).axes[0].collections[0].get_offsets()) == 100


def test_distances_in_bent_codes_are_those_of_the_best_rescaling():
    z = sheet(200)
    bent = np.c_[z[:, 0] ** 3, z[:, 1]]
    near = nearby_distances(z, bent)
    assert near.isometry == pytest.approx(np.corrcoef(near.lengths, near.found)[0, 1])
    assert near.isometry < 0.9
    assert np.square(near.found - near.lengths).sum() <= np.square(near.lengths - near.lengths.mean()).sum()


def test_pictures_come_out_between_black_and_white():
    assert as_pictures(np.full((1, 2, 2), 255, np.uint8)).max() == 1
    np.testing.assert_allclose(as_pictures(np.full((1, 2, 2, 1), 0.25)), 0.25)
    decoded = as_pictures(np.array([[[-10.0, 265.0]]]))  # bytes that overshoot after inverse_transform
    np.testing.assert_allclose(decoded, [[[0, 1]]])
    np.testing.assert_allclose(as_pictures(np.array([[[-1000.0, 1000.0]]])), [[[0, 1]]])
    with pytest.raises(ValueError, match=facts("(n, height, width)", (3, 4))):
        as_pictures(np.zeros((3, 4)))


def test_images_keep_their_order_in_the_grid():
    images = np.arange(6)[:, None, None] / 5 * np.ones((6, 4, 4))
    shown = plot_images(images, columns=3).axes[0].images[0].get_array()
    np.testing.assert_allclose(shown[::5, ::5], [[0, 0.2, 0.4], [0.6, 0.8, 1.0]])


def test_traversals_of_colour_images_are_strips():
    fig = plot_traversals(lambda z: np.zeros((len(z), 4, 4, 3)), sheet(), n_steps=5)
    assert [ax.images[0].get_array().shape for ax in fig.axes] == [(4, 24, 3)] * 2


def test_codes_and_selection_are_drawn():
    assert len(plot_codes(sheet(d=1)).axes) == 1
    ax = plot_selection([8, 8, 20, 20], [0.5, 0.9, 0.6, 0.7], [5, 9, 5, 9], chosen=1, excluded=[1, 0, 0, 0]).axes[0]
    assert [line.get_label() for line in ax.lines] == ["5 components", "9 components"]
    np.testing.assert_allclose(ax.collections[-1].get_offsets(), [[8, 0.9]])


def full_page():
    evil = "<script>alert('&')</script>"
    page = Report(f"title {evil}", lead=evil).section(evil).heading(evil).text(evil).code(evil).note([evil], "look")
    page.table([evil, "n"], [[evil, 3], ["b", 0.12345]], marked=1).table(["n"], [["1.5"], [""]], folded=evil)
    return page.figure(plot_distances([1.0, 2.0], [1.0, 2.0]), evil)


def test_page_is_well_formed_and_every_text_is_escaped():
    text = full_page().html()
    tags = Tags(text).found
    assert "script" not in {tag for tag, _ in tags}
    assert text.count("&lt;script&gt;") >= 10


def test_page_needs_nothing_from_elsewhere():
    text = full_page().html()
    for tag, attributes in Tags(text).found:
        assert tag not in ("link", "iframe", "script")
        assert attributes.get("src", "data:").startswith("data:image/png;base64,") or "src" not in attributes
    assert "http" not in re.sub(r"base64,[^\"]*", "", text)
    assert "@import" not in text


def test_numbers_in_tables_are_rounded_and_set_right():
    text = full_page().html()
    assert '<tr class="marked"><td>b</td><td class="number">0.123</td></tr>' in text
    assert '<td class="number">3</td>' in text
    assert '<td class="number">1.5</td>' in text


def test_note_kinds_are_named():
    with pytest.raises(ValueError, match=facts("kind", "'bad'", "'good'", "'look'")):
        Report("t").note(["x"], "loud")


def test_writing_replaces_the_old_page_whole(tmp_path):
    path = tmp_path / "sub" / "report.html"
    Report("one").write(path)
    Report("two").text("äöü").write(path)
    assert "äöü" in path.read_text(encoding="utf-8")
    assert [p.name for p in path.parent.iterdir()] == ["report.html"]
