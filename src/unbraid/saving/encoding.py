"""Python values as JSON and named arrays, and back; what saved runs are written in.

Numbers, strings, arrays, sparse matrices, random states, lists, tuples, dicts, and objects of classes in a table of
names. Nothing else: no pickle, no code. A run names its classes by the short names below, never by module, so that
moving a file breaks no run, and loading one imports nothing that the file asks for. Names are permanent: the name of a
class that is removed stays unused.
"""

import dataclasses
import inspect
import math
import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from unbraid.methods import estimators_of

# Objects that estimators hold, and where they live now.
RECORDS = {
    "Adjustment": "data.covariates",
    "Candidate": "spectral.selection",
    "ClosedCurve": "product.curve",
    "Counts": "data.counts",
    "Design": "data.covariates",
    "Diagnosis": "diagnosis.findings",
    "Diagnostics": "spectral.diagnostics",
    "DimensionEstimate": "manifold.dimension",
    "ExpectedMCC": "trust.expected",
    "FactorCheck": "product.checks",
    "Filling": "spectral.gaps",
    "Finding": "diagnosis.findings",
    "GapPCA": "spectral.gaps",
    "LinearDiagnostics": "spectral.diagnostics",
    "LocalMaps": "spectral.extension",
    "NullTest": "nulls.null",
    "ProductDiagnostics": "product.choice",
    "ProductMaps": "product.diffusion",
    "Reduction": "manifold.reduction",
    "Remembered": "data.covariates",
    "Refit": "spectral.refits",
    "Reliability": "spectral.refits",
    "Rotation": "spectral.ica",
    "Screen": "manifold.screening",
    "Selection": "spectral.selection",
}

_registered: dict[str, type] = {}


def register(cls: type) -> type:
    """Let runs hold objects of a class that is not of this package; use it as a decorator.

    Parameters
    ----------
    cls : type
        A dataclass, or a subclass of :class:`~unbraid.saving.persistence.Persistent`, such as every estimator here.
        Runs name it ``package:Class``. The module that registers it must be imported before such a run is loaded.

    Returns
    -------
    type
        The class itself.

    Examples
    --------
    >>> @register
    ... @dataclasses.dataclass
    ... class Ruler:
    ...     length: float
    >>> name_of(Ruler)
    'unbraid:Ruler'
    """
    name = f"{cls.__module__.partition('.')[0]}:{cls.__qualname__}"
    if _registered.get(name, cls).__module__ != cls.__module__:
        raise ValueError(f"{name} is registered already, by {_registered[name].__module__}; rename one of the two.")
    _registered[name] = cls
    return cls


def name_of(cls: type) -> str | None:
    """What runs call this class; None if they cannot hold it."""
    for name, known in _registered.items():
        if known is cls:
            return name
    name = cls.__name__
    is_ours = cls.__module__.partition(".")[0] == "unbraid"
    return name if is_ours and (name in RECORDS or name in estimators_of()) else None


def class_of(name: Any) -> type:
    """The class that runs call so."""
    short = str(name)
    if short in _registered:
        return _registered[short]
    if short in estimators_of():
        return estimators_of()[short].load()
    if short not in RECORDS:
        raise ValueError(
            f"it names the class {name!r}, which is unknown here; if another package registers it, import that first"
        )
    return getattr(import_module(f"unbraid.{RECORDS[short]}"), short)


def parameters_of(cls: type) -> dict[str, inspect.Parameter]:
    """What ``__init__`` takes."""
    return dict(list(inspect.signature(cls.__init__).parameters.items())[1:])  # type: ignore[misc]


def completed(cls: type, state: Mapping[str, Any]) -> dict[str, Any]:
    """The state of an object, with the defaults of parameters that it lacks.

    A state that lacks a parameter without a default, or has a public attribute that is neither a parameter (of the
    class or of a parent) nor a fitted one (``name_``), is refused.
    """
    state, parameters = dict(state), parameters_of(cls)
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return state
    inherited = {k for parent in cls.__mro__ for k in parameters_of(parent)}
    unknown = [k for k in state if k not in inherited and not k.startswith("_") and not k.endswith("_")]
    if unknown:
        raise ValueError(f"{cls.__name__} has no {', '.join(unknown)}")
    absent = {k: p.default for k, p in parameters.items() if k not in state}
    lacking = [k for k, default in absent.items() if default is inspect.Parameter.empty]
    if lacking:
        raise ValueError(f"{cls.__name__} lacks {', '.join(lacking)}")
    for field in dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ():
        if field.name in absent and field.default_factory is not dataclasses.MISSING:
            absent[field.name] = field.default_factory()
    return absent | state


BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


