"""Is there anything to find? Columns that hang together, points that hang together, and noise around them."""

import numpy as np
from numpy.typing import NDArray

from unbraid.manifold.neighbors import graph_of, nearest, neighborhoods

Floats = NDArray[np.float64]

SIGMAS = 4.0  # as far as chance goes
ROWS, SHUFFLES = 600, 15
NEIGHBORS = 10
APART = 0.02  # share of the points outside of the largest piece that a few outliers explain
NOISY = 0.35


def structure(X: NDArray, rng: np.random.RandomState) -> float:
    """How far the columns are from independent ones, in standard deviations of chance.

    The larger of two figures: the top eigenvalue of the correlations, and the mean log distance to the tenth neighbour,
    each against the same of data whose columns were permuted one by one. Noise has about 1; 20 and more is capped.

    Parameters
    ----------
    X : array (n, features)
    rng : numpy.random.RandomState
        Draws the permutations, and 600 rows of more.

    Returns
    -------
    float

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(300, 5))
    >>> structure(noise, np.random.RandomState(0)) < 4, structure(noise @ noise[:5], np.random.RandomState(0)) > 4
    (True, True)
    """
    X = np.asarray(X[rng.permutation(len(X))[:ROWS]], dtype=np.float64)
    X = X - X.mean(axis=0)
    spread = X.std(axis=0)
    X = X[:, spread > 1e-9 * spread.max()] / spread[spread > 1e-9 * spread.max()]
    if X.shape[1] < 2:
        return 20.0  # a single column cannot hang together with others: nothing speaks against it
    found = _figures(X)
    shuffled: list[Floats] = []
    for _ in range(SHUFFLES):
        shuffled.append(_figures(np.column_stack([rng.permutation(column) for column in X.T])))
        if found[0] > 1.5 * shuffled[0][0]:
            return 20.0  # far beyond chance: no need to know how far
    chance = np.array(shuffled)
    away = np.abs(found - chance.mean(axis=0)) / np.maximum(chance.std(axis=0, ddof=1), 1e-12)
    return float(min(away.max(), 20.0))


def _figures(X: Floats) -> Floats:
    small = X @ X.T if len(X) < X.shape[1] else X.T @ X
    top = np.linalg.eigvalsh(small)[-1] / len(X)
    distances, _ = nearest(X, min(NEIGHBORS, len(X) - 1))
    return np.array([top, np.log(np.maximum(distances[:, -1], 1e-300)).mean()])


def apart(points: Floats) -> tuple[float, int]:
    """Share of the points outside of the largest piece of the 10-neighbour graph, and the number of pieces.

    Examples
    --------
    >>> line = np.arange(100.0)[:, None]
    >>> apart(line), apart(np.concatenate([line, 1000 + line]))
    ((0.0, 1), (0.5, 2))
    """
    graph = graph_of(neighborhoods(points, min(NEIGHBORS, len(points) - 1) + 1)[1])
    return 1 - graph.largest_share, graph.n_components


def off_tangent(points: Floats, d: int) -> float:
    """Median share of the variance of a neighbourhood that lies off its d-dimensional tangent: noise and curvature.

    Examples
    --------
    >>> flat = np.random.default_rng(0).uniform(size=(500, 2)) @ [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]
    >>> off_tangent(flat, 2) < 1e-9
    True
    """
    k = min(max(16, 6 * d), len(points) - 1)
    _, near = neighborhoods(points, k + 1)
    around = points[near] - points[near].mean(axis=1, keepdims=True)
    values = np.linalg.eigvalsh(np.einsum("nki,nkj->nij", around, around))
    return float(np.median(1 - values[:, -d:].sum(axis=1) / np.maximum(values.sum(axis=1), 1e-300)))
