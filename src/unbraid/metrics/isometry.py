"""Local isometry: do nearby points keep their distances?"""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from unbraid.manifold.neighbors import closest_pairs, isometry_of_pairs, neighbor_pairs
from unbraid.runtime.determinism import check_random_state


def local_isometry(
    X: ArrayLike,
    codes: ArrayLike,
    *,
    pairs: Literal["edges", "closest"] = "edges",
    n_neighbors: int = 8,
    closest: float = 0.05,
    max_points: int = 3000,
    random_state: Any = 0,
) -> float:
    """Correlation of distances between nearby points in X and in the codes, after the best diagonal rescaling.

    With D the non-negative diagonal matrix that minimises ``sum (|D (y_i - y_j)| - |x_i - x_j|)^2`` over the pairs, the
    score is the Pearson correlation of ``|D (y_i - y_j)|`` with ``|x_i - x_j|``. 1 for a perfect local isometry.

    Parameters
    ----------
    X : array (n, ...)
        Observations.
    codes : array (n, d)
    pairs : {"edges", "closest"}
        "edges": the pairs of the graph of ``n_neighbors`` nearest neighbours of X. "closest": the paper's score, the
        ``closest`` share of all pairs; where the sampling is uneven these sit in the dense regions only.
    n_neighbors : int
        Of "edges".
    closest : float
        Share of all pairs, of "closest".
    max_points : int
        A random subset of this size is scored when there are more points.
    random_state : int, RandomState or Generator
        Draws that subset.

    References
    ----------
    Horan, Richardson, Weiss (2021), When is unsupervised disentanglement possible?, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(0).uniform(size=(200, 2))
    >>> round(local_isometry(z @ [[0.0, 3.0], [1.0, 0.0]], z), 6)
    1.0
    """
    X = np.asarray(X, dtype=np.float64).reshape(len(np.asarray(X)), -1)
    Y = np.asarray(codes, dtype=np.float64)
    Y = Y.reshape(len(Y), -1)
    if len(X) != len(Y):
        raise ValueError(f"X has {len(X)} rows and codes {len(Y)}; they must describe the same points.")
    if len(X) < 3:
        raise ValueError(f"local isometry needs at least 3 points, got {len(X)}.")
    if not (np.isfinite(X).all() and np.isfinite(Y).all()):
        raise ValueError("X or codes hold NaN or infinity; remove those rows first.")
    if len(X) > max_points:
        rows = check_random_state(random_state).choice(len(X), max_points, replace=False)
        X, Y = X[rows], Y[rows]
    if pairs not in ("edges", "closest"):
        raise ValueError(f"pairs is {pairs!r}; it must be 'edges' or 'closest'.")
    i, j, lengths = neighbor_pairs(X, n_neighbors) if pairs == "edges" else closest_pairs(X, closest)
    return isometry_of_pairs(Y[i] - Y[j], lengths)[0]
