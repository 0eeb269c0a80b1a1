"""The page in Chromium: what a user drags, drops, names, types and sees."""

import io
import json

import numpy as np
import pytest
from PIL import Image

import unbraid as ub
from tests.app.conftest import centroid, settle, spectra, until
from tests.conftest import SCRIPT, script

PIXELS = """canvas => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return { width: canvas.width, height: canvas.height, red: [...data].filter((_, i) => i % 4 === 0) };
}"""


def picture(page, selector=".now", number=0):
    found = page.locator(selector).nth(number).evaluate(PIXELS)
    return np.array(found["red"], float).reshape(found["height"], found["width"])


def drag(page, slider, share):
    """Take the thumb to a share of the track, in many small steps."""
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    low, high, value = (float(slider.evaluate(f"s => s.{name}")) for name in ("min", "max", "value"))
    thumb = 16
    start = box["x"] + thumb / 2 + (box["width"] - thumb) * (value - low) / (high - low)
    y = box["y"] + box["height"] / 2
    page.mouse.move(start, y)
    page.mouse.down()
    page.mouse.move(box["x"] + thumb / 2 + (box["width"] - thumb) * share, y, steps=25)
    page.mouse.up()
    settle(page)


def sliders(page):
    return page.locator("input[type=range]:not(#between)")


def test_the_square_follows_its_own_slider_and_only_that(served, page_of):
    page = page_of(served("grid"))
    moved = []
    for number in range(2):
        places = []
        for share in (0.2, 0.8, 0.5):
            drag(page, sliders(page).nth(number), share)
            places.append(centroid(picture(page)))
        moved.append(np.ptp(places, axis=0))
    moved = np.array(moved)
    own = moved.argmax(axis=1)
    assert sorted(own) == [0, 1]
    for steps, axis in zip(moved, own):
        assert steps[axis] > 10  # of the 20 pixels that there are, 0.6 of the range
        # Here x and y are uncorrelated; where they are not, sliders lean (see test_sliders_lean_as_much_as_...).
        assert steps[1 - axis] < 0.03 * steps[axis]


def test_sliders_start_with_the_picture_of_the_middle_and_a_histogram(served, page_of, runs):
    page = page_of(served("spectral"))
    assert sliders(page).count() == 2
    heights = (
        page.locator(".slider svg").first.locator("rect").evaluate_all("b => b.map(x => +x.getAttribute('height'))")
    )
    assert len(heights) == 32
    assert max(heights) == 100
    assert abs(centroid(picture(page)) - 15.5).max() < 2
    assert page.locator(".strip").count() == 2
    assert page.locator(".row button").count() == 8


def test_an_uploaded_picture_is_encoded(served, page_of, squares):
    X, factors = squares
    page = page_of(served("spectral"))
    corner = int(np.argmin(np.abs(factors - np.quantile(factors, 0.2, axis=0)).sum(axis=1)))
    file = io.BytesIO()
    Image.fromarray(np.round(255 * X[corner]).astype(np.uint8)).save(file, "PNG")
    page.set_input_files("#file", {"name": "mine.png", "mimeType": "image/png", "buffer": file.getvalue()})
    until(page, "document.getElementById('message').textContent.includes('mine.png was encoded')")
    settle(page)
    np.testing.assert_allclose(centroid(picture(page)), centroid(255 * X[corner]), atol=1)


def drop(page, file, selector="#runs"):
    """A file dragged over the page and let go there, by the browser's own drag events."""
    box = page.locator(selector).bounding_box()
    session = page.context.new_cdp_session(page)
    session.send("Input.setInterceptDrags", {"enabled": True})
    data = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
    place = {"x": box["x"] + 20, "y": box["y"] + 20, "data": data}
    for kind in ("dragEnter", "dragOver"):
        session.send("Input.dispatchDragEvent", {"type": kind, **place})
    assert page.locator("body.dropping").count() == 1
    session.send("Input.dispatchDragEvent", {"type": "drop", **place})


def test_a_dropped_picture_is_encoded(served, page_of, squares, tmp_path):
    X, factors = squares
    page = page_of(served("spectral"))
    corner = int(np.argmin(np.abs(factors - np.quantile(factors, 0.8, axis=0)).sum(axis=1)))
    Image.fromarray(np.round(255 * X[corner]).astype(np.uint8)).save(tmp_path / "mine.png")
    drop(page, tmp_path / "mine.png")
    until(page, "document.getElementById('message').textContent.includes('mine.png was encoded')")
    assert page.locator("body.dropping").count() == 0
    settle(page)
    np.testing.assert_allclose(centroid(picture(page)), centroid(255 * X[corner]), atol=1)


def test_a_text_that_calls_itself_a_picture_is_refused_in_words(served, page_of):
    page = page_of(served("spectral"))
    page.set_input_files("#file", {"name": "no.png", "mimeType": "image/png", "buffer": b"I am a text."})
    until(page, "document.getElementById('message').textContent.includes('PNG, JPEG')")
    page_of.faults[:] = [fault for fault in page_of.faults if "415" not in fault]  # the browser logs the status


