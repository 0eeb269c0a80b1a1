"""Principal angles between subspaces."""

import numpy as np


def largest_angles(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Largest principal angle, in radians, between two subspaces at each point; pi/2 for different dimensions.

    Parameters
    ----------
    u, v : arrays of shape (n, n_features, dim)
        Orthonormal bases in columns.

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> largest_angles(np.eye(2)[None, :, :1], np.array([[[0.6], [0.8]]])).round(4)
    array([0.9273])
    """
    if u.shape[2] != v.shape[2]:
        return np.full(len(u), np.pi / 2)
    smallest = np.linalg.svd(u.transpose(0, 2, 1) @ v, compute_uv=False)[:, -1]
    return np.arccos(np.clip(smallest, -1, 1))
