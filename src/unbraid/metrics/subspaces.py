"""Angles between the true and the found tangent subspaces of a product manifold."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.optimize import linear_sum_assignment

from unbraid.manifold.angles import largest_angles
from unbraid.manifold.neighbors import nearest


def subspace_angle(true: Sequence[np.ndarray], found: Sequence[np.ndarray]) -> float:
    r"""Mean angle between true and found subspaces, in radians, under the best matching of one with the other.

    .. math:: \min_\pi \frac{1}{m} \sum_j \frac{1}{n} \sum_i
        \arccos \sigma_{\min}\big(U_{ij}^T V_{i\pi(j)}\big)

    where a pair of different dimension counts as :math:`\pi/2`, and so does everything when the numbers of subspaces
    differ. Use it to evaluate :class:`~unbraid.Geomancer` where the truth is known; subspaces drawn at random are near
    :math:`\pi/2`.

    Parameters
    ----------
    true, found : sequences of arrays of shape (n_samples, n_features, dim_j)
        Orthonormal bases, one array per submanifold, in any order.

    Returns
    -------
    float
        0 for the same subspaces, :math:`\pi/2` for the wrong number.

    References
    ----------
    Pfau et al. (2020), Disentangling by Subspace Diffusion, section 4.

    Examples
    --------
    >>> x, yz = np.eye(3)[None, :, :1], np.eye(3)[None, :, 1:]
    >>> subspace_angle([x, yz], [yz, x])
    0.0
    """
    true, found = _checked(true, "true"), _checked(found, "found")
    if true[0].shape[:2] != found[0].shape[:2]:
        raise ValueError(
            f"true subspaces are at {true[0].shape[0]} points of {true[0].shape[1]} features, found ones at "
            f"{found[0].shape[0]} of {found[0].shape[1]}. For codes in another space use aligned_subspace_angle."
        )
    if len(true) != len(found):
        return np.pi / 2
    costs = np.array([[largest_angles(u, v).mean() for v in found] for u in true])
    return float(costs[linear_sum_assignment(costs)].mean())


def aligned_subspace_angle(
    true: Sequence[np.ndarray],
    found: Sequence[np.ndarray],
    states: np.ndarray,
    codes: np.ndarray,
    *,
    n_neighbors: int = 30,
) -> float:
    """:func:`subspace_angle` for subspaces found in another space (pixels, codes) than the true ones.

    At each point the linear map from code differences to state differences is fitted over the nearest points in state
    space, and carries the found subspaces over.

    Parameters
    ----------
    true, found : sequences of arrays
        As for :func:`subspace_angle`, the second in the space of ``codes``.
    states, codes : arrays of shape (n_samples, ...)
        The same samples in both spaces.
    n_neighbors : int
        Points in each fit; more than the dimension of the manifold.

    Examples
    --------
    >>> states = np.random.default_rng(0).normal(size=(200, 2))
    >>> axes = [np.tile(np.eye(2)[:, [j]], (200, 1, 1)) for j in range(2)]
    >>> round(aligned_subspace_angle(axes, axes, states, 3 * states), 6)
    0.0
    """
    true, found = _checked(true, "true"), _checked(found, "found")
    states, codes = (np.asarray(a, np.float64).reshape(len(a), -1) for a in (states, codes))
    if len(states) != len(codes) or len(states) <= n_neighbors:
        raise ValueError(
            f"states and codes must be the same samples, more than n_neighbors={n_neighbors}; "
            f"got {len(states)} and {len(codes)}."
        )
    _, near = nearest(states, n_neighbors)
    tangents = np.concatenate(found, axis=2)
    carried = np.empty((len(states), states.shape[1], tangents.shape[2]))
    for i, row in enumerate(near):
        inside = (codes[row] - codes[i]) @ tangents[i]
        carried[i] = np.linalg.lstsq(inside, states[row] - states[i], rcond=None)[0].T
    bounds = np.cumsum([0, *(f.shape[2] for f in found)])
    pieces = [np.linalg.qr(carried[:, :, a:b])[0] for a, b in pairwise(bounds)]
    return subspace_angle(true, pieces)


def _checked(subspaces: Sequence[np.ndarray], name: str) -> list[np.ndarray]:
    arrays = [np.asarray(s, np.float64) for s in subspaces]
    if not arrays or any(a.ndim != 3 or a.shape[:2] != arrays[0].shape[:2] for a in arrays):
        shapes = [a.shape for a in arrays]
        raise ValueError(f"{name} must be arrays (n_samples, n_features, dim_j) of the same points, got {shapes}.")
    return arrays
