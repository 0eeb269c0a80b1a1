"""Entropies and mutual information of binned codes and factors, on which seven of the metrics are based."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.arrays import check, equal_width_bins


@dataclass(frozen=True)
class Information:
    """In nats, by counting: I(z_d; v_k), H(z_d) and H(v_k)."""

    mutual: np.ndarray  # (n_codes, n_factors)
    code_entropy: np.ndarray  # (n_codes,)
    factor_entropy: np.ndarray  # (n_factors,)

    @property
    def normalised(self) -> np.ndarray:
        """I(z_d; v_k) / H(v_k)."""
        return self.mutual / self.factor_entropy

    @property
    def joint_entropy(self) -> np.ndarray:
        return self.code_entropy[:, None] + self.factor_entropy - self.mutual


def information(factors: ArrayLike, codes: ArrayLike, n_bins: int = 20) -> Information:
    """Codes in ``n_bins`` bins of equal width; discrete factors unchanged, continuous ones in as many bins.

    Constant factors are left out: they have no entropy to explain.
    """
    truth, z = check(factors, codes)
    if n_bins < 2:
        raise ValueError(f"n_bins={n_bins!r}; allowed are integers from 2. The study uses 20.")
    labels = truth.varying().classes(n_bins)
    return tabulate(labels, bin_codes(z, n_bins))


def bin_codes(codes: np.ndarray, n_bins: int) -> np.ndarray:
    """Bin numbers of every code, (n_samples, n_codes)."""
    return np.column_stack([equal_width_bins(column, n_bins) for column in codes.T])


def tabulate(labels: np.ndarray, bins: np.ndarray) -> Information:
    """Count every pair of a column of ``bins`` and a column of ``labels`` (both from 0)."""
    sizes, n_bins = labels.max(axis=0) + 1, int(bins.max()) + 1
    starts = np.concatenate([[0], np.cumsum(sizes)])
    shifted = (labels + starts[:-1]) * n_bins
    mutual = np.empty((bins.shape[1], labels.shape[1]))
    h_codes = np.array([_entropy(np.bincount(b, minlength=n_bins)) for b in bins.T])
    h_factors = np.array([_entropy(np.bincount(v)) for v in labels.T])
    for d, column in enumerate(bins.T):
        counts = np.bincount((shifted + column[:, None]).ravel(), minlength=starts[-1] * n_bins)
        for k in range(len(sizes)):
            joint = _entropy(counts[starts[k] * n_bins : starts[k + 1] * n_bins])
            mutual[d, k] = h_codes[d] + h_factors[k] - joint
    constant = h_codes == 0  # rounding must not leave information in a code that has one value
    mutual[constant] = 0
    return Information(np.maximum(mutual, 0), h_codes, h_factors)


def _entropy(counts: np.ndarray) -> float:
    filled = counts[counts > 0]
    n = filled.sum()
    return float(np.log(n) - (filled * np.log(filled)).sum() / n) if len(filled) > 1 else 0.0


def top_two(matrix: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Largest and second largest entry along ``axis``; the second is 0 if there is only one."""
    ordered = np.sort(np.moveaxis(matrix, axis, 0), axis=0)
    return ordered[-1], ordered[-2] if len(ordered) > 1 else np.zeros_like(ordered[-1])
