"""`unbraid fit`: every kind of input, and every kind of bad input."""

import html
import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import unbraid as ub
from tests.cli.command_line import run
from unbraid.datasets.shapes import ShapesXY
from unbraid.methods import METHODS


@pytest.fixture(scope="module")
def pictures():
    return ShapesXY(image_size=16).sample(300, random_state=0)


@pytest.fixture
def fit(monkeypatch, capsys, tmp_path):
    """Run `unbraid fit DATA ...` with quick settings; the run goes to tmp_path/run unless the test says otherwise."""

    def start(data, *args, quick=True):
        args = [*args, *(["--out", tmp_path / "run"] if "--out" not in args else [])]
        return run(monkeypatch, capsys, "fit", data, *args, *(["--factors", 2, "--neighbors", 12] if quick else []))

    return start


def refused(result, *words):
    assert result.code == 2
    assert any(line.startswith("unbraid: ") for line in result.err.splitlines())  # progress may come before it
    assert "Traceback" not in result.err
    for word in words:
        assert word in result.err.replace("\n", " ")


def write(kind, path, X):
    if kind == "npy":
        np.save(path, X)
    elif kind == "npz":
        np.savez(path, images=X, other=np.zeros(3))
    elif kind == "h5":
        import h5py

        with h5py.File(path, "w") as file:
            file["images"] = X
    else:
        zarr = pytest.importorskip("zarr")
        zarr.save_array(str(path), X)


HLLE = ("--method", "hessian-ica")  # where the choice of a method is not the question


@pytest.mark.parametrize("kind", ["npy", "npz", "h5", "zarr"])
def test_array_files(fit, tmp_path, pictures, kind):
    X, factors = pictures
    path = tmp_path / f"data.{kind}"
    write(kind, path, X)
    result = fit(path, "--method", "hessian-ica", *(["--key", "images"] if kind == "npz" else []))
    assert result.code == 0
    codes = np.load(tmp_path / "run" / "codes.npy")
    assert ub.metrics.mcc(factors, codes) > 0.97
    model = ub.load(tmp_path / "run")
    np.testing.assert_allclose(model.transform(X), codes, atol=1e-6)
    assert str(tmp_path / "run" / "report.html") in result.out.replace("\n", "")


def test_folder_of_images(fit, tmp_path, pictures):
    X, factors = pictures
    folder = tmp_path / "photos"
    folder.mkdir()
    for i, image in enumerate(X):
        Image.fromarray((255 * image).round().astype(np.uint8)).save(folder / f"frame{i}.png")
    assert fit(folder, *HLLE).code == 0
    assert ub.metrics.mcc(factors, np.load(tmp_path / "run" / "codes.npy")) > 0.97
    (folder / "frame7.png").write_bytes(b"this is no picture")
    refused(fit(folder, *HLLE, "--out", tmp_path / "second"), "frame7.png", "--skip-unreadable")
    assert not (tmp_path / "second").exists()
    assert (
        fit(folder, "--method", "pca-ica", "--factors", 2, "--skip-unreadable", "--resize", "8x8", quick=False).code
        == 0
    )
    assert len(np.load(tmp_path / "run" / "codes.npy")) == 299


def test_data_set_by_name_chooses_everything(fit, tmp_path, drawn):
    result = fit("shapes-xy", "--points", 400, "--option", "image_size=16", quick=False)
    assert result.code == 0
    assert ub.load(tmp_path / "run").n_factors_ == 2
    assert "HLLE+ICA" in result.out
    mcc = float(re.search(r"known factors: ([01]\.\d+)", result.out)[1])
    codes, factors = (np.load(tmp_path / "run" / name) for name in ("codes.npy", "factors.npy"))
    assert mcc == pytest.approx(ub.metrics.mcc(factors, codes), abs=1e-4)
    assert mcc > 0.98
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert f"{mcc:.4f}" in page


@pytest.mark.parametrize(
    ("method", "estimator"),
    [("laplacian-ica", "LaplacianICA"), ("tangent-ica", "TangentICA"), ("pca-ica", "PCAICA")],
)
def test_other_methods(fit, tmp_path, method, estimator):
    z = np.random.default_rng(0).uniform(size=(300, 2))
    np.save(tmp_path / "plane.npy", z @ [[3.0, 1.0, 0.0], [0.0, 1.0, 2.0]])
    neighbors = [] if method == "pca-ica" else ["--neighbors", 12]
    result = fit(tmp_path / "plane.npy", "--method", method, "--factors", 2, *neighbors, quick=False)
    assert result.code == 0
    assert type(ub.load(tmp_path / "run")).__name__ == estimator
    assert ub.load(tmp_path / "run").summary().title in result.out


