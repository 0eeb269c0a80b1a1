"""Embedding followed by ICA: the individual factors."""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from unbraid.data.rows import Rows, row_marks
from unbraid.estimator.parameters import COUNT
from unbraid.manifold.neighbors import Floats
from unbraid.methods import COVARIATES
from unbraid.runtime.progress import bar
from unbraid.spectral.base import Evidence, SpectralEstimator
from unbraid.spectral.embeddings import LTSA, HessianEigenmaps, LaplacianEigenmaps, unfolded
from unbraid.spectral.evidence import INDEPENDENT, ROTATIONS, check_rotation, rotation_matrix
from unbraid.spectral.evidence_figures import evidence_concerns
from unbraid.spectral.ica import CONTRAST, FASTICA
from unbraid.spectral.landmarks import Embedded
from unbraid.spectral.trial import Embedding, Settings

TRUST = ("cheap", "full")


class FollowedByICA(SpectralEstimator):
    """Adds ICA to the embedding that follows it among the base classes."""

    _parameter_constraints = {"rotation": tuple(ROTATIONS), "contrast": CONTRAST, "n_init": COUNT, "trust": TRUST}

    def __init__(
        self,
        n_factors: int | str = 2,
        n_neighbors: int | str = "auto",
        *,
        rotation: str = "independence",
        contrast: str = "logcosh",
        n_init: int = 3,
        trust: str = "cheap",
        **settings: Any,
    ) -> None:
        super().__init__(n_factors, n_neighbors, **settings)
        self.rotation = rotation
        self.contrast = contrast
        self.n_init = n_init
        self.trust = trust

    @property
    def uses(self) -> tuple[str, ...]:
        used = ROTATIONS.get(self.rotation)
        return (used, COVARIATES) if used else (COVARIATES,)

    def _settings(self, d: int) -> Settings:
        # Other evidence does not imply independence, so settings are then chosen by distances alone.
        contrast = {"independence": self.contrast, FASTICA: FASTICA}.get(self.rotation)
        return replace(super()._settings(d), contrast=contrast, n_init=self.n_init)

    def fit(self, X: Any, y: Any = None, *, pairs: Any = None, time: Any = None, covariates: Any = None) -> Self:
        """Find the factors of X.

        Parameters
        ----------
        X : array (n, ...), memory map, Dask array, or iterable of blocks
            Rows are samples; images are flattened. Large inputs are streamed. A one-shot generator must be given as
            a function that makes it. Values may be missing, NaN or masked: what principal components expect of them
            is taken. Or :class:`~unbraid.Observations`, with what is known about the rows.
        y : array (n,) or (n, n_factors), optional
            The condition of each row for ``rotation="condition"``, the known factors (NaN elsewhere; fewer
            columns than factors will do) for ``rotation="labels"``; ignored otherwise.
        pairs : array of int, (m, 2) or (n,), optional
            Row numbers of pairs that differ in few factors, or one number per row that both rows of a pair share, for
            ``rotation="pairs"``.
        time : array (n,), optional
            Numbers or dates, each row its own, for ``rotation="time"``; no step crosses a gap. Without it the rows are
            assumed to be in order of time.
        covariates : array (n,) or (n, c), optional
            Batch, session, day: levels or numbers, whose effect is taken away first (``adjustment_``). New rows need
            theirs: ``transform(Observations(X, covariates=...))``.

        Returns
        -------
        self
        """
        self._check_parameters()  # the rotation says which evidence is used
        known = self._observed(X, y if "labels" in self.uses else None, pairs=pairs, time=time, covariates=covariates)
        turning = known.only(*set(known.evidence) - {COVARIATES})
        if self.rotation in INDEPENDENT and not turning.evidence:
            return self._fit(known, None)
        check_rotation(self.rotation, turning)
        self._fit(
            known,
            lambda Z: rotation_matrix(self.rotation, Z, turning),
            lambda Z: evidence_concerns(self.rotation, Z, turning),
        )
        if self.rotation == "labels":
            numbers = np.flatnonzero(np.isfinite(known.labels.reshape(len(known), -1).astype(np.float64)).any(axis=1))
            self.labelled_rows_ = row_marks(Rows(known.X).picked(numbers))
        return self

    def _find_again(self, found: Embedded, X: Any, evidence: Evidence | None, rng: np.random.RandomState) -> None:
        if self.trust == "cheap":
            return
        from unbraid.spectral.refits import found_again, reliability_of

        def unmix(again: Embedded) -> tuple[Floats, Floats]:
            if evidence:
                white, Z = self._whitened(X, again)
                return white.mean, evidence(Z) @ white.matrix
            return again.choice.unmix(again.fresh, rng)[:2]

        with bar("refit", show=self.progress) as advance:
            reliability = reliability_of(found.choice, self.maps_.codes, unmix, self._other_embedding, rng, advance)
        self.diagnostics_ = found_again(self.diagnostics_, reliability)

    def fit_transform(
        self, X: Any, y: Any = None, *, pairs: Any = None, time: Any = None, covariates: Any = None
    ) -> Any:
        """Fit, and return the codes (n, n_factors) of X, as ``transform`` does."""
        return self.fit(X, y, pairs=pairs, time=time, covariates=covariates)._codes_of(X)


