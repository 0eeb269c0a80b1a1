"""Batches of codes that share the value of one factor, for the scores of beta-VAE and FactorVAE.

They come from one shared pool of encoded samples, or from factors that are drawn and encoded for them.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.arrays import check, check_codes, check_factors
from unbraid.runtime.kernels import njit

_CHUNK = 500  # batches at a time, so that memory stays small

Batches = Iterator[tuple[np.ndarray, np.ndarray]]


class Pool:
    """Encoded samples, grouped by the value of each factor."""

    def __init__(self, labels: np.ndarray, codes: np.ndarray, rng: np.random.Generator):
        self._codes, self._rng, self._labels = np.ascontiguousarray(codes), rng, labels
        self._order = np.argsort(labels, axis=0, kind="stable")
        self._place = np.argsort(self._order, axis=0)
        self._counts = [np.bincount(column) for column in labels.T]
        self._starts = [np.cumsum(c) - c for c in self._counts]

    def spread(self, n: int) -> np.ndarray:
        """Codes that show how much each varies over all data."""
        return self._codes

    def variances(self, n: int, size: int) -> Batches:
        """Factor (b,), and the codes' sums of squared deviations (b, n_codes) in batches that share a value of it."""
        for k, anchors in self._anchors(n, 1):
            rows = self._partners(k, np.repeat(anchors, size, axis=1), exclude=False)
            yield k, _squared_deviations(self._codes, rows)

    def differences(self, n: int, size: int) -> Batches:
        """Factor (b,), and the codes' mean absolute differences (b, n_codes) over pairs that agree in it."""
        for k, anchors in self._anchors(n, size):
            yield k, _mean_differences(self._codes, anchors, self._partners(k, anchors, exclude=True))

    def _anchors(self, n: int, size: int) -> Batches:
        for start in range(0, n, _CHUNK):
            b = min(_CHUNK, n - start)
            k = self._rng.integers(self._labels.shape[1], size=b)
            yield k, self._rng.integers(len(self._codes), size=(b, size))

    def _partners(self, factors: np.ndarray, anchors: np.ndarray, *, exclude: bool) -> np.ndarray:
        """A row with the anchor's value of the factor, another one than the anchor if there is any."""
        partners = np.empty_like(anchors)
        u = self._rng.random(anchors.shape)
        for k in range(self._labels.shape[1]):
            mine = factors == k
            value = self._labels[anchors[mine], k]
            count, start = self._counts[k][value], self._starts[k][value]
            if exclude:
                step = 1 + (u[mine] * np.maximum(count - 1, 1)).astype(np.int64)
                position = start + (self._place[anchors[mine], k] - start + step) % count
            else:
                position = start + (u[mine] * count).astype(np.int64)
            partners[mine] = self._order[position, k]
        return partners


@njit()
def _squared_deviations(codes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Two passes, so that the result for a constant code is exactly 0."""
    b, size = rows.shape
    d = codes.shape[1]
    out = np.zeros((b, d))
    mean, shift = np.empty(d), np.empty(d)
    for i in range(b):
        for c in range(d):
            mean[c], shift[c] = codes[rows[i, 0], c], 0.0
        for j in range(size):
            for c in range(d):
                shift[c] += codes[rows[i, j], c] - mean[c]
        for c in range(d):
            mean[c] += shift[c] / size
        for j in range(size):
            for c in range(d):
                out[i, c] += (codes[rows[i, j], c] - mean[c]) ** 2
    return out


@njit()
def _mean_differences(codes: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    b, size = first.shape
    d = codes.shape[1]
    out = np.zeros((b, d))
    for i in range(b):
        for j in range(size):
            for c in range(d):
                out[i, c] += abs(codes[first[i, j], c] - codes[second[i, j], c])
    return out / size


class Fresh:
    """Factors drawn independently, each from its own column, and encoded when they are needed."""

    def __init__(self, table: np.ndarray, free: np.ndarray, encode: Callable, rng: np.random.Generator):
        self._table, self._free, self._encode, self._rng = table, free, encode, rng

    def spread(self, n: int) -> np.ndarray:
        return self._codes(self._draw((n,)))

    def variances(self, n: int, size: int) -> Batches:
        for k, column, factors in self._fixed(n, size):
            rows = np.arange(len(k))
            factors[rows, :, column] = factors[rows, 0, column][:, None]
            codes = self._codes(factors)
            yield k, ((codes - codes.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)

    def differences(self, n: int, size: int) -> Batches:
        for k, column, first in self._fixed(n, size):
            second, rows = self._draw(first.shape[:-1]), np.arange(len(k))
            second[rows, :, column] = first[rows, :, column]
            yield k, np.abs(self._codes(first) - self._codes(second)).mean(axis=1)

    def _fixed(self, n: int, size: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        for start in range(0, n, _CHUNK):
            k = self._rng.integers(len(self._free), size=min(_CHUNK, n - start))
            yield k, self._free[k], self._draw((len(k), size))

    def _draw(self, shape: tuple[int, ...]) -> np.ndarray:
        rows = self._rng.integers(len(self._table), size=(*shape, self._table.shape[1]))
        return np.take_along_axis(self._table, rows.reshape(-1, self._table.shape[1]), axis=0).reshape(rows.shape)

    def _codes(self, factors: np.ndarray) -> np.ndarray:
        codes = check_codes(self._encode(factors.reshape(-1, factors.shape[-1])))
        return codes.reshape(*factors.shape[:-1], -1)


def sampler(
    factors: ArrayLike, codes: ArrayLike | Callable, n_bins: int, random_state: int | None
) -> tuple[int, Pool | Fresh]:
    """The number of factors that vary, and the source of batches that fix one of them."""
    rng = np.random.default_rng(random_state)
    if callable(codes):
        truth = check_factors(factors)
        n_factors = truth.varying().values.shape[1]
        table = np.asarray(factors).reshape(truth.values.shape)
        return n_factors, Fresh(table, np.flatnonzero(np.ptp(truth.values, axis=0) > 0), codes, rng)
    truth, z = check(factors, codes)
    labels = truth.varying().classes(n_bins)
    return labels.shape[1], Pool(labels, z, rng)
