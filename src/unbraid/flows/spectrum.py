"""Which latent dimensions matter (spectrum, between-class information, the knee), and which starts agree on them."""

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


def agreement(codes: np.ndarray) -> np.ndarray:
    """How well the codes of each of K starts, (K, n, d), are found again in the others and the others in them: (K,).

    Of two starts a and b it is sum_i v_i max_j |corr(a_i, b_j)| / sum_i v_i with the variances v of a, so that scale,
    sign and order do not count and small latents hardly do. What is identified is the same in every good start,
    while those that fail do so each in its own way.

    >>> z = np.random.default_rng(0).normal(size=(500, 2))
    >>> turned = z @ np.array([[0.8, 0.6], [-0.6, 0.8]])
    >>> int(agreement(np.stack([turned, z, -3 * z[:, ::-1]])).argmin())
    0
    """
    standard = codes - codes.mean(1, keepdims=True)
    stds = standard.std(1)
    standard = standard / np.maximum(stds, 1e-12)[:, None]
    shares = stds**2 / np.maximum((stds**2).sum(1, keepdims=True), 1e-12)
    found = np.zeros((len(codes), len(codes)))
    for a, b in np.ndindex(found.shape):
        found[a, b] = shares[a] @ np.abs(standard[a].T @ standard[b] / codes.shape[1]).max(1)
    return (found + found.T).sum(1) / 2 - np.diag(found)