class HessianICA(FollowedByICA, HessianEigenmaps):
    r"""HLLE + ICA: Hessian eigenmaps, then the rotation that makes the codes independent.

    If x = g(z) with g locally isometric (after any rescaling of the factors) and the factors are independent,
    non-Gaussian and of connected support, the codes are the factors up to order, sign and a function of each (Theorem
    1 of the paper), as the number of points grows.

    Use it for data that vary smoothly in one to five factors: pictures of a scene, spectra of a process. Check
    ``diagnostics_`` before you trust the codes.

    Parameters
    ----------
    n_factors : int or "auto"
        Number of factors; "auto" estimates the dimension of the data
        (:func:`~unbraid.manifold.dimension.estimate_dimension`).
    n_neighbors : int or "auto"
        Points in a neighbourhood, the point itself included; at least 1 + d + d(d+1)/2. "auto" tries sizes (and sizes
        of the PCA) and keeps the best by ``selection``.
    tangent_weight : float
        Weight of the LTSA term that keeps HLLE from collapsing; 0 is the textbook method, with the smallest
        eigenvectors even where one is a function of others.
    rotation : {"independence", "fastica", "support", "time", "pairs", "condition", "labels"}
        What rotates the embedding into codes: independent factors, by a global search or by the paper's fastICA with
        u^4 from one start; factors that fill a box, however dependent; rows in the order of time; pairs of rows that
        differ in few factors; factors whose variances change with a condition; some known factors. The last three are
        given to ``fit``.
    contrast : {"logcosh", "kurtosis", "auto"}
        What the independent codes maximise; "auto" searches with both and keeps the less dependent codes.
    n_init : int
        Random starts of the search for three factors or more; with two factors every angle is tried.
    trust : {"cheap", "full"}
        "full" refits on halves, with another seed, other settings, a second method and other evidence, and reports how
        well the codes are reproduced in ``diagnostics_.reliability``. It takes several times as long.
    pca_components : int or "auto"
        Principal components kept first; "auto" chooses by the variance left out.
    n_landmarks : int, "auto" or None
        Points that are embedded; the rest are placed by local affine maps. None embeds every point. "auto" embeds all
        of up to 5000 points; of more, it raises the number until held-out points are placed well.
    selection : {"combined", "edges", "closest"}
        Rule for "auto": local isometry over neighbour-graph edges, over the closest 5 % of pairs (the paper's), or
        the mean of both minus half the mutual information of the codes.
    outliers : {"clip", "nan", "keep"}
        What becomes of rows that do not belong to the rest, and of cells without a value. "clip" and "nan" leave such
        rows out of the fit, list them in ``outliers_``, and keep their codes within the range of the others, or make
        them NaN; cells are filled from the other columns. "keep" takes all rows and cells as they are.
    units : {"auto", "given"}
        "auto" scales columns of a table whose values spread more than 30 times as much as those of the others, and
        leaves out columns that count the rows, and measures distances between pictures of one brightness and one
        contrast where these explain the codes clearly better (``selection_.chosen.evened``;
        only with ``n_neighbors="auto"``);
        "given" takes all columns and pictures as they are.
    counts : {"auto", "depth", "given"}
        "auto" finds out whether X holds counts (whole numbers from 0 on, many of them small) and then measures
        distances between their square roots, weighed so that all columns are equally noisy; ``counts_`` has the scale.
        "depth" brings all rows to one total first: of cells that were sequenced to different depths, say. It removes a
        factor that raises all rates. "given" takes counts as any numbers.
    random_state : int, RandomState, Generator or None
    progress : bool or None
        Whether bars are shown; None shows them when standard error is a terminal.
    null : "auto", "off" or int
        Whether a fit with evidence ends with refits to shuffled evidence, and how many; see ``null_``.

    Attributes
    ----------
    null_ : NullTest or None
        Of evidence: score of held-out rows, scores with shuffled evidence, and p.
    embedding_ : array (n, n_factors)
        Codes of the training points (of the landmarks, if there are any). A step of 1 moves the data by about 1;
        the factor along which the data move most comes first.
    n_factors_, n_neighbors_, pca_components_, n_landmarks_ : int
        The values used; 0 landmarks means that every point was embedded.
    unmixing_ : array (n_factors, n_factors)
        From the whitened embedding to the codes.
    selection_ : Selection
        Every setting that was tried, with its figures; print it.
    diagnostics_ : Diagnostics
        How far to trust the result; print it.
    outliers_ : array of int
        Rows that were left out of the fit.
    filled_ : array of int
        Rows with cells that were filled.
    pieces_ : dict of int to array of int
        Rows by dimension, where the data have parts of different dimension (the larger number stands for "or more");
        else empty.
    screen_ : Screen or None
        The rule for both; None if nothing was wrong with the data.
    counts_ : Counts or None
        The scale of counts; None if X does not hold counts.
    maps_ : LocalMaps
    reduction_ : Reduction
        Its ``scale`` is what columns were multiplied by, if any were.

    References
    ----------
    Horan, Richardson, Weiss (2021), When is unsupervised disentanglement possible? NeurIPS, sections 2 and 4.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(0).uniform(size=(1000, 2))
    >>> X = np.c_[np.sin(2 * z[:, 0]), np.cos(2 * z[:, 0]), np.sin(z[:, 1]), np.cos(z[:, 1])]
    >>> codes = HessianICA(n_factors=2, n_neighbors=12, random_state=0).fit_transform(X)
    >>> correlation = abs(np.corrcoef(z.T, codes.T)[:2, 2:])
    >>> bool(np.diag(correlation).min() > 0.99)
    True
    """

    def __init__(
        self,
        n_factors: int | str = 2,
        n_neighbors: int | str = "auto",
        *,
        tangent_weight: float = 0.01,
        **settings: Any,
    ) -> None:
        super().__init__(n_factors, n_neighbors, tangent_weight=tangent_weight, **settings)


