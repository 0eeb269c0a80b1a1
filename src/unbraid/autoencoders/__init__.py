"""Autoencoder, IRMAE, the Hessian autoencoder, the six VAEs of the large study, and those that learn from evidence."""

from typing import Any

from unbraid.methods import estimators_of

_ESTIMATORS = estimators_of("autoencoders")

__all__ = [*_ESTIMATORS]


def __getattr__(name: str) -> Any:
    if name in _ESTIMATORS:
        return _ESTIMATORS[name].load()
    raise AttributeError(f"unbraid.autoencoders has no {name!r}; it has: {', '.join(sorted(__all__))}")
