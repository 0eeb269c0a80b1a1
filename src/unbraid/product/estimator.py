"""The factors of a product manifold, with their kind: intervals, circles and spheres."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from unbraid.data.counts import COUNTS
from unbraid.data.rows import Rows
from unbraid.estimator.base import Estimator
from unbraid.estimator.parameters import COUNT_OR_AUTO, RANDOM_STATE, Whole
from unbraid.estimator.summary import Summary, codes_in_words
from unbraid.manifold.dimension import DimensionEstimate
from unbraid.manifold.neighbors import distinct_rows
from unbraid.manifold.reduction import Look, check_spread, spanning_basis
from unbraid.product.choice import find
from unbraid.product.diffusion import Floats
from unbraid.product.summary import summary_of
from unbraid.runtime.determinism import check_random_state
from unbraid.runtime.progress import bar
from unbraid.trust.warnings import emit, warn

LANDMARKS = 5000
FEWEST = 6
FEWEST_LANDMARKS = 20
WIDEST = 256  # features beyond which a PCA comes first
COMPONENTS = 64
OUTPUTS = ("angles", "embedding")


class ProductManifold(Estimator):
    r"""Factors that wrap around, and those that do not: the product manifold behind the data, factor by factor.

    On :math:`M_1 \times \dots \times M_m` the slowest functions of diffusion belong to one factor each, and gradients
    of functions of different factors are orthogonal everywhere. The slowest functions are split into parts with
    orthogonal gradients; shorter factors are the functions that change least and not along the known factors,

    .. math:: \min_f \int |\nabla f|^2 + 100 \sum_{\text{known } j} \int |\nabla_j f|^2.

    One function is an interval, :math:`\cos(\pi x / L)`; a round pair is a circle, a round triple a sphere.

    Use it where something turns: orientations, phases, directions of light, alone or beside positions. It assumes
    a product metric: how far a step of one factor moves the data must not depend on the others. Every factor is checked
    (``verified_``); each failed check is a warning, and that factor should be inspected before it is used. It takes no
    evidence besides X, so that there is nothing to shuffle and no ``null_``, as for all methods of X alone: whether X
    has structure at all is the finding "structure" of :func:`~unbraid.diagnose`.

    Parameters
    ----------
    n_factors : "auto" or int
        How many factors to find; "auto" finds as many as change the data on their own.
    kinds : "auto" or "circle"
        "circle" declares that the rows are one ring with noise, as the directions of an animal in the activity of its
        neurons: a closed curve is fitted to them. If rows follow one another in time, ``fit_transform`` gives angles
        in which neighbours in time support each other.
    output : "angles" or "embedding"
        A circle as one angle in radians, within (-pi, pi], or as its cosine and sine.
    counts : "auto", "depth" or "given"
        Whether counts are seen on a scale of square roots; see :class:`~unbraid.HessianICA`.
    n_landmarks : "auto", None or int
        Samples on which the walk runs: "auto" draws 5000 if there are more, None uses all.
    progress : bool or None
        Whether a bar is shown; None shows it when standard error is a terminal.
    random_state : int, RandomState, Generator or None
        Chooses landmarks; makes a run repeatable.

    Attributes
    ----------
    kinds_ : list of str
        "interval", "circle" or "sphere", longest factor first.
    n_factors_ : int
    verified_ : array of bool, one per factor
        Whether a factor passed all checks.
    checks_ : list of lists of FactorCheck
        The checks of each factor, with their figures.
    groups_ : list of arrays of int
        Eigenfunctions that make up most of each factor.
    lengths_ : array, one per factor
        Length of an interval; circumference of a circle or a great circle; in units of the data.
    columns_ : list of arrays of int
        Columns of the codes that belong to each factor: one, or three for a sphere (a unit vector); two for a circle
        with ``output="embedding"``.
    diagnostics_ : ProductDiagnostics
    selection_ : dict of str
        How the settings were chosen.

    References
    ----------
    Zhang, Moscovich, Singer (2021), Product manifold learning: the spectrum of a product. Coifman, Lafon (2006),
    Diffusion maps: the density-free walk. Gradients of functions from the walk alone: Bakry, Emery (1985).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> angle, height = rng.uniform(0, 2 * np.pi, 800), rng.uniform(0, 4, 800)
    >>> model = ProductManifold(random_state=0).fit(np.c_[np.cos(angle), np.sin(angle), height])
    >>> model.kinds_, model.verified_.tolist()
    (['interval', 'circle'], [True, True])
    >>> codes = model.transform([[1.0, 0.0, 2.0], [-1.0, 0.0, 2.0]])
    >>> bool(abs(np.cos(codes[0, 1] - codes[1, 1]) + 1) < 0.01)  # half a turn apart
    True
    """

    _parameter_constraints = {
        "n_factors": COUNT_OR_AUTO,
        "kinds": ("auto", "circle"),
        "output": OUTPUTS,
        "counts": COUNTS,
        "n_landmarks": (Whole(FEWEST_LANDMARKS), "auto", None),
        "progress": (bool, None),
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_factors: int | str = "auto",
        *,
        kinds: str = "auto",
        output: str = "angles",
        counts: str = "auto",
        n_landmarks: int | str | None = "auto",
        progress: bool | None = None,
        random_state: Any = None,
    ):
        self.n_factors = n_factors
        self.kinds = kinds
        self.output = output
        self.counts = counts
        self.n_landmarks = n_landmarks
        self.progress = progress
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the factors of the rows of ``X``; ``y`` is ignored."""
        rows = self._read(X)
        rng = check_random_state(self.random_state)
        start: ProductManifold | None = self.__dict__.pop("_start", None)
        if start is not None:
            self.__dict__.update(vars(start) | self.get_params(deep=False))
            self._warn()
            return self
        points, order = self._points(rows, rng)
        return self._fit_points(points, order, rng, None)

    def start_from(self, X: Any, look: Look) -> Self:
        """Fit the examined points of X instead of X itself.

        Parameters
        ----------
        X : array (n, ...)
        look : Look

        Returns
        -------
        self
        """
        self._read(X)
        first, order = distinct_rows(look.points)
        points = look.points[first]
        mean = points.mean(axis=0)
        basis = spanning_basis(points - mean)[0]
        self._mean = look.reduction.inverse(mean[None])[0].astype(np.float64)
        self._basis = look.reduction.components.T @ basis
        self._describe(len(points), look.n)
        rng = check_random_state(self.random_state)
        return self._fit_points((points - mean) @ basis, order, rng, look.dimension)

    def continue_from(self, start: Self) -> Self:
        """Let the next ``fit`` of the same data reuse the result of ``start``."""
        self._start = start
        return self

    def _fit_points(
        self, points: Floats, order: NDArray[np.intp], rng: np.random.RandomState, dimension: DimensionEstimate | None
    ) -> Self:
        found = find(
            points,
            order,
            rng,
            declared=self.kinds == "circle",
            n_factors=None if self.n_factors == "auto" else int(self.n_factors),
            dimension=dimension,
            progress=self.progress,
        )
        self.kinds_, self.n_factors_, self.maps_ = found.kinds, len(found.kinds), found.maps
        self.groups_, self.checks_, self.diagnostics_ = found.groups, found.checks, found.diagnostics
        self._known = found.places
        self.selection_ |= found.chosen
        half_turns = np.array([1 if kind == "interval" else 2 for kind in self.kinds_])
        self.lengths_ = np.pi * half_turns * np.array(self.maps_.radii)
        width = {"interval": 1, "circle": 1 if self.output == "angles" else 2, "sphere": 3}
        widths = [width[kind] for kind in self.kinds_]
        self.columns_ = np.split(np.arange(sum(widths)), np.cumsum(widths)[:-1])
        self.verified_ = found.verified
        self.diagnostics_.concerns.extend(found.doubts([codes_in_words(columns) for columns in self.columns_]))
        self._warn()
        return self

    def _warn(self) -> None:
        for concern in self.diagnostics_.concerns:
            emit(concern, stacklevel=4)

    def _points(self, rows: Rows, rng: np.random.RandomState) -> tuple[Floats, NDArray[np.intp]]:
        """Distinct samples, or landmarks among them, in the coordinates of the plane that they span.

        Also the position among them of every row that was used, in order.
        """
        wanted = LANDMARKS if self.n_landmarks == "auto" else self.n_landmarks
        sample = rows.sample(len(rows) if wanted is None else int(wanted), rng).astype(np.float64)
        if not np.ptp(sample, axis=0).any():
            raise ValueError(f"the {len(sample)} rows of X are identical; there is no manifold to find.")
        check_spread(sample)
        first, order = distinct_rows(sample)
        if len(first) < FEWEST:
            raise ValueError(
                f"{len(first)} distinct rows are too few; at least {FEWEST} are needed. Provide more rows."
            )
        if len(first) < len(sample) and self.kinds == "auto":
            warn("UB301", stacklevel=3, count=len(sample) - len(first), of=len(sample))
        sample = sample[first]
        self._mean = sample.mean(axis=0)
        sample = sample - self._mean
        self._basis = _basis(sample)
        self._describe(len(sample), len(rows))
        return sample @ self._basis, order

    def _describe(self, seen: int, n: int) -> None:
        """Say which settings were taken."""
        self.selection_ = {
            "n_landmarks": f"{seen} of {n} rows" if n > seen else "all rows",
            "n_components": f"{self._basis.shape[1]} of {self.n_features_in_} directions",
            "features": str(self.counts_ or "as they are"),
            "n_factors": "all that vary independently" if self.n_factors == "auto" else "given",
        }

    def transform(self, X: Any) -> NDArray:
        """Codes of rows, new ones too.

        Parameters
        ----------
        X : array-like of shape (n, ...)

        Returns
        -------
        array of shape (n, number of columns)
            Factor by factor, see ``columns_``: the length from one end of an interval, an angle (or its cosine and
            sine) of a circle, a unit vector of a sphere.
        """
        check_is_fitted(self, "maps_")
        rows = self._read_new(X)
        parts = []
        with bar("transform", show=self.progress) as advance:
            for block in rows:
                flat = block.reshape(len(block), -1).astype(np.float64)
                parts.append(self._codes(self.maps_.forward((flat - self._mean) @ self._basis)))
                advance(len(block))
        return np.concatenate(parts) if parts else np.empty((0, self._n_features_out))

    def _codes(self, places: Floats) -> Floats:
        columns = []
        for kind, part, radius in zip(self.kinds_, self.maps_.parts(places), self.maps_.radii):
            if kind == "interval":
                part = radius * np.arccos(part)
            elif kind == "circle" and self.output == "angles":
                part = np.arctan2(part[:, 1:], part[:, :1])
            columns.append(part)
        return np.concatenate(columns, axis=1)

    def inverse_transform(self, codes: ArrayLike) -> NDArray:
        """Rows with the given codes, as ``transform`` gives them; any angle will do, and unit vectors are scaled."""
        check_is_fitted(self, "maps_")
        values = self._check_codes(np.atleast_2d(codes), self._n_features_out).astype(np.float64)
        places = []
        for kind, columns, radius in zip(self.kinds_, self.columns_, self.maps_.radii):
            part = values[:, columns]
            if kind == "interval":
                part = np.cos(np.clip(part / radius, 0, np.pi))
            elif kind == "circle" and self.output == "angles":
                part = np.concatenate([np.cos(part), np.sin(part)], axis=1)
            else:
                part = part / np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1e-300)
            places.append(part)
        points = self.maps_.backward(np.concatenate(places, axis=1), self._known)
        return self._decoded(points @ self._basis.T + self._mean)

    def fit_transform(self, X: Any, y: Any = None) -> NDArray:
        """Fit, and return the codes of X as ``transform`` does; those of a ring in time support each other."""
        codes = self.fit(X).transform(X)
        recorded = "time" in self.selection_ and len(self._known) == len(codes)
        return self._codes(self._known) if recorded else codes

    def _summary(self) -> Summary:
        return summary_of(self)

    @property
    def _n_features_out(self) -> int:
        return sum(len(columns) for columns in self.columns_)


def _basis(Z: Floats) -> Floats:
    """Directions that the centred rows span, without those of noise; of wide rows, the first principal ones."""
    if Z.shape[1] <= WIDEST:
        return spanning_basis(Z)[0]
    from sklearn.decomposition import PCA

    size = min(COMPONENTS, len(Z) - 1)
    components = PCA(size, svd_solver="randomized", random_state=0).fit(Z).components_.T
    return components @ spanning_basis(Z @ components)[0]
