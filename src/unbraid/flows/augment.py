"""How a user's augmentation is called for self-supervised GIN."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np


def caller(augment: Callable) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    """``augment`` as a function of points and a generator: one that takes points only is called so.

    >>> caller(lambda x: x + 1)(np.zeros(2), np.random.default_rng(0))
    array([1., 1.])
    """
    try:
        parameters = inspect.signature(augment).parameters
    except (TypeError, ValueError):
        return lambda X, rng: np.asarray(augment(X))
    for name in ("rng", "generator"):
        if name in parameters:
            return lambda X, rng: np.asarray(augment(X, **{name: rng}))
    if "random_state" in parameters:
        return lambda X, rng: np.asarray(augment(X, random_state=int(rng.integers(2**31 - 1))))
    needed = [
        p for p in parameters.values()
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]  # fmt: skip
    if len(needed) >= 2:
        return lambda X, rng: np.asarray(augment(X, rng))
    return lambda X, rng: np.asarray(augment(X))


def draw_sets(augment: Any, X: np.ndarray, n_members: int, rng: np.random.Generator) -> np.ndarray:
    """Sets (n, M, ...): what ``augment`` returns if it returns sets, else M calls of it."""
    first = augment(X, rng)
    if first.ndim == X.ndim + 1 and first.shape[0] == len(X) and first.shape[2:] == X.shape[1:]:
        return first
    if first.shape != X.shape:
        raise ValueError(
            f"augment returned shape {first.shape} for points of shape {X.shape}; it must return the same shape, or "
            f"sets of shape ({len(X)}, M, {', '.join(map(str, X.shape[1:]))})."
        )
    return np.stack([first] + [augment(X, rng) for _ in range(n_members - 1)], 1)
