"""One interface for anything that encodes: functions, estimators, torch modules, exported graphs, named models."""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.runtime.extras import require
from unbraid.saving.encoding import Encoder as StateEncoder
from unbraid.saving.encoding import Stateful

NAMED = ("pixels", "untrained", "efficientnet-lite0[:FILE.pth]", "timm:MODEL", "open_clip:MODEL/WEIGHTS")
LOADED = ("untrained", "efficientnet-lite0", "efficientnet-lite1", "efficientnet-lite2", "timm", "open_clip")
ENDINGS = {".onnx": "ONNX", ".pt2": "torch.export", ".pt": "TorchScript", ".ts": "TorchScript", ".torchscript": ""}


@dataclass(frozen=True)
class Encoder:
    """What a probe needs to know about an encoder.

    Attributes
    ----------
    name : str
    encode : callable
        From rows, as the data set stores them or as floats in the unit of ``wants_stored``, to codes (n, n_codes).
    n_parameters : int or None
        Number of trained parameters; None if unknown.
    content : str
        A checksum of everything that the codes depend on; "" if it is unknown, as for a function, and then codes are
        not cached.
    wants_stored : bool
        Whether it takes rows as stored (bytes stay bytes); otherwise floats, with images in [0, 1].
    """

    name: str
    encode: Callable[[Any], np.ndarray]
    n_parameters: int | None = None
    content: str = ""
    wants_stored: bool = False


def open_encoder(source: Any, prepare: Any = None, name: str = "") -> Encoder:
    """The encoder of a function, an estimator, a torch module, a file, a saved run, or a name.

    Parameters
    ----------
    source : callable, estimator, torch module, str or path
        A function takes a batch of rows as the data set stores them and gives (n, n_codes). A torch module takes float
        pictures (n, channels, height, width) in [0, 1], or vectors. Files: ``.onnx``, ``.pt2`` (torch.export), ``.pt``
        or ``.ts`` (TorchScript), a folder that ``save`` wrote. Names: ``pixels``, ``untrained``,
        ``efficientnet-lite0`` (``-lite1``, ``-lite2``) with the weights that ``unbraid datasets get`` fetched or those
        of ``efficientnet-lite0:FILE.pth``, ``timm:MODEL``, ``open_clip:MODEL/WEIGHTS``.
    prepare : Preparation, optional
        Channels, size and scale of the pictures for a torch module or graph; by default what it is known to take.
    name : str
        For tables; by default derived from the source.

    Returns
    -------
    Encoder

    Examples
    --------
    >>> open_encoder(lambda X: X.mean((1, 2)), name="brightness").encode(np.ones((2, 4, 4))).tolist()
    [[1.0], [1.0]]
    >>> open_encoder("pixels").encode(np.zeros((2, 4, 4))).shape
    (2, 16)
    """
    if isinstance(source, Encoder):
        return source
    if isinstance(source, str | os.PathLike):
        return _from_text(str(source), prepare, name)
    if hasattr(source, "transform") and not isinstance(source, type):
        _refuse_preparation(prepare, "an estimator prepares the data itself")
        return _from_estimator(source, name)
    if _is_module(source):
        from unbraid.probing.graphs import from_module

        return from_module(source, prepare, name or type(source).__name__)
    if callable(source):
        _refuse_preparation(prepare, "a function prepares the rows itself")
        return _from_function(source, name)
    raise TypeError(
        f"expected an encoder; received a {type(source).__name__}. Give a function, an estimator with "
        f"transform, a torch module, a file ({', '.join(ENDINGS)}), a saved run, or one of: {', '.join(NAMED)}."
    )


def _refuse_preparation(prepare: Any, why: str) -> None:
    if prepare is not None:
        raise ValueError(f"prepare applies only to torch modules and graphs: {why}.")


def _is_module(source: Any) -> bool:
    """Recognised by the names of its classes, so that functions and estimators do not need torch."""
    return any(c.__module__.startswith("torch.nn.modules") and c.__name__ == "Module" for c in type(source).__mro__)


def _from_function(function: Callable[[Any], Any], name: str) -> Encoder:
    from unbraid.probing.preparation import flat_codes

    name = name or getattr(function, "__name__", type(function).__name__)
    return Encoder(name, lambda rows: flat_codes(function(rows), name), wants_stored=True)


def _from_estimator(model: Any, name: str) -> Encoder:
    n_parameters, content = None, ""
    if isinstance(model, Stateful):
        writer = StateEncoder()
        words = json.dumps(writer(model, "model"), sort_keys=True)
        content = digest(words.encode(), *(np.ascontiguousarray(a).data for _, a in sorted(writer.arrays.items())))
        n_parameters = _numbers_of(writer.arrays)
    name = name or type(model).__name__
    return Encoder(name, lambda rows: np.asarray(model.transform(rows)), n_parameters, content, wants_stored=True)


def _numbers_of(arrays: dict[str, np.ndarray]) -> int:
    """Number of values that a model's codes depend on: an autoencoder's encoder weights, a flow's parameters."""
    for part in ("model.weights_['encoder.", "model.theta_"):
        found = [a.size for where, a in arrays.items() if where.startswith(part)]
        if found:
            return sum(found)
    return sum(a.size for a in arrays.values() if a.dtype.kind == "f")


def _from_text(text: str, prepare: Any, name: str) -> Encoder:
    kind, _, what = text.partition(":")
    path = Path(text)
    if (path / "config.json").is_file():
        from unbraid.saving.persistence import load

        _refuse_preparation(prepare, "a saved run prepares the data itself")
        return _from_estimator(load(path), name or path.name)
    if path.is_file():
        if path.suffix not in ENDINGS:
            raise ValueError(
                f"{path} has the extension {path.suffix!r}; encoders are {', '.join(ENDINGS)} files. Weights alone "
                "(.pth, .safetensors) need their network: load them in Python and give the module to unbraid.probe."
            )
        require("torch", "probe")
        from unbraid.probing.graphs import from_file

        return from_file(path, prepare, name or path.stem)
    if kind == "pixels" and not what:
        _refuse_preparation(prepare, "pixels are used unchanged")
        return Encoder(name or "pixels", lambda rows: np.asarray(rows).reshape(len(rows), -1), 0, digest(b"pixels"))
    if kind in LOADED:
        require("torch", "probe")
        from unbraid.probing.named import NAMES

        return NAMES[kind](what, prepare, name)
    raise FileNotFoundError(
        f"{text} is not a file, a saved run, or the name of an encoder. Files: {', '.join(ENDINGS)}; folders "
        f"that save() wrote; names: {', '.join(NAMED)}."
    )


def digest(*parts: Any) -> str:
    """A short checksum of bytes and buffers, in their order.

    >>> digest(b"a", b"b") == digest(b"ab")
    False
    """
    found = hashlib.sha256()
    for part in parts:
        view = memoryview(part).cast("B") if memoryview(part).nbytes else memoryview(b"")
        found.update(view.nbytes.to_bytes(8, "little"))
        found.update(view)
    return found.hexdigest()[:24]
