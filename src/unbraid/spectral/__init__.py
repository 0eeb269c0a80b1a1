"""HLLE+ICA and its relatives: eigenvectors of a neighbour graph, then independent components."""

from typing import Any

from unbraid.methods import estimators_of

_ESTIMATORS = estimators_of("spectral")

__all__ = [*_ESTIMATORS]


def __getattr__(name: str) -> Any:
    if name in _ESTIMATORS:
        return _ESTIMATORS[name].load()
    raise AttributeError(f"unbraid.spectral has no {name!r}; it has: {', '.join(sorted(__all__))}")
