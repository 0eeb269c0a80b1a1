r"""Principal components of rows with missing values: probabilistic PCA by expectation maximisation.

:math:`x = m + W z + \epsilon` with :math:`z \sim N(0, I)` and noise of variance :math:`\sigma^2`. A row is explained by
the values that it has, O: :math:`E[z] = M^{-1} W_O^T (x_O - m_O)`, :math:`M = W_O^T W_O + \sigma^2 I`. So nothing is
filled in, and a value may be missing for a reason that depends on those that are there.

Tipping and Bishop (1999), Probabilistic principal component analysis. Ilin and Raiko (2010), Practical approaches to
principal component analysis in the presence of missing values, section 3.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unbraid.data.gaps import refuse_empty_rows, share_missing
from unbraid.manifold.neighbors import Floats
from unbraid.trust.warnings import warn

MOST_STEPS = 500
FILLED_BY, FILLED_ROWS, WIDEST = 12, 2000, 2000  # components, rows and columns for filling the gaps of curved data
ENOUGH = 1e-5  # change of the span, and relative change of the noise, between two steps
LEAST_NOISE = 1e-9  # of the mean variance: a noise of zero would stop the iteration


@dataclass(frozen=True)
class GapPCA:
    """Principal components found from incomplete rows.

    Attributes
    ----------
    mean : array (p,)
    components : array (d, p)
        Orthonormal, the longest first.
    variances : array (d,)
        Along the components.
    noise : float
        Variance of the noise of each value.
    """

    mean: Floats
    components: Floats
    variances: Floats
    noise: float

    def coordinates(self, rows: NDArray) -> Floats:
        """Along the components: their expectation, given the values that each row has."""
        scale = np.sqrt(self.variances)
        return expected(rows - self.mean, self.components.T * scale, self.noise) * scale

    def decoded(self, rows: NDArray) -> Floats:
        """The rows as the components expect them."""
        return self.coordinates(rows) @ self.components + self.mean


@dataclass(frozen=True)
class Filling:
    """What fills the gaps of curved data: the values that many components expect, given the others of the row.

    Attributes
    ----------
    pca : GapPCA
        Of columns divided by ``spread``.
    spread : array (p,)
    share : float
        Of the values that were missing in the fit.
    """

    pca: GapPCA
    spread: Floats
    share: float

    @classmethod
    def of(cls, sample: NDArray) -> "Filling":
        """Found from at most 2,000 of the rows."""
        gaps = np.isnan(sample)
        some = sample[:: -(-len(sample) // FILLED_ROWS)]
        if sample.shape[1] > WIDEST:
            raise ValueError(
                f"X has {sample.shape[1]} columns and missing values; gaps are filled in at most {WIDEST}. Fill them "
                "first, for instance by unbraid.datasets.open(path, fill='neighbors')."
            )
        share_missing([some])
        spread = np.nanstd(some, axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        size = max(1, min(FILLED_BY, sample.shape[1] // 2, len(some) // 4))
        return cls(probabilistic_pca(some / spread, size), spread, float(gaps.mean()))

    def __call__(self, rows: NDArray) -> NDArray:
        """The rows without gaps, in their shape."""
        flat = rows.reshape(len(rows), -1)
        gaps = np.isnan(flat)
        some = gaps.any(axis=1)
        if not some.any():
            return rows
        found = flat.copy()
        found[some] = np.where(gaps[some], self.pca.decoded(flat[some] / self.spread) * self.spread, flat[some])
        return found.reshape(rows.shape)


def expected(centred: NDArray, W: Floats, noise: float) -> Floats:
    """E[z] (n, d) of centred rows with NaN for gaps; a row without any value is refused.

    >>> expected(np.array([[2.0, np.nan], [2.0, 4.0]]), np.array([[1.0], [2.0]]), 0.0).round(6).tolist()
    [[2.0], [2.0]]
    """
    there = np.isfinite(centred)
    refuse_empty_rows(centred)
    return _solved(np.where(there, centred, 0.0), there, W, max(noise, 1e-12 * float(np.square(W).mean())))[0]


def probabilistic_pca(X: NDArray, d: int) -> GapPCA:
    """Fit ``d`` components to rows (n, p) with NaN for missing values.

    Warns (UB405) where it has not converged. A column without values, or rows with fewer values than components in all,
    are refused.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2)) @ rng.normal(size=(2, 8))
    >>> gappy = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    >>> found = probabilistic_pca(gappy, 2)
    >>> bool(abs(found.decoded(gappy) - X).max() < 0.01)
    True
    """
    share_missing([X])
    there, n = np.isfinite(X), len(X)
    mean = np.nanmean(X, axis=0)
    filled = np.where(there, X - mean, 0.0)
    values, vectors = np.linalg.eigh(filled.T @ filled / n)
    W = vectors[:, ::-1][:, :d] * np.sqrt(np.maximum(values[::-1][:d], 1e-12 * values[-1]))
    total = float(np.square(filled).sum() / there.sum())
    noise, weights = total, there.astype(np.float64)
    for _ in range(MOST_STEPS):
        centred = np.where(there, X - mean, 0.0)
        z, covariance = _solved(centred, there, W, noise)
        moments = covariance + z[:, :, None] * z[:, None, :]
        left = np.einsum("ij,ikl->jkl", weights, moments, optimize=True)
        new = np.linalg.solve(left + 1e-12 * total * np.eye(d), (centred.T @ z)[:, :, None])[:, :, 0]
        mean = mean + np.where(there, centred - z @ new.T, 0.0).sum(axis=0) / weights.sum(axis=0)
        rest = np.square(np.where(there, centred - z @ new.T, 0.0)).sum()
        spread = np.einsum("ij,ikl,jk,jl->", weights, covariance, new, new, optimize=True)
        before, noise = noise, max(float((rest + spread) / weights.sum()), LEAST_NOISE * total)
        Q = np.linalg.qr(W)[0]
        turned = np.linalg.norm(new - Q @ (Q.T @ new)) / np.linalg.norm(new)  # out of the span: within it W may drift
        W = new @ np.linalg.cholesky(moments.mean(axis=0))  # z has unit covariance: PX-EM, Liu, Rubin and Wu (1998)
        if turned < ENOUGH and abs(noise - before) < ENOUGH * before + LEAST_NOISE * total:
            break
    else:
        warn("UB405", stacklevel=3, steps=MOST_STEPS, change=f"{turned:.1g}")
    U, lengths, _ = np.linalg.svd(W, full_matrices=False)
    largest = U[np.abs(U).argmax(axis=0), np.arange(d)]
    return GapPCA(mean, (U * np.where(largest < 0, -1.0, 1.0)).T, lengths**2, noise)


def _solved(centred: Floats, there: NDArray[np.bool_], W: Floats, noise: float) -> tuple[Floats, Floats]:
    """Expectations (n, d) and covariances (n, d, d) of z; gaps are 0 in ``centred``."""
    d = W.shape[1]
    outer = (W[:, :, None] * W[:, None, :]).reshape(len(W), d * d)
    M = (there @ outer).reshape(-1, d, d) + noise * np.eye(d)
    inverse = np.asarray(np.linalg.inv(M), dtype=np.float64)
    return np.einsum("ikl,il->ik", inverse, centred @ W), noise * inverse
