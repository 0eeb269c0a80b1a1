"""The linear baseline: principal components, then ICA."""

from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unbraid.contract.estimator import Estimator
from unbraid.contract.randomness import check_random_state
from unbraid.contract.summary import Summary
from unbraid.spectral.ica import excess_kurtosis, whitening
from unbraid.spectral.reduction import affordable_rows, fit_reduction
from unbraid.spectral.trial import best_rotation


class PCAICA(Estimator):
    """PCA + ICA: exact when the factors mix linearly, and the baseline every nonlinear method has to beat.

    codes = R W (P^T (x - mean)), with P the leading principal directions, W the whitening and R the ICA rotation.

    Parameters
    ----------
    n_factors : int or "auto"
    contrast, n_restarts, random_state
        As :class:`HessianICA`.

    Attributes
    ----------
    components_ : array (n_factors, n_features)
        Row j is the direction whose scalar product with ``x - mean_`` is code j.
    mixing_ : array (n_features, n_factors)
        ``codes @ mixing_.T + mean_`` is the inverse.
    mean_ : array (n_features,)
    kurtosis_ : array (n_factors,)
    n_factors_ : int

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(0).uniform(size=(500, 2))
    >>> codes = PCAICA(n_factors=2, random_state=0).fit_transform(z @ [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])
    >>> bool(abs(np.corrcoef(z.T, codes.T)[:2, 2:]).max(axis=0).min() > 0.99)
    True
    """

    kind: ClassVar[str] = "pca"

    def __init__(self, n_factors=2, *, contrast="logcosh", n_restarts=6, random_state=None):
        self.n_factors = n_factors
        self.contrast = contrast
        self.n_restarts = n_restarts
        self.random_state = random_state

    def fit(self, X, y=None):
        """Find the principal directions, then rotate; X as in :class:`HessianICA`."""
        rng = check_random_state(self.random_state)
        data = self._read(X)
        sample = data.sample(affordable_rows(data.n_features, data.float_dtype.itemsize, 20_000), rng)
        if len(sample) < 2:
            raise ValueError(f"Found array with {len(sample)} sample(s) while a minimum of 2 is required.")
        reduction = fit_reduction(sample, n_components=None if self.n_factors == "auto" else self._given())
        d = self._number(sample @ reduction.components.T) if self.n_factors == "auto" else self._given()
        if d > len(reduction.components):
            raise ValueError(
                f"n_factors={d}, but X with n_features = {self.n_features_in_} (n_samples = {len(data)}) varies in "
                f"only {len(reduction.components)} direction(s), as if it had 1 feature(s)."
            )
        P = np.asarray(sample @ reduction.components[:d].T, dtype=np.float64)  # the sample is centred already
        white = whitening(P)
        Z = white(P)
        self.rotation_ = best_rotation(self, Z, rng)
        signs = np.sign((Z @ self.rotation_.matrix.T).T @ P[:, 0])
        rotation = self.rotation_.matrix * np.where(signs == 0, 1, signs)[:, None]
        unmixing = rotation @ white.matrix
        self.components_ = unmixing @ reduction.components[:d]
        self.mixing_ = reduction.components[:d].T @ np.linalg.inv(unmixing)
        self.mean_ = reduction.mean + white.mean @ reduction.components[:d]
        self.kurtosis_ = excess_kurtosis(Z @ rotation.T)
        self.n_factors_ = d
        return self

    def transform(self, X):
        """Codes (n, n_factors)."""
        check_is_fitted(self, "components_")
        parts = [(block.reshape(len(block), -1) - self.mean_) @ self.components_.T for block in self._read_new(X)]
        return np.concatenate(parts) if parts else np.empty((0, self.n_factors_))

    def inverse_transform(self, codes):
        """Rows with the given codes."""
        check_is_fitted(self, "components_")
        codes = self._check_codes(codes, self.n_factors_).astype(np.float64)
        return self._decoded(codes @ self.mixing_.T + self.mean_)

    def summary(self) -> Summary:
        """What there is to say and to show about this fitted model; pages and terminals print it."""
        check_is_fitted(self)
        from unbraid.spectral.summary import linear_summary

        return linear_summary(self)

    @property
    def _n_features_out(self) -> int:
        return self.n_factors_

    def _given(self) -> int:
        d = self.n_factors
        if not isinstance(d, int | np.integer) or isinstance(d, bool) or d < 1:
            raise ValueError(f"n_factors is {d!r}; it must be 'auto' or a positive integer.")
        return int(d)

    @staticmethod
    def _number(P) -> int:
        from unbraid.manifold.dimension import estimate_dimension

        return estimate_dimension(P[:5000]).dim
