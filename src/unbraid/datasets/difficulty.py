"""How nonlinear a mixing is: what methods that cannot unmix it get, and whether the data determine the factors."""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.decomposition import PCA, FastICA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

from unbraid.metrics.matching import mcc

MOST_LINEAR, MOST_SIMPLE, LEAST_PRESENT = 0.85, 0.75, 0.95


@dataclass(frozen=True)
class Difficulty:
    """What simple methods get from data whose factors are known.

    Attributes
    ----------
    linear : float
        R squared of a linear regression of the factors on X, on held-out rows: the best linear code, with labels.
    raw : float
        MCC of the widest columns of X, as many as there are factors.
    pca_ica : float
        MCC of independent components of as many principal components.
    neighbors : float
        R squared of the mean factors of the 5 nearest rows: whether X determines the factors.
    """

    linear: float
    raw: float
    pca_ica: float
    neighbors: float

    @property
    def is_nonlinear(self) -> bool:
        """linear <= .85, raw and pca_ica <= .75, and the factors are there: neighbors >= .95."""
        simple = max(self.raw, self.pca_ica) <= MOST_SIMPLE
        return self.linear <= MOST_LINEAR and simple and self.neighbors >= LEAST_PRESENT


def difficulty(X: ArrayLike, factors: ArrayLike) -> Difficulty:
    """Measure it on rows X (n, features) and their factors (n, n_factors); regressions fit one half, judge the other.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.uniform(size=(400, 2))
    >>> found = difficulty(factors @ rng.normal(size=(2, 3)), factors)
    >>> round(found.linear, 6), found.is_nonlinear
    (1.0, False)
    """
    X, factors = np.asarray(X), np.asarray(factors)
    half, n = len(X) // 2, factors.shape[1]

    def held_out(model: LinearRegression | KNeighborsRegressor) -> float:
        return float(model.fit(X[:half], factors[:half]).score(X[half:], factors[half:]))

    widest = X[:, np.argsort(-X.std(axis=0))[:n]]
    components = PCA(n).fit_transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # Gaussian components have no fixed point
        sources = FastICA(whiten="unit-variance", random_state=0).fit_transform(components)
    return Difficulty(
        held_out(LinearRegression()), mcc(factors, widest), mcc(factors, sources), held_out(KNeighborsRegressor(5))
    )
