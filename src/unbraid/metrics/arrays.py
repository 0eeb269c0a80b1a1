"""Input of every metric: factors and codes as checked arrays, and rows held out for testing."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unbraid.trust.warnings import warn

LARGEST, SMALLEST = 1e140, 1e-140  # beyond, sums of squares overflow, or lose their digits
WHOLE = 2**53  # beyond, neighbouring whole numbers are one in float64


@dataclass(frozen=True)
class Factors:
    """True factors as numbers. Discrete columns hold classes, continuous ones quantities."""

    values: np.ndarray  # (n_samples, n_factors), float64
    discrete: np.ndarray  # (n_factors,), bool

    def take(self, rows: np.ndarray) -> "Factors":
        return Factors(self.values[rows], self.discrete)

    def column(self, k: int) -> np.ndarray:
        """Classes as integers, quantities as floats."""
        return self.values[:, k].astype(np.int64) if self.discrete[k] else self.values[:, k]

    def varying(self) -> "Factors":
        """The factors with more than one value; the others cannot be scored."""
        keep = np.ptp(self.values, axis=0) > 0
        if not keep.any():
            raise ValueError(
                "every factor is constant, so no code can be scored against them. "
                "Sample the data so that at least one factor varies."
            )
        return Factors(self.values[:, keep], self.discrete[keep])

    def classes(self, n_bins: int = 20) -> np.ndarray:
        """Class indices 0, 1, ... of every column, a continuous one cut into ``n_bins`` bins of equal width."""
        labels = np.empty(self.values.shape, dtype=np.int64)
        for k, column in enumerate(self.values.T):
            if not self.discrete[k]:
                column = equal_width_bins(column, n_bins)
            labels[:, k] = np.unique(column, return_inverse=True)[1]
        return labels


def check(factors: ArrayLike, codes: ArrayLike, *, min_samples: int = 2) -> tuple[Factors, np.ndarray]:
    """Factors and codes with as many rows; a vector is one column.

    Integer, boolean and text factors are discrete, floating ones continuous. A table with columns of both kinds
    (a pandas DataFrame, or an object array) keeps the kind of each column.
    """
    truth, z = check_factors(factors), check_codes(codes, min_samples=min_samples)
    _check_order(truth, np.asarray(codes).dtype)
    if len(truth.values) != len(z):
        raise ValueError(
            f"factors have {len(truth.values)} rows and codes {len(z)}; "
            "metrics need the same samples in the same order."
        )
    _warn_if_swapped(truth, z)
    return truth, z


def _check_order(truth: Factors, codes: np.dtype) -> None:
    """Refuse integer codes for factors that are not integers: almost always the two were swapped."""
    fractions = int((truth.values % 1 != 0).any(axis=0).sum())
    if codes.kind in "iub" and fractions:
        raise ValueError(
            f"codes are integers ({codes}) while {fractions} of {len(truth.discrete)} factors are not whole numbers, "
            "so the arguments look swapped. The order is (factors, codes). If these are quantised codes of continuous "
            "factors, pass them as floats: codes.astype(float)."
        )


def _warn_if_swapped(truth: Factors, codes: np.ndarray) -> None:
    """Warn of fewer codes than factors that are all fractions; swapped with classes, the codes would be integers."""
    n_factors, n_codes = truth.values.shape[1], codes.shape[1]
    if n_codes < n_factors and (truth.values % 1 != 0).any(axis=0).all():
        level, frame = 2, sys._getframe(1)
        while frame.f_back and frame.f_globals["__name__"].startswith("unbraid."):  # up to the user's line
            level, frame = level + 1, frame.f_back
        warn("UB107", stacklevel=level, n_factors=n_factors, n_codes=n_codes)


@contextmanager
def known_order() -> Iterator[None]:
    """Calls of metrics by the library itself, which knows that the arguments are not swapped."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="UB107")
        yield


def check_codes(codes: ArrayLike, name: str = "codes", *, min_samples: int = 2) -> np.ndarray:
    """Codes as a finite float64 array (n_samples, n_codes)."""
    z = _columns(np.asarray(codes), name)
    if z.dtype.kind not in "fiub":
        raise TypeError(f"{name} have dtype {z.dtype}; they must be real numbers.")
    z = z.astype(np.float64)
    _finite(z, name)
    if len(z) < min_samples:
        raise ValueError(f"{name} have {len(z)} sample(s); this metric needs at least {min_samples}.")
    return z


def check_factors(factors: ArrayLike) -> Factors:
    """Factors as numbers, with the kind of each column."""
    table: Any = factors
    if hasattr(table, "iloc") and table.ndim == 2:
        columns = [np.asarray(table.iloc[:, k]) for k in range(table.shape[1])]
    else:
        columns = list(_columns(np.asarray(factors), "factors").T)
    pairs = [_one_factor(c) for c in columns]
    values = np.column_stack([v for v, _ in pairs])
    _finite(values, "factors")
    return Factors(values, np.array([d for _, d in pairs]))


