"""Probes of encoders whose answer is known, by every way in."""

import json
import re
import sys
import types

import numpy as np
import pandas
import pytest
from PIL import Image

import unbraid as ub
from tests.cli.command_line import run
from tests.facts import facts
from unbraid.probing.codes import axes_of, draw, encode_rows

torch = pytest.importorskip("torch")
QUICK = {"metrics": ["mcc", "mig"], "progress": False}


class Centre(torch.nn.Module):
    """The centroid of a bright object: exactly the two factors of shapes-xy, up to scale."""

    def __init__(self, side):
        super().__init__()
        self.register_buffer("grid", torch.arange(side, dtype=torch.float32))

    def forward(self, x):
        weight = x.mean(1)
        total = weight.sum((1, 2)) + 1e-6
        across = (weight.sum(1) * self.grid).sum(1) / total
        down = (weight.sum(2) * self.grid).sum(1) / total
        return torch.stack([across, down], 1)


@pytest.fixture(scope="module")
def shapes():
    return ub.datasets.load("shapes-xy", image_size=16).sample(900, random_state=0)


def write_onnx(path, side=16):
    """Centre as an ONNX graph with a free batch size, without torch's exporter, which takes seconds."""
    onnx = pytest.importorskip("onnx")
    make, column, row = onnx.helper, np.tile(np.arange(side), side), np.repeat(np.arange(side), side)
    weights = {"grid": np.stack([column, row], axis=1), "ones": np.ones((side * side, 1)), "tiny": np.full(1, 1e-6)}
    nodes = [
        make.make_node("Flatten", ["x"], ["flat"], axis=1),
        make.make_node("MatMul", ["flat", "grid"], ["sums"]),
        make.make_node("MatMul", ["flat", "ones"], ["light"]),
        make.make_node("Add", ["light", "tiny"], ["total"]),
        make.make_node("Div", ["sums", "total"], ["codes"]),
    ]
    graph = make.make_graph(
        nodes,
        "centre",
        [make.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 1, side, side])],
        [make.make_tensor_value_info("codes", onnx.TensorProto.FLOAT, ["n", 2])],
        [onnx.numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()],
    )
    onnx.save(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=9), path)


def exported(kind, folder):
    module, example = Centre(16).eval(), torch.rand(4, 1, 16, 16)
    if kind == "module":
        return module
    if kind == "function":
        return lambda X: module(torch.from_numpy(np.asarray(X, np.float32))[:, None])
    path = folder / {"export": "e.pt2", "fixed": "f.pt2", "script": "s.pt", "onnx": "o.onnx"}[kind]
    if kind == "script":
        with pytest.warns(DeprecationWarning, match="torch.jit"):
            torch.jit.trace(module, example).save(str(path))
    elif kind == "onnx":
        write_onnx(path)
    else:
        free = None if kind == "fixed" else ({0: torch.export.Dim("n")},)
        torch.export.save(torch.export.export(module, (example,), dynamic_shapes=free), path)
    return path


@pytest.mark.parametrize("kind", ["function", "module", "export", "fixed", "script", "onnx"])
def test_every_way_in_gives_the_same_codes(kind, shapes, tmp_path):
    X = shapes[0][:103]  # no multiple of a batch
    wanted = Centre(16)(torch.from_numpy(X)[:, None]).numpy()
    encoder = ub.probing.open_encoder(exported(kind, tmp_path))
    found = encode_rows(encoder, draw((X, shapes[1][:103]), 0, 0).rows, batch_size=25, cache=None, progress=False)
    np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_an_encoder_that_knows_the_factors_scores_at_the_ceiling(shapes):
    found = ub.probe(Centre(16), shapes, **QUICK)
    assert found["mcc"].value > 0.99
    assert found["mcc"].chance < 0.2
    assert found["mig"].low > found["mig"].chance
    assert all(p.score > 0.95 and p.measure == "R2" for p in found.factors if p.kind == "linear")
    assert found.read("linear") == pytest.approx(np.mean([p.score for p in found.factors if p.kind == "linear"]))


