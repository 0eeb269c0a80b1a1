"""Torch modules and exported graphs as encoders: torch.export, TorchScript and ONNX."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from unbraid.probing.encoders import Encoder, digest
from unbraid.probing.preparation import Preparation, flat_codes
from unbraid.runtime.extras import require


def from_module(module: nn.Module, prepare: Preparation | None, name: str, content: str = "") -> Encoder:
    """A torch module, run in evaluation mode and restored afterwards. Its weights show how many channels it takes.

    >>> from_module(nn.Conv2d(3, 8, 3), None, "one layer").encode(np.zeros((2, 16, 16), np.float32)).shape
    (2, 8)
    """
    prepare = prepare or Preparation(channels=_channels_of(module))
    tensors = list(module.parameters())
    device = tensors[0].device if tensors else torch.device("cpu")

    def encode(rows: np.ndarray) -> np.ndarray:
        x = prepare(rows).to(device)
        was_training = [part for part in module.modules() if part.training]
        try:
            module.eval()
            with torch.no_grad():
                return flat_codes(module(x), name)
        finally:
            for part in was_training:
                part.training = True

    n_parameters = sum(p.numel() for p in tensors)
    return Encoder(name, encode, n_parameters, content or _content_of(module, prepare))


def _channels_of(module: nn.Module) -> int | None:
    """Input channels of the first convolution; None without one."""
    kernels = [p for p in module.parameters() if p.ndim == 4]
    return int(kernels[0].shape[1]) if kernels else None


def _content_of(module: nn.Module, prepare: Preparation) -> str:
    """Checksum of structure and weights; the code of a custom ``forward`` is not included."""
    state = module.state_dict()
    arrays = [v.detach().cpu().contiguous().view(torch.uint8).numpy() for v in state.values() if v.numel() and v.ndim]
    loose = [str(v.item()).encode() for v in state.values() if v.numel() and not v.ndim]
    return digest(repr(module).encode(), repr(prepare).encode(), ",".join(state).encode(), *loose, *arrays)


def from_file(path: Path, prepare: Preparation | None, name: str) -> Encoder:
    """The encoder of an ``.onnx``, ``.pt2``, ``.pt`` or ``.ts`` file."""
    content = digest(path.read_bytes(), repr(prepare).encode())
    if path.suffix == ".onnx":
        return _from_onnx(path, prepare, name, content)
    if path.suffix == ".pt2":
        return _from_program(path, prepare, name, content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # torch advises torch.export for new files
            module = torch.jit.load(str(path), map_location="cpu")
    except RuntimeError as error:
        raise ValueError(
            f"{path} is not a TorchScript file ({str(error).splitlines()[0]}). A state dict (weights alone) needs its "
            "network: load it in Python and give the module to unbraid.probe."
        ) from error
    return from_module(module, prepare, name, content)


def _from_program(path: Path, prepare: Preparation | None, name: str, content: str) -> Encoder:
    """torch.export: if its batch size is fixed, rows are encoded in such batches, and the last one is padded."""
    program = torch.export.load(str(path))
    inputs = [node for node in program.graph.nodes if node.name in program.graph_signature.user_inputs]
    shape = tuple(inputs[0].meta["val"].shape)
    module = program.module()
    n_parameters = sum(p.numel() for p in module.parameters())
    prepare = prepare or _of_shape([int(s) if isinstance(s, int) else None for s in shape])

    def run(x: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return flat_codes(module(torch.from_numpy(x)), name)

    batch = shape[0] if isinstance(shape[0], int) else None
    return Encoder(name, lambda rows: _by_fixed(run, prepare(rows).numpy(), batch), n_parameters, content)


def _from_onnx(path: Path, prepare: Preparation | None, name: str, content: str) -> Encoder:
    """ONNX by onnxruntime, on the CPU. If its input has the shape of the rows, they are passed unchanged."""
    runtime = require("onnxruntime", "probe")
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    if len(session.get_inputs()) != 1:
        given = ", ".join(i.name for i in session.get_inputs())
        raise ValueError(
            f"{path} has the inputs {given}; an encoder must have one. Give a function that calls the session."
        )
    taken = session.get_inputs()[0]
    shape = [s if isinstance(s, int) else None for s in taken.shape]
    first = session.get_outputs()[0].name
    dtype = {"tensor(float)": np.float32, "tensor(double)": np.float64}.get(taken.type)
    if dtype is None:
        raise ValueError(f"{path} takes {taken.type}; an encoder takes tensor(float) or tensor(double).")

    def run(x: np.ndarray) -> np.ndarray:
        return flat_codes(session.run([first], {taken.name: x.astype(dtype)})[0], name)

    def encode(rows: np.ndarray) -> np.ndarray:
        unchanged = prepare is None and list(rows.shape[1:]) == shape[1:]
        x = rows if unchanged else (prepare or _of_shape(shape))(rows).numpy()
        return _by_fixed(run, x, shape[0])

    return Encoder(name, encode, _onnx_parameters(path), content)


def _onnx_parameters(path: Path) -> int | None:
    """Number of values in the graph's float initialisers, its weights; None without the package onnx."""
    try:
        onnx = require("onnx", "probe")
    except ModuleNotFoundError:
        return None
    floats = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16)
    weights = onnx.load(str(path), load_external_data=False).graph.initializer
    return int(sum(np.prod(w.dims) for w in weights if w.data_type in floats))


def _of_shape(shape: list[int | None]) -> Preparation:
    """Channels and size of (batch, channels, height, width), as far as they are fixed."""
    if len(shape) != 4:
        return Preparation()
    size = (shape[2], shape[3])
    return Preparation(shape[1], None if None in size else size)  # type: ignore[arg-type]


def _by_fixed(run: Any, x: np.ndarray, batch: int | None) -> np.ndarray:
    """Encode in batches of a fixed size; the last one is padded with its first row."""
    if batch is None:
        return run(x)
    parts = []
    for start in range(0, len(x), batch):
        part = x[start : start + batch]
        filled = np.concatenate([part, np.repeat(part[:1], batch - len(part), axis=0)])
        parts.append(run(filled)[: len(part)])
    return np.concatenate(parts)
