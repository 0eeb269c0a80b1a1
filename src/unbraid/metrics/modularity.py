"""Modularity."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.arrays import choose
from unbraid.metrics.information import information


def modularity(factors: ArrayLike, codes: ArrayLike, *, n_bins: int = 20, dead: str = "zero") -> float:
    r"""Modularity: each code tells of one factor at most.

    .. math:: \mathrm{modularity} = \frac1D \sum_d
              \left( 1 - \frac{\sum_{k \ne k^*} I(z_d; v_k)^2}{(K-1)\, I(z_d; v_{k^*})^2} \right)

    with :math:`k^*` the factor that code d tells most about. It says nothing about whether every factor is told:
    duplicates of one good code score 1. Noise in a code that tells nothing looks modular; see the chance level that
    :func:`unbraid.evaluate` gives.

    Parameters
    ----------
    factors : array (n_samples, n_factors)
        Integers are classes; floats are cut into ``n_bins`` bins. Constant factors are left out.
    codes : array (n_samples, n_codes)
    n_bins : int
        Bins of equal width over the range of each code.
    dead : {"zero", "ignore"}
        A code without any information (a constant one) counts 0, as in the study's code, or is left out.

    Returns
    -------
    float
        Between 0 and 1; with a single factor, the share of codes that tell of it.

    References
    ----------
    Ridgeway & Mozer 2018, "Learning deep disentangled embeddings with the F-statistic loss", section 3.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).integers(0, 4, size=(2000, 2))
    >>> modularity(factors, 1.0 * factors) > 0.99
    True
    """
    choose(dead, ("zero", "ignore"), "dead")
    squared = information(factors, codes, n_bins).mutual ** 2
    largest = squared.max(axis=1)
    alive = largest > 0
    others = (squared.sum(axis=1) - largest)[alive] / (largest[alive] * max(squared.shape[1] - 1, 1))
    n_counted = alive.sum() if dead == "ignore" else len(alive)
    return float(np.clip((1 - others).sum() / n_counted, 0, 1)) if alive.any() else 0.0
