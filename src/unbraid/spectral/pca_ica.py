"""The linear baseline: principal components, then ICA."""

from copy import deepcopy
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from unbraid.data.gaps import share_missing
from unbraid.data.lazy import codes_by_blocks
from unbraid.estimator.parameters import COUNT, COUNT_OR_AUTO, RANDOM_STATE
from unbraid.estimator.summary import Summary
from unbraid.export.graphs import Graphs
from unbraid.manifold.reduction import FINEST, Look, affordable_rows
from unbraid.manifold.spectra import has_structure
from unbraid.methods import COVARIATES
from unbraid.runtime.determinism import check_random_state
from unbraid.runtime.extras import require
from unbraid.spectral.diagnostics import LinearDiagnostics, data_concerns, diagnose_linear, warn_of
from unbraid.spectral.evidence import INDEPENDENT, ROTATIONS, check_rotation, rotation_matrix
from unbraid.spectral.evidence_figures import evidence_concerns
from unbraid.spectral.figures import LOCAL_COMPONENTS
from unbraid.spectral.gaps import GapPCA, probabilistic_pca
from unbraid.spectral.ica import CONTRAST, FASTICA, Rotation, best_rotation, excess_kurtosis, whitening
from unbraid.spectral.screened import Screened, bounded
from unbraid.spectral.selection import given_factors, number_of_factors
from unbraid.spectral.summary import linear_summary


