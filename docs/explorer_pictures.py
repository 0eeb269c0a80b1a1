"""Take the pictures of the explorer's page, in Chromium: ``python docs/explorer_pictures.py``.

``python docs/explorer_pictures.py faces`` makes the moving one of the README, from 500 faces of StyleGAN2
(``pip install 'unbraid[faces]' unbraid-papers``, ``unbraid datasets get ffhq``).
"""

import importlib.util
import io
import sys
from pathlib import Path

import numpy as np
import pandas
from PIL import Image
from playwright.sync_api import sync_playwright

import unbraid as ub

DOCS = Path(__file__).parent
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
MOVE = "(s, v) => { s.value = v; s.dispatchEvent(new Event('input', {bubbles: true})); }"
RESTED = "[...document.querySelectorAll('.run')].every(run => run.dataset.settled)"


def chromium():
    spec = importlib.util.spec_from_file_location("browser", DOCS.parent / "scripts" / "browser.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.chromium()


def spectra():
    """Two bands that grow and shrink, over a background that stays."""
    heights = np.random.default_rng(0).uniform(0.2, 1, (600, 2))
    x = np.linspace(0, 1, 200)
    bands = np.exp(-np.square((x - [[0.3], [0.7]]) / 0.04))
    return heights @ bands + 0.3 * np.exp(-np.square((x - 0.5) / 0.15))


def cells():
    """Two programmes of thirty named genes each, and twenty genes that follow neither."""
    rng = np.random.default_rng(0)
    weights = np.zeros((2, 80))
    weights[0, :30], weights[1, 30:60] = rng.uniform(1, 2, (2, 30))
    counts = rng.uniform(size=(500, 2)) @ weights + 0.1 * rng.normal(size=(500, 80))
    kinds = ["cycle"] * 30 + ["response"] * 30 + ["other"] * 20
    return pandas.DataFrame(counts, columns=[f"{kind}{i}" for i, kind in enumerate(kinds)])


def window(width, height, colours="light", scale=2):
    return {"viewport": {"width": width, "height": height}, "color_scheme": colours, "device_scale_factor": scale}


def shrunk(shot, path):
    """A screenshot in 128 colours, which is a third as large."""
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(128).save(path, optimize=True)


def rest(page):
    while not page.evaluate(RESTED):
        page.wait_for_timeout(100)
    page.wait_for_timeout(400)


def name_and_move(page, names, keys, times=3):
    """Give names to the first sliders, and move each by keys."""
    boxes = page.locator(".run").first.locator(".slider")
    for i, (name, key) in enumerate(zip(names, keys)):
        field = boxes.nth(i).locator("input[type=text]")
        field.fill(name)
        field.press("Enter")
        boxes.nth(i).locator("input[type=range]").focus()
        for _ in range(times):
            page.keyboard.press(key)
    page.evaluate("document.activeElement.blur()")
    rest(page)
    page.evaluate("document.getElementById('message').textContent = ''")


def faces():
    """Each slider goes up, down and back; the frames become a GIF of one palette."""
    faces = ub.datasets.load("gan-manifold", generator="ffhq", components=(0, 1), image_size=128)
    X, _ = faces.sample(500, random_state=0)
    explorer = ub.explore(ub.HessianICA(2, random_state=0).fit(X), X, open_browser=False)
    frames = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_context(**window(900, 640, scale=1)).new_page()
        page.goto(explorer.address)
        page.wait_for_selector("body[data-ready]")
        rest(page)
        name_and_move(page, ("woman to man", "turn of the head"), ("Home", "Home"), times=0)
        sliders = page.locator("input[type=range]:not(#between)")
        for number in range(2):
            low, high, middle = (float(sliders.nth(number).evaluate(f"s => s.{x}")) for x in ("min", "max", "value"))
            swing = middle + (high - low) * 0.36 * np.sin(np.linspace(0, 2 * np.pi, 19))  # ends where it began
            for value in np.clip(swing, low, high):
                sliders.nth(number).evaluate(MOVE, float(value))
                rest(page)
                shot = page.screenshot(clip={"x": 16, "y": 152, "width": 868, "height": 318})
                frames.append(Image.open(io.BytesIO(shot)).convert("RGB"))
        browser.close()
    explorer.close()
    small = [frame.resize((720, 264), Image.Resampling.LANCZOS) for frame in frames]
    palette = Image.fromarray(np.vstack([small[0], small[5], small[14], small[24], small[33]])).quantize(160)
    drawn = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in small]
    path = DOCS / "images" / "explorer-faces.gif"
    drawn[0].save(path, save_all=True, append_images=drawn[1:], duration=140, loop=0, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")


def main():
    X, _ = ub.datasets.load("shapes-xy").sample(1500, random_state=0)
    local, linear = ub.HessianICA(2, random_state=0).fit(X), ub.PCAICA(2, random_state=0).fit(X)
    curves = spectra()
    mixed = ub.PCAICA(2, random_state=0).fit(curves)
    genes = cells()
    programmes = ub.PCAICA(2, random_state=0).fit(genes)
    squares, bands = ("across", "up"), ("left band", "right band")
    shots = {
        "explorer-spectral": (local, X, window(1100, 860), squares, ("PageUp", "PageDown")),
        "explorer-two-runs": ([local, linear], X, window(1280, 860), squares, ("PageUp", "PageUp")),
        "explorer-spectra": (mixed, curves, window(900, 900, "dark"), bands, ("PageUp", "PageDown")),
        "explorer-cells": (programmes, genes, window(900, 900), ("code 1", "code 2"), ("PageUp", "PageDown")),
        "explorer-phone": (local, X, PHONE, squares, ("PageUp", "PageUp")),
    }
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for name, (model, data, options, names, keys) in shots.items():
            explorer = ub.explore(model, data, open_browser=False)
            page = browser.new_context(**options).new_page()
            page.goto(explorer.address)
            page.wait_for_selector("body[data-ready]")
            rest(page)
            name_and_move(page, names, keys)
            shrunk(page.screenshot(), DOCS / "images" / f"{name}.png")
            explorer.close()
        browser.close()


if __name__ == "__main__":
    faces() if sys.argv[1:] == ["faces"] else main()
