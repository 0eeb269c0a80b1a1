"""NICE, RealNVP, GIN and self-supervised GIN."""

from typing import Any

from unbraid.methods import estimators_of

_ESTIMATORS = estimators_of("flows")

__all__ = [*_ESTIMATORS]


def __getattr__(name: str) -> Any:
    if name in _ESTIMATORS:
        return _ESTIMATORS[name].load()
    raise AttributeError(f"unbraid.flows has no {name!r}; it has: {', '.join(sorted(__all__))}")
