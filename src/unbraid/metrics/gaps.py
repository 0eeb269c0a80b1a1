"""Scores from the mutual information of binned codes and factors: MIG and its relatives."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.arrays import choose
from unbraid.metrics.importance import weighted_purity
from unbraid.metrics.information import information, top_two
from unbraid.metrics.posterior_information import posterior_information

ESTIMATORS = ("bins", "posterior")


def mig(
    factors: ArrayLike,
    codes: ArrayLike,
    *,
    n_bins: int = 20,
    estimator: str = "bins",
    log_variances: ArrayLike | None = None,
    random_state: int = 0,
) -> float:
    r"""Mutual information gap: how far one code leads in telling each factor.

    .. math:: \mathrm{MIG} = \frac1K \sum_k \frac{I(z_{(1)}; v_k) - I(z_{(2)}; v_k)}{H(v_k)}

    Use it for compact codes, one per factor. It is limited by its bins: a code that determines a 32-valued factor
    reaches .63 when its marginal is Gaussian and .78 when it is uniform (20 bins, 10,000 points), and independent
    codes get more than 0; :func:`unbraid.evaluate` reports both.

    Parameters
    ----------
    factors : array (n_samples, n_factors)
        Integers are classes; floats are cut into ``n_bins`` bins. Constant factors are left out.
    codes : array (n_samples, n_codes)
    n_bins : int
        Bins of equal width over the range of each code.
    estimator : {"bins", "posterior"}
        How the information is estimated: from bins of the codes, as the large study does, or from the posteriors of a
        variational model, as the metric's own paper does. Then ``codes`` are their means, such as
        ``mig(factors, means, estimator="posterior", log_variances=log_variances)`` with
        ``means, log_variances = model.encode(X)``.
    log_variances : array (n_samples, n_codes), optional
        Of the posteriors.
    random_state : int
        Of the draws from the posteriors.

    Returns
    -------
    float
        Between 0 and 1.

    References
    ----------
    Chen et al. 2018, "Isolating sources of disentanglement in VAEs", equation 6; its appendix for "posterior".

    Examples
    --------
    >>> factors = np.random.default_rng(0).integers(0, 4, size=(2000, 2))
    >>> mig(factors, 1.0 * factors) > 0.99
    True
    """
    choose(estimator, ESTIMATORS, "estimator")
    if (estimator == "posterior") != (log_variances is not None):
        raise ValueError(
            "estimator='posterior' and log_variances go together: means, log_variances = model.encode(X), then "
            "mig(factors, means, estimator='posterior', log_variances=log_variances)."
        )
    if log_variances is not None:
        table = posterior_information(factors, codes, log_variances, n_bins=n_bins, random_state=random_state)
    else:
        table = information(factors, codes, n_bins)
    return _mean_gap(table.normalised, axis=0)


def mig_sup(factors: ArrayLike, codes: ArrayLike, *, n_bins: int = 20) -> float:
    r"""MIG-sup: how far the leading factor of each code is ahead of the second.

    .. math:: \mathrm{MIG\text{-}sup} = \frac1D \sum_d \left(
              \frac{I(z_d; v_{(1)})}{H(v_{(1)})} - \frac{I(z_d; v_{(2)})}{H(v_{(2)})} \right)

    The counterpart of MIG, which does not notice codes that mix factors. Every code counts, so spare codes lower it.

    Parameters
    ----------
    factors, codes, n_bins
        As for :func:`mig`.

    Returns
    -------
    float
        Between 0 and 1.

    References
    ----------
    Li et al. 2020, "Progressive learning and disentanglement of hierarchical representations", section 4.

    Examples
    --------
    >>> mig_sup([[0, 0], [0, 1], [1, 0], [1, 1]], [[5.0, 3.0], [5.0, 4.0], [6.0, 3.0], [6.0, 4.0]])
    1.0
    """
    return _mean_gap(information(factors, codes, n_bins).normalised, axis=1)


def _mean_gap(matrix: np.ndarray, axis: int) -> float:
    first, second = top_two(matrix, axis)
    return float(np.clip(np.mean(first - second), 0, 1))


def jemmig(factors: ArrayLike, codes: ArrayLike, *, n_bins: int = 20) -> float:
    r"""JEMMIG, normalised so that 1 is best: MIG that also requires the leading code to carry nothing else.

    .. math:: \mathrm{JEMMIG} = 1 - \frac1K \sum_k
              \frac{H(v_k, z_{(1)}) - I(v_k; z_{(1)}) + I(v_k; z_{(2)})}{H(v_k) + \log B}

    with :math:`B` bins. The joint entropy penalises a code that contains more than its factor, which MIG ignores.
    The score is 1 only when the code takes one value for each value of the factor. By its formula constant codes do
    not score 0 but :math:`\log B / (H(v_k) + \log B)`: compare it with its chance level.

    Parameters
    ----------
    factors, codes, n_bins
        As for :func:`mig`.

    Returns
    -------
    float
        Between 0 and 1.

    References
    ----------
    Do & Tran 2020, "Theory and evaluation metrics for learning disentangled representations", section 4.3;
    the normalisation is that of Carbonneau et al. 2022, "Measuring disentanglement: a review of metrics".

    Examples
    --------
    >>> jemmig([[0, 0], [0, 1], [1, 0], [1, 1]], [[5.0, 3.0], [5.0, 4.0], [6.0, 3.0], [6.0, 4.0]])
    1.0
    """
    table = information(factors, codes, n_bins)
    first, second = top_two(table.mutual, axis=0)
    joint = np.take_along_axis(table.joint_entropy, table.mutual.argmax(axis=0)[None], axis=0)[0]
    worst = table.factor_entropy + np.log(n_bins)
    return float(np.clip(1 - np.mean((joint - first + second) / worst), 0, 1))


def dcimig(factors: ArrayLike, codes: ArrayLike, *, n_bins: int = 20) -> float:
    r"""DCIMIG (3CharM): disentanglement, completeness and informativeness in one gap of mutual information.

    .. math:: R_d = I(z_d; v_{(1)}) - I(z_d; v_{(2)}), \qquad
              \mathrm{DCIMIG} = \frac{\sum_k \max_{d:\, v_{(1)}(d) = k} R_d}{\sum_k H(v_k)}

    Each code is assigned to the factor it carries most information about, and each factor keeps its best code. The
    score is high only if every factor has a code that carries it alone; spare and duplicated codes do not lower it.

    Parameters
    ----------
    factors, codes, n_bins
        As for :func:`mig`.

    Returns
    -------
    float
        Between 0 and 1.

    References
    ----------
    Sepliarskaia, Kiseleva & de Rijke 2019, "How to not measure disentanglement", section 5.

    Examples
    --------
    >>> dcimig([[0, 0], [0, 1], [1, 0], [1, 1]], [[5.0, 3.0], [5.0, 4.0], [6.0, 3.0], [6.0, 4.0]])
    1.0
    """
    table = information(factors, codes, n_bins)
    first, second = top_two(table.mutual, axis=1)
    best = np.zeros(len(table.factor_entropy))
    np.maximum.at(best, table.mutual.argmax(axis=1), first - second)
    return float(np.clip(best.sum() / table.factor_entropy.sum(), 0, 1))


def modularity(factors: ArrayLike, codes: ArrayLike, *, n_bins: int = 20, dead: str = "zero") -> float:
    r"""Modularity: each code carries information about at most one factor.

    .. math:: \mathrm{modularity} = \frac1D \sum_d
              \left( 1 - \frac{\sum_{k \ne k^*} I(z_d; v_k)^2}{(K-1)\, I(z_d; v_{k^*})^2} \right)

    with :math:`k^*` the factor that code d carries most information about. It ignores whether every factor is
    represented: duplicates of one good code score 1. Noise in an uninformative code looks modular; see the chance
    level that :func:`unbraid.evaluate` reports.

    Parameters
    ----------
    factors, codes, n_bins
        As for :func:`mig`.
    dead : {"zero", "ignore"}
        An uninformative (constant) code counts 0, as in the study's code, or is left out.

    Returns
    -------
    float
        Between 0 and 1; with a single factor, the share of codes that carry information about it.

    References
    ----------
    Ridgeway & Mozer 2018, "Learning deep disentangled embeddings with the F-statistic loss", section 3.

    Examples
    --------
    >>> modularity([[0, 0], [0, 1], [1, 0], [1, 1]], [[5.0, 3.0], [5.0, 4.0], [6.0, 3.0], [6.0, 4.0]])
    1.0
    """
    choose(dead, ("zero", "ignore"), "dead")
    squared = information(factors, codes, n_bins).mutual ** 2
    largest = squared.max(axis=1)
    alive = largest > 0
    others = (squared.sum(axis=1) - largest)[alive] / (largest[alive] * max(squared.shape[1] - 1, 1))
    n_counted = alive.sum() if dead == "ignore" else len(alive)
    return float(np.clip((1 - others).sum() / n_counted, 0, 1)) if alive.any() else 0.0


def med(factors: ArrayLike, codes: ArrayLike, *, n_bins: int = 20, top_k: int | None = None) -> float:
    r"""MED: the disentanglement score of DCI with mutual information in place of trained importances.

    .. math:: R_{dk} = \frac{I(z_d; v_k)}{\sum_e I(z_e; v_k)}, \qquad
              \mathrm{MED} = \sum_d \frac{\sum_k R_{dk}}{\sum_{dk} R_{dk}} \left(1 - H_K(R_{d\cdot})\right)

    Milliseconds instead of minutes, without a model to train. For representations with many more codes than factors
    use ``top_k``: only the k most disentangled codes of each factor count.

    Parameters
    ----------
    factors, codes, n_bins
        As for :func:`mig`.
    top_k : int, optional
        Codes that count for each factor; None counts all.

    Returns
    -------
    float
        Between 0 and 1.

    References
    ----------
    Cao et al. 2022, "An empirical study on disentanglement of negative-free contrastive learning", section 3.

    Examples
    --------
    >>> round(med([[0, 0], [0, 1], [1, 0], [1, 1]], [[5.0, 3.0], [5.0, 4.0], [6.0, 3.0], [6.0, 4.0]]), 6)
    1.0
    """
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k={top_k!r}; allowed are integers from 1, or None for all codes.")
    mutual = information(factors, codes, n_bins).mutual
    total = mutual.sum(axis=0)
    importance = np.divide(mutual, total, out=np.zeros_like(mutual), where=total > 0)
    if top_k is not None:
        importance = importance[_most_disentangled(importance, top_k)]
    return weighted_purity(importance)


def _most_disentangled(importance: np.ndarray, k: int) -> np.ndarray:
    purity = np.array([weighted_purity(row[None]) for row in importance])
    owner = importance.argmax(axis=1)
    order = np.argsort(-purity, kind="stable")
    return np.concatenate([order[owner[order] == f][:k] for f in range(importance.shape[1])])