@pytest.mark.parametrize(
    ("method", "estimator"),
    [("beta-tcvae", "BetaTCVAE"), ("hessian-autoencoder", "HessianAutoencoder"), ("irmae", "IRMAE")],
)
def test_autoencoders_are_trained_saved_and_reported(fit, tmp_path, pictures, method, estimator):
    np.save(tmp_path / "x.npy", pictures[0][:60])
    result = fit(tmp_path / "x.npy", "--method", method, "--steps", 5, "--factors", 2, quick=False)
    assert result.code == 0, result.err
    model = ub.load(tmp_path / "run")
    assert type(model).__name__ == estimator
    assert model.n_steps_ == 5
    assert "Training" in (tmp_path / "run" / "report.html").read_text()
    assert not list(tmp_path.glob("*.training.safetensors")), "the checkpoint is gone once the run is saved"


VAE = ("--method", "vae", "--factors", 2)


def test_a_failed_training_leaves_its_checkpoint(fit, tmp_path, pictures, monkeypatch):
    np.save(tmp_path / "x.npy", pictures[0][:60])
    with monkeypatch.context() as patch:
        patch.setattr("unbraid.report.pages.page_of", lambda *args, **options: 1 / 0)
        assert fit(tmp_path / "x.npy", *VAE, "--steps", 5, quick=False).code == 1
    assert (tmp_path / "run.training.safetensors").exists()
    assert fit(tmp_path / "x.npy", *VAE, "--steps", 5, quick=False).code == 0


@pytest.mark.parametrize(
    ("method", "option", "value", "takers"),
    [
        ("hessian-ica", "--steps", 5, ["vae", "gin"]),
        ("pca-ica", "--neighbors", 9, ["hessian-ica", "geomancer"]),
        ("vae", "--neighbors", 9, ["tangent-ica"]),
        ("geomancer", "--factors", 2, ["hessian-ica", "beta-vae"]),
        ("geomancer", "--max-seconds", 3, ["realnvp", "irmae"]),
        ("vae", "--labels", "labels.npy", ["nice", "realnvp", "gin"]),
        ("gin", "--augment", "affine", ["self-supervised-gin"]),
        ("laplacian-ica", "--device", "cpu", ["vae"]),
    ],
)
def test_options_that_a_method_does_not_take_are_refused_with_those_that_do(fit, method, option, value, takers):
    result = fit("shapes-xy", "--method", method, option, value, quick=False)
    refused(result, method, option)
    listed = [name for name in re.findall(r"[a-z][-a-z0-9]+", result.err) if name in METHODS]
    assert set(takers) <= set(listed)
    assert listed.count(method) == 1, "named as the one that was asked for, not among those that take it"


def test_any_parameter_can_be_set(fit, tmp_path, pictures):
    np.save(tmp_path / "x.npy", pictures[0])
    assert fit(tmp_path / "x.npy", "--set", "pca_components=7", "--set", "contrast=kurtosis").code == 0
    model = ub.load(tmp_path / "run")
    assert (model.pca_components, model.contrast) == (7, "kurtosis")
    refused(fit("shapes-xy", "--method", "hessian-ica", "--set", "colour=1"), "no parameter 'colour'", "pca_components")
    refused(fit(tmp_path / "x.npy", "--set", "colour=1"), "colour", "hessian-ica")
    given = ("shapes-xy", "--method", "hessian-ica", "--set")  # refused before anything is drawn
    refused(fit(*given, "n_factors=3"), "n_factors", "--factors", "--set n_factors")
    refused(fit(*given, "random_state=3"), "--seed")
    refused(fit(*given, "contrast"), "name=value")


FLOW = ("--steps", 3, "--set", "n_init=1", "--set", "engine=torch")


