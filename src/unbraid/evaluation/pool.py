"""From a model and data, or from codes and factors, to the pool that every metric is computed from."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from unbraid.data.lazy import distinct_numbers, picked_rows
from unbraid.data.observations import Observations
from unbraid.data.rows import Rows, is_sliceable, row_marks
from unbraid.data.sources import is_lazy
from unbraid.trust.warnings import warn

_AT_ONCE = 1000


class Pool(NamedTuple):
    """Factors and codes; if a model encoded them, the observations, and of which rows it has seen the factors."""

    factors: Any
    codes: Any
    observations: Rows | None = None
    seen: np.ndarray | None = None


def encode_pool(truth: Any, codes: Any, n: int, random_state: int, on_rows: Callable[[int], Any]) -> Pool:
    """What metrics are computed from; ``n`` samples of a data set."""
    if _encoder(truth) or _is_dataset(codes):
        truth, codes = codes, truth
    encode = _encoder(codes)
    if encode is None:
        if _is_dataset(truth):
            raise TypeError("a data set was given with codes; give the model itself, or the factors of these codes.")
        return Pool(*_pool_of(truth, codes, n, random_state))
    if isinstance(truth, str):
        truth = import_module("unbraid.datasets").load(truth)
    if isinstance(truth, Observations):
        truth = (truth.X, _known_factors(truth))
    if isinstance(truth, tuple) and len(truth) == 2:
        factors, X = _pool_of(truth[1], truth[0], n, random_state)
    elif _is_dataset(truth):
        X, factors = truth.sample(n, random_state=random_state)
        _warn_of_angles(truth)
    else:
        raise TypeError(
            f"a {type(codes).__name__} needs data to encode; received {type(truth).__name__}. "
            "Give a data set, its name, a pair (X, factors), or Observations with factors."
        )
    rows = Rows(X)
    if not is_sliceable(rows.source):  # blocks, of which no row can be looked up
        rows = Rows(np.concatenate(list(rows.stored())))
    parts = []
    for block in _blocks(X, rows):
        parts.append(np.asarray(encode(block)))
        on_rows(len(parts[-1]))
    return Pool(factors, np.concatenate(parts), rows, _seen(codes, rows))


def _seen(model: Any, rows: Rows) -> np.ndarray | None:
    """Rows whose factors the model was fitted with, wherever they stand; None where it was fitted with none."""
    labelled = getattr(model, "labelled_rows_", None)
    return None if labelled is None else np.isin(row_marks(rows), labelled)


def _known_factors(known: Observations) -> Any:
    if known.factors is None:
        raise ValueError("the Observations have no factors to score codes against: Observations(X, factors=...).")
    return known.factors


def _encoder(given: Any) -> Callable[[Any], Any] | None:
    """The function that encodes observations, if the argument is a model or a function.

    Frames are arrays: their ``transform`` and ``sample`` mean something else.
    """
    if hasattr(given, "__array__"):
        return None
    if hasattr(given, "transform"):
        return given.transform
    return given if callable(given) and not hasattr(given, "sample") else None


def _is_dataset(given: Any) -> bool:
    return isinstance(given, str) or (
        hasattr(given, "sample") and not hasattr(given, "__array__") and not _encoder(given)
    )


def _warn_of_angles(data: Any) -> None:
    """Warn that metrics treat an angle as a number, which jumps where the circle closes."""
    kinds = getattr(data, "factor_kinds", None) or ()  # data sets of others do not declare them
    angles = [data.factor_names[i] for i, kind in enumerate(kinds) if kind == "circle"]
    if angles:
        warn("UB106", names=", ".join(angles), stacklevel=4)


def _pool_of(factors: Any, other: Any, n: int, random_state: int) -> tuple[Any, Any]:
    """Both as they are; of Dask arrays, the same ``n`` rows of both, drawn at random where the blocks are."""
    if not (is_lazy(factors) or is_lazy(other)):
        return factors, other
    sizes = len(factors), len(other)
    if sizes[0] != sizes[1]:
        raise ValueError(
            f"there are {sizes[0]} rows of factors and {sizes[1]} rows of codes or data; the numbers must be equal."
        )
    every = sizes[0] <= n
    rows = np.arange(sizes[0]) if every else distinct_numbers(sizes[0], n, np.random.RandomState(random_state))
    return _rows_of(factors, rows), _rows_of(other, rows)


def _rows_of(values: Any, rows: np.ndarray) -> Any:
    if is_lazy(values):
        return np.concatenate([part for _, part in picked_rows(values, rows, np.asarray)])
    return values.iloc[rows] if hasattr(values, "iloc") else np.asarray(values)[rows]


def _blocks(X: Any, rows: Rows) -> Iterator[Any]:
    """Blocks as they are stored: the model has the rule for their unit. Those of a frame keep its column names."""
    if rows.names is None:
        return rows.stored(_AT_ONCE)
    return (X[start : start + _AT_ONCE] for start in range(0, len(rows), _AT_ONCE))