def test_names_stay_with_the_run(served, page_of, runs):
    address = served("linear")
    page = page_of(address)
    name = page.locator("#name-0-0")
    name.fill("  position <b>across</b> ")
    name.press("Enter")
    until(page, "document.getElementById('message').textContent.includes('across')")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.locator("#name-0-0").input_value() == "position <b>across</b>"
    assert json.loads((runs("linear") / "names.json").read_text()) == {"0": "position <b>across</b>"}
    again = page_of(served("linear"))
    assert again.locator("#slider-0-0").get_attribute("aria-label") == "position <b>across</b>"
    assert "position <b>across</b>" in again.locator("#map-x").inner_text()
    (runs("linear") / "names.json").unlink()


def test_keyboard_alone(served, page_of):
    page = page_of(served("spectral"))
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))
    for wanted in ("middle", "random", "file", "slider-0-0", "name-0-0", "map-x", "map", "keep-a", "keep-b"):
        assert wanted in seen
    page.locator("#slider-0-0").focus()
    before = centroid(picture(page))
    for _ in range(4):
        page.keyboard.press("PageUp")
    settle(page)
    assert np.abs(centroid(picture(page)) - before).max() > 3
    page.locator("#map").focus()
    page.keyboard.press("ArrowRight")
    until(page, "document.getElementById('pointed-words').textContent.startsWith('Example')")
    told = page.locator("#pointed-words").inner_text()
    assert told in page.locator("#map").get_attribute("aria-label")
    page.keyboard.press("Enter")
    until(page, "document.getElementById('message').textContent.includes('example')")
    settle(page)
    across, up = (float(part.split()[-1]) for part in told.split(": ")[1].split(", "))
    now = [float(value) for value in page.locator("output.value").all_inner_texts()]
    assert now == pytest.approx([across, up], rel=1e-2)


def test_map_hover_lasso_and_interpolation(served, page_of, squares):
    page = page_of(served("spectral"))
    page.locator("#map").scroll_into_view_if_needed()
    box = page.locator("#map").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    until(page, "document.getElementById('pointed-words').textContent.startsWith('Example')")
    number = int(page.locator("#pointed-words").inner_text().split()[1].rstrip(":")) - 1
    np.testing.assert_allclose(picture(page, "#pointed"), np.round(255 * squares[0][number]), atol=1)
    corners = [(2, 2), (box["width"] - 2, 2), (box["width"] - 2, box["height"] - 2), (2, box["height"] - 2)]
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.mouse.down()
    for x, y in corners:
        page.mouse.move(box["x"] + x, box["y"] + y, steps=5)
    page.mouse.up()
    until(page, "document.getElementById('mean').getAttribute('aria-label') === 'Mean of 400 examples'")
    np.testing.assert_allclose(picture(page, "#mean"), 255 * squares[0].mean(axis=0), atol=1)
    drag(page, sliders(page).nth(0), 0.2)
    page.locator("#keep-a").click()
    start = centroid(picture(page))
    drag(page, sliders(page).nth(0), 0.8)
    page.locator("#keep-b").click()
    end = centroid(picture(page))
    page.wait_for_selector("#between-strips canvas")
    strip = picture(page, "#between-strips canvas")
    steps = [centroid(strip[:, i * 32 : (i + 1) * 32]) for i in (0, 4, 8)]
    np.testing.assert_allclose(steps, [start, (start + end) / 2, end], atol=1)


def test_two_runs_side_by_side_move_matched_factors_together(served, page_of, runs):
    page = page_of(served("spectral", "linear"))
    assert page.locator(".run").count() == 2
    assert page.locator(".matched").count() == 2
    assert page.locator(".run").nth(1).locator(".matched").count() == 2
    other = page.locator(".run").nth(1).locator("input[type=range]")
    before = [float(other.nth(i).input_value()) for i in range(2)]
    drag(page, sliders(page).nth(0), 0.9)
    after = [float(other.nth(i).input_value()) for i in range(2)]
    assert sum(a != b for a, b in zip(before, after)) == 1
    page.locator("#name-0-0").fill("across")
    page.locator("#name-0-0").press("Enter")
    until(page, "[...document.querySelectorAll('.matched')].some(m => m.textContent.includes('“across”'))")
    (runs("spectral") / "names.json").unlink()
    page.locator("#together").uncheck()
    drag(page, sliders(page).nth(0), 0.2)
    assert [float(other.nth(i).input_value()) for i in range(2)] == after


def test_a_vae_shows_its_training_and_a_flow_its_pictures(served, page_of):
    vae = page_of(served("vae"))
    assert vae.locator(".curves figure").count() >= 2
    assert vae.locator(".trust").inner_text()
    flow = page_of(served("flow"))
    before = picture(flow)
    assert before.shape == (8, 8)
    drag(flow, sliders(flow).nth(0), 0.95)
    assert np.abs(picture(flow) - before).max() > 5


