"""Checkpoints of StyleGAN2: NVIDIA's and rosinality's layouts, read as numbers; no code in them runs."""

import io
import os
import pickle
import re
from pathlib import Path
from typing import Any

import torch

from unbraid_papers.generators.stylegan2 import StyleGAN2Generator

State = dict[str, torch.Tensor]


def load_stylegan2(path: str | os.PathLike) -> StyleGAN2Generator:
    """The generator in a checkpoint, its size and layout read off the weights.

    Parameters
    ----------
    path : path
        NVIDIA's ``.pkl`` (the average generator ``G_ema`` is taken) or a state dict with its names; or rosinality's
        ``.pt`` (``g_ema``).

    Returns
    -------
    StyleGAN2Generator, in evaluation mode
    """
    return generator_from_state(read_state(Path(path)))


def generator_from_state(state: State) -> StyleGAN2Generator:
    """The generator that fits a state dict of either layout."""
    if "style.1.weight" in state:
        state = _from_rosinality(state)
    if "mapping.fc0.weight" not in state or "synthesis.b4.const" not in state:
        raise ValueError(
            "these are not the weights of a StyleGAN2 generator: neither mapping.fc0.weight (NVIDIA) nor "
            f"style.1.weight (rosinality) is there; keys start with {', '.join(list(state)[:4])}."
        )
    sides = [int(m[1]) for k in state if (m := re.fullmatch(r"synthesis\.b(\d+)\.conv1\.weight", k))]
    wide = {side: state[f"synthesis.b{side}.conv1.weight"].shape[0] for side in sides}
    size = state["mapping.fc0.weight"].shape[1]
    if state["mapping.fc0.weight"].shape != (size, size):
        raise ValueError("this generator is conditioned on labels, which is not supported; use an unconditional one.")
    network = StyleGAN2Generator(
        image_size=max(sides),
        latent_size=size,
        n_mapping=sum(bool(re.fullmatch(r"mapping\.fc\d+\.weight", k)) for k in state),
        channels=state["synthesis.b4.torgb.weight"].shape[0],
        width=wide[max(sides)] * max(sides),
        widest=max(wide.values()),
    )
    wanted = network.state_dict()
    missing = [k for k in wanted if k not in state]
    misfits = [k for k in wanted if k in state and state[k].shape != wanted[k].shape]
    if missing or misfits:
        raise ValueError(
            f"the checkpoint does not fit a StyleGAN2 generator of {max(sides)} pixels: missing {missing[:3]}, of "
            f"another shape {misfits[:3]}."
        )
    network.load_state_dict({k: state[k] for k in wanted})
    return network.eval()


def read_state(path: Path) -> State:
    """The generator's state dict in a checkpoint file, without running anything in it."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}. Give the path of a StyleGAN2 checkpoint.")
    try:
        if path.suffix == ".pkl":
            with path.open("rb") as file:
                content: Any = _NumbersOnly(file).load()
        else:
            content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise ValueError(
            f"{path} cannot be read as a checkpoint ({type(error).__name__}: {str(error).splitlines()[0]}). It is "
            "damaged, or of another kind."
        ) from error
    average = content.get("latent_avg") if isinstance(content, dict) else None
    for key in ("G_ema", "g_ema", "netG_state_dict", "generator", "state_dict"):
        if isinstance(content, dict) and key in content:
            content = content[key]
    if isinstance(content, _Module):
        content = content.tensors()
    if not isinstance(content, dict) or not content or not all(isinstance(v, torch.Tensor) for v in content.values()):
        raise ValueError(f"{path} holds no generator: expected weights under G_ema or g_ema, or a state dict.")
    if isinstance(average, torch.Tensor):
        content = {**content, "latent_avg": average}
    return content


def _from_rosinality(state: State) -> State:
    """Rosinality's names as NVIDIA's; the weights themselves mean the same."""
    out: State = {"synthesis.b4.const": state["input.input"][0]}
    out["mapping.w_avg"] = state.get("latent_avg", torch.zeros(state["style.1.weight"].shape[1]))
    i = 1
    while f"style.{i}.weight" in state:
        out[f"mapping.fc{i - 1}.weight"] = state[f"style.{i}.weight"]
        out[f"mapping.fc{i - 1}.bias"] = state[f"style.{i}.bias"]
        i += 1
    count = sum(bool(re.fullmatch(r"convs\.\d+\.conv\.weight", k)) for k in state)
    convs = [("conv1", "b4.conv1")] + [(f"convs.{i}", f"b{8 << i // 2}.conv{i % 2}") for i in range(count)]
    for number, (theirs, ours) in enumerate(convs):
        out |= {
            f"synthesis.{ours}.weight": state[f"{theirs}.conv.weight"][0],
            f"synthesis.{ours}.affine.weight": state[f"{theirs}.conv.modulation.weight"],
            f"synthesis.{ours}.affine.bias": state[f"{theirs}.conv.modulation.bias"],
            f"synthesis.{ours}.bias": state[f"{theirs}.activate.bias"],
            f"synthesis.{ours}.noise_strength": state[f"{theirs}.noise.weight"].reshape([]),
            f"synthesis.{ours}.noise_const": state[f"noises.noise_{number}"][0, 0],
        }
    for theirs, ours in [("to_rgb1", "b4")] + [(f"to_rgbs.{i}", f"b{8 << i}") for i in range(count // 2)]:
        out |= {
            f"synthesis.{ours}.torgb.weight": state[f"{theirs}.conv.weight"][0],
            f"synthesis.{ours}.torgb.affine.weight": state[f"{theirs}.conv.modulation.weight"],
            f"synthesis.{ours}.torgb.affine.bias": state[f"{theirs}.conv.modulation.bias"],
            f"synthesis.{ours}.torgb.bias": state[f"{theirs}.bias"].flatten(),
        }
    return out


class _Module(dict):
    """What stands for any object of a pickle: its state, nothing of its class."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, dict):
            self.update(state)

    def tensors(self, prefix: str = "") -> State:
        """The state dict of the torch module that was pickled."""
        own = {**self.get("_parameters", {}), **self.get("_buffers", {})}
        out = {prefix + k: v.detach() for k, v in own.items() if isinstance(v, torch.Tensor)}
        for name, child in self.get("_modules", {}).items():
            if isinstance(child, _Module):
                out |= child.tensors(f"{prefix}{name}.")
        return out


def _persistent(meta: dict) -> _Module:
    """NVIDIA pickles an object as its source code and its state; the code is left where it is."""
    module = _Module()
    module.__setstate__(meta.get("state"))
    return module


def _storage(data: bytes) -> Any:
    return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)


class _NumbersOnly(pickle.Unpickler):
    """Builds tensors and plain containers; every other class becomes a :class:`_Module`, every function nothing."""

    def find_class(self, module: str, name: str) -> Any:
        from collections import OrderedDict

        known = {
            ("collections", "OrderedDict"): OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): torch._utils._rebuild_tensor_v2,
            ("torch._utils", "_rebuild_parameter"): torch._utils._rebuild_parameter,
            ("torch.storage", "_load_from_bytes"): _storage,
            ("torch_utils.persistence", "_reconstruct_persistent_obj"): _persistent,
        }
        return known.get((module, name), _Module)
