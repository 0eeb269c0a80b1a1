"""What saved runs call things: the table of names, and which attributes a class takes.

A run names its classes by the short names below, never by module, so that moving a file breaks no run, and loading one
imports nothing that the file asks for. Names are for ever: a class that goes leaves its name unused.
"""

import dataclasses
import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from unbraid.methods import METHODS

# Objects that estimators hold, and where they live now.
RECORDS = {
    "Candidate": "spectral.selection",
    "Diagnosis": "diagnosis.findings",
    "Diagnostics": "spectral.diagnostics",
    "DimensionEstimate": "manifold.dimension",
    "ExpectedMCC": "trust.expected",
    "FactorCheck": "product.checks",
    "Finding": "diagnosis.findings",
    "LocalMaps": "spectral.extension",
    "ProductDiagnostics": "product.estimator",
    "ProductMaps": "product.diffusion",
    "Reduction": "manifold.reduction",
    "Refit": "spectral.refits",
    "Reliability": "spectral.refits",
    "Rotation": "spectral.ica",
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
    return name if is_ours and (name in RECORDS or name in _estimators()) else None


def class_of(name: Any) -> type:
    """The class that runs call so."""
    short = str(name)
    if short in _registered:
        return _registered[short]
    if short in _estimators():
        return _estimators()[short].load()
    if short not in RECORDS:
        raise ValueError(
            f"it names the class {name!r}, which is unknown here; if another package registers it, import that first"
        )
    return getattr(import_module(f"unbraid.{RECORDS[short]}"), short)


def _estimators() -> dict[str, Any]:
    return {method.estimator: method for method in METHODS.values()}


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
