"""NICE, RealNVP, GIN and self-supervised GIN."""

from typing import Any

from unbraid.methods import estimators_of

_ESTIMATORS = estimators_of("flows")

# for strongly nonlinear mixings, as GIN(**NONLINEAR): wide sub-networks find what the papers' narrow ones do not
NONLINEAR = {"hidden": 64, "batch_size": 500, "max_steps": 2000, "n_init": 3}

__all__ = ["NONLINEAR", *_ESTIMATORS]


def __getattr__(name: str) -> Any:
    if name in _ESTIMATORS:
        return _ESTIMATORS[name].load()
    raise AttributeError(f"unbraid.flows has no {name!r}; it has: {', '.join(sorted(__all__))}")
