"""The estimator under every spectral method: reduce, find neighbours, embed, choose, extend."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from unbraid.data.lazy import codes_by_blocks
from unbraid.data.observations import data_of
from unbraid.data.rows import Rows
from unbraid.data.sources import is_lazy
from unbraid.estimator.parameters import COUNT_OR_AUTO, RANDOM_STATE, Whole
from unbraid.estimator.summary import Summary
from unbraid.export.graphs import Graphs
from unbraid.manifold.neighbors import Floats, diagonal_rescaling
from unbraid.manifold.reduction import FINEST, Look, affordable_rows, evening_of, wide_rows
from unbraid.manifold.spectra import has_structure
from unbraid.runtime.determinism import check_random_state, one_blas_thread
from unbraid.runtime.extras import require
from unbraid.runtime.progress import bar
from unbraid.spectral.diagnostics import Diagnostics, data_concerns, diagnose, shape_concerns, shape_of, warn_of
from unbraid.spectral.extension import LocalMaps
from unbraid.spectral.gaps import Filling
from unbraid.spectral.ica import Rotation, Whitening, whitening
from unbraid.spectral.landmarks import POOL, Embedded, embed_more, embed_points, solved
from unbraid.spectral.screened import Screened, bounded
from unbraid.spectral.selection import RULES, Number, Selection, number_of_factors, pca_candidates
from unbraid.spectral.summary import spectral_summary
from unbraid.spectral.trial import Choice, Embedding, Settings

Evidence = Callable[[Floats], Floats]  # from the whitened embedding of all rows to the matrix of the codes
Concerns = Callable[[Floats], list[str]]  # from the same to what is wrong with the evidence
Unmixing = tuple[Floats, Floats, Rotation | None]


@dataclass(frozen=True)
class Start:
    """Where a fit can resume: the examined points, their embedding, and the attributes of a fit to them."""

    look: Look
    found: Embedded
    number: Number
    fitted: dict[str, Any]


class SpectralEstimator(Screened):
    """Base of the embeddings and their ICA versions; a subclass defines how neighbourhoods become eigenvectors."""

    kind: ClassVar[str]
    diagnostics_: Diagnostics
    filling_: Filling | None = None
    takes_gaps = True
    _other_embedding: ClassVar[tuple[str, Embedding]]  # its name, and one that rests on other assumptions
    _parameter_constraints = {
        "n_factors": COUNT_OR_AUTO,
        "n_neighbors": COUNT_OR_AUTO,
        "pca_components": (*COUNT_OR_AUTO, None),
        "n_landmarks": (Whole(10), "auto", None),
        "selection": RULES,
        "random_state": RANDOM_STATE,
        "progress": (bool, None),
    }

    def __init__(
        self,
        n_factors: int | str = 2,
        n_neighbors: int | str = "auto",
        *,
        pca_components: int | str | None = "auto",
        n_landmarks: int | str | None = "auto",
        selection: str = "combined",
        outliers: str = "clip",
        units: str = "auto",
        counts: str = "auto",
        random_state: Any = None,
        progress: bool | None = None,
    ) -> None:
        self.n_factors = n_factors
        self.n_neighbors = n_neighbors
        self.pca_components = pca_components
        self.n_landmarks = n_landmarks
        self.selection = selection
        self.outliers = outliers
        self.units = units
        self.counts = counts
        self.random_state = random_state
        self.progress = progress

    def _read_new(self, X: Any) -> Rows:
        rows = super()._read_new(X)
        return rows if self.adjustment_ else self._filled(rows)

    def _filled(self, rows: Rows) -> Rows:
        """The rows as they are read: with their gaps filled, or refused where the fit had none."""
        rows.gaps = self.filling_ is not None
        rows.scale = self.filling_ or rows.scale
        return rows

    def _smallest_neighborhood(self, d: int) -> int:
        raise NotImplementedError

    def _embedding(self) -> Embedding:
        """The function from neighbourhoods to eigenvectors."""
        raise NotImplementedError

    def _settings(self, d: int) -> Settings:
        sizes = pca_candidates(self.reduction_, d, given=self.pca_components, several=self.n_neighbors == "auto")
        name, smallest = type(self).__name__, self._smallest_neighborhood(d)
        settings = Settings(name, self._embedding(), d, self.n_neighbors, sizes, smallest, self.selection)
        if self.units == "given" or self.n_neighbors != "auto" or not self._has_pictures:
            return settings
        return replace(settings, evening=evening_of(self.reduction_), views=(False, True))

    @property
    def _has_pictures(self) -> bool:
        """Whether rows are pictures whose pixels share one scale."""
        return len(self.row_shape_) in (2, 3) and self.adjustment_ is None and self.counts_ is None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the factors of X.

        Parameters
        ----------
        X : array (n, ...), memory map, Dask array, or iterable of blocks
            Rows are samples; images are flattened. Large inputs are streamed. A one-shot generator must be given as
            a function that makes it.
        y : ignored

        Returns
        -------
        self
        """
        return self._fit(X, None)

    def _fit(self, X: Any, evidence: Evidence | None, concerns: Concerns = lambda Z: []) -> Self:
        """Fit, and rotate the codes by this evidence about all rows; None leaves it to the settings."""
        rng = check_random_state(self.random_state)
        data = self._read(X)
        start: Start | None = self.__dict__.pop("_start", None)
        if start is not None and start.look.complete:
            self.__dict__.update(start.fitted | self.get_params(deep=False))
            warn_of(self.diagnostics_.concerns, stacklevel=2)
            return self
        found, look, number = self._embed(data, rng) if start is None else self._embed_from(start, data, rng)
        with one_blas_thread():
            doubts: list[str] = []
            if evidence:
                white, Z = self._whitened(X, found)
                unmixing: Unmixing = white.mean, evidence(Z) @ white.matrix, None
                doubts = concerns(Z)
            else:
                unmixing = found.choice.unmix(found.fresh, rng)
            self._list_odd(X)
            self._finish(found, look, unmixing, number, rng, doubts)
            self._find_again(found, X, evidence, rng)
        warn_of(self.diagnostics_.concerns, stacklevel=2)
        return self

    def _embed(self, data: Rows, rng: np.random.RandomState) -> tuple[Embedded, Look, Number]:
        with bar("read", show=self.progress) as data.on_read:
            look = self._look(data, rng)
        self.reduction_, self.screen_ = look.reduction, look.screen
        number = number_of_factors(self.n_factors, look, data.n_features)
        settings = self._settings(number.value)
        # Thousands of small products are slower, not faster, when each is shared among threads.
        with one_blas_thread(), bar("fit", show=self.progress) as advance:
            return embed_points(look, self.n_landmarks, settings, rng, advance), look, number

    def start_from(self, X: Any, look: Look) -> Start:
        """Embed the examined points of X; a fit resumes from the result with :meth:`continue_from`.

        Parameters
        ----------
        X : array (n, ...)
        look : Look

        Returns
        -------
        Start
            Its ``codes`` are those of the points. This estimator is fitted to them.
        """
        rng = check_random_state(self.random_state)
        data = self._read(X)
        look = look.truncated(max(look.reduction.size_for(FINEST), self._fewest_components()))
        self.reduction_, self.screen_ = look.reduction, look.screen
        number = number_of_factors(self.n_factors, look, data.n_features)
        self._list_odd(X)
        with one_blas_thread(), bar("fit", show=self.progress) as advance:
            found = solved(look.points, self._settings(number.value), rng, advance)
            self._finish(found, look, found.choice.unmix(found.fresh, rng), number, rng, [])
        return Start(look, found, number, dict(vars(self)))

    def continue_from(self, start: Start) -> Self:
        """Let the next ``fit`` of the same data resume from this start."""
        self._start = start
        return self

    def _embed_from(self, start: Start, data: Rows, rng: np.random.RandomState) -> tuple[Embedded, Look, Number]:
        self.reduction_, self.screen_ = start.look.reduction, start.look.screen
        with bar("read", show=self.progress) as data.on_read:
            pool = self._filled(data).sample(POOL, rng, then=self._place)
        with one_blas_thread(), bar("fit", show=self.progress) as advance:
            return embed_more(start.found.choice, start.look, pool, rng, advance), start.look, start.number

    def _find_again(self, found: Embedded, X: Any, evidence: Evidence | None, rng: np.random.RandomState) -> None:
        """Refits; an embedding alone has no codes that could be reproduced one by one."""

    def _whitened(self, X: Any, found: Embedded) -> tuple[Whitening, Floats]:
        """The whitened embedding of every row of X, in their order."""
        d, m = found.choice.settings.n_factors, found.choice.points.shape[1]
        bounds = np.quantile(found.maps.codes, [0, 1], axis=0)
        rows = self._map_rows(X, found.maps, d, m, bounds)
        white = whitening(rows)
        return white, white(rows)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and return the codes (n, n_factors) of X, as ``transform`` does."""
        return self.fit(X)._codes_of(X)

    def _codes_of(self, X: Any) -> Any:
        """Codes of the rows that were just fitted."""
        return (
            self.transform(X)
            if self.n_landmarks_ or self._incomplete or self.screen_ is not None or is_lazy(data_of(X))
            else self.embedding_.copy()
        )

    def transform(self, X: Any) -> Any:
        """Codes of points, new ones too, by the local affine maps around the nearest training points.

        Training points keep the codes of ``fit_transform``. A Dask array gives a Dask array, block by block. If the fit
        found outliers, the codes of such rows are kept within the range of the others, or NaN with ``outliers="nan"``.
        """
        check_is_fitted(self, "maps_")
        by_blocks = codes_by_blocks(self, X, self.n_factors_)
        if by_blocks is not None:
            return by_blocks
        return self._map_rows(X, self.maps_, self.n_factors_, bounds=self._bounds(self.maps_.codes))

    def transform_error(self, X: Any) -> Floats:
        """Estimated error (n,) of ``transform(X)``, in standard deviations of a code.

        The root mean square disagreement between the local maps of the nearest training points: small where the
        manifold is well sampled, large for points far from it or between its parts.
        """
        check_is_fitted(self, "maps_")
        return self._map_rows(X, lambda P: self.maps_.error(P)[:, None], 1)[:, 0]

    def inverse_transform(self, codes: ArrayLike) -> NDArray:
        """Data points with the given codes (n, n_factors), by the same local maps in reverse."""
        check_is_fitted(self, "maps_")
        codes = self._check_codes(np.atleast_2d(codes), self.n_factors_).astype(np.float64)
        return self._decoded(self.reduction_.inverse(self.maps_.inverse(codes)))

    def _summary(self) -> Summary:
        return spectral_summary(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _graphs(self) -> Graphs:
        require("torch", "export")
        from unbraid.spectral.graphs import spectral_graphs

        return spectral_graphs(self)

    @property
    def _n_features_out(self) -> int:
        return self.n_factors_

    def _map_rows(
        self,
        X: Any,
        function: Callable[[Floats], Floats],
        width: int,
        m: int = 0,
        bounds: Floats | None = None,
    ) -> Floats:
        """The function of every row in m principal components; of outliers, within the bounds or NaN."""
        data = self._read_new(X)
        reduction = self.reduction_.truncated(m or self.maps_.points.shape[1])
        parts = []
        with bar("transform", show=self.progress) as advance:
            for block in data:
                rows, odd = self._screened(block)
                found = function(reduction(rows))
                parts.append(found if odd is None or bounds is None else bounded(found, odd, bounds))
                advance(len(block))
        return np.concatenate(parts) if parts else np.empty((0, width))

    def _look(self, data: Rows, rng: np.random.RandomState) -> Look:
        """PCA, and the reduced coordinates of all rows (small n) or of a random pool in random order."""
        most = POOL if self.n_landmarks is not None else sys.maxsize
        sample = data.sample(affordable_rows(data.n_features, data.float_dtype.itemsize, most), rng)
        n = len(data)
        if n < 2:
            raise ValueError(f"Found array with {n} sample(s) while a minimum of 2 is required to find factors.")
        if np.isnan(sample).any():
            self.filling_ = Filling.of(sample)
            sample = self.filling_(sample)
        data = self._filled(data)
        size = self.pca_components
        given = None if size in ("auto", None) else int(size)
        seen = len(sample)
        reduction, sample, _, screen = self._reduce(sample, data, given)
        wide = wide_rows(sample, reduction)
        size = given or max(reduction.size_for(FINEST), self._fewest_components())
        reduction, screen = reduction.truncated(size), screen and screen.truncated(size)
        structured = self.n_factors != "auto" or has_structure(sample, rng)
        if seen < min(n, most):
            self.reduction_, self.screen_ = reduction, screen
            pool = data.sample(most, rng, then=self._place)
            inside = np.isfinite(pool[:, 0])
            odd = int(np.sum(~inside))
            return Look(reduction, pool[inside], n, structured, screen=screen, n_odd=odd, wide=wide)
        pool = np.asarray(sample @ reduction.within.T, dtype=np.float64)  # it is centred already
        return Look(reduction, pool, n, structured, screen=screen, n_odd=seen - len(sample), wide=wide)

    def _fewest_components(self) -> int:
        return int(self.n_factors) + 1 if self.n_factors != "auto" else 1

    def _finish(
        self, found: Embedded, look: Look, unmixing: Unmixing, number: Number, rng: np.random.RandomState,
        doubts: list[str],
    ) -> None:  # fmt: skip
        choice = found.choice
        self.n_factors_, self.n_neighbors_ = choice.settings.n_factors, choice.candidate.n_neighbors
        self.pca_components_ = choice.candidate.pca_components
        self.n_landmarks_ = len(choice.points) if found.tried else 0
        mean, matrix, rotation = unmixing
        self.unmixing_ = _oriented(found.maps, mean, matrix, choice)
        self.maps_ = found.maps.after(mean, self.unmixing_)
        self._incomplete = choice.n_merged > 0 or choice.n_outside > 0
        self.embedding_ = self.maps_.codes
        self.selection_ = Selection(choice.rule, choice.candidate, choice.candidates, number.origin, found.tried)
        residual = float(self.reduction_.residuals[self.pca_components_ - 1])
        codes = (found.fresh - mean) @ self.unmixing_.T
        self.pieces_: dict[int, NDArray[np.intp]] = {}
        shape = shape_of(look, number.value)
        if shape.thin is not None:
            dim, part = shape.thin
            numbers = np.delete(np.arange(len(part) + len(self.outliers_)), self.outliers_)
            numbers = numbers if shape.rows is None else shape.rows
            self.pieces_ = {dim: numbers[part], dim + 1: numbers[~part]}
        boxed = rotation is not None and self.kind != "laplacian"
        shaped = shape_concerns(shape, self.pieces_, codes if boxed else codes[:0])
        self.diagnostics_ = diagnose(
            found, look.wide, self.maps_, rotation, codes, rng, n_features=len(self.reduction_.mean),
            pca_residual=residual, kind=self.kind, concerns=(data_concerns(self) + shaped, doubts), unsure=number.doubt,
        )  # fmt: skip


def _oriented(maps: LocalMaps, mean: Floats, matrix: Floats, choice: Choice) -> Floats:
    """Fix scale (steps as long as in the data), order (longest factor first) and sign (along the first PCs)."""
    codes = (maps.codes - mean) @ matrix.T
    i, j, lengths = choice.edges
    scale = diagonal_rescaling(codes[i] - codes[j], lengths)
    scale = np.where(scale > 0, scale, 1e-12 * max(scale.max(), 1e-300))
    matrix, codes = matrix * scale[:, None], codes * scale
    order = np.argsort(-codes.std(axis=0), kind="stable")
    matrix, codes = matrix[order], codes[:, order]
    covariance = (codes - codes.mean(axis=0)).T @ choice.points
    strongest = covariance[np.arange(len(matrix)), np.abs(covariance).argmax(axis=1)]
    return matrix * np.where(strongest < 0, -1.0, 1.0)[:, None]
