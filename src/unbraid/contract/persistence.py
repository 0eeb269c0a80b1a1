"""Save and load estimators as a folder of ``config.json`` and ``arrays.safetensors``; never pickle.

A saved run is safe to share: loading it reads numbers and names, and builds only classes of this package.
"""

import dataclasses
import json
import math
import os
import shutil
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np

FORMAT = 1
CONFIG, ARRAYS = "config.json", "arrays.safetensors"


class Persistent:
    """Mixin that gives an object ``save(path)``; :func:`load` brings it back.

    The state is the object's ``__dict__``: numbers, strings, arrays, sparse matrices, and lists, dicts, dataclasses
    and Persistent objects of these. A class that holds something else (a torch module) overrides
    :meth:`_get_state` and :meth:`_set_state`.
    """

    def save(self, path: str | os.PathLike) -> Path:
        """Write to the folder ``path``. An earlier run there is replaced only once the new one is complete."""
        return save(self, path)

    def _get_state(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def _set_state(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @classmethod
    def load(cls, path: str | os.PathLike) -> Self:
        """Read what :meth:`save` wrote, and check that it is of this class."""
        model = load(path)
        if not isinstance(model, cls):
            raise TypeError(f"{path} holds a {type(model).__name__}, not a {cls.__name__}. Use unbraid.load(path).")
        return model


def save(obj: Persistent, path: str | os.PathLike) -> Path:
    """Write ``obj`` to the folder ``path``, whole or not at all."""
    from safetensors.numpy import save_file

    from unbraid import __version__

    path = Path(path)
    if path.exists() and not (path / CONFIG).is_file() and (not path.is_dir() or any(path.iterdir())):
        raise FileExistsError(f"{path} exists and is not a saved run; it was left alone. Choose another path.")
    arrays: dict[str, np.ndarray] = {}
    config = {
        "format": FORMAT,
        "unbraid": __version__,
        "class": type(obj).__name__,
        "object": _encode(obj, arrays, type(obj).__name__),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        save_file(arrays, new / ARRAYS)
        (new / CONFIG).write_text(json.dumps(config, indent=1), encoding="utf-8")
        new.chmod(0o755)
        _keep_other_files(path, new)
        _swap(new, path)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    return path


def _keep_other_files(old: Path, new: Path) -> None:
    """Reports and logs beside a run survive its replacement."""
    if old.is_dir():
        for item in old.iterdir():
            if item.name not in (CONFIG, ARRAYS):
                (shutil.copytree if item.is_dir() else shutil.copy2)(item, new / item.name)


def _swap(new: Path, path: Path) -> None:
    if not path.exists():
        new.rename(path)
        return
    old = path.with_name(f".{path.name}.old-{os.getpid()}")
    path.rename(old)
    try:
        new.rename(path)
    except OSError:
        old.rename(path)
        raise
    shutil.rmtree(old)


def load(path: str | os.PathLike) -> Any:
    """Read an estimator that ``save`` wrote.

    Parameters
    ----------
    path : str or path
        The folder that was given to ``save``.

    Returns
    -------
    The fitted estimator.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    path = Path(path)
    if not (path / CONFIG).is_file():
        raise FileNotFoundError(f"{path} is not a saved run: {CONFIG} is missing. Give the folder that save() wrote.")
    try:
        config = json.loads((path / CONFIG).read_text(encoding="utf-8"))
        arrays = load_file(path / ARRAYS)
    except (json.JSONDecodeError, UnicodeDecodeError, SafetensorError, FileNotFoundError) as error:
        raise ValueError(f"{path} is damaged ({error}). Save the model again.") from error
    if config.get("format") != FORMAT:
        raise ValueError(
            f"{path} has format {config.get('format')!r} and this unbraid reads {FORMAT}; "
            f"it was written by unbraid {config.get('unbraid')}."
        )
    try:
        return _decode(config["object"], arrays)
    except KeyError as error:
        raise ValueError(f"{path} is damaged: {error} is missing. Save the model again.") from error


def _encode(value: Any, arrays: dict[str, np.ndarray], where: str) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, np.ndarray):
        return _encode_array(value, arrays, where)
    if isinstance(value, list):
        return [_encode(v, arrays, f"{where}[{i}]") for i, v in enumerate(value)]
    if isinstance(value, tuple) and type(value) is tuple:
        return {"tuple": [_encode(v, arrays, f"{where}[{i}]") for i, v in enumerate(value)]}
    if isinstance(value, dict):
        return {"dict": [[_encode(k, arrays, where), _encode(v, arrays, f"{where}[{k!r}]")] for k, v in value.items()]}
    if type(value).__module__.startswith("scipy.sparse"):
        csr = value.tocsr()
        parts = {k: _encode_array(getattr(csr, k), arrays, f"{where}.{k}") for k in ("data", "indices", "indptr")}
        return {"csr": parts, "shape": list(csr.shape)}
    if _is_ours(type(value)):
        if isinstance(value, Persistent):
            state = value._get_state()
        else:
            state = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {
            "object": f"{type(value).__module__}:{type(value).__qualname__}",
            "state": {k: _encode(v, arrays, f"{where}.{k}") for k, v in state.items()},
        }
    raise TypeError(
        f"{where} is a {type(value).__name__}, which cannot be saved without pickle. "
        "Saved runs hold numbers, strings, arrays and containers of them; set it to one of these before saving."
    )


def _encode_array(value: np.ndarray, arrays: dict[str, np.ndarray], where: str) -> dict:
    if value.dtype.kind in "USO":
        items = value.ravel().tolist()
        if not all(isinstance(v, bool | int | float | str | None) for v in items):
            raise TypeError(f"{where} is an array of Python objects, which cannot be saved without pickle.")
        return {"items": items, "shape": list(value.shape), "dtype": value.dtype.str}
    arrays[where] = np.ascontiguousarray(value)
    return {"array": where}


def _decode(node: Any, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(node, list):
        return [_decode(v, arrays) for v in node]
    if not isinstance(node, dict):
        return node
    if "array" in node:
        return arrays[node["array"]]
    if "items" in node:
        return np.array(node["items"], dtype=np.dtype(node["dtype"])).reshape(node["shape"])
    if "float" in node:
        return float(node["float"])
    if "tuple" in node:
        return tuple(_decode(v, arrays) for v in node["tuple"])
    if "dict" in node:
        return {_decode(k, arrays): _decode(v, arrays) for k, v in node["dict"]}
    if "csr" in node:
        from scipy.sparse import csr_array

        parts = {k: _decode(v, arrays) for k, v in node["csr"].items()}
        return csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(node["shape"]))
    return _build(node, arrays)


def _build(node: dict, arrays: dict[str, np.ndarray]) -> Any:
    module, _, name = node["object"].partition(":")
    if module.split(".")[0] != "unbraid":
        raise ValueError(f"the saved run names the class {node['object']}, which is not of unbraid; it was not loaded.")
    cls: Any = import_module(module)
    for part in name.split("."):
        cls = getattr(cls, part)
    if not (isinstance(cls, type) and _is_ours(cls)):
        raise ValueError(f"the saved run names {node['object']}, which is not an estimator; it was not loaded.")
    state = {k: _decode(v, arrays) for k, v in node["state"].items()}
    obj: Any = object.__new__(cls)
    if isinstance(obj, Persistent):
        obj._set_state(state)
    else:
        for k, v in state.items():
            object.__setattr__(obj, k, v)
    return obj


def _is_ours(cls: type) -> bool:
    ours = cls.__module__.split(".")[0] == "unbraid"
    return ours and (issubclass(cls, Persistent) or dataclasses.is_dataclass(cls))
