"""GEOMANCER as a scikit-learn estimator."""

import warnings
from dataclasses import replace
from itertools import pairwise
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from unbraid.contract.persistence import Persistent
from unbraid.contract.summary import Summary
from unbraid.geometry.charts import Chart, analogy, charts
from unbraid.geometry.denoise import spanning_basis
from unbraid.geometry.diagonalize import Clusters, assign, find_clusters, joint_diagonals
from unbraid.geometry.eigen import diffusion_scale, lowest_fields
from unbraid.geometry.graph import Graph, joined, nearest, order_in_space, symmetrised
from unbraid.geometry.operator import n_threads, transports, unpack
from unbraid.geometry.reading import SAFE_RATIO, GeometryWarning, Reading, _flat, read_spectrum
from unbraid.geometry.tangents import angle_between, n_unknowns, tangent_frames
from unbraid.manifold.dimension import DimensionEstimate, distinct_rows, estimate_dimension

UNSETTLED_TANGENTS = 0.5
COMMUTING = 0.15


class Geomancer(TransformerMixin, Persistent, BaseEstimator):
    r"""Split a manifold into the submanifolds whose product it is (GEOMANCER).

    Parallel transport around loops on :math:`M_1 \times \dots \times M_m` keeps each factor's tangent space to itself,
    so the projections on them are the symmetric-matrix fields that diffusion with transport leaves as they are: the
    near-zero eigenfields of the second-order connection Laplacian

    .. math:: (\Delta^2 S)_i = S_i - \sum_{j \sim i} \frac{Q_{ij} S_j Q_{ij}^T}{\sqrt{n_i n_j}}, \qquad
        Q_{ij} = \text{polar}(U_i^T U_j).

    Use it for factors that are curved (rotations, directions on a sphere), given in coordinates whose Euclidean metric
    is that of the product. It finds no factors in raw pixels, and cannot split flat directions.

    Parameters
    ----------
    dim : "auto" or int
        Dimension of the whole manifold; "auto" takes :func:`~unbraid.manifold.dimension.estimate_dimension`.
    n_neighbors : "auto" or int
        Points for each tangent space; "auto" is :math:`k (k + 3)`, twice the unknowns of a quadratic fit, 28 for k = 4.
        The graph takes the nearest :math:`2 k + 2` of them.
    gap : "auto" or float
        The rule that counts submanifolds, see :func:`~unbraid.geometry.read_spectrum`. A number counts the
        eigenvalues below it.
    curved : bool
        Whether tangent spaces are corrected for curvature by a quadratic fit; False is the paper's plain version.
    tol : float
        Residual of the eigenfields against the eigenvalues above the gap.
    precision : "float32" or "float64"
        Of the operator. Results come in the type of the data.
    n_jobs : int or None
        Threads; -1 is all cores, None is one.
    random_state : int, RandomState or None
        Makes a run repeatable.

    Attributes
    ----------
    subspaces_ : list of arrays of shape (n_samples, n_features, dim_j)
        Orthonormal basis of each submanifold's tangent space at each point, largest dimension first.
    n_submanifolds_ : int
    dims_ : list of int
    spectrum_ : array of shape (8,)
        Lowest eigenvalues, within [0, 2].
    scale_ : float
        First nonzero eigenvalue of the scalar Laplacian on the same graph: the yardstick for "near zero".
    gap_ : float
        Ratio of the first eigenvalue above the gap to the last below it; for a single manifold, of the first to
        5 % of ``scale_``.
    confidence_ : float
        ``1 - 1 / gap_``, 0 where undetermined.
    determined_ : bool
        Whether the spectrum speaks.
    reason_ : str
        Why not.
    tangent_error_ : float
        Angle between the tangent spaces from ``n_neighbors`` and from twice as many points, in radians.
    dim_ : int
    n_neighbors_ : int
    selection_ : dict
        How the linear span, ``dim``, ``n_neighbors`` and the number of submanifolds were chosen.

    References
    ----------
    Pfau, Higgins, Botev, Racaniere (2020), Disentangling by Subspace Diffusion, Algorithm 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.hstack([v / np.linalg.norm(v, axis=1, keepdims=True) for v in rng.normal(size=(2, 800, 3))])
    >>> model = Geomancer(dim=4, random_state=0).fit(X)
    >>> model.dims_, model.subspaces_[0].shape
    ([2, 2], (800, 6, 2))
    """

    def __init__(
        self,
        dim="auto",
        n_neighbors="auto",
        gap="auto",
        *,
        curved=True,
        tol=0.01,
        precision="float32",
        n_jobs=-1,
        random_state=None,
    ):
        self.dim = dim
        self.n_neighbors = n_neighbors
        self.gap = gap
        self.curved = curved
        self.tol = tol
        self.precision = precision
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y=None):
        """Find the submanifolds of the rows of ``X``."""
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=4)
        self._check_parameters()
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        threads = n_threads(self.n_jobs)
        Z, inverse, basis = self._prepare(X)
        k, m = self._choose_sizes(Z)
        neighbors = nearest(Z, m, workers=threads)[1].astype(np.int32)
        frames = tangent_frames(Z, Z, neighbors, k, curved=self.curved)
        self.tangent_error_ = self._tangent_error(Z, frames, rng)
        graph = self._graph(Z, neighbors, min(m, 2 * k + 2))
        self.scale_ = diffusion_scale(graph, rng)
        axes, clusters = self._split(Z, frames, graph, rng, threads)
        self.dim_, self.n_neighbors_, self.dims_ = k, m, clusters.dims
        self.n_submanifolds_ = len(clusters.dims)
        self._X, self._basis = X, basis
        bounds = np.cumsum([0, *clusters.dims])
        self.subspaces_ = [(basis @ (frames @ axes[:, :, a:b]))[inverse].astype(X.dtype) for a, b in pairwise(bounds)]
        return self

    def _check_parameters(self):
        for name in ("dim", "n_neighbors"):
            value = getattr(self, name)
            if value != "auto" and not (isinstance(value, Integral) and int(value) >= 1):
                raise ValueError(f'{name} must be "auto" or a positive integer, got {value!r}.')
        if self.gap != "auto" and not (isinstance(self.gap, Real) and 0 < float(self.gap) <= 2):
            raise ValueError(f'gap must be "auto" or a number within (0, 2], got {self.gap!r}.')
        if self.precision not in ("float32", "float64"):
            raise ValueError(f'precision must be "float32" or "float64", got {self.precision!r}.')

    def _prepare(self, X):
        """Different points in the order of space, in the coordinates of the plane they span; the way back."""
        Z = X.astype(np.float64)
        if not np.ptp(Z, axis=0).any():
            raise ValueError(f"the {len(X)} points are all the same; there is no manifold in them.")
        Z, inverse = distinct_rows(Z)
        if len(Z) < len(X):
            _warn(f"{len(X) - len(Z)} of {len(X)} points are duplicates of others; each place is counted once.")
        Z = Z - Z.mean(axis=0)
        basis, noise = spanning_basis(Z)
        self.selection_: dict[str, str | DimensionEstimate] = {}
        self.selection_["n_components"] = f"{basis.shape[1]}, and {noise} directions of noise left out"
        Z = Z @ basis
        order = order_in_space(Z)
        rank = np.empty(len(Z), int)
        rank[order] = np.arange(len(Z))
        return Z[order], rank[inverse], basis

    def _choose_sizes(self, Z):
        n, size = Z.shape
        estimate = estimate_dimension(Z) if self.dim == "auto" else None
        k = self.dim if estimate is None else estimate.dim
        self._check_dim(k, n, size, estimate)
        wanted = max(k * (k + 3), 12) if self.n_neighbors == "auto" else self.n_neighbors
        if wanted > n - 1 and self.n_neighbors != "auto":
            raise ValueError(f"n_neighbors={wanted} needs more than {wanted} different points, got {n}.")
        if wanted > n - 1:
            _warn(f"{n} points are too few for dimension {k}: {wanted} neighbours each are wanted, {n - 1} are used.")
        if self.curved and min(wanted, n - 1) < 1.25 * n_unknowns(k):
            _warn(
                f"{min(wanted, n - 1)} neighbours are too few for the curvature of a manifold of dimension {k}, which "
                f"has {n_unknowns(k)} unknowns; tangent spaces are left uncorrected. Use more, or curved=False."
            )
        self.selection_["dim"] = estimate if estimate else "given"
        self.selection_["n_neighbors"] = "k (k + 3)" if self.n_neighbors == "auto" else "given"
        return int(k), int(min(wanted, n - 1))

    def _check_dim(self, k: int, n: int, size: int, estimate: DimensionEstimate | None) -> None:
        if k > size:
            raise ValueError(
                f"dim={k} is larger than the data: the {n} points span {size} dimensions "
                f"of {self.n_features_in_} features. Give a dim of at most {size}."
            )
        if n < k + 3:
            raise ValueError(f"{n} different points are too few for dimension {k}, at least {k + 3} are needed.")
        if estimate is not None and not estimate.clear:
            _warn(f"The dimension is unclear ({estimate}). Give dim=... if you know it.")

    def _tangent_error(self, Z, frames, rng) -> float:
        k = frames.shape[2]
        m = min(len(Z) - 1, 2 * max(k * (k + 3), 12))
        some = rng.permutation(len(Z))[:200]
        _, neighbors = nearest(Z, min(m + 1, len(Z)), Z[some])
        wider = tangent_frames(Z, Z[some], neighbors[:, 1:], k, curved=self.curved)
        return float(angle_between(frames[some], wider).mean())

    def _graph(self, Z, neighbors, m: int) -> Graph:
        graph, labels = symmetrised(neighbors[:, :m])
        if labels.any():
            graph, labels = symmetrised(neighbors)
        if labels.any():
            sizes = np.sort(np.bincount(labels))[::-1]
            _warn(
                f"The neighbour graph falls into {len(sizes)} disconnected parts of {', '.join(map(str, sizes[:5]))}"
                f"{', ...' if len(sizes) > 5 else ''} points; they are tied by their shortest bridges, and subspaces "
                "may be matched wrongly between them. Use a larger n_neighbors, more points, or fit each part alone."
            )
            graph = joined(Z, graph, labels)
        return graph

    def _split(self, Z, frames, graph, rng, threads) -> tuple[np.ndarray, Clusters]:
        """Axes (n, k, k) of each tangent space, and the submanifolds that they sort into."""
        k = frames.shape[2]
        if k == 1:
            self.spectrum_ = np.zeros(0)
            return self._settle(Reading(1, np.inf), k, len(Z))
        solved = lowest_fields(
            Z, frames.astype(self.precision), graph, min(2 * k + 2, len(Z) // 7), tol=self.tol, rng=rng, threads=threads
        )
        self.spectrum_ = solved.values
        reading = read_spectrum(solved.values, self.scale_, k, self.gap)
        if reading.n_submanifolds == 1:
            return self._settle(reading, k, len(Z))
        fields = solved.fields[:, :, : reading.n_submanifolds - 1] * np.sqrt(len(Z) / graph.degrees)[:, None, None]
        axes, diagonals, left = joint_diagonals(unpack(fields, k).transpose(0, 3, 1, 2), threads=threads)
        if left > COMMUTING:
            return self._settle(Reading(1, reading.ratio, _flat(reading.n_submanifolds - 1, k)), k, len(Z))
        clusters = find_clusters(diagonals, reading.n_submanifolds, rng)
        if min(clusters.dims) == 0:
            reason = (
                f"undetermined: the spectrum has a gap after {reading.n_submanifolds - 1} eigenvalues, but their "
                "fields do not split the tangent spaces the same way everywhere. The points are too few or too noisy."
            )
            return self._settle(Reading(1, reading.ratio, reason), k, len(Z))
        self._settle(reading, k, len(Z))
        order = assign(diagonals, clusters)
        return np.take_along_axis(axes, order[:, None], axis=2), clusters

    def _settle(self, reading: Reading, k: int, n: int) -> tuple[np.ndarray, Clusters]:
        """Record what was read and warn where it does not speak; the undivided tangent space as the answer."""
        self.gap_, self.reason_, self.determined_ = reading.ratio, reading.reason, reading.determined
        self.confidence_ = max(0.0, 1 - 1 / reading.ratio) if reading.determined else 0.0
        self.selection_["n_submanifolds"] = f"ratio {reading.ratio:.4g} across the gap"
        if not reading.determined:
            _warn(f"The number of submanifolds is {reading.reason}")
        elif self.gap != "auto" and reading.n_submanifolds == 1:
            _warn(f"gap={self.gap} selects nothing: the lowest eigenvalue is {self.spectrum_[0]:.4g}. One is reported.")
        elif reading.ratio < SAFE_RATIO and reading.n_submanifolds > 1:
            _warn(
                f"The gap is narrow: the eigenvalues across it have ratio {reading.ratio:.3g}, and {SAFE_RATIO:.0f} is "
                f"safe. {n} points may be too few for dimension {k}, or too noisy: the subspaces are rough, and the "
                "number of submanifolds may be wrong. Give more points."
            )
        elif self.tangent_error_ > UNSETTLED_TANGENTS:
            _warn(
                f"The tangent spaces are not settled: they turn by {self.tangent_error_:.2g} rad when twice as many "
                f"neighbours are used. {n} points may be too few for dimension {k}, or too noisy."
            )
        return np.broadcast_to(np.eye(k), (n, k, k)), Clusters(np.zeros((1, 0)), [k], 1.0)

    def transform(self, X):
        """Subspaces at new points, carried there from their neighbours by parallel transport.

        Parameters
        ----------
        X : array-like of shape (n, n_features)

        Returns
        -------
        tuple of arrays of shape (n, n_features, dim_j)
            As ``subspaces_``; at points of the fit, these themselves.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        places, first = np.unique(self._X.astype(np.float64), axis=0, return_index=True)
        adapted = self._basis.T @ np.concatenate(self.subspaces_, axis=2)[first].astype(np.float64)
        places, new = places @ self._basis, X.astype(np.float64) @ self._basis
        distances, near = nearest(places, min(self.n_neighbors_, len(places)), new, workers=n_threads(self.n_jobs))
        frames = tangent_frames(places, new, near, self.dim_, curved=self.curved)
        m = min(2 * self.dim_ + 2, near.shape[1])
        star = Graph(np.arange(len(X) + 1) * m, near[:, :m].ravel().astype(np.int32))
        carried = transports(frames, star, np.ascontiguousarray(adapted), threads=n_threads(self.n_jobs))
        carried = carried.reshape(len(X), m, self.dim_, self.dim_)
        bounds = np.cumsum([0, *self.dims_])
        projections = [
            np.einsum("nmab,nmcb->nac", carried[..., a:b], carried[..., a:b]) / m for a, b in pairwise(bounds)
        ]
        axes, diagonals, _ = joint_diagonals(np.stack(projections, axis=1))
        order = assign(diagonals, Clusters(np.eye(len(self.dims_)), self.dims_, 1.0))
        found = frames @ np.take_along_axis(axes, order[:, None], axis=2)
        known = distances[:, 0] <= 1e-9 * np.abs(places).max()
        found[known] = adapted[near[known, 0]]
        found = self._basis @ found
        return tuple(found[:, :, a:b].astype(X.dtype) for a, b in pairwise(bounds))

    def fit_transform(self, X, y=None):
        """Fit, and the subspaces at the points of the fit."""
        return tuple(self.fit(X, y).subspaces_)

    def charts(self) -> list[Chart]:
        """Coordinates of the samples of the fit along each submanifold, see :func:`unbraid.geometry.charts`."""
        check_is_fitted(self)
        X, first, inverse = np.unique(self._X.astype(np.float64), axis=0, return_index=True, return_inverse=True)
        found = charts(X, [s[first] for s in self.subspaces_])
        return [replace(chart, coordinates=chart.coordinates[inverse.ravel()]) for chart in found]

    def analogy(self, a: int, b: int, c: int) -> int:
        """The sample d with a : b :: c : d, see :func:`unbraid.geometry.analogy`; for many, keep the charts."""
        return analogy(self.charts(), a, b, c)

    def summary(self) -> Summary:
        """What there is to say and to show about this fitted model; pages and terminals print it."""
        check_is_fitted(self)
        from unbraid.geometry.summary import summary_of

        return summary_of(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _warn(message: str) -> None:
    warnings.warn(message, GeometryWarning, stacklevel=4)