def test_one_that_knows_nothing_is_at_chance():
    rng = np.random.default_rng(0)
    factors = np.repeat([[0, 1], [1, 0], [0, 0], [1, 1]], 300, axis=0)
    X = rng.normal(size=(len(factors), 5))
    found = ub.probe(lambda X: X, (X, factors), **QUICK)
    assert all(p.low < 0.56 and abs(p.chance - 0.5) < 0.05 for p in found.factors)
    assert any(re.search(facts("factor 1", "factor 2"), line) for line in found.words())


def test_probes_per_factor_tell_which_is_known(shapes):
    X, factors = shapes
    found = ub.probe(lambda X: factors_of_x(X), (X, factors), **QUICK)
    score = {p.factor: p.score for p in found.factors if p.kind == "linear"}
    assert sorted(score.values())[0] < 0.1
    assert sorted(score.values())[1] > 0.95


def factors_of_x(X):
    return Centre(16)(torch.from_numpy(X)[:, None]).numpy()[:, :1]


def test_wide_codes_are_scored_on_principal_components():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(200, 3)) * [3, 2, 1]
    wide = z @ np.linalg.qr(rng.normal(size=(40, 3)))[0].T
    axes, variance, reduced = axes_of(wide, 2)
    assert reduced
    left, values, _ = np.linalg.svd(wide - wide.mean(0), full_matrices=False)
    np.testing.assert_allclose(np.abs(axes), np.abs(left[:, :2] * values[:2]), atol=1e-6)
    assert variance == pytest.approx((values[:2] ** 2).sum() / (values**2).sum())
    wider, _, _ = axes_of(wide[:30], 2)  # fewer rows than units: by the other matrix
    left, values, _ = np.linalg.svd(wide[:30] - wide[:30].mean(0), full_matrices=False)
    np.testing.assert_allclose(np.abs(wider), np.abs(left[:, :2] * values[:2]), atol=1e-6)
    assert axes_of(wide, None)[0].shape == (200, 40)


def test_codes_are_cached_by_content(shapes, tmp_path):
    X, factors = shapes
    rows = draw((X, factors), 0, 0).rows
    calls = []

    class Counted(Centre):
        def forward(self, x):
            calls.append(len(x))
            return super().forward(x)

    module = Counted(16)

    def encode():
        return encode_rows(ub.probing.open_encoder(module), rows, batch_size=500, cache=tmp_path, progress=False)

    first = encode()
    assert calls == [500, 400]
    np.testing.assert_array_equal(encode(), first)
    assert calls == [500, 400]
    module.grid.mul_(2)  # other weights are another encoder
    np.testing.assert_allclose(encode(), 2 * first, rtol=1e-5)
    assert calls == [500, 400, 500, 400]


def test_a_module_keeps_its_mode(shapes):
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Dropout(0.5), torch.nn.Linear(256, 2))
    encoder = ub.probing.open_encoder(module)
    np.testing.assert_array_equal(encoder.encode(shapes[0][:5]), encoder.encode(shapes[0][:5]))
    assert module.training
    assert module[1].training


def test_grey_pictures_go_to_a_colour_network_and_back():
    colour = ub.probing.open_encoder(torch.nn.Conv2d(3, 4, 3))
    grey = ub.probing.open_encoder(torch.nn.Conv2d(1, 4, 3))
    assert colour.encode(np.zeros((2, 8, 8), np.float32)).shape == (2, 4)
    assert grey.encode(np.zeros((2, 8, 8, 3), np.float32)).shape == (2, 4)
    sized = ub.probing.Preparation(3, 12, (0.5, 0.5, 0.5), (0.25, 0.5, 1.0))(np.ones((1, 6, 6), np.float32))
    assert sized.shape == (1, 3, 12, 12)
    assert sized[0, :, 0, 0].tolist() == [2.0, 1.0, 0.5]


