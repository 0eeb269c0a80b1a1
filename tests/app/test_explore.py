"""``ub.explore`` and ``unbraid explore``: what may be shown, what a run keeps, and errors that say what to do."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest
from sklearn.decomposition import PCA

import unbraid as ub
from tests.app.conftest import centroid, spectra
from tests.cli.command_line import run
from tests.facts import facts
from unbraid.app.kept import Names, clean_name, keep, read, read_opening, some_rows
from unbraid.app.view import Look, view_of, view_of_run
from unbraid.app.workspace import workspace_of
from unbraid.diagnosis.findings import ANSWERS
from unbraid.saving.persistence import NotARunError


def overview(address):
    with urllib.request.urlopen(address + "runs") as answer:
        return json.loads(answer.read())


def test_explore_serves_a_model_and_closes():
    X = spectra()
    page = ub.explore(ub.PCAICA(2, random_state=0).fit(X), X, open_browser=False)
    told = overview(page.address)
    assert told["kind"] == "curve"
    assert told["width"] == 60
    assert [s["code"] for s in told["runs"][0]["sliders"]] in ([0, 1], [1, 0])
    assert page.address in page._repr_html_()
    page.close()
    with pytest.raises(OSError):
        overview(page.address)


def test_a_pair_of_functions():
    X = spectra()
    pca = PCA(2, random_state=0).fit(X)
    space = workspace_of([(pca.transform, pca.inverse_transform)], X)
    np.testing.assert_allclose(space.decode(0, pca.transform(X[:3])), X[:3], atol=1e-5)
    run = space.overview()["runs"][0]
    assert (run["title"], run["decodes"], run["checked"]) == ("encoder and decoder", True, False)


@pytest.mark.filterwarnings("error")
def test_a_model_of_a_frame_is_shown_without_a_word_about_names():
    frame = pytest.importorskip("pandas").DataFrame(spectra()).add_prefix("band")
    model = ub.PCAICA(2, random_state=0).fit(frame)
    workspace_of([model], frame)
    np.testing.assert_allclose(view_of(model).encode(frame.to_numpy()[:3]), model.transform(frame[:3]))


def test_sliders_come_in_the_order_in_which_they_move_the_data():
    z = np.random.default_rng(0).normal(size=(200, 3))
    weights = np.array([1.0, 5.0, 2.0])
    space = workspace_of([(lambda x: x / weights, lambda c: c * weights)], z * weights)
    sliders = space.overview()["runs"][0]["sliders"]
    assert [s["code"] for s in sliders] == [1, 2, 0]
    low, high = np.quantile(z[:, 1], [0.1, 0.9])
    assert sliders[0]["reach"] == pytest.approx(5 * (high - low) / np.sqrt(3), rel=1e-2)
    assert sum(sliders[0]["counts"]) == 200


@pytest.mark.filterwarnings("ignore::unbraid.trust.warnings.UnbraidWarning")
def test_a_doubt_of_the_diagnosis_stands_first_and_outlives_the_save(tmp_path):
    """Two normal factors: any rotation of them would do as well."""
    X = np.random.default_rng(0).normal(size=(600, 2)) @ np.random.default_rng(1).normal(size=(2, 5))
    model = ub.fit(X, random_state=0)
    assert model.diagnosis_.verdict == "unsure"
    model.save(tmp_path / "run")
    for given in (model, tmp_path / "run"):
        concerns = workspace_of([given], X).overview()["runs"][0]["concerns"]
        assert concerns[0].startswith(ANSWERS["unsure"])
        assert len(concerns) == len(set(concerns))


def test_answers_do_not_wait_for_acknowledgements():
    """An answer is two packets; where the second waits for the first one's acknowledgement, a frame takes 44 ms."""
    X = spectra()
    page = ub.explore(ub.PCAICA(2, random_state=0).fit(X), X, open_browser=False)
    try:
        with socket.create_connection(("127.0.0.1", page._socket.getsockname()[1])):
            end = time.monotonic() + 300
            while not (open_ := list(page._server.server_state.connections)) and time.monotonic() < end:
                time.sleep(0.01)
            served = open_[0].transport.get_extra_info("socket")
            assert served.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    finally:
        page.close()


@pytest.mark.parametrize(("weight", "quiet"), [(0.1, False), (0.001, True)])
def test_a_code_that_hardly_moves_the_data_is_quiet(weight, quiet):
    z = np.random.default_rng(0).normal(size=(200, 2))
    weights = np.array([weight, 1.0])
    space = workspace_of([(lambda x: x / weights, lambda c: c * weights)], z * weights)
    assert [(s["code"], s["quiet"]) for s in space.overview()["runs"][0]["sliders"]] == [(1, False), (0, quiet)]
    by = z[:, [1]] if quiet else z  # a code that does nothing does not count among the nearest examples
    away = np.square((by - by[7]) / by.std(axis=0)).sum(axis=1)
    assert space.nearest(0, z[7], 5) == np.argsort(away)[:5].tolist()


