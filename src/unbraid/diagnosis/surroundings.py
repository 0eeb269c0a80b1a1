"""Do the points hang together, and how much noise is around them?"""

import numpy as np
from numpy.typing import NDArray

from unbraid.manifold.neighbors import graph_of, neighborhoods

Floats = NDArray[np.float64]

NEIGHBORS = 10
APART = 0.02  # share of the points outside of the largest piece that a few outliers explain
NOISY = 0.35


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