@pytest.mark.parametrize("given", ["npy", "csv", "key"])
def test_labels_come_from_a_file_or_from_beside_the_data(fit, tmp_path, given):
    X, _, labels = ub.datasets.load("gin-mixture").sample_conditional(100, random_state=0)
    np.savez(tmp_path / "data.npz", X=X, cluster=labels)
    np.save(tmp_path / "labels.npy", labels)
    np.savetxt(tmp_path / "labels.csv", labels, fmt="%d")
    where = "cluster" if given == "key" else tmp_path / f"labels.{given}"
    result = fit(tmp_path / "data.npz", "--key", "X", "--method", "gin", "--labels", where, *FLOW, quick=False)
    assert result.code == 0, result.err
    model = ub.load(tmp_path / "run")
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(np.load(tmp_path / "run" / "codes.npy"), model.transform(X), atol=1e-6)
    page = (tmp_path / "run" / "report.html").read_text()
    assert model.evidence_["labels"] in page
    assert page.count("data:image/png;base64,") == 7  # codes, strips, slopes, distances, spectrum, samples, losses
    assert not list(tmp_path.glob("*.training.safetensors"))


def test_a_data_set_with_a_condition_brings_its_labels(fit, tmp_path):
    result = fit("gin-mixture", "--points", 100, "--method", "gin", *FLOW, quick=False)
    assert result.code == 0, result.err
    assert len(ub.load(tmp_path / "run").classes_) == 5
    codes, factors = (np.load(tmp_path / "run" / name) for name in ("codes.npy", "factors.npy"))
    assert f": {ub.metrics.mcc(factors, codes):.4f}" in result.out


def test_labels_that_are_missing_or_nowhere_are_refused(fit, tmp_path, pictures):
    np.save(tmp_path / "x.npy", pictures[0])
    refused(fit(tmp_path / "x.npy", "--method", "gin", quick=False), "gin", "--labels")
    refused(fit(tmp_path / "x.npy", "--method", "gin", "--labels", "no", quick=False), "'no'")
    write("npz", tmp_path / "data.npz", pictures[0])
    command = (tmp_path / "data.npz", "--key", "images", "--method", "gin", "--labels", "no")
    refused(fit(*command, quick=False), "'no'", "images", "other")
    refused(fit("gin-mixture", "--method", "gin", "--labels", "x", quick=False), "gin-mixture", "--labels")


