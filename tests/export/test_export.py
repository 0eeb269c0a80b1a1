"""Exported graphs against the models that they stand for, on rows that the models were not fitted on."""

import re

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.methods import METHODS
from unbraid.testing.data import needed_evidence

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

FAST = ("hessian-ica", "irmae", "contrastive", "gin")  # one of each kind of graph: torch takes seconds to trace one
EXPORTED = [
    name if name in FAST else pytest.param(name, marks=pytest.mark.slow)
    for name, m in METHODS.items()
    if m.family in ("spectral", "autoencoders", "contrastive", "flows")
]
CONDITIONAL = ("nice", "realnvp", "gin")
FLOW = {"n_init": 1, "n_blocks": 1, "hidden": 8, "max_steps": 3}


def settings_of(name):
    if name == "self-supervised-gin":
        return FLOW | {"augment": lambda X, rng: X + 0.1 * rng.normal(size=X.shape)}
    if METHODS[name].family == "flows":
        return FLOW
    if name == "pca-ica" or not METHODS[name].trained:
        return {"n_factors": 2}
    return {"n_factors": 2, "max_steps": 3}


def fitted(name, X):
    model = getattr(ub, METHODS[name].estimator)(**settings_of(name), random_state=0)
    labels = np.arange(len(X)) % 3 if "labels" in METHODS[name].uses else None
    return model.fit(X, labels, **needed_evidence(model, len(X)))


def run(path, rows):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: rows})[0]


def agree(found, wanted):
    """To 1e-4 standard deviations, or float32's own rounding where the numbers hardly vary."""
    allowed = max(1e-4 * float(np.std(wanted)), 1e-6 * float(np.abs(wanted).max()))
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= allowed


def vectors(n, seed):
    z = np.random.default_rng(seed).uniform(size=(n, 2))
    X = np.column_stack([z, np.sin(2 * z[:, 0]), np.cos(2 * z[:, 1]), z.sum(1), 0.3 * z[:, 0]])
    return (5 + 2 * X).astype(np.float32)


@pytest.mark.filterwarnings("ignore::UserWarning")  # a few steps of training, and warnings that say so
@pytest.mark.parametrize("name", EXPORTED)
def test_graphs_of_vectors_are_the_model(name, tmp_path):
    model = fitted(name, vectors(400, 0))
    folder = model.export_onnx(tmp_path / "model")
    fresh = vectors(37, 1)
    codes = np.asarray(model.transform(fresh), np.float32)
    agree(run(folder / "encoder.onnx", fresh), codes)
    assert (folder / "decoder.onnx").exists() == METHODS[name].decodes
    if METHODS[name].decodes:
        agree(run(folder / "decoder.onnx", codes), model.inverse_transform(codes))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("beta-vae", {"preset": "small"}),
        pytest.param("beta-vae", {"preset": "patches"}, marks=pytest.mark.slow),
        pytest.param("beta-vae", {"preset": "paper"}, marks=pytest.mark.slow),
        pytest.param("irmae", {}, marks=pytest.mark.slow),
        pytest.param("hessian-autoencoder", {}, marks=pytest.mark.slow),
        pytest.param("hessian-ica", {}, marks=pytest.mark.slow),
        pytest.param("gin", {"hidden": (4, 4, 8), "n_blocks": (1, 1, 1)}, marks=pytest.mark.slow),
    ],
)
def test_graphs_of_pictures_are_the_model(name, options, tmp_path):
    X = ub.datasets.load("shapes-xy", image_size=16).sample(300, random_state=0)[0]
    X = (255 * X).astype(np.uint8)
    model = getattr(ub, METHODS[name].estimator)(**settings_of(name) | options, random_state=0)
    model.fit(X[:250], *([np.arange(250) % 3] if name in CONDITIONAL else []))
    folder = model.export_onnx(tmp_path / "model")
    codes = np.asarray(model.transform(X[250:]), np.float32)
    agree(run(folder / "encoder.onnx", X[250:].astype(np.float32) / 255), codes)
    agree(run(folder / "decoder.onnx", codes), model.inverse_transform(codes))


@pytest.fixture(scope="module")
def linear(tmp_path_factory):
    """A linear model, the rows it was fitted on, and the folder it was exported to."""
    X = vectors(300, 0)
    model = ub.PCAICA(2, random_state=0).fit(X)
    scores = ub.evaluate(X[:, :2], model.transform(X), metrics="mcc")
    folder = tmp_path_factory.mktemp("export") / "model"
    return model, X, model.export_onnx(folder, evaluation=scores, about="Two factors of a bent sheet.")


def test_the_folder_is_one_of_a_hub(linear):
    model, X, folder = linear
    assert np.array_equal(ub.load(folder).transform(X), model.transform(X))
    card = (folder / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: unbraid\n")
    for part in (
        "Two factors of a bent sheet.",
        "PCA+ICA",
        "| n_factors | `2` |",
        "encoder.onnx",
        "decoder.onnx",
        "mcc",
    ):
        assert part in card
    assert all(float(x) <= 1e-4 for x in re.findall(r"([\d.e-]+) standard deviations", card))
    assert {p.suffix for p in folder.iterdir()} == {".md", ".onnx", ".json", ".safetensors"}


def test_the_card_runs(linear, monkeypatch):
    model, X, folder = linear
    monkeypatch.chdir(folder)
    with open("README.md", encoding="utf-8") as card:
        code = re.search(r"```python\n(.*?)```", card.read(), re.DOTALL)[1]
    fresh = vectors(37, 1)
    names = {"rows": fresh}
    exec(code, names)
    codes = np.asarray(model.transform(fresh), np.float32)
    agree(names["codes"], codes)
    agree(names["rows"], model.inverse_transform(codes).astype(np.float32))


def test_a_folder_of_other_things_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(FileExistsError, match=facts(str(tmp_path))):
        ub.PCAICA(2).fit(vectors(50, 0)).export_onnx(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_graph_that_differs_is_not_kept(tmp_path):
    import torch

    from unbraid.export.graphs import write_graph

    rows = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
    with pytest.raises(ValueError, match=facts("a.onnx", 0.0001)):
        write_graph(torch.nn.Identity(), rows, tmp_path / "a.onnx", ("rows", "codes"), lambda x: 1.001 * x)
    assert not list(tmp_path.iterdir())
