"""StyleGAN2: published sizes, an independent reading of its equations, both checkpoint layouts, no code execution."""

import math
import pickle
import sys
import types

import numpy as np
import pytest
import torch

from tests.facts import facts
from unbraid import datasets
from unbraid_papers.generators.stylegan2 import StyleGAN2Generator, _doubled, _modulated
from unbraid_papers.generators.stylegan2_checkpoints import load_stylegan2

SMALL = {"image_size": 32, "latent_size": 16, "n_mapping": 3, "width": 512, "widest": 24}


@pytest.fixture(scope="module")
def small():
    torch.manual_seed(0)
    network = StyleGAN2Generator(**SMALL).eval()
    with torch.no_grad():
        for name, value in network.named_parameters():
            if name.endswith(("bias", "noise_strength")):
                value += 0.1 * torch.randn_like(value)
    network.mapping.w_avg.normal_()
    return network


def count(module):
    return sum(p.numel() for p in module.parameters())


@pytest.mark.parametrize(("side", "total"), [(256, 30_034_338), (1024, 30_370_060)])
def test_parameter_counts_are_the_published_ones(side, total):
    """Totals of configuration F, and the layers as NVIDIA's training log prints them."""
    with torch.device("meta"):
        network = StyleGAN2Generator(image_size=side)
    assert count(network) == total
    synthesis = network.synthesis
    assert count(network.mapping.fc0) == 262_656
    assert [count(m) for m in (synthesis.b64.conv0, synthesis.b64.conv1, synthesis.b64.torgb)] == [
        2_622_465,
        2_622_465,
        264_195,
    ]
    assert [count(m) for m in (synthesis.b128.conv0, synthesis.b128.conv1, synthesis.b128.torgb)] == [
        1_442_561,
        721_409,
        132_099,
    ]
    assert [count(m) for m in (synthesis.b256.conv0, synthesis.b256.conv1, synthesis.b256.torgb)] == [
        426_369,
        213_249,
        66_051,
    ]
    assert synthesis.b4.const.numel() == 8192


def test_modulated_convolution_equals_its_equations():
    torch.manual_seed(1)
    x, weight, style = torch.randn(2, 3, 5, 5), torch.randn(4, 3, 3, 3), torch.rand(2, 3) + 0.5
    out = _modulated(x, weight, style)
    for i in range(2):
        kernel = weight * style[i][None, :, None, None]
        kernel = kernel / torch.sqrt((kernel**2).sum(dim=(1, 2, 3), keepdim=True) + 1e-8)
        assert torch.allclose(out[i : i + 1], torch.nn.functional.conv2d(x[i : i + 1], kernel, padding=1), atol=1e-5)


def test_doubling_keeps_a_constant_inside_and_the_mean():
    image = torch.full((1, 2, 6, 6), 3.0)
    doubled = _doubled(image)
    assert doubled.shape == (1, 2, 12, 12)
    assert torch.allclose(doubled[:, :, 2:-2, 2:-2], torch.tensor(3.0))
    weight = torch.zeros(2, 2, 3, 3)
    weight[0, 0, 1, 1] = weight[1, 1, 1, 1] = 1.0
    styled = _modulated(image, weight, torch.ones(1, 2), up=True)
    assert torch.allclose(styled[:, :, 2:-2, 2:-2], torch.tensor(3.0), atol=1e-5)


def test_mapping_normalises(small):
    z = torch.randn(4, 16)
    assert torch.allclose(small.mapping(z), small.mapping(5 * z), atol=1e-4)
    assert torch.equal(small(z, truncation=0.0), small.synthesis(small.mapping.w_avg.expand(4, -1)))


def rosinality_state(network):
    """The same weights under rosinality's names and shapes."""
    ours = network.state_dict()
    out = {"input.input": ours["synthesis.b4.const"][None]}
    for i in range(3):
        out[f"style.{i + 1}.weight"] = ours[f"mapping.fc{i}.weight"]
        out[f"style.{i + 1}.bias"] = ours[f"mapping.fc{i}.bias"]
    convs = ["b4.conv1", "b8.conv0", "b8.conv1", "b16.conv0", "b16.conv1", "b32.conv0", "b32.conv1"]
    for number, name in enumerate(convs):
        theirs = "conv1" if number == 0 else f"convs.{number - 1}"
        p = f"synthesis.{name}."
        out[f"{theirs}.conv.weight"] = ours[p + "weight"][None]
        out[f"{theirs}.conv.modulation.weight"] = ours[p + "affine.weight"]
        out[f"{theirs}.conv.modulation.bias"] = ours[p + "affine.bias"]
        out[f"{theirs}.noise.weight"] = ours[p + "noise_strength"].reshape(1)
        out[f"{theirs}.activate.bias"] = ours[p + "bias"]
        out[f"noises.noise_{number}"] = ours[p + "noise_const"][None, None]
        if number % 2:
            out[f"{theirs}.conv.blur.kernel"] = torch.ones(4, 4)
    for number, side in enumerate((4, 8, 16, 32)):
        theirs = "to_rgb1" if number == 0 else f"to_rgbs.{number - 1}"
        p = f"synthesis.b{side}.torgb."
        out[f"{theirs}.conv.weight"] = ours[p + "weight"][None]
        out[f"{theirs}.conv.modulation.weight"] = ours[p + "affine.weight"]
        out[f"{theirs}.conv.modulation.bias"] = ours[p + "affine.bias"]
        out[f"{theirs}.bias"] = ours[p + "bias"].reshape(1, 3, 1, 1)
    return {"g_ema": out, "latent_avg": ours["mapping.w_avg"]}


