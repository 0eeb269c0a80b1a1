"""Which latent dimensions matter: spectrum, between-class information, reach in the data, and the knee."""

import numpy as np


def knee(values: np.ndarray, *, most: int | None = None) -> int:
    """How many of the decreasing ``values`` stand before the largest drop of their logarithm.

    Only the first ``most`` drops count (half of the values, unless told): the far end of a spectrum has gaps
    that mean nothing.

    >>> knee(np.array([5.0, 2.0, 0.02, 0.01, 0.009]))
    2
    """
    values = np.asarray(values, float)
    if len(values) < 2:
        return len(values)
    most = max(1, len(values) // 2) if most is None else most
    drops = -np.diff(np.log(np.maximum(values, 1e-300)))
    return int(np.argmax(drops[:most])) + 1


def class_information(log_densities: np.ndarray, labels: np.ndarray, priors: np.ndarray) -> np.ndarray:
    """Mutual information of each latent dimension and the class, in nats: mean of log p(z|u) - log sum_u p(u) p(z|u).

    Parameters
    ----------
    log_densities : array (n, classes, dimensions)
        log p(z_i | u) of every point under every class.
    labels : int array (n,)
    priors : array (classes,)
    """
    own = np.take_along_axis(log_densities, labels[:, None, None], axis=1)[:, 0]
    mixed = np.logaddexp.reduce(log_densities + np.log(priors)[None, :, None], axis=1)
    return np.maximum((own - mixed).mean(0), 0)
