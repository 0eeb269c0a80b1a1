"""Closed-form linear readers of factors, cheap enough for every run of a study with few and with many samples."""

import numpy as np

from unbraid.study.analysis.frames import Floats

RIDGE = 1e-3  # share of the mean variance added to each direction


def read_accuracy(factors: np.ndarray, codes: Floats, n_train: int, n_test: int, n_draws: int, seed: int = 0) -> float:
    """Mean over factors and draws of the accuracy (R squared, at least 0, of real factors) of a linear reader.

    Classes are read by linear discriminants with a pooled covariance, numbers by ridge regression.

    Parameters
    ----------
    factors : array (n, factors)
    codes : array (n, codes)
    n_train, n_test : int
    n_draws : int
        How often training rows are drawn; the test rows stay the same.
    seed : int

    Returns
    -------
    float

    Examples
    --------
    >>> v = np.random.default_rng(0).integers(0, 4, (500, 1))
    >>> read_accuracy(v, 1.0 * v, 100, 200, 3)
    1.0
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(codes))
    test, rest = order[:n_test], order[n_test:]
    scores = []
    for _ in range(n_draws):
        train = rng.choice(rest, n_train, replace=False)
        x, x_test = codes[train], codes[test]
        for v in factors.T:
            if np.ptp(v) > 0:
                read = _classes if np.issubdtype(v.dtype, np.integer) else _numbers
                scores.append(read(x, v[train], x_test, v[test]))
    return float(np.mean(scores)) if scores else float("nan")


def _classes(x: Floats, v: np.ndarray, x_test: Floats, v_test: np.ndarray) -> float:
    values, labels, counts = np.unique(v, return_inverse=True, return_counts=True)
    means = np.zeros((len(values), x.shape[1]))
    np.add.at(means, labels, x)
    means /= counts[:, None]
    weights = np.linalg.solve(_covariance(x - means[labels]), means.T)
    score = x_test @ weights - np.sum(means.T * weights, axis=0) / 2 + np.log(counts / len(v))
    return float(np.mean(values[score.argmax(axis=1)] == v_test))


def _numbers(x: Floats, v: np.ndarray, x_test: Floats, v_test: np.ndarray) -> float:
    centred = x - x.mean(axis=0)
    slope = np.linalg.solve(_covariance(centred), centred.T @ (v - v.mean()) / len(v))
    left = v_test - v.mean() - (x_test - x.mean(axis=0)) @ slope
    return float(max(1 - np.sum(left**2) / np.sum((v_test - v_test.mean()) ** 2), 0.0))


def _covariance(deviations: Floats) -> Floats:
    found = deviations.T @ deviations / len(deviations)
    return found + np.eye(len(found)) * max(RIDGE * np.trace(found) / len(found), 1e-12)
