"""Densities of single factors as maps to a standard normal variable: given, or estimated from a sample."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import norm

MOST_KNOTS = 200
ROWS_PER_KNOT = 10
# F, 1 - F, their inverses and log p, as SciPy names them: of a frozen distribution, or anything with these methods,
# and of a random variable of the newer interface (``scipy.stats.Normal``, ``scipy.stats.Mixture``)
INTERFACES = (("cdf", "sf", "ppf", "isf", "logpdf"), ("cdf", "ccdf", "icdf", "iccdf", "logpdf"))


@dataclass(frozen=True)
class Given:
    """A density whose distribution function is known, p(z) = phi(T(z)) T'(z) of a map T to the normal one.

    Upper tails go through 1 - F, which keeps their digits.

    Attributes
    ----------
    cdf, above, quantile, quantile_above, log_pdf : callables
        F, 1 - F, their inverses, and log p.
    """

    cdf: Any
    above: Any
    quantile: Any
    quantile_above: Any
    log_pdf: Any

    @classmethod
    def of(cls, density: Any, name: str) -> "Given":
        """The parts of a distribution; an error names what is missing."""
        for names in INTERFACES:
            if all(hasattr(density, name) for name in names):
                return cls(*(getattr(density, name) for name in names))
        raise TypeError(
            f"{name} is {_shown(density)}, which has no density. Entangling needs a continuous distribution: a frozen "
            "one of scipy.stats such as uniform() or laplace(), or an object with cdf, sf, ppf, isf and logpdf. "
            "Factors with finitely many values cannot be entangled in this way."
        )

    def to_normal(self, z: np.ndarray) -> np.ndarray:
        below, above = np.asarray(self.cdf(z), float), np.asarray(self.above(z), float)
        return np.where(below < above, ndtri(below), -ndtri(above))

    def from_normal(self, g: np.ndarray) -> np.ndarray:
        lower = np.asarray(self.quantile(norm.cdf(np.minimum(g, 0))), float)
        upper = np.asarray(self.quantile_above(norm.sf(np.maximum(g, 0))), float)
        return np.where(g < 0, lower, upper)

    def log_density(self, z: np.ndarray) -> np.ndarray:
        return np.asarray(self.log_pdf(z), float)


@dataclass(frozen=True)
class Estimated:
    """A density estimated from a sample: T is piecewise linear through quantiles, so its inverse is exact.

    There are about five or more rows between two knots; beyond the last ones the tails are Gaussian.

    Attributes
    ----------
    z, g : arrays
        Knots: quantiles of the sample, and of the standard normal distribution.
    """

    z: np.ndarray
    g: np.ndarray

    @classmethod
    def of(cls, column: np.ndarray, name: str) -> "Estimated":
        """The density of a sample; refuses one without a density."""
        if np.issubdtype(column.dtype, np.integer) or column.dtype == bool:
            raise TypeError(_discrete(name, f"holds values of type {column.dtype}"))
        if not np.all(np.isfinite(column)):
            raise ValueError(f"{name} holds NaN or infinity in {np.sum(~np.isfinite(column))} row(s). Leave those out.")
        n_knots = min(MOST_KNOTS, len(column) // ROWS_PER_KNOT)
        if n_knots < 2:
            raise ValueError(
                f"{name} has {len(column)} rows; its density needs {2 * ROWS_PER_KNOT} or more. Give marginals."
            )
        share = _shares(n_knots, ROWS_PER_KNOT / (2 * len(column)))
        knots = np.quantile(column, share, method="hazen")
        if not np.all(np.diff(knots) > 0):
            values, counts = np.unique(column, return_counts=True)
            most = (
                f"takes the value {values[counts.argmax()]:g} in {100 * counts.max() / len(column):.1f} % of the rows"
            )
            raise ValueError(_discrete(name, most))
        return cls(knots, ndtri(share))

    def to_normal(self, z: np.ndarray) -> np.ndarray:
        return _line(z, self.z, self.g)

    def from_normal(self, g: np.ndarray) -> np.ndarray:
        return _line(g, self.g, self.z)

    def log_density(self, z: np.ndarray) -> np.ndarray:
        piece = np.clip(np.searchsorted(self.z, z) - 1, 0, len(self.z) - 2)
        return norm.logpdf(self.to_normal(z)) + np.log((np.diff(self.g) / np.diff(self.z))[piece])


def _shares(n: int, least: float) -> np.ndarray:
    """n even shares of the rows, and in either tail halves of the last one, down to the least."""
    even = (np.arange(n) + 0.5) / n
    halves = even[0] / 2.0 ** np.arange(1, 60)
    tail = halves[halves >= least][::-1]
    return np.concatenate([tail, even, 1 - tail[::-1]])


def _line(x: np.ndarray, knots: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Linear between the knots, and beyond them as in the first and the last piece."""
    piece = np.clip(np.searchsorted(knots, x) - 1, 0, len(knots) - 2)
    slope = (values[piece + 1] - values[piece]) / (knots[piece + 1] - knots[piece])
    return values[piece] + slope * (x - knots[piece])


def _discrete(name: str, how: str) -> str:
    return (
        f"{name} {how}: it is discrete and has no density. The construction needs continuous factors; leave it out, "
        "or add noise to its values (dequantise)."
    )


def _shown(value: Any) -> str:
    return f"{value!r}" if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"