def _one_factor(column: np.ndarray) -> tuple[np.ndarray, bool]:
    if column.dtype.kind == "O" and not any(isinstance(v, str) for v in column):
        column = np.array(column.tolist())
    if column.dtype.kind in "iub":
        if column.size and (column.max() > WHOLE or column.min() < -WHOLE):
            raise ValueError(
                f"factors reach from {column.min()} to {column.max()}, and beyond 2**53 float64 cannot tell whole "
                "numbers apart. Give classes from 0 on: numpy.unique(factor, return_inverse=True)[1]."
            )
        return column.astype(np.float64), True
    if column.dtype.kind == "f":
        return column.astype(np.float64), False
    if column.dtype.kind in "OUST":
        return np.unique(column.astype(str), return_inverse=True)[1].astype(np.float64), True
    raise TypeError(
        f"factors have dtype {column.dtype}; allowed are integers or text (discrete) and floats (continuous)."
    )


def _columns(array: np.ndarray, name: str) -> np.ndarray:
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(f"{name} have shape {array.shape}; expected (n_samples, n_{name}). Flatten each sample first.")
    if 0 in array.shape:
        raise ValueError(f"{name} are empty: shape {array.shape}.")
    return array


def _finite(array: np.ndarray, name: str) -> None:
    bad = ~np.isfinite(array).all(axis=1)
    if bad.any():
        raise ValueError(
            f"{name} have NaN or infinity in {bad.sum()} of {len(array)} rows, the first in row {int(bad.argmax())}. "
            "Drop those rows from both factors and codes, or fill them in."
        )
    largest = np.abs(array).max(axis=0)
    unfit = (largest > LARGEST) | ((largest < SMALLEST) & (largest > 0))
    if unfit.any():
        column = int(unfit.argmax())
        raise ValueError(
            f"column {column} of {name} reaches {largest[column]:.3g}, and the squares of such numbers do not fit "
            f"into float64. Rescale it: metrics do not depend on the scale."
        )


@dataclass(frozen=True)
class Split:
    """Training and test rows of both arrays."""

    factors: Factors
    codes: np.ndarray
    factors_test: Factors
    codes_test: np.ndarray


def split(
    factors: ArrayLike,
    codes: ArrayLike,
    factors_test: ArrayLike | None = None,
    codes_test: ArrayLike | None = None,
    *,
    test_size: float | int = 1 / 3,
    random_state: int | None = 0,
) -> Split:
    """The given test arrays, or ``test_size`` of the rows (a share, or a number of rows) drawn by ``random_state``.

    Factors that are constant in the training rows are left out of both parts.
    """
    if (factors_test is None) != (codes_test is None):
        raise ValueError("give both factors_test and codes_test, or neither.")
    truth, z = check(factors, codes, min_samples=4 if factors_test is None else 2)
    if factors_test is None or codes_test is None:
        n_test = round(len(z) * test_size) if test_size < 1 else int(test_size)
        if not 1 <= n_test <= len(z) - 2:
            raise ValueError(
                f"test_size={test_size!r} would test on {n_test} of {len(z)} rows; allowed are 1 to {len(z) - 2} rows."
            )
        order = np.random.default_rng(random_state).permutation(len(z))
        test, train = np.sort(order[:n_test]), np.sort(order[n_test:])
        truth, z, truth_test, z_test = truth.take(train), z[train], truth.take(test), z[test]
    else:
        truth_test, z_test = check(factors_test, codes_test, min_samples=1)
        if truth_test.values.shape[1] != truth.values.shape[1] or z_test.shape[1] != z.shape[1]:
            raise ValueError(
                f"training arrays have {truth.values.shape[1]} factors and {z.shape[1]} codes, "
                f"test arrays {truth_test.values.shape[1]} and {z_test.shape[1]}; they must agree."
            )
    keep = np.ptp(truth.values, axis=0) > 0
    kept = truth.varying()
    return Split(kept, z, Factors(truth_test.values[:, keep], kept.discrete), z_test)


def equal_width_bins(column: np.ndarray, n_bins: int) -> np.ndarray:
    """Bin numbers 0 ... n_bins-1 of equal width over the range of the data, each closed on the left.

    >>> equal_width_bins(np.array([0.0, 0.4, 0.5, 1.0]), 2)
    array([0, 0, 1, 1])
    """
    edges = np.linspace(column.min(), column.max(), n_bins + 1)
    return np.searchsorted(edges[1:-1], column, side="right")


def choose(value: str, allowed: tuple[str, ...], name: str) -> str:
    """``value`` if it is one of ``allowed``, else an error that lists them."""
    if value not in allowed:
        raise ValueError(f"{name}={value!r} is not valid. Valid values: {', '.join(map(repr, allowed))}.")
    return value