class PCAICA(Screened):
    """PCA + ICA: exact when the factors mix linearly, and the baseline for every nonlinear method.

    codes = R W (P^T (x - mean)), with P the leading principal directions, W the whitening and R the ICA rotation.

    Missing values, NaN or masked, are taken as they are: they are expected from the values that a row has
    (probabilistic PCA, :mod:`unbraid.spectral.gaps`), in ``fit`` and in ``transform``.

    Parameters
    ----------
    n_factors : int or "auto"
        "auto" needs complete rows.
    rotation, contrast, n_init, outliers, units, counts, random_state
        As :class:`HessianICA`.

    Attributes
    ----------
    components_ : array (n_factors, n_features)
        Row j is the direction whose scalar product with ``x - mean_`` is code j.
    mixing_ : array (n_features, n_factors)
        ``codes @ mixing_.T + mean_`` is the inverse; of counts, that of their roots (``counts_``).
    mean_ : array (n_features,)
    noise_ : float
        Variance of each value around the decoded ones; it weighs the values of rows with gaps.
    kurtosis_ : array (n_factors,)
    rotation_ : Rotation or None
        The search for independent codes; None if other evidence rotated them.
    concerns_ : list of str
        What is wrong with the data, or with that evidence.
    diagnostics_ : LinearDiagnostics
        How far the codes may be rotated, and the MCC to be expected.
    outliers_, filled_, screen_, reduction_, counts_
        As :class:`HessianICA`.
    bounds_ : array (2, n_factors)
        Between which the codes of outliers stay.
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
    diagnostics_: LinearDiagnostics
    takes_gaps = True

    _parameter_constraints = {
        "n_factors": COUNT_OR_AUTO,
        "rotation": tuple(ROTATIONS),
        "contrast": CONTRAST,
        "n_init": COUNT,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_factors: int | str = 2,
        *,
        rotation: str = "independence",
        contrast: str = "logcosh",
        n_init: int = 3,
        outliers: str = "clip",
        units: str = "auto",
        counts: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_factors = n_factors
        self.rotation = rotation
        self.contrast = contrast
        self.n_init = n_init
        self.outliers = outliers
        self.units = units
        self.counts = counts
        self.random_state = random_state

    @property
    def uses(self) -> tuple[str, ...]:
        used = ROTATIONS.get(self.rotation)
        return (used, COVARIATES) if used else (COVARIATES,)

    def fit(self, X: Any, y: Any = None, *, pairs: Any = None, time: Any = None, covariates: Any = None) -> Self:
        """Find the principal directions, then rotate; data and evidence as in :class:`HessianICA`."""
        self._check_parameters()  # the rotation says which evidence is used
        known = self._observed(X, y if "labels" in self.uses else None, pairs=pairs, time=time, covariates=covariates)
        turning = known.only(*set(known.evidence) - {COVARIATES})
        check_rotation(self.rotation, turning)
        rng = check_random_state(self.random_state)
        data = self._read(known)
        sample = data.sample(affordable_rows(data.n_features, data.float_dtype.itemsize, 20_000), rng)
        if len(sample) < 2:
            raise ValueError(f"Found array with {len(sample)} sample(s) while a minimum of 2 is required.")
        given = given_factors(self.n_factors)
        if np.isnan(sample).any():
            sample = self._complete(sample, given)
        size = None if given is None else max(given, LOCAL_COMPONENTS)
        reduction, sample, _, screen = self._reduce(sample, data, size)
        P = np.asarray(sample @ reduction.within.T, dtype=np.float64)  # the sample is centred already
        structured = self.n_factors != "auto" or has_structure(sample, rng)
        look = Look(reduction, P, len(data), structured)
        look = look.truncated(reduction.size_for(FINEST)) if self.n_factors == "auto" else look
        number = number_of_factors(self.n_factors, look, data.n_features)
        warn_of([number.doubt] if number.doubt else [], stacklevel=2)
        d = number.value
        self.reduction_, self.screen_ = reduction.truncated(d), screen and screen.truncated(d)
        self.noise_ = float(max(np.square(sample).mean() - np.square(P[:, :d]).sum() / sample.size, 0.0))
        self._list_odd(known)
        whole, P = P, np.ascontiguousarray(P[:, :d])
        white = whitening(P)
        Z = white(P)
        self.rotation_: Rotation | None = None
        self.concerns_ = data_concerns(self)
        if self.rotation in INDEPENDENT:
            contrast = FASTICA if self.rotation == FASTICA else self.contrast
            self.rotation_ = best_rotation(Z, contrast=contrast, n_init=self.n_init, random_state=rng)
            matrix = self.rotation_.matrix
        else:
            rows = np.concatenate([self._place(block) for block in self._read_new(known)])
            rows = np.where(np.isnan(rows), 0.0, rows)  # outliers have no place: the middle
            matrix = rotation_matrix(self.rotation, white(rows), turning)
            self.concerns_ += evidence_concerns(self.rotation, white(rows), turning)
        signs = np.sign((Z @ matrix.T).T @ P[:, 0])
        rotation = matrix * np.where(signs == 0, 1, signs)[:, None]
        unmixing = rotation @ white.matrix
        self.components_ = unmixing @ reduction.components[:d]
        self.mixing_ = reduction.decoding[:d].T @ np.linalg.inv(unmixing)
        self.mean_ = reduction.mean + white.mean @ reduction.decoding[:d]
        codes = Z @ rotation.T
        self.bounds_ = self._bounds(codes)
        self.kurtosis_ = excess_kurtosis(codes)
        self.n_factors_ = d
        told = whole, codes, self.rotation_, deepcopy(rng), data.n_features, number.doubt
        measured = partial(diagnose_linear, *told)
        self.diagnostics_ = LinearDiagnostics.partly({"concerns": self.concerns_}, measured)
        warn_of(self.concerns_, stacklevel=2)
        return self

    def _complete(self, sample: NDArray, d: int | None) -> NDArray:
        """Rows whose missing values are those that probabilistic PCA of the standardised columns expects."""
        if d is None:
            raise ValueError(
                f"X has missing values ({int(np.isnan(sample).sum())} of {sample.size}), and n_factors='auto' needs "
                "complete rows. Give n_factors, or fill the gaps first."
            )
        if d > min(sample.shape):
            raise ValueError(f"n_factors={d} is more than X, of shape {sample.shape}, can have.")
        share_missing([sample])
        spread = np.nanstd(sample, axis=0)
        spread = np.where(spread > 0, spread, 1)
        found = probabilistic_pca(sample / spread, d)
        return np.where(np.isnan(sample), found.decoded(sample / spread) * spread, sample).astype(sample.dtype)

    def _screened(self, block: NDArray) -> tuple[NDArray, NDArray[np.bool_] | None]:
        rows = block.reshape(len(block), -1)
        if not np.isnan(rows).any():
            return super()._screened(rows)
        known, scale = self.reduction_, 1.0 if self.reduction_.scale is None else self.reduction_.scale
        found = GapPCA(known.mean * scale, known.within, known.variances, self.noise_)
        coordinates = found.coordinates(rows * scale)
        return super()._screened(np.where(np.isnan(rows), coordinates @ known.decoding + known.mean, rows))

    def fit_transform(
        self, X: Any, y: Any = None, *, pairs: Any = None, time: Any = None, covariates: Any = None
    ) -> Any:
        """Fit, and return the codes (n, n_factors) of X."""
        return self.fit(X, y, pairs=pairs, time=time, covariates=covariates).transform(X)

    def transform(self, X: Any) -> Any:
        """Codes (n, n_factors); a Dask array gives a Dask array."""
        check_is_fitted(self, "components_")
        by_blocks = codes_by_blocks(self, X, self.n_factors_)
        if by_blocks is not None:
            return by_blocks
        parts = []
        for block in self._read_new(X):
            rows, odd = self._screened(block)
            codes = (rows - self.mean_) @ self.components_.T
            parts.append(codes if odd is None else bounded(codes, odd, self.bounds_))
        return np.concatenate(parts) if parts else np.empty((0, self.n_factors_))

    def inverse_transform(self, codes: ArrayLike) -> NDArray:
        """Rows with the given codes."""
        check_is_fitted(self, "components_")
        codes = self._check_codes(codes, self.n_factors_).astype(np.float64)
        return self._decoded(codes @ self.mixing_.T + self.mean_)

    def _summary(self) -> Summary:
        return linear_summary(self)

    def _graphs(self) -> Graphs:
        require("torch", "export")
        from unbraid.spectral.graphs import linear_graphs

        return linear_graphs(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.n_factors_