def in_pairs(n=400):
    """Rows of a bent sheet of two Gaussian factors; those of a pair, i and i + n / 2, share one of them."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(n // 2, 2))
    z = np.concatenate([z, z])
    z[np.arange(n // 2, n), rng.integers(2, size=n // 2)] = rng.normal(size=n // 2)
    Y = z @ [[0.25, 0.15], [-0.12, 0.25]]
    return np.c_[np.sin(Y[:, 0]), np.cos(Y[:, 0]), Y[:, 1]], z


@pytest.mark.parametrize(
    ("given", "method"),
    [
        ("npy", "auto"),
        ("csv", "hessian-ica"),
        ("column", "hessian-ica"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in [("npy", "hessian-ica"), ("csv", "auto"), ("column", "auto")]
        ),
    ],
)
def test_pairs_turn_the_codes(fit, tmp_path, given, method):
    X, z = in_pairs()
    numbers = np.tile(np.arange(200), 2)
    if given == "column":
        head = "a,b,c,pair"
        np.savetxt(tmp_path / "x.csv", np.c_[X, numbers], "%.17g", delimiter=",", header=head, comments="")
        data, where = tmp_path / "x.csv", "pair"
    else:
        data, where = tmp_path / "x.npy", tmp_path / f"pairs.{given}"
        np.save(data, X)
        pairs = np.c_[:200, 200:400]
        np.save(where, pairs) if given == "npy" else np.savetxt(where, pairs, "%d", delimiter=",")
    result = fit(data, "--method", method, "--pairs", where)
    assert result.code == 0, result.err
    model = ub.load(tmp_path / "run")
    assert (model.rotation, list(model.evidence_), model.n_features_in_) == ("pairs", ["pairs"], 3)
    assert re.search(r"^evidence +pairs ", result.out, flags=re.M)
    assert model.evidence_["pairs"] in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert ub.metrics.mcc(z, model.transform(X)) > 0.97


def test_time_and_labels_choose_the_rotation_unless_it_is_set(fit, tmp_path):
    np.savez(tmp_path / "x.npz", X=in_pairs()[0], t=np.arange(400.0), c=np.arange(400) % 2)
    command = (tmp_path / "x.npz", "--key", "X", "--method", "hessian-ica")
    assert fit(*command, "--time", "t").code == 0
    assert ub.load(tmp_path / "run").rotation == "time"
    assert fit(*command, "--labels", "c").code == 0
    assert ub.load(tmp_path / "run").rotation == "condition"
    refused(fit(*command, "--labels", "c", "--time", "t"), "labels", "time")
    refused(fit(*command, "--time", "t", "--set", "rotation=support"), "time", "rotation")
    refused(fit(*command, "--sets", "c"), "--sets", "self-supervised-gin")
    refused(fit(*command, "--pairs", "nowhere"), "'nowhere'")
    refused(fit("shapes-xy", "--time", "t"), "--time", "shapes-xy")


def test_sets_are_given_by_a_number_per_row(fit, tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "x.npz", X=rng.normal(size=(60, 4)), set=np.arange(60) // 3)
    command = (tmp_path / "x.npz", "--key", "X", "--method", "self-supervised-gin", "--sets", "set")
    result = fit(*command, *FLOW, quick=False)
    assert result.code == 0, result.err
    assert list(ub.load(tmp_path / "run").evidence_) == ["sets"]


def test_a_known_angle_is_declared_as_one(fit, tmp_path, monkeypatch, capsys):
    angle = 2 * np.pi * np.random.default_rng(0).permutation(60) / 60
    table = np.c_[np.cos(angle), np.sin(angle), np.cos(2 * angle), angle, np.degrees(angle)]
    np.savetxt(tmp_path / "x.csv", table, "%.9g", delimiter=",", header="a,b,c,angle,degrees", comments="")
    options = ["--columns", "a,b,c", "--method", "product-manifold", "--json"]
    scores = {}
    for kind in ("angle", "angle:circle"):
        result = fit(tmp_path / "x.csv", *options, "--factors-from", kind, "--out", tmp_path / kind[:6], quick=False)
        scores[kind] = json.loads(result.out)["mcc"]
    assert scores["angle:circle"] > 0.99 > scores["angle"]
    out = tmp_path / "scores.json"
    evaluate = ("evaluate", "--metrics", "mcc,mcc_spearman", "--json", out)
    files = [tmp_path / "angle:" / name for name in ("codes.npy", "factors.npy")]
    for given in ([tmp_path / "angle:"], [*files, "--kinds", "circle", "--code-kinds", "circle"]):
        assert run(monkeypatch, capsys, *evaluate, *given).code == 0
        table = json.loads(out.read_text())
        assert [score["value"] > 0.99 > score["chance"] + 0.5 for score in table["scores"]] == [True, True]
        assert table["kinds"] == ["circle"]
    np.save(files[1], np.degrees(np.load(files[1])))
    refused(run(monkeypatch, capsys, *evaluate, tmp_path / "angle:"), "radians", "354")
    refused(run(monkeypatch, capsys, *evaluate, *files, "--kinds", "ring"), "'ring'", "'circle'")
    refused(fit(tmp_path / "x.csv", *options, "--factors-from", "degrees:circle", quick=False), "radians", "354")
    refused(fit(tmp_path / "x.csv", *options, "--factors-from", "angle:sphere", quick=False), "3 columns", "1")


@pytest.mark.parametrize("ending", [".csv", ".npy"])
def test_of_a_file_of_factors_some_columns_wrap(fit, tmp_path, ending):
    rng = np.random.default_rng(0)
    turn, height = 2 * np.pi * rng.uniform(size=400), rng.uniform(0, 100, 400)
    np.save(tmp_path / "x.npy", np.c_[np.cos(turn), np.sin(turn), height / 25])
    if ending == ".npy":
        np.save(tmp_path / "truth.npy", np.c_[turn, height])
    else:
        np.savetxt(tmp_path / "truth.csv", np.c_[turn, height], "%.9g", delimiter=",", header="turn,up", comments="")
    truth = tmp_path / f"truth{ending}"
    command = (tmp_path / "x.npy", "--method", "product-manifold", "--json", "--factors-from")
    result = fit(*command, f"{truth}:circle:interval", quick=False)
    assert json.loads(result.out)["mcc"] > 0.98
    assert json.loads((tmp_path / "run" / "fit.json").read_text())["kinds"] == ["circle", "interval"]
    refused(fit(*command, f"{truth}:circle", quick=False), str(truth), "radians")
    refused(fit(*command, f"{truth}:circle:interval:interval", quick=False), str(truth), "3 columns", "2")


def test_geomancer_has_no_codes_and_says_so(fit, tmp_path):
    command = ("product-manifold", "--points", 400, "--method", "geomancer", "--set", "dim=4", "--neighbors", 28)
    result = fit(*command, quick=False)
    assert result.code == 0, result.err
    assert re.search(r"^submanifolds +2 .*2, 2; 4", result.out, flags=re.M)
    assert "UB247" in result.out
    assert not (tmp_path / "run" / "codes.npy").exists()
    page = (tmp_path / "run" / "report.html").read_text()
    assert (page.count("<figure>"), f"{ub.load(tmp_path / 'run').gap_:.3g}" in page) == (2, True)


def test_a_training_that_ran_out_of_time_goes_on_by_the_same_command(fit, tmp_path, pictures):
    np.save(tmp_path / "x.npy", pictures[0][:60])
    command = (tmp_path / "x.npy", *VAE, "--steps", 10)
    result = fit(*command, "--max-seconds", 1e-6, quick=False)
    assert result.code == 0, result.err
    assert "--max-seconds" in result.out
    assert ub.load(tmp_path / "run").n_steps_ < 10
    assert fit(*command, quick=False).code == 0
    assert ub.load(tmp_path / "run").n_steps_ == 10
    assert not list(tmp_path.glob("*.training.safetensors"))


def test_without_an_extra_the_method_says_which_install_brings_it(fit, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    refused(fit("shapes-xy", "--method", "vae", quick=False), "pip install 'unbraid[torch]'")


def test_landmarks_and_concerns_are_told(fit, tmp_path):
    z = np.random.default_rng(0).normal(size=(400, 2))  # Gaussian: ICA cannot find the axes
    np.save(tmp_path / "gauss.npy", z)
    result = fit(tmp_path / "gauss.npy", *HLLE, "--landmarks", 200)
    assert result.code == 0
    assert "200 landmarks" in result.out
    assert "UB205" in result.out
    assert "TrustWarning" not in result.err
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert re.search(r'class="note look">.*?UB205: [^<]*\d\.\d\d', page)


def test_the_report_opens_with_the_answer_of_the_diagnosis_once(fit, tmp_path):
    np.save(tmp_path / "noise.npy", np.random.default_rng(0).normal(size=(150, 12)))
    assert fit(tmp_path / "noise.npy", quick=False).code == 0
    answer = ub.load(tmp_path / "run").diagnosis_.answer
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    first = html.unescape(page).split("<section>")[1]
    assert first.count(answer) == 1
    assert "UB209" in first


@pytest.mark.parametrize("kind", ["npy", "npz", "h5", "png-named-npy", "empty"])
def test_damaged_files(fit, tmp_path, pictures, kind):
    path = tmp_path / f"data.{kind if kind in ('npz', 'h5') else 'npy'}"
    if kind == "empty":
        path.write_bytes(b"")
    elif kind == "png-named-npy":
        Image.fromarray(np.zeros((4, 4), np.uint8)).save(path, format="png")
    else:
        write(kind, path, pictures[0])
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])
    refused(fit(path), path.name, "empty" if kind == "empty" else "cannot be read")
    assert not (tmp_path / "run").exists()


def test_missing_key_lists_the_keys(fit, tmp_path, pictures):
    write("npz", tmp_path / "data.npz", pictures[0])
    refused(fit(tmp_path / "data.npz"), "images", "other")
    refused(fit(tmp_path / "data.npz", "--key", "nothing"), "'nothing'", "images", "other")


def test_rows_that_are_no_observations(fit, tmp_path):
    np.save(tmp_path / "flat.npy", np.zeros(30))
    refused(fit(tmp_path / "flat.npy"), "1D array")
    np.save(tmp_path / "none.npy", np.zeros((0, 3)))
    refused(fit(tmp_path / "none.npy"), "no rows")
    X = np.random.default_rng(0).uniform(size=(100, 3))
    X[7, 1] = np.inf
    np.save(tmp_path / "infinite.npy", X)
    refused(fit(tmp_path / "infinite.npy"), "infinity", "Remove those rows")
    np.save(tmp_path / "few.npy", X[:5])
    refused(fit(tmp_path / "few.npy"), "5 distinct", "30")


def test_unknown_names_list_the_valid_ones(fit, tmp_path):
    refused(fit("shapes-xy", "--method", "magic"), "'magic'", "hessian-ica", "pca-ica")
    refused(fit("no-such-thing"), "no file or folder", "shapes-xy")
    refused(fit("shapes-xy", "--option", "colour=3"), "colour", "image_size")
    (tmp_path / "notes.rst").write_text("text")
    refused(fit(tmp_path / "notes.rst"), ".rst", ".npy")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--factors", "two"], "--factors is 'two'"),
        (["--factors", "0"], "--factors is '0'"),
        (["--neighbors", "-3"], "--neighbors is '-3'"),
        (["--landmarks", "many"], "--landmarks is 'many'"),
        (["--option", "image_size"], "name=value"),
        (["--resize", "8x8"], "--resize"),
    ],
)
def test_wrong_values(fit, args, words):
    refused(fit("shapes-xy", *args, quick=False), words)


def test_options_of_the_other_kind_are_refused(fit, tmp_path, pictures):
    np.save(tmp_path / "data.npy", pictures[0])
    refused(fit(tmp_path / "data.npy", "--points", 10), "--points")
    refused(fit(tmp_path / "data.npy", "--resize", "8"), "HEIGHTxWIDTH")


def test_a_folder_that_is_no_run_is_left_alone(fit, tmp_path):
    mine = tmp_path / "thesis"
    mine.mkdir()
    (mine / "chapter.txt").write_text("years of work")
    refused(fit("shapes-xy", "--out", mine), "not a saved run", "--out")
    refused(fit("shapes-xy", "--out", mine / "chapter.txt"), "not a saved run")
    assert [p.name for p in mine.iterdir()] == ["chapter.txt"]


def test_an_earlier_run_survives_a_failed_one_and_is_replaced_by_a_good_one(fit, tmp_path, pictures):
    np.save(tmp_path / "data.npy", pictures[0])
    assert fit(tmp_path / "data.npy", *HLLE).code == 0
    (tmp_path / "run" / "notes.txt").write_text("mine")
    before = (tmp_path / "run" / "codes.npy").read_bytes()
    np.save(tmp_path / "bad.npy", np.full((50, 3), np.nan))
    refused(fit(tmp_path / "bad.npy", *HLLE), "NaN")
    assert (tmp_path / "run" / "codes.npy").read_bytes() == before
    np.save(tmp_path / "less.npy", pictures[0][:200])
    assert fit(tmp_path / "less.npy", *HLLE).code == 0
    assert len(np.load(tmp_path / "run" / "codes.npy")) == 200
    assert (tmp_path / "run" / "notes.txt").read_text() == "mine"


def test_control_c_stops_with_a_sentence(tmp_path):
    """A real process and a real signal, sent while the fit (here a sleep, so that it lasts) is under way."""
    code = (
        "import signal, sys, unbraid.report.fitted as m\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # ignored where tests run in the background
        "def slow(*a, **k):\n    print('fitting', flush=True)\n    signal.pause()\n"
        "m.measured_fit = slow\n"
        "from unbraid.cli import main\n"
        "sys.argv = ['unbraid', 'fit', 'shapes-xy', '--points', '50', '--method', 'pca-ica', '--out', "
        f"{str(tmp_path / 'run')!r}]\n"
        "main()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stdout is not None
    while process.stdout.readline().strip() != "fitting":
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert not (tmp_path / "run").exists()


def test_full_trust_is_printed_and_kept(fit, tmp_path, pictures):
    np.save(tmp_path / "x.npy", pictures[0])
    result = fit(tmp_path / "x.npy", "--method", "hessian-ica", "--trust", "full")
    assert result.code == 0
    found = ub.load(tmp_path / "run").diagnostics_
    shown = {
        "expected MCC": [f"{found.expected_mcc.median:.2f}"],
        "reliability": [f"{figure:.3f}" for figure in found.reliability.per_code],
        "R-hat": [f"{figure:.2f}" for figure in found.reliability.r_hat],
    }
    page = (tmp_path / "run" / "report.html").read_text()
    for name, figures in shown.items():
        assert re.search(rf"^{name} +{', '.join(figures)}", result.out, flags=re.M)
        assert re.search(rf"{name}</td><td[^>]*>{', '.join(figures)}", page)


def test_trust_is_refused_where_there_is_nothing_to_find_again(fit, tmp_path, pictures):
    np.save(tmp_path / "x.npy", pictures[0])
    refused(fit(tmp_path / "x.npy", "--method", "pca-ica", "--trust", "full", quick=False), "--trust", "hessian-ica")
    refused(fit(tmp_path / "x.npy", "--method", "hessian-ica", "--trust", "most"), "'cheap'", "'full'")
