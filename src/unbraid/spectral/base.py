"""The estimator under every spectral method: reduce, find neighbours, embed, choose, extend."""

import sys
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import ThreadpoolController

from unbraid.contract.estimator import Estimator
from unbraid.contract.inputs import Rows, is_lazy
from unbraid.contract.progress import bar
from unbraid.contract.randomness import check_random_state
from unbraid.contract.summary import Summary
from unbraid.manifold.neighbors import Graph
from unbraid.metrics.local_isometry import diagonal_rescaling, isometry_of_pairs
from unbraid.spectral.diagnostics import Diagnostics, concerns_of, near_gaussian, warn_of
from unbraid.spectral.eigen import DENSE_POINTS, Spectrum
from unbraid.spectral.extension import LocalMaps
from unbraid.spectral.ica import excess_kurtosis
from unbraid.spectral.reduction import Reduction, affordable_rows, fit_reduction
from unbraid.spectral.selection import Candidate, Selection
from unbraid.spectral.trial import Choice, choose

Floats = NDArray[np.float64]

DIRECT = 5000  # up to this many points every point is solved for
FIRST_LANDMARKS = {1: 1000, 2: 3000, 3: 5000}
MOST_LANDMARKS = 20_000
HELD_OUT = 1000
FINEST = 0.002  # share of the variance left out by the PCA in which distances are measured
ICA_POINTS = 20_000
ENOUGH = 0.01  # error on held-out points, in standard deviations of a code, that needs no more landmarks


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()  # looking through the loaded libraries takes milliseconds: once is enough


def _one_blas_thread():
    """Thousands of small products are slower, not faster, when each is shared among threads."""
    return _threads().limit(limits=1, user_api="blas")