def test_sliders_lean_as_much_as_the_factors_correlate():
    """Codes are uncorrelated by construction. With places = B codes, cov(places) = B'B: of two sliders of a moving
    square the slopes, in standard deviations, add up to the correlation of x and y in the sample; their difference is
    how far ICA turned both.
    """
    X, _ = ub.datasets.load("shapes-xy", image_size=32).sample(1500, random_state=0)
    places = np.array([centroid(255 * x) for x in X])
    spread, r = places.std(axis=0), np.corrcoef(places.T)[0, 1]
    assert abs(r) > 0.05
    space = workspace_of([ub.HessianICA(2, 12, random_state=0).fit(X)], X)
    slopes, codes = [], space.shown[0].codes
    for j in range(2):
        moved = np.tile(np.median(codes, axis=0), (13, 1))
        moved[:, j] = np.linspace(*np.quantile(codes[:, j], [0.1, 0.9]), 13)
        path = np.array([centroid(255 * row) for row in space.decode(0, moved)]) / spread
        own = np.ptp(path, axis=0).argmax()
        slopes.append(np.polyfit(path[:, own], path[:, 1 - own], 1)[0])
    assert sum(slopes) == pytest.approx(r, abs=0.03)
    assert abs(slopes[0] - slopes[1]) / 2 < np.radians(3)


def test_without_a_decoder_the_nearest_example_is_shown():
    X = spectra()
    space = workspace_of([(lambda x: x[:, [20, 40]], None)], X)
    np.testing.assert_array_equal(space.decode(0, X[[5], :][:, [20, 40]])[0], X[5])
    assert not space.overview()["runs"][0]["decodes"]


def test_factors_of_two_models_are_matched_with_their_signs():
    z = np.random.default_rng(0).normal(size=(300, 2))
    first, second = (lambda x: x, lambda c: c), (lambda x: -x[:, ::-1], lambda c: -c[:, ::-1])
    space = workspace_of([first, second], z)
    told = space.overview()["runs"]
    assert [s["match"]["code"] for s in told[1]["sliders"]] == [s["code"] for s in told[0]["sliders"]]
    matches = {s["code"]: s["match"] for s in told[1]["sliders"]}
    assert matches == {0: {"code": 1, "correlation": -1.0}, 1: {"code": 0, "correlation": -1.0}}


def test_what_cannot_be_explored_says_why(runs, tmp_path):
    X = spectra()
    with pytest.raises(TypeError, match=facts("PCA", "pca.transform")):
        ub.explore(PCA(2).fit(X), X, open_browser=False)
    with pytest.raises(ValueError, match=facts("PCA+ICA", "X", "--data")):
        ub.explore(ub.PCAICA(2, random_state=0).fit(X), open_browser=False)
    with pytest.raises(ValueError, match=facts((60,), (32, 32))):
        ub.explore([runs("spectra"), runs("linear")], open_browser=False)
    with pytest.raises(ValueError, match=facts("encoder", "NaN")):
        workspace_of([(lambda x: np.full((len(x), 1), np.nan), None)], X)
    with pytest.raises(ValueError, match=facts((1, 2), (60,))):
        workspace_of([(lambda x: x[:, :2], lambda c: c)], X)
    with pytest.raises(ValueError, match=facts("port", 70000)):
        ub.explore(runs("linear"), port=70000, open_browser=False)
    with pytest.raises(FileNotFoundError):
        ub.explore(tmp_path / "nothing", open_browser=False)


def test_geomancer_has_nothing_to_move():
    X = np.random.default_rng(0).normal(size=(100, 2, 3))
    X = (X / np.linalg.norm(X, axis=2, keepdims=True)).reshape(100, 6)
    with pytest.warns(ub.warnings.TrustWarning, match="UB24[25]"):
        model = ub.Geomancer(dim=4, n_neighbors=12, random_state=0).fit(X)
    with pytest.raises(ValueError, match=facts("GEOMANCER", "unbraid.report.fit_report(model, X)")):
        ub.explore(model, X, open_browser=False)


@pytest.mark.parametrize("kind", ["bytes", "floats", "curves"])
def test_a_run_keeps_its_examples_as_they_were(tmp_path, kind):
    rng = np.random.default_rng(0)
    rows = {
        "bytes": rng.integers(0, 256, (30, 8, 8)).astype(np.float32) / np.float32(255),
        "floats": rng.normal(size=(30, 8, 8)).astype(np.float32),
        "curves": rng.normal(size=(30, 17)).astype(np.float32),
    }[kind]
    codes = rng.normal(size=(30, 2))
    keep(tmp_path, rows, codes)
    found = read(tmp_path)
    np.testing.assert_array_equal(found.rows, rows)
    np.testing.assert_array_equal(found.codes, codes)
    with np.load(tmp_path / "examples.npz") as file:
        assert (file["rows"].dtype == np.uint8) == (kind == "bytes")
    (tmp_path / "names.json").write_text('{"0": "old"}')
    keep(tmp_path, rows, None)
    assert list(tmp_path.iterdir()) == []
    assert read(tmp_path) is None


