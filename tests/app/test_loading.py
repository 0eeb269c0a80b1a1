"""The first picture before the model: what a run keeps for it, when that holds, and what waits."""

import json
import subprocess
import sys
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import pytest

import unbraid as ub
from tests.app.conftest import centroid, spectra, until
from tests.app.test_page import drag, picture, sliders
from unbraid.app.explorer import Explorer, loading_of
from unbraid.app.kept import OPENING, Names, keep, keep_opening, read_opening
from unbraid.app.loading import Loading
from unbraid.app.workspace import workspace_of


def ask(address, name, question=None):
    body = None if question is None else json.dumps(question).encode()
    with urllib.request.urlopen(urllib.request.Request(address + name, body), timeout=300) as answer:
        return answer.read()


@pytest.fixture
def slow(runs):
    """A run whose model comes when the test says so: its page, and the way to say so."""
    go, pages = threading.Event(), []

    def serve(name):
        workspace = workspace_of([runs(name)])
        keep_opening(runs(name), workspace)
        made = Loading(lambda: (go.wait(60), workspace)[1], read_opening(runs(name)))
        pages.append(Explorer(made).start())
        return pages[0].address, workspace

    yield serve, go
    go.set()
    for page in pages:
        page.close()


@pytest.mark.parametrize("name", ["spectral", "spectra"])
def test_the_kept_answers_are_those_of_the_model_and_all_else_waits(slow, name):
    serve, go = slow
    address, workspace = serve(name)
    told = json.loads(ask(address, "runs"))
    assert told.pop("loading")
    start = told["runs"][0]["start"]
    first = ask(address, "decode", {"run": 0, "codes": [start], "client": "a", "number": 1})
    other = {"run": 0, "codes": [(1.5 * np.array(start) + 0.1).tolist()]}
    with ThreadPoolExecutor() as threads:
        waiting = [threads.submit(ask, address, *asked) for asked in (("decode", other), ("loaded",))]
        assert not wait(waiting, 0.5).done
        go.set()
        moved, loaded = (answer.result() for answer in waiting)
    assert json.loads(loaded) == {"loaded": True}
    assert json.loads(ask(address, "runs")) == told == json.loads(json.dumps(workspace.overview()))
    assert ask(address, "decode", {"run": 0, "codes": [start]}) == first
    assert moved != first


def test_the_page_shows_the_first_picture_and_then_follows_the_sliders(slow, browser):
    serve, go = slow
    address, _ = serve("grid")
    page = browser.new_page()
    page.set_default_timeout(300_000)
    try:
        page.goto(address)
        until(page, "document.querySelector('.now')?.dataset.drawn === '1'")
        before = centroid(picture(page))
        assert abs(before - 15.5).max() < 2
        assert page.locator("#message").inner_text()
        go.set()
        until(page, "document.getElementById('message').textContent === ''")
        drag(page, sliders(page).nth(0), 0.9)
        assert abs(centroid(picture(page)) - before).max() > 5
    finally:
        page.close()


def made_run(folder, seed=0):
    """A run as ``unbraid explore`` leaves it."""
    X = spectra()
    model = ub.PCAICA(2, random_state=seed).fit(X)
    model.save(folder)
    keep(folder, X, np.asarray(model.transform(X)))
    assert loading_of([folder]).opening is None
    assert loading_of([folder]).opening is not None
    return X


def test_names_given_since_are_shown(tmp_path):
    made_run(tmp_path / "run")
    Names(tmp_path / "run").give(1, "height")
    named = {s["code"]: s["name"] for s in read_opening(tmp_path / "run").overview["runs"][0]["sliders"]}
    assert named == {0: "code 1", 1: "height"}


@pytest.mark.parametrize(
    "changed", ["model", "examples", "name", "nothing kept", "cut short", "a page", "another hand"]
)
def test_what_was_kept_of_another_model_is_not_shown(tmp_path, changed):
    folder = tmp_path / "run"
    X = made_run(folder)
    if changed == "model":
        ub.PCAICA(2, random_state=0).fit(X[:200]).save(folder)
    elif changed == "examples":
        keep(folder, X[:50], np.zeros((50, 2)))
    elif changed == "name":
        folder = folder.rename(tmp_path / "better")
    elif changed == "nothing kept":
        (folder / OPENING).unlink()
    else:
        text = (folder / OPENING).read_text()
        others = {"cut short": text[:1000], "a page": text.replace("application/json", "text/html")}
        (folder / OPENING).write_text(others.get(changed, '{"made_of": 1}'))
    assert read_opening(folder) is None
    assert loading_of([folder]).opening is None


def test_a_model_that_cannot_be_loaded_ends_the_page_with_its_sentence(tmp_path):
    made_run(tmp_path / "run")
    arrays = next((tmp_path / "run").glob("arrays-*"))
    arrays.write_bytes(arrays.read_bytes()[:-1])
    command = [sys.executable, "-m", "unbraid", "explore", tmp_path / "run", "--no-open"]
    told = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert told.returncode == 2
    assert "http://127.0.0.1:" in told.stdout
    assert arrays.name in told.stderr
    assert "Traceback" not in told.stderr


def test_a_run_that_may_not_be_written_is_shown_all_the_same(tmp_path, monkeypatch):
    made_run(tmp_path / "run")
    (tmp_path / "run" / OPENING).unlink()
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert loading_of([tmp_path / "run"]).opening is None
    assert not (tmp_path / "run" / OPENING).exists()


def test_the_server_loads_no_library_of_models():
    heavy = ("sklearn", "scipy", "torch", "numba", "matplotlib", "pandas")
    words = "import sys, unbraid.cli, unbraid.app.server, unbraid.app.explorer; "
    told = subprocess.run(
        [sys.executable, "-c", f"{words}print([m for m in {heavy} if m in sys.modules])"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert told.stdout.strip() == "[]"