class SpectralEstimator(Estimator):
    """Shared by the embeddings and their ICA versions; a subclass says how neighbourhoods become eigenvectors."""

    kind: ClassVar[str]
    with_ica: ClassVar[bool] = False
    n_factors: int | str
    n_neighbors: int | str
    pca_components: int | str
    n_landmarks: int | str | None
    selection: str
    random_state: Any
    verbose: bool

    def _spectrum(self, P: Floats, near: NDArray[np.intp], distances: Floats, d: int, rng) -> Spectrum:
        raise NotImplementedError

    def fit(self, X, y=None):
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
        rng = check_random_state(self.random_state)
        data = self._read(X)
        with bar("read", show=self.verbose) as data.on_read:
            self.reduction_, pool, n = self._reduce(data, rng)
        d, origin = self._dimension(pool, n)
        with _one_blas_thread(), bar("fit", show=self.verbose) as advance:
            if self._wants_landmarks(n):
                choice, tried, maps, fresh = self._with_landmarks(pool, d, rng, advance)
            else:
                choice, tried = choose(self, pool, d, rng, advance), []
                maps, fresh = choice.maps(), choice.vectors
        self._finish(choice, maps, fresh, origin, tried, rng)
        return self

    def fit_transform(self, X, y=None):
        """Fit, and return the codes (n, n_factors) of X."""
        self.fit(X)
        return self.transform(X) if self.n_landmarks_ or self._incomplete else self.embedding_.copy()

    def transform(self, X):
        """Codes of points, new ones too, by the local affine maps around the nearest training points.

        Training points keep the codes of ``fit_transform``. A Dask array gives a Dask array, block by block.
        """
        check_is_fitted(self, "maps_")
        if is_lazy(X):
            X = X.rechunk(dict.fromkeys(range(1, X.ndim), -1))
            return X.map_blocks(
                self.transform, dtype=float, chunks=(X.chunks[0], (self.n_factors_,)), drop_axis=list(range(2, X.ndim))
            )
        return self._map_rows(X, self.maps_, self.n_factors_)

    def transform_error(self, X) -> Floats:
        """Estimated error (n,) of ``transform(X)``, in standard deviations of a code.

        The root mean square disagreement between the local maps of the nearest training points: small where the
        manifold is well sampled, large for points far from it or between its parts.
        """
        check_is_fitted(self, "maps_")
        return self._map_rows(X, lambda P: self.maps_.error(P)[:, None], 1)[:, 0]

    def inverse_transform(self, codes):
        """Data points with the given codes (n, n_factors), by the same local maps run backwards."""
        check_is_fitted(self, "maps_")
        codes = self._check_codes(np.atleast_2d(codes), self.n_factors_).astype(np.float64)
        return self._decoded(self.reduction_.inverse(self.maps_.inverse(codes)))

    def summary(self) -> Summary:
        """What there is to say and to show about this fitted model; pages and terminals print it."""
        check_is_fitted(self)
        from unbraid.spectral.summary import spectral_summary

        return spectral_summary(self)

    @property
    def _n_features_out(self) -> int:
        return self.n_factors_

    def _map_rows(self, X, function, width: int) -> Floats:
        data = self._read_new(X)
        m = self.maps_.points.shape[1]
        parts = []
        with bar("transform", show=self.verbose) as advance:
            for block in data:
                parts.append(function(self.reduction_.truncated(m)(block.reshape(len(block), -1))))
                advance(len(block))
        return np.concatenate(parts) if parts else np.empty((0, width))

    def _reduce(self, data: Rows, rng) -> tuple[Reduction, Floats, int]:
        """PCA, and the reduced coordinates of all rows (small n) or of a random pool in random order."""
        most = MOST_LANDMARKS + HELD_OUT + ICA_POINTS if self.n_landmarks is not None else sys.maxsize
        sample = data.sample(affordable_rows(data.n_features, data.float_dtype.itemsize, most), rng)
        n = len(data)
        if n < 2:
            raise ValueError(f"Found array with {n} sample(s) while a minimum of 2 is required to find factors.")
        size = self.pca_components
        if not (size in ("auto", None) or (isinstance(size, int | np.integer) and size >= 1)):
            raise ValueError(
                f"pca_components is {size!r}; it must be 'auto' or a positive integer (the size of the PCA)."
            )
        given = None if size in ("auto", None) else int(size)
        reduction = fit_reduction(sample, n_components=given)
        least = self.n_factors + 1 if isinstance(self.n_factors, int | np.integer) else 1
        reduction = reduction.truncated(given or max(reduction.size_for(FINEST), least))
        if len(sample) < min(n, most):
            return reduction, data.sample(most, rng, then=reduction), n
        return reduction, np.asarray(sample @ reduction.components.T, dtype=np.float64), n  # it is centred already

    def _wants_landmarks(self, n: int) -> bool:
        count = self.n_landmarks
        if count is None:
            return False
        if count == "auto":
            return n > DIRECT
        if not isinstance(count, int | np.integer) or count < 10:
            raise ValueError(
                f"n_landmarks is {count!r}; it must be 'auto', None (every point) or an integer from 10 on."
            )
        return int(count) < n

    def _dimension(self, pool: Floats, n: int) -> tuple[int, str]:
        d = self.n_factors
        if d == "auto":
            from unbraid.manifold.dimension import estimate_dimension

            estimate = estimate_dimension(pool[:5000])
            return estimate.dim, str(estimate)
        if not isinstance(d, int | np.integer) or isinstance(d, bool) or d < 1:
            raise ValueError(f"n_factors is {d!r}; it must be 'auto' or a positive integer.")
        if d > pool.shape[1]:
            raise ValueError(
                f"n_factors={d}, but X with n_features = {self.n_features_in_} (n_samples = {n}) varies in only "
                f"{pool.shape[1]} direction(s), as if it had 1 feature(s). Ask for at most {pool.shape[1]}."
            )
        return int(d), "given"

    def _with_landmarks(self, pool: Floats, d: int, rng, advance):
        """Embed a random subset, twice as large each time, until held-out points are placed well enough."""
        pool = pool[rng.permutation(len(pool))]
        held = pool[-min(HELD_OUT, len(pool) // 4) :]
        rest = pool[: len(pool) - len(held)]
        auto = self.n_landmarks == "auto"
        count = min(FIRST_LANDMARKS.get(d, 8000), len(rest)) if auto else int(self.n_landmarks)  # type: ignore[arg-type]
        # With four factors and more the solver is dense: its memory grows with the square of the number.
        most = min(MOST_LANDMARKS if d < 4 else DENSE_POINTS, len(rest))
        tried: list[dict] = []
        best: tuple[float, Choice, LocalMaps, int] | None = None
        fixed: Candidate | None = None
        while True:
            choice = choose(self, rest[:count], d, rng, advance, fixed=fixed)
            maps = choice.maps()
            error = float(np.median(maps.error(held[:, : choice.points.shape[1]])))
            tried.append({"n_landmarks": count, "held_out_error": error})
            if best is None or error < best[0]:
                best = (error, choice, maps, count)
            slow = len(tried) > 1 and error > 0.8 * tried[-2]["held_out_error"]
            if not auto or error <= ENOUGH or slow or count >= most:
                break
            count, fixed = min(2 * count, most), choice.candidate
        _, choice, maps, count = best
        # Many points speak more clearly about independence than the landmarks alone.
        fresh = maps(rest[: ICA_POINTS + count, : choice.points.shape[1]])
        return choice, tried, maps, fresh

    def _finish(self, choice: Choice, maps: LocalMaps, fresh: Floats, origin: str, tried: list[dict], rng) -> None:
        d = choice.vectors.shape[1]
        self.n_factors_, self.n_neighbors_ = d, choice.candidate.n_neighbors
        self.pca_components_ = choice.candidate.pca_components
        self.n_landmarks_ = len(choice.points) if tried else 0
        mean, matrix, rotation = choice.unmix(fresh, rng)
        matrix = self._orient(maps, mean, matrix, choice)
        self.maps_ = maps.after(mean, matrix)
        self.unmixing_ = matrix
        self._incomplete = choice.n_merged > 0 or choice.n_outside > 0
        self.embedding_ = self.maps_.codes
        self.selection_ = Selection(choice.rule, choice.candidate, choice.candidates, origin, tried)
        self.diagnostics_ = self._diagnose(choice, rotation, fresh, mean, matrix, tried)
        warn_of(self.diagnostics_.concerns, stacklevel=4)

    def _orient(self, maps: LocalMaps, mean: Floats, matrix: Floats, choice: Choice) -> Floats:
        """Fix scale (steps as long as in the data), order (longest factor first) and sign (along the first PCs)."""
        codes = (maps.codes - mean) @ matrix.T
        i, j, lengths = choice.edges
        scale = diagonal_rescaling(codes[i] - codes[j], lengths)
        scale = np.where(scale > 0, scale, 1e-12 * max(scale.max(), 1e-300))
        matrix, codes = matrix * scale[:, None], codes * scale
        spread = codes.std(axis=0)
        order = np.argsort(-spread, kind="stable")
        matrix, codes = matrix[order], codes[:, order]
        covariance = (codes - codes.mean(axis=0)).T @ choice.points
        strongest = covariance[np.arange(len(matrix)), np.abs(covariance).argmax(axis=1)]
        return matrix * np.where(strongest < 0, -1.0, 1.0)[:, None]

    def _diagnose(self, choice: Choice, rotation, fresh: Floats, mean, matrix, tried: list[dict]) -> Diagnostics:
        graph: Graph = choice.graph
        i, j, lengths = choice.edges
        codes = self.maps_.codes
        kurtosis = excess_kurtosis((fresh - mean) @ matrix.T)
        values = choice.spectrum.values
        figures = {
            "participation": 1 / (len(choice.points) * (choice.spectrum.vectors**4).sum(axis=0)),
            "eigengap": float(values[-1] / max(values[-2], 1e-300)) if len(values) > 1 else float("inf"),
            "n_redundant": choice.spectrum.n_redundant,
            "ica_stability": rotation.stability if rotation else 1.0,
            # Scale, order and sign do not change it: a direct solve has it already.
            "local_isometry": isometry_of_pairs(codes[i] - codes[j], lengths)[0] if tried else choice.candidate.edges,
            "kurtosis": kurtosis,
            "gaussian": near_gaussian(kurtosis, len(fresh)),
            "extension_error": min((t["held_out_error"] for t in tried), default=choice.held_out_error(self.maps_)),
        }
        concerns = choice.concerns() + concerns_of(figures, with_ica=self.with_ica, kind=self.kind)
        m = choice.candidate.pca_components
        return Diagnostics(
            n_graph_components=graph.n_components,
            n_orphans=graph.n_orphans,
            n_duplicates=choice.n_merged,
            eigenvalues=values,
            ica_converged=rotation.converged if rotation else 1.0,
            pca_residual=float(self.reduction_.residuals[m - 1]),
            concerns=concerns,
            **figures,
        )
