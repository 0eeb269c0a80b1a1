"""Whether the data meet the assumptions of the theory: the figures, and warnings that give them."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import NearestNeighbors

from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import warn

LARGEST_OFFSET = 1e5  # in standard deviations; float32 has seven digits, and fewer than two of them would be left


def class_groups(
    X: np.ndarray, labels: np.ndarray, rng: np.random.Generator, *, members: int = 400
) -> tuple[np.ndarray, np.ndarray]:
    """Groups of classes that touch, and the matrix of how much each pair does.

    Classes a and b touch when at least 1 % of the 5 nearest neighbours of a's points (among at most ``members``
    points of each class) belong to b, or the other way round. Groups are the connected components.

    >>> x = np.array([[0.0], [0.1], [0.2], [0.3], [0.4], [0.5], [9.0], [9.1], [9.2], [9.3], [9.4], [9.5]])
    >>> class_groups(x, np.arange(12) // 3, np.random.default_rng(0))[0].tolist()
    [0, 0, 1, 1]
    """
    n_classes = int(labels.max()) + 1
    chosen = [np.flatnonzero(labels == c) for c in range(n_classes)]
    index = np.concatenate([rng.choice(m, min(members, len(m)), replace=False) for m in chosen])
    rows, own = X[index].reshape(len(index), -1), labels[index]
    k = min(5, len(index) - 1)
    near = NearestNeighbors(n_neighbors=k).fit(rows).kneighbors(return_distance=False)
    cells = coo_array((np.ones(near.size), (np.repeat(own, k), own[near].ravel())), shape=(n_classes, n_classes))
    shares = cells.toarray()
    shares /= np.maximum(shares.sum(1, keepdims=True), 1)
    touching = np.maximum(shares, shares.T) >= FIGURES["class_contact"].limit()
    return connected_components(touching, directed=False)[1], shares


def refuse_large_offsets(X: np.ndarray) -> None:
    """Flows are trained in float32 on the numbers as they are: a large offset would hide the variation."""
    if X.ndim > 2:
        return
    spread, far = X.std(axis=0), np.abs(X.mean(axis=0))
    column = int(np.argmax(np.where(spread > 0, far / np.where(spread > 0, spread, 1), 0)))
    if spread[column] > 0 and far[column] > LARGEST_OFFSET * spread[column]:
        raise ValueError(
            f"column {column} of X is about {far[column]:.3g} with a standard deviation of {spread[column]:.3g}, which "
            "float32 cannot represent. Subtract the mean first: X - X.mean(axis=0), or use sklearn's StandardScaler in "
            "a pipeline."
        )


def warn_of_gaps(X: np.ndarray, labels: np.ndarray, classes: np.ndarray, rng: np.random.Generator) -> None:
    """Warn when classes fall into groups with empty space between (GIN, 4.3.1: one factor is then found as several)."""
    groups, shares = class_groups(X, labels, rng)
    if groups.max() == 0:
        return
    names = [classes[groups == g].tolist() for g in range(groups.max() + 1)]
    between = shares[groups[:, None] != groups].max()
    warn("UB102", stacklevel=4, count=len(names), names=names, between=between)


def warn_of_small_classes(labels: np.ndarray, classes: np.ndarray) -> None:
    """Warn of classes whose variances rest on few points."""
    counts = np.bincount(labels, minlength=len(classes))
    least = FIGURES["class_size"].limit()
    small = counts < least
    if small.any():
        smallest = int(counts.min())
        warn(
            "UB103", stacklevel=4, count=int(small.sum()), of=len(classes), least=int(least), smallest=smallest,
            error=1 / np.sqrt(2 * smallest),
        )  # fmt: skip
