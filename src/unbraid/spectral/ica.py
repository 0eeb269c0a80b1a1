"""Linear ICA of an embedding: several starts, two contrasts, and a figure for how stable the answer is.

scikit-learn's FastICA serves for the logcosh contrast. The kurtosis contrast is written here because its fixed point
needs only the fourth-moment tensor, computed once: a start then costs microseconds, whatever the number of points.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import fastica
from sklearn.exceptions import ConvergenceWarning

from unbraid.spectral.selection import mutual_information

Floats = NDArray[np.float64]
Run = tuple[Floats, float, bool]  # matrix, what the contrast is worth, whether it converged

CONTRASTS = ("kurtosis", "logcosh")
LOGCOSH_POINTS = 10_000


@dataclass(frozen=True)
class Rotation:
    """One candidate of :func:`rotations`: an orthogonal matrix that turns whitened points into components.

    Attributes
    ----------
    matrix : array (d, d)
        Components are ``Z @ matrix.T`` for whitened Z.
    contrast : str
    stability : float
        Mean correlation between its components and those of the other starts of the same contrast.
    converged : float
        Share of the starts that converged.
    """

    matrix: Floats
    contrast: str
    stability: float
    converged: float


@dataclass(frozen=True)
class Whitening:
    """``(Y - mean) @ matrix.T`` has zero mean and unit covariance."""

    mean: Floats
    matrix: Floats

    def __call__(self, Y: Floats) -> Floats:
        return (Y - self.mean) @ self.matrix.T


def whitening(Y: Floats) -> Whitening:
    """Whiten by the eigenvectors of the covariance (the symmetric square root).

    >>> import numpy as np
    >>> Y = np.random.default_rng(0).normal(size=(100, 2)) @ [[2.0, 1.0], [0.0, 1.0]]
    >>> np.cov(whitening(Y)(Y).T, bias=True).round(6).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    mean = Y.mean(axis=0)
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(Y.T, bias=True)))
    if values[0] <= 1e-12 * values[-1]:
        raise ValueError(
            f"the {Y.shape[1]} dimensions of the embedding are not independent (a covariance eigenvalue is "
            f"{values[0]:.1e}): the data have fewer factors. Ask for fewer factors."
        )
    return Whitening(mean, (vectors / np.sqrt(values)) @ vectors.T)


def rotations(
    Z: Floats, *, contrast: str = "auto", n_init: int = 8, random_state: np.random.RandomState
) -> list[Rotation]:
    """The best rotation of each contrast, over ``n_init`` random starts.

    kurtosis  G(u) = u^4: no spurious optima when at most one factor has zero excess kurtosis (Hyvärinen 1999)
    logcosh   G(u) = log cosh u: robust to outliers

    Parameters
    ----------
    Z : array (n, d), whitened
    contrast : {"auto", "kurtosis", "logcosh"}
        "auto" returns both.
    """
    wanted = CONTRASTS if contrast == "auto" else (contrast,)
    if not set(wanted) <= set(CONTRASTS):
        raise ValueError(f"contrast is {contrast!r}; it must be one of 'auto', {', '.join(map(repr, CONTRASTS))}.")
    d = Z.shape[1]
    if d == 1:
        return [Rotation(np.eye(1), wanted[0], 1.0, 1.0)]
    starts = [_orthogonal(random_state.standard_normal((d, d))) for _ in range(n_init)]
    found = []
    for name in wanted:
        runs = _kurtosis(Z, starts) if name == "kurtosis" else _logcosh(Z, starts, random_state)
        good = [run for run in runs if run[2]] or runs
        best = max(range(len(good)), key=lambda i: good[i][1])
        others = [_agreement(good[best][0], run[0]) for i, run in enumerate(good) if i != best]
        stability = float(np.mean(others)) if others else 1.0
        found.append(Rotation(good[best][0], name, stability, float(np.mean([run[2] for run in runs]))))
    return found


def best_rotation(Z: Floats, *, contrast: str, n_init: int, random_state: np.random.RandomState) -> Rotation:
    """The rotation of the contrast; with "auto" the one whose components are least dependent."""
    found = rotations(Z, contrast=contrast, n_init=n_init, random_state=random_state)
    if len(found) == 1:
        return found[0]
    return min(found, key=lambda r: (r.converged == 0, mutual_information(Z @ r.matrix.T)))


def excess_kurtosis(codes: Floats) -> Floats:
    """Excess kurtosis of each column: 0 for a Gaussian, -1.2 for a uniform factor.

    >>> import numpy as np
    >>> excess_kurtosis(np.linspace(0, 1, 10001)[:, None]).round(2).tolist()
    [-1.2]
    """
    Z = codes - codes.mean(axis=0)
    return (Z**4).mean(axis=0) / np.maximum((Z**2).mean(axis=0) ** 2, 1e-300) - 3.0


def _orthogonal(A: Floats) -> Floats:
    U, _, Vt = np.linalg.svd(A)
    return U @ Vt


def _agreement(A: Floats, B: Floats) -> float:
    """Mean absolute correlation between the components of two rotations, matched."""
    C = np.abs(A @ B.T)
    return float(C[linear_sum_assignment(-C)].mean())


def _kurtosis(Z: Floats, starts: list[Floats], max_iter: int = 200, tol: float = 1e-10) -> list[Run]:
    n, d = Z.shape
    pairs = np.einsum("na,nb->nab", Z, Z).reshape(n, d * d)
    T = (pairs.T @ pairs / n).reshape(d, d, d, d)
    runs = []
    for W in starts:
        converged = False
        for _ in range(max_iter):
            new = _orthogonal(np.einsum("abce,ib,ic,ie->ia", T, W, W, W, optimize=True) - 3 * W)
            converged = bool(np.abs(np.abs(np.einsum("ia,ia->i", new, W)) - 1).max() < tol)
            W = new
            if converged:
                break
        kurtosis = np.einsum("abce,ia,ib,ic,ie->i", T, W, W, W, W, optimize=True) - 3
        runs.append((W, float(np.sum(kurtosis**2)), converged))
    return runs


def _logcosh(Z: Floats, starts: list[Floats], random_state: np.random.RandomState) -> list[Run]:
    if len(Z) > LOGCOSH_POINTS:
        Z = Z[random_state.choice(len(Z), LOGCOSH_POINTS, replace=False)]
    gaussian = 0.37456721  # E log cosh of a standard normal
    runs: list[Run] = []
    for start in starts:
        if len(runs) == 2 and runs[0][2] and runs[1][2] and _agreement(runs[0][0], runs[1][0]) > 0.9999:
            break  # two starts that meet in one point need no third
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            _, W, _ = fastica(Z, whiten=False, fun="logcosh", w_init=start, max_iter=500, tol=1e-6)
        converged = not any(issubclass(w.category, ConvergenceWarning) for w in caught)
        S = Z @ W.T
        negentropy = (np.logaddexp(S, -S) - np.log(2)).mean(axis=0) - gaussian
        runs.append((W, float(np.sum(negentropy**2)), converged))
    return runs