def test_spectra_are_curves_and_texts_are_encoded(served, page_of):
    page = page_of(served("spectra"))
    assert picture(page).shape == (320, 512)
    X = spectra()
    page.set_input_files(
        "#file", {"name": "a.csv", "mimeType": "text/csv", "buffer": ",".join(map(str, X[7])).encode()}
    )
    until(page, "document.getElementById('message').textContent.includes('a.csv')")
    settle(page)
    page.get_by_label("Go to example 8", exact=True).wait_for()
    assert page.get_by_role("button", name="Moving factors (GIF)").count() == 0


def test_an_angle_has_a_dial_and_its_strip_closes(served, page_of):
    page = page_of(served("angle"))
    dial, slider = page.locator(".dial"), sliders(page).first
    assert [float(slider.get_attribute(end)) for end in ("min", "max")] == pytest.approx([-np.pi, np.pi], abs=1e-3)
    dial.scroll_into_view_if_needed()
    box = dial.bounding_box()
    for x, y, angle in ((0.5, 0.1, np.pi / 2), (0.9, 0.5, 0), (0.5, 0.9, -np.pi / 2)):
        page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])
        settle(page)
        assert float(slider.input_value()) == pytest.approx(angle, abs=0.05)
        turned = dial.locator("line").last.get_attribute("transform")
        assert float(turned[7:-1]) == pytest.approx(-np.degrees(angle), abs=3)
    assert "-3.14" in page.locator(".strip p").first.inner_text()


def test_downloads(served, page_of):
    page = page_of(served("spectral"))
    with page.expect_download() as got:
        page.get_by_role("button", name="Moving factors (GIF)").click()
    with Image.open(got.value.path()) as gif:
        assert gif.n_frames > 10
    with page.expect_download() as got:
        page.get_by_role("button", name="Picture (PNG)").click()
    with Image.open(got.value.path()) as png:
        assert png.size == (32, 32)
    with page.expect_download() as got:
        page.get_by_role("link", name="Codes (CSV)").click()
    table = np.genfromtxt(got.value.path(), delimiter=",", skip_header=1)
    assert table.shape == (400, 2)


def test_the_picture_stays_in_view_and_codes_that_do_nothing_are_folded_away(page_of):
    """Ten codes of which three move the picture, on a phone: whichever slider is moved, its effect is seen."""
    rng = np.random.default_rng(0)
    weights = np.r_[np.ones(3), np.full(7, 1e-4)]
    mix, z = np.abs(rng.normal(size=(10, 64))), rng.uniform(size=(200, 10))
    pair = (lambda X: z[: len(X)], lambda c: (c * weights @ mix / 8).reshape(-1, 8, 8))
    explorer = ub.explore(pair, pair[1](z), open_browser=False)
    try:
        page = page_of(explorer.address, viewport={"width": 390, "height": 500}, has_touch=True, is_mobile=True)
        assert page.locator(".strip").count() == 3
        page.get_by_text("7 codes").click()
        until(page, "document.querySelectorAll('.strip').length === 10")
        last = page.locator(".sliders input[type=range]").last
        page.evaluate("document.querySelector('.sliders').lastElementChild.lastElementChild.scrollIntoView(false)")
        assert last.bounding_box()["y"] > 250
        box = page.locator(".now").bounding_box()
        assert 0 <= box["y"] <= 40
        assert box["y"] + box["height"] < last.bounding_box()["y"]
    finally:
        explorer.close()


@pytest.mark.parametrize(
    "names",
    [
        ("spectral", "linear"),
        ("spectra",),
        pytest.param(("spectral",), marks=pytest.mark.slow),
        pytest.param(("vae",), marks=pytest.mark.slow),
    ],
)
def test_a_phone_needs_no_sideways_scrolling(served, page_of, names):
    page = page_of(served(*names), viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = page.evaluate(
        "[...document.querySelectorAll('button, select, input[type=range]')].filter(e => e.offsetParent)"
        ".filter(e => e.getBoundingClientRect().height < 24).map(e => e.outerHTML)"
    )
    assert not small  # what is touched has the 24 pixels that WCAG 2.2 asks for


@pytest.mark.parametrize(
    ("names", "scheme"),
    [
        (("spectral", "linear"), "light"),
        (("vae",), "dark"),
        pytest.param(("spectral", "linear"), "dark", marks=pytest.mark.slow),
        pytest.param(("vae",), "light", marks=pytest.mark.slow),
        pytest.param(("spectra",), "light", marks=pytest.mark.slow),
        pytest.param(("spectra",), "dark", marks=pytest.mark.slow),
    ],
)
def test_axe_finds_no_serious_fault(served, page_of, names, scheme):
    path = script().axe()
    assert path, f"this test needs axe-core: run {SCRIPT}"
    page = page_of(served(*names), color_scheme=scheme, bypass_csp=True)
    page.evaluate(path.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")
    faults = [
        f"{v['id']}: {v['nodes'][0]['html']}" for v in found["violations"] if v["impact"] in ("serious", "critical")
    ]
    assert not faults
    assert len(found["passes"]) > 15