class Stateful:
    """An object whose state can be written; the parent of what :mod:`unbraid.saving.persistence` saves."""

    def _get_state(self) -> dict[str, Any]:
        """What is written: by default all attributes."""
        return dict(self.__dict__)

    def _set_state(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


class Encoder:
    """Values to JSON; arrays are collected under names that show where they belong.

    >>> encoder = Encoder()
    >>> encoder({"a": (1, np.arange(3))}, "model")
    {'dict': [['a', {'tuple': [1, {'array': "model['a'][1]"}]}]]}
    >>> encoder.arrays
    {"model['a'][1]": array([0, 1, 2])}
    """

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}

    def __call__(self, value: Any, where: str) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, list):
            return self._items(value, where)
        if type(value) is tuple:
            return {"tuple": self._items(value, where)}
        if isinstance(value, dict):
            return {"dict": [[self(k, where), self(v, f"{where}[{k!r}]")] for k, v in value.items()]}
        if type(value).__module__.startswith("scipy.sparse"):
            csr = value.tocsr()
            parts = {k: self._array(getattr(csr, k), f"{where}.{k}") for k in ("data", "indices", "indptr")}
            return {"csr": parts, "shape": list(csr.shape)}
        if isinstance(value, np.random.RandomState):
            return {"random": "RandomState", "state": self(value.get_state(legacy=False), where)}
        if isinstance(value, np.random.Generator):
            return {"random": "Generator", "state": self(value.bit_generator.state, where)}
        return self._object(value, where)

    def _items(self, values: Any, where: str) -> list[Any]:
        return [self(v, f"{where}[{i}]") for i, v in enumerate(values)]

    def _array(self, value: np.ndarray, where: str) -> dict[str, Any]:
        if value.dtype.kind in "USO":
            items = value.ravel().tolist()
            if not all(isinstance(v, bool | int | float | str | None) for v in items):
                raise TypeError(f"{where} is an array of Python objects, which cannot be saved without pickle.")
            return {"items": self._items(items, where), "shape": list(value.shape), "dtype": value.dtype.str}
        self.arrays[where] = np.ascontiguousarray(value)
        return {"array": where}

    def _object(self, value: Any, where: str) -> dict[str, Any]:
        name = name_of(type(value))
        if name is None:
            remedy = "Runs can hold numbers, strings, arrays and containers of them; set it to one of these first."
            if isinstance(value, Stateful) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
                remedy = "Decorate the class with unbraid.saving.encoding.register to save it by its name."
            raise TypeError(f"{where} is a {type(value).__name__}, which cannot be saved without pickle. {remedy}")
        if isinstance(value, Stateful):
            state = value._get_state()
        else:
            state = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {"object": name, "state": {k: self(v, f"{where}.{k}") for k, v in state.items()}}


class Decoder:
    """JSON to values. Each array is handed out once; those that nothing asked for are left in ``arrays``."""

    def __init__(self, arrays: Mapping[str, np.ndarray]):
        self.arrays = dict(arrays)
        self._kinds = {
            "array": self._array,
            "items": self._text,
            "float": lambda node: float(node["float"]),
            "tuple": lambda node: tuple(self(v) for v in node["tuple"]),
            "dict": lambda node: {self(k): self(v) for k, v in node["dict"]},
            "csr": self._sparse,
            "random": self._random,
            "object": self._object,
        }

    def __call__(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self(v) for v in node]
        if not isinstance(node, dict):
            return node
        for kind, decode in self._kinds.items():
            if kind in node:
                return decode(node)
        raise ValueError(f"it holds a value of no known kind, with the keys {', '.join(map(repr, node)) or '(none)'}")

    def _array(self, node: dict[str, Any]) -> np.ndarray:
        if node["array"] not in self.arrays:
            raise ValueError(f"the array {node['array']} is missing")
        return self.arrays.pop(node["array"])

    def _text(self, node: dict[str, Any]) -> np.ndarray:
        dtype = np.dtype(node["dtype"])
        if dtype.kind not in "USO":
            raise ValueError(f"it writes an array of {dtype} as text")
        return np.array(self(node["items"]), dtype=dtype).reshape(node["shape"])

    def _sparse(self, node: dict[str, Any]) -> Any:
        from scipy.sparse import csr_array

        parts = {k: self(v) for k, v in node["csr"].items()}
        return csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(node["shape"]))

    def _random(self, node: dict[str, Any]) -> np.random.RandomState | np.random.Generator:
        state = self(node["state"])
        if state["bit_generator"] not in BIT_GENERATORS or node["random"] not in ("RandomState", "Generator"):
            raise ValueError(f"it holds a random state of the unknown kind {state['bit_generator']!r}")
        bits = getattr(np.random, state["bit_generator"])(0)
        if node["random"] == "Generator":
            bits.state = state
            return np.random.Generator(bits)
        random_state = np.random.RandomState(bits)
        random_state.set_state(state)
        return random_state

    def _object(self, node: dict[str, Any]) -> Any:
        cls: Any = class_of(node["object"])
        state = completed(cls, {k: self(v) for k, v in node["state"].items()})
        obj = object.__new__(cls)
        if isinstance(obj, Stateful):
            obj._set_state(state)
        else:
            for k, v in state.items():
                object.__setattr__(obj, k, v)
        return obj
