"""From a model and data, or from codes and factors, to the pool that every metric is computed from."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

import numpy as np

from unbraid.contract.inputs import Rows, is_sliceable
from unbraid.contract.warnings import warn

_AT_ONCE = 1000


@runtime_checkable
class _Encoder(Protocol):
    """A model, of this library or another."""

    def transform(self, X: Any) -> Any: ...


@runtime_checkable
class _Sampler(Protocol):
    """A data set, of this library or another."""

    def sample(self, n: int, random_state: int | None = None) -> tuple[Any, Any]: ...


@runtime_checkable
class _OfKinds(Protocol):
    """A data set that tells which factors wrap around."""

    factor_names: tuple[str, ...]
    factor_kinds: tuple[str, ...] | None


@runtime_checkable
class _Array(Protocol):
    """Numbers at hand: arrays, frames (which have ``transform`` and ``sample`` of another meaning), tensors."""

    def __array__(self) -> np.ndarray: ...


def encode_pool(
    model_or_codes: Any, data: Any, n: int, random_state: int, on_rows: Callable[[int], Any]
) -> tuple[Any, Any, Rows | None]:
    """Factors, codes, and the observations if a model encoded them; ``n`` samples of a data set."""
    if isinstance(model_or_codes, _Array) or not isinstance(model_or_codes, _Encoder):
        if isinstance(data, str) or (isinstance(data, _Sampler) and not isinstance(data, _Array)):
            raise TypeError("codes were given with a data set; give the model itself, or the factors of these codes.")
        return data, model_or_codes, None
    if isinstance(data, str):
        data = import_module("unbraid.datasets").load(data)
    if isinstance(data, tuple) and len(data) == 2:
        X, factors = data
    elif isinstance(data, _Sampler) and not isinstance(data, _Array):
        X, factors = data.sample(n, random_state=random_state)
        if isinstance(data, _OfKinds):
            _tell_angles(data)
    else:
        raise TypeError(
            f"a {type(model_or_codes).__name__} needs data to encode, and received {type(data).__name__}: "
            "give a data set, its name, or a pair (X, factors)."
        )
    rows = Rows(X)
    if not is_sliceable(rows.source):  # blocks, of which no row can be looked up
        rows = Rows(np.concatenate(list(rows.stored())))
    codes = []
    for block in _blocks(X, rows):
        codes.append(np.asarray(model_or_codes.transform(block)))
        on_rows(len(codes[-1]))
    return factors, np.concatenate(codes), rows


def _tell_angles(data: "_OfKinds") -> None:
    """Say that metrics take an angle as a number, which jumps where it closes."""
    angles = [name for name, kind in zip(data.factor_names, data.factor_kinds or ()) if kind == "circle"]
    if angles:
        warn("UB106", names=", ".join(angles), stacklevel=4)


def _blocks(X: Any, rows: Rows) -> Iterator[Any]:
    """Blocks as they are stored: the model has the rule for their unit. Those of a frame keep its column names."""
    if rows.names is None:
        return rows.stored(_AT_ONCE)
    return (X[start : start + _AT_ONCE] for start in range(0, len(rows), _AT_ONCE))