def write_official_pickle(network, path):
    """As NVIDIA's persistence does: each module is its source code and its state; the source must never run."""
    fake = types.ModuleType("torch_utils.persistence")
    package = types.ModuleType("torch_utils")
    dnnlib = types.ModuleType("dnnlib.util")

    def _reconstruct_persistent_obj(meta):
        raise AssertionError("the loader called code of the checkpoint")

    class EasyDict(dict):
        pass

    _reconstruct_persistent_obj.__module__, EasyDict.__module__ = "torch_utils.persistence", "dnnlib.util"
    _reconstruct_persistent_obj.__qualname__, EasyDict.__qualname__ = "_reconstruct_persistent_obj", "EasyDict"
    fake._reconstruct_persistent_obj, dnnlib.EasyDict = _reconstruct_persistent_obj, EasyDict

    class Persistent:
        def __init__(self, module):
            self.module = module

        def __reduce__(self):
            state = dict(self.module.__dict__)
            state["_modules"] = {k: Persistent(v) for k, v in self.module._modules.items()}
            state["_buffers"] = {**self.module._buffers, "resample_filter": torch.ones(4, 4)}
            state = {k: v for k, v in state.items() if k in ("_parameters", "_buffers", "_modules", "training")}
            meta = EasyDict(type="class", version=6, module_src="raise SystemExit", class_name="Generator", state=state)
            return _reconstruct_persistent_obj, (meta,)

    names = {
        "torch_utils": package,
        "dnnlib": types.ModuleType("dnnlib"),
        "torch_utils.persistence": fake,
        "dnnlib.util": dnnlib,
    }
    sys.modules.update(names)
    try:
        path.write_bytes(pickle.dumps({"G_ema": Persistent(network), "training_set_kwargs": EasyDict(a=1)}))
    finally:
        for name in names:
            del sys.modules[name]


@pytest.mark.parametrize("layout", ["nvidia.pt", "nvidia.pkl", "rosinality.pt"])
def test_a_checkpoint_of_each_layout_gives_the_same_images(small, layout, tmp_path):
    path = tmp_path / layout
    if layout == "nvidia.pkl":
        write_official_pickle(small, path)
    else:
        state = small.state_dict()
        state["synthesis.b8.resample_filter"] = torch.ones(4, 4)
        torch.save({"G_ema": state} if layout == "nvidia.pt" else rosinality_state(small), path)
    loaded = load_stylegan2(path)
    z = torch.randn(3, 16)
    with torch.no_grad():
        assert torch.equal(loaded(z), small(z))
        assert torch.equal(loaded(z, 0.7), small(z, 0.7))


class Evil:
    def __reduce__(self):
        import os

        return os.mkdir, ("evil-was-here",)


@pytest.mark.parametrize("name", ["evil.pkl", "evil.pt"])
def test_code_in_a_checkpoint_does_not_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name.endswith("pkl"):
        (tmp_path / name).write_bytes(pickle.dumps({"G_ema": Evil()}))
    else:
        torch.save({"g_ema": Evil()}, tmp_path / name)
    with pytest.raises(ValueError, match=facts(name)):
        load_stylegan2(tmp_path / name)
    assert not (tmp_path / "evil-was-here").exists()


def test_what_is_no_stylegan2(small, tmp_path):
    path = tmp_path / "other.pt"
    torch.save({"a": torch.zeros(2)}, path)
    with pytest.raises(ValueError, match=facts("mapping.fc0.weight", "style.1.weight")):
        load_stylegan2(path)
    state = small.state_dict()
    del state["synthesis.b16.conv0.bias"]
    torch.save(state, path)
    with pytest.raises(ValueError, match=facts(32, "['synthesis.b16.conv0.bias']")):
        load_stylegan2(path)
    with pytest.raises(FileNotFoundError, match=facts("none.pkl", "StyleGAN2")):
        load_stylegan2(tmp_path / "none.pkl")


def test_named_manifolds(small):
    from unbraid_papers.generators.manifold import MANIFOLDS

    assert len(MANIFOLDS) == 8
    bed = datasets.load("gan-manifold", generator=small, manifold="bedroom", n_samples=200, image_size=16)
    assert bed.factor_names == ("component_5", "component_9")
    assert bed.factor_ranges == ((-1.5, 1.5),) * 2
    assert bed.shape == (16, 16, 3)
    with torch.no_grad():
        found = bed.directions
        w = found.mean + found.scales[5] * found.components[5] - found.scales[9] * found.components[9]
        w = torch.from_numpy(w[None].astype(np.float32))
        image = ((small.synthesis(w)[0] + 1) / 2).clamp(0, 1).reshape(3, 16, 2, 16, 2).mean(dim=(2, 4))
    assert bed.observe([[1, -1]])[0] == pytest.approx(image.permute(1, 2, 0).numpy(), abs=1e-5)
    assert math.isclose(np.linalg.norm(bed.directions.components[5]), 1, rel_tol=1e-4)
    with pytest.raises(ValueError, match=facts("'dog'", "ffhq, cat1, cat2")):
        datasets.load("gan-manifold", generator=small, manifold="dog")