def test_efficientnet_has_every_weight(shared):
    from unbraid.networks.efficientnet import MEAN, STD, EfficientNetLite

    path = shared.path("data/encoders/efficientnet-lite0-57934424.pth")
    state = EfficientNetLite().state_dict() if path is None else torch.load(path, weights_only=True)
    network = EfficientNetLite.from_state(state)
    assert all(torch.equal(v, state[k]) for k, v in network.state_dict().items())
    assert len(state) == 296
    if path is not None:  # the photograph of a flower that scikit-learn brings: class 985 of ImageNet is the daisy
        from sklearn.datasets import load_sample_image

        pixels = ub.probing.Preparation(3, 224, MEAN, STD)(load_sample_image("flower.jpg")[None] / 255)
        with torch.no_grad():
            assert int(network.classify(pixels).argmax()) == 985
    state = dict(state)
    state["_conv_stam.weight"] = state.pop("_conv_stem.weight")
    with pytest.raises(ValueError, match=r"_conv_stem\.weight.*_conv_stam"):
        EfficientNetLite.from_state(state)


def test_timm_and_open_clip_by_their_interface(monkeypatch, shapes):
    """Stand-ins with the functions of the two libraries that are called."""
    asked = []

    def create(name, pretrained, num_classes):
        asked.append((name, pretrained, num_classes))
        return torch.nn.Conv2d(3, 5, 3)

    known = {"input_size": (3, 24, 24), "mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5)}
    data = types.SimpleNamespace(resolve_model_data_config=lambda model: known)
    monkeypatch.setitem(sys.modules, "timm", types.SimpleNamespace(create_model=create, data=data))
    encoder = ub.probing.open_encoder("timm:resnet18")
    assert asked == [("resnet18", True, 0)]
    assert (encoder.name, encoder.n_parameters) == ("resnet18", 140)
    assert encoder.encode(shapes[0][:4]).shape == (4, 5)

    visual = torch.nn.Conv2d(3, 6, 3)
    visual.image_size, visual.image_mean, visual.image_std = (16, 16), (0.5, 0.5, 0.5), (0.25, 0.25, 0.25)

    def create_model(name, pretrained):
        if pretrained == "absent":
            raise OSError("no network")
        asked.append((name, pretrained))
        return types.SimpleNamespace(visual=visual)

    monkeypatch.setitem(sys.modules, "open_clip", types.SimpleNamespace(create_model=create_model))
    assert ub.probing.open_encoder("open_clip:ViT-B-32/openai").encode(shapes[0][:4]).shape == (4, 6)
    assert asked[-1] == ("ViT-B-32", "openai")
    with pytest.raises(OSError, match=facts("open_clip", "ViT-B-32", "absent", ".onnx")):
        ub.probing.open_encoder("open_clip:ViT-B-32/absent")
    with pytest.raises(ValueError, match=facts("open_clip:ViT-B-32", "MODEL/WEIGHTS")):
        ub.probing.open_encoder("open_clip:ViT-B-32")


@pytest.mark.parametrize(
    ("encode", "error", "words"),
    [
        (lambda X: X[:3].reshape(3, -1), ValueError, ((3, 256), 64, "(64, n_codes)")),
        (lambda X: (X, X), TypeError, ("tuple", 2, "(n, n_codes)")),
        (lambda X: np.full((len(X), 2), np.nan), ValueError, ("NaN", "900 of 900", "prepare=")),
        (lambda X: np.ones((len(X), 2)), ValueError, (900, "codes")),
        ("nowhere.onnx", FileNotFoundError, ("nowhere.onnx", ".onnx", "pixels")),
        (3, TypeError, ("int", ".onnx", "pixels")),
    ],
)
def test_what_is_no_encoder_is_refused_with_a_sentence(encode, error, words, shapes):
    with pytest.raises(error, match=facts(*words)):
        ub.probe(encode, shapes, **QUICK)


def test_the_factor_that_is_read_best_is_told_by_its_way_from_chance():
    """A class of 90 % is guessed at 0.9 by codes that know nothing; the factor that they do know stands out."""
    rng = np.random.default_rng(0)
    known, rare = rng.integers(0, 3, 900), (rng.uniform(size=900) < 0.1).astype(int)
    codes = np.column_stack([known + 0.5 * rng.normal(size=900), rng.normal(size=900)])
    found = ub.probe(lambda X: X, (codes, np.column_stack([known, rare])), "mcc", progress=False)
    assert max(p.score for p in found.factors if p.factor == "factor 2") > 0.85
    named = [re.findall(r"factor \d", line) for line in found.words()]
    assert ["factor 1"] in named, "read best"
    assert ["factor 2"] in named, "not distinguishable from chance"


def test_a_state_dict_is_not_taken_for_a_graph(tmp_path):
    torch.save(torch.nn.Linear(2, 2).state_dict(), tmp_path / "weights.pt")
    with pytest.raises(ValueError, match=facts("weights.pt", "TorchScript")):
        ub.probing.open_encoder(tmp_path / "weights.pt")


def test_several_give_one_table_and_one_page(shapes, tmp_path):
    some = shapes[0][:300], shapes[1][:300]
    found = ub.probing.compare({"centre": Centre(16), "pixels": "pixels"}, some, metrics=["mig", "mcc"], progress=False)
    assert found["centre"]["mcc"].value > found["pixels"]["mcc"].value
    head, first, second, ceiling = found.table()
    assert head[:2] == ("encoder", "parameters")
    assert second[2] == "32 of 256"
    page = found.report().html()
    assert page.count("<img") == 3
    drawn = ub.probing.plot_against_size(found.probes)
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["centre", "pixels"]
    assert not any(ax.texts for ax in drawn.axes)  # names beside points of one size would lie on each other
    assert len(json.loads(found.to_json(tmp_path / "found.json"))) == 2
    with pytest.raises(KeyError, match=facts("'other'", "centre, pixels")):
        found["other"]


def test_the_command(tmp_path, monkeypatch, capsys):
    X = ub.datasets.load("shapes-xy", image_size=16).sample(200, random_state=0)[0]
    ub.PCAICA(2, random_state=0).fit(X).save(tmp_path / "linear")
    told = run(
        monkeypatch, capsys, "probe", tmp_path / "linear", "--dataset", "shapes-xy", "--option", "image_size=16",
        "--metrics", "mcc", "--out", tmp_path / "page.html", "--json", tmp_path / "found.json",
    )  # fmt: skip
    assert told.code == 0, told.err
    assert "95 %" in told.out
    assert "linear" in (tmp_path / "page.html").read_text()
    assert json.loads((tmp_path / "found.json").read_text())["encoder"] == "linear"
    again = ub.probing.Probe.from_json(tmp_path / "found.json")
    assert again.to_json() == (tmp_path / "found.json").read_text().rstrip()
    assert str(again) in told.out
    told = run(monkeypatch, capsys, "probe", "resnet", "--dataset", "shapes-xy")
    assert told.code == 2
    assert "timm:MODEL" in told.err


def test_own_images_with_factors_by_file_name(tmp_path, monkeypatch, capsys):
    X, factors = ub.datasets.load("shapes-xy", image_size=16).sample(150, random_state=0)
    (tmp_path / "photos").mkdir()
    for i, picture in enumerate(X):
        Image.fromarray((255 * picture).astype(np.uint8)).save(tmp_path / "photos" / f"view{i}.png")
    table = pandas.DataFrame({"file": [f"view{i}.png" for i in range(150)], "x": factors[:, 0], "y": factors[:, 1]})
    table.sample(frac=1, random_state=0).to_csv(tmp_path / "labels.csv", index=False)
    ub.PCAICA(2, random_state=0).fit((255 * X).astype(np.uint8)).save(tmp_path / "linear")
    own = ("--data", tmp_path / "photos", "--factors-from", tmp_path / "labels.csv", "--metrics", "mcc")
    told = run(monkeypatch, capsys, "probe", tmp_path / "linear", *own, "--json", tmp_path / "found.json")
    assert told.code == 0, told.err
    found = ub.probing.Probe.from_json(tmp_path / "found.json")
    codes = ub.load(tmp_path / "linear").transform((255 * X).astype(np.uint8))
    assert found["mcc"].value == pytest.approx(ub.metrics.mcc(factors, codes), abs=0.02)
    assert {p.factor for p in found.factors} == {"x", "y"}
    assert "'file'" in told.out
    for wrong, word in (
        (own[:2], "--factors-from"),
        (own[2:], "--dataset"),
        ((*own, "--dataset", "room"), "--dataset"),
    ):
        told = run(monkeypatch, capsys, "probe", tmp_path / "linear", *wrong)
        assert (told.code, word in told.err) == (2, True)
