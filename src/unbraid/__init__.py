"""Recover the independent factors behind high-dimensional data, and say how far to trust them.

The public names load on first use: ``import unbraid`` pulls in neither torch nor scikit-learn.
"""

from importlib import import_module
from typing import Any

from unbraid.methods import METHODS

__version__ = "0.1.0"

_ROOMS = (
    "app",
    "autoencoders",
    "containers",
    "contrastive",
    "datasets",
    "diagnosis",
    "evaluation",
    "export",
    "flows",
    "geometry",
    "manifold",
    "meaning",
    "metrics",
    "networks",
    "probing",
    "product",
    "report",
    "spectral",
    "study",
    "testing",
    "theory",
)

_ESTIMATORS = {method.estimator: method for method in METHODS.values()}
_FUNCTIONS = {
    "Blocks": "data.sources",
    "DelayEmbedding": "containers.recordings",
    "Observations": "data.observations",
    "consistency": "nulls.consistency",
    "diagnose": "diagnosis",
    "evaluate": "evaluation",
    "explore": "app",
    "fit": "diagnosis",
    "load": "saving.persistence",
    "name": "meaning",
    "probe": "probing",
    "tracking": "runtime.tracking",
}
_MODULES = {
    "trackers": "runtime.tracking",
    "warnings": "trust.warnings",
    "anndata": "containers.anndata",
    "labelled": "containers.labelled",
}

__all__ = [*_ESTIMATORS, *_FUNCTIONS, *_ROOMS, *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"unbraid.{_MODULES[name]}")
    if name in _ROOMS:
        return import_module(f"unbraid.{name}")
    if name in _ESTIMATORS:
        return _ESTIMATORS[name].load()
    if name in _FUNCTIONS:
        return getattr(import_module(f"unbraid.{_FUNCTIONS[name]}"), name)
    raise AttributeError(f"unbraid has no {name!r}; it has: {', '.join(sorted(__all__))}")


def __dir__() -> list[str]:
    return sorted(__all__)