def test_a_damaged_sample_is_named(tmp_path):
    (tmp_path / "examples.npz").write_bytes(b"PK nonsense")
    with pytest.raises(NotARunError, match=facts("examples.npz")):
        read(tmp_path)


def test_large_rows_are_kept_in_small_numbers():
    assert len(some_rows(np.broadcast_to(np.float32(0), (10_000, 64, 64)))) == 2000
    assert len(some_rows(np.broadcast_to(np.float32(0), (10_000, 1024, 1024, 3)))) == 50


def test_names_are_one_short_line_and_can_be_taken_back(tmp_path):
    names = Names(tmp_path)
    assert names[0] == "code 1"
    assert names.give(0, "a\nb\t" + "c" * 100) == "a b " + "c" * 56
    assert Names(tmp_path)[0] == "a b " + "c" * 56
    assert names.give(0, "  ") == "code 1"
    assert json.loads((tmp_path / "names.json").read_text()) == {}
    assert clean_name("\u202ex") == "x"
    (tmp_path / "names.json").write_text("{")
    with pytest.raises(ValueError, match=facts("names.json")):
        Names(tmp_path)


@pytest.mark.parametrize(("low", "high", "found"), [(0, 0.9, (0, 1)), (0, 250, (0, 255)), (-3, 3, (-3, 3))])
def test_pictures_in_any_unit_are_shown_and_read_alike(low, high, found):
    rows = np.linspace(low, high, 12).reshape(3, 2, 2)
    look = Look.of(rows)
    assert (look.low, look.high) == pytest.approx(found)
    import io

    from PIL import Image

    with Image.open(io.BytesIO(look.sheet(rows[:1]))) as image:
        assert image.size == (2, 2)
    back = look.row_of(look.sheet(rows[:1]))
    np.testing.assert_allclose(back, rows[:1], atol=(look.high - look.low) / 254)


def test_fit_leaves_a_run_that_can_be_explored(monkeypatch, capsys, tmp_path):
    path = tmp_path / "run"
    data = tmp_path / "bytes.npy"
    X, _ = ub.datasets.load("shapes-xy", image_size=16).sample(300, random_state=0)
    np.save(data, np.round(255 * X).astype(np.uint8))
    result = run(monkeypatch, capsys, "fit", data, "--method", "pca-ica", "--factors", 2, "--out", path)
    assert result.code == 0
    assert f"unbraid explore {path}" in result.out
    assert f"unbraid explore {path}" in (path / "report.html").read_text(encoding="utf-8")
    kept = read(path)
    np.testing.assert_allclose(kept.rows, np.round(255 * X) / 255, atol=1e-6)
    np.testing.assert_allclose(view_of_run(path).encode(kept.rows), np.load(path / "codes.npy"), atol=1e-5)
    assert read_opening(path).overview["n_examples"] == 300


def test_open_ends_in_the_explorer(monkeypatch, capsys, tmp_path):
    shown = []

    def serve(explorer):
        shown.append(explorer._loading._make())
        explorer.close()

    monkeypatch.setattr("unbraid.app.explorer.Explorer.run", serve)
    monkeypatch.setattr("webbrowser.open", lambda address: None)
    np.save(tmp_path / "x.npy", spectra())
    args = ["fit", tmp_path / "x.npy", "--method", "pca-ica", "--factors", 2, "--out", tmp_path / "run", "--open"]
    assert run(monkeypatch, capsys, *args).code == 0
    assert run(monkeypatch, capsys, "demo", "--points", 200, "--out", tmp_path / "demo", "--open").code == 0
    assert [space.overview()["kind"] for space in shown] == ["curve", "picture"]


def test_explore_without_data_says_how_to_give_some(monkeypatch, capsys, tmp_path):
    ub.PCAICA(2, random_state=0).fit(spectra()).save(tmp_path / "bare")
    result = run(monkeypatch, capsys, "explore", tmp_path / "bare", "--no-open")
    assert result.code == 2
    assert "--data" in result.err
    assert "bare" in result.err


def test_explore_prints_its_address_and_ends_by_ctrl_c(tmp_path):
    ub.PCAICA(2, random_state=0).fit(spectra()).save(tmp_path / "bare")
    np.save(tmp_path / "x.npy", spectra())
    command = [sys.executable, "-u", "-m", "unbraid", "explore", tmp_path / "bare", "--no-open", "--data"]
    with subprocess.Popen(
        [*command, tmp_path / "x.npy"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as process:
        address = process.stdout.readline().split()[-1]
        assert overview(address)["n_examples"] == 300
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0
    assert "Traceback" not in err
