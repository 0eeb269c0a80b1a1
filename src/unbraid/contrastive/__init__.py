"""Contrastive learning: an encoder trained to tell rows that belong together from rows that do not."""

from typing import Any

from unbraid.methods import estimators_of

_ESTIMATORS = estimators_of("contrastive")

__all__ = [*_ESTIMATORS]


def __getattr__(name: str) -> Any:
    if name in _ESTIMATORS:
        return _ESTIMATORS[name].load()
    raise AttributeError(f"unbraid.contrastive has no {name!r}; it has: {', '.join(sorted(__all__))}")
