"""Mutual information of factors and the codes of a variational model, from its posteriors rather than from bins."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.arrays import check, check_codes
from unbraid.metrics.information import Information

DRAWS = 2000  # points from whose posteriors a code is drawn; the error of an information is about 1 / sqrt(DRAWS) nats
BLOCK = 250  # of them at a time
LOG_2PI = float(np.log(2 * np.pi))


def posterior_information(
    factors: ArrayLike, means: ArrayLike, log_variances: ArrayLike, *, n_bins: int = 20, random_state: int = 0
) -> Information:
    r"""I(z_d; v_k) with :math:`q(z_d) = \frac1N \sum_n q(z_d | n)` and q(z_d | v) the same over the rows of value v.

    .. math:: I(z_d; v_k) = E_{n,\, z_d \sim q(z_d | n)} \left[ \log \frac1{N_v} \sum_{m: v_k(m) = v_k(n)} q(z_d | m)
              - \log \frac1N \sum_m q(z_d | m) \right]

    Nothing is binned except continuous factors, so a code that determines its factor is not limited by bins. Posteriors
    much narrower than the distance between the points of one value tell these points apart, and the information is
    then overestimated: take 10,000 points.

    Parameters
    ----------
    factors : array (n_samples, n_factors)
    means, log_variances : arrays (n_samples, n_codes)
        Of the Gaussian q(z_d | n) of every row.
    n_bins : int
        Of continuous factors.
    random_state : int

    Returns
    -------
    Information
        ``code_entropy`` is the differential entropy of q(z_d).

    References
    ----------
    Chen et al. 2018, "Isolating sources of disentanglement in VAEs", section 4.1 and its appendix on estimation.
    """
    truth, mean = check(factors, means)
    log_variance = check_codes(log_variances, "log_variances")
    if log_variance.shape != mean.shape:
        raise ValueError(
            f"log_variances have shape {log_variance.shape} and means {mean.shape}; they must be the same."
        )
    labels = truth.varying().classes(n_bins)
    members = [np.equal.outer(column, np.unique(column)).astype(float) for column in labels.T]  # (n, values)
    n, d = mean.shape
    rng = np.random.default_rng(random_state)
    drawn = rng.choice(n, min(n, DRAWS), replace=False)
    mutual, code_entropy = np.zeros((d, len(members))), np.zeros(d)
    for rows in np.array_split(drawn, -(-len(drawn) // BLOCK)):
        for j in range(d):
            z = mean[rows, j] + np.exp(0.5 * log_variance[rows, j]) * rng.standard_normal(len(rows))
            log_q = -0.5 * ((z[:, None] - mean[:, j]) ** 2 * np.exp(-log_variance[:, j]) + log_variance[:, j])
            largest = log_q.max(axis=1, keepdims=True)
            q = np.exp(log_q - largest)  # (rows, n), up to a factor for each row
            overall = np.log(q.mean(axis=1))
            code_entropy[j] -= (overall + largest[:, 0] - 0.5 * LOG_2PI).sum() / len(drawn)
            for k, member in enumerate(members):
                within = ((q @ member / member.sum(axis=0)) * member[rows]).sum(axis=1)
                mutual[j, k] += (np.log(np.maximum(within, 1e-300)) - overall).sum() / len(drawn)
    shares = [member.mean(axis=0) for member in members]
    factor_entropy = np.array([-(p * np.log(p)).sum() for p in shares])
    return Information(np.maximum(mutual, 0), code_entropy, factor_entropy)