class TangentICA(FollowedByICA, LTSA):
    """LTSA followed by ICA; attributes as :class:`HessianICA`.

    Parameters
    ----------
    **settings
        See :class:`~unbraid.HessianICA`; there is no ``tangent_weight``.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(0).uniform(size=(500, 2))
    >>> codes = TangentICA(n_factors=2, n_neighbors=12, random_state=0).fit_transform(z @ [[3.0, 1.0], [0.0, 1.0]])
    >>> bool(abs(np.corrcoef(z.T, codes.T)[:2, 2:]).max(axis=0).min() > 0.98)
    True
    """


class GeodesicICA(FollowedByICA, LTSA):
    """Isomap + ICA: classical scaling of geodesic distances, then ICA; attributes as :class:`HessianICA`.

    Distances along the neighbour graph average over many neighbourhoods, so that a few hundred pictures, too few for
    second derivatives, may do. For independent factors the theorem of :class:`HessianICA` holds here too, as these fill
    a box. A hole or a missing corner, around which geodesics bend, spoils it; HLLE does not mind.

    Parameters
    ----------
    n_factors, n_neighbors
        As of :class:`HessianICA`.
    n_landmarks : int, "auto" or None
        Points whose distances are computed, which takes time in their square; the rest are placed by local affine maps.
    **settings
        See :class:`~unbraid.HessianICA`; there is no ``tangent_weight``.

    References
    ----------
    Tenenbaum, de Silva, Langford (2000), A global geometric framework for nonlinear dimensionality reduction, Science.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(0).uniform(size=(200, 2))
    >>> X = np.c_[np.sin(2 * z[:, 0]), np.cos(2 * z[:, 0]), 2 * z[:, 1]]
    >>> codes = GeodesicICA(n_factors=2, n_neighbors=12, random_state=0).fit_transform(X)
    >>> bool(abs(np.corrcoef(z.T, codes.T)[:2, 2:]).max(axis=0).min() > 0.98)
    True
    """

    kind: ClassVar[str] = "geodesic"

    def __init__(
        self,
        n_factors: int | str = 2,
        n_neighbors: int | str = "auto",
        *,
        n_landmarks: int | str | None = 1000,
        **settings: Any,
    ) -> None:
        super().__init__(n_factors, n_neighbors, n_landmarks=n_landmarks, **settings)

    def _embedding(self) -> Embedding:
        return unfolded


class LaplacianICA(FollowedByICA, LaplacianEigenmaps):
    """LEM + ICA: Laplacian eigenmaps followed by ICA; attributes as :class:`HessianICA`.

    The fallback if HLLE collapses. LEM never does, but it bends the factors into cosines and mixes up factors of very
    different length (Horan et al. 2021, supplement).

    Parameters
    ----------
    **settings
        See :class:`~unbraid.HessianICA`; there is no ``tangent_weight``.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(0).uniform(size=(500, 2))
    >>> codes = LaplacianICA(n_factors=2, n_neighbors=12, random_state=0).fit_transform(z * [1.0, 0.9])
    >>> bool(abs(np.corrcoef(z.T, codes.T)[:2, 2:]).max(axis=0).min() > 0.9)
    True
    """
