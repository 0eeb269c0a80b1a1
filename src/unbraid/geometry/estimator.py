"""GEOMANCER as a scikit-learn estimator."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from unbraid.data.rows import Rows
from unbraid.estimator.base import Estimator
from unbraid.estimator.parameters import COUNT_OR_AUTO, RANDOM_STATE, Number, Whole
from unbraid.estimator.summary import Summary
from unbraid.geometry.charts import Chart, analogy, charts
from unbraid.geometry.eigen import diffusion_scale
from unbraid.geometry.graph import Graph, joined, order_in_space, symmetrised
from unbraid.geometry.operator import n_threads
from unbraid.geometry.reading import Reading
from unbraid.geometry.splitting import carried_axes, split
from unbraid.geometry.summary import summary_of
from unbraid.geometry.tangents import n_unknowns, tangent_frames
from unbraid.manifold.angles import largest_angles
from unbraid.manifold.dimension import DimensionEstimate, estimate_dimension
from unbraid.manifold.neighbors import NeighborSearch, distinct_rows, nearest
from unbraid.manifold.reduction import check_spread, spanning_basis
from unbraid.runtime.determinism import seed_of
from unbraid.runtime.progress import bar
from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import emit, format_warning, warn

LIFT = 2.0  # an error t of the tangent spaces raises an eigenvalue 0 to at most LIFT t^2 scale_ (1.6 on 16 products)


# transform gives arrays of three axes, which data frames cannot hold: there is no set_output.
class Geomancer(Estimator, auto_wrap_output_keys=None):
    r"""Split a manifold into the submanifolds whose product it is (GEOMANCER).

    Parallel transport around loops on :math:`M_1 \times \dots \times M_m` keeps each factor's tangent space to itself,
    so the projections onto them are the symmetric-matrix fields that diffusion with transport leaves unchanged: the
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
    gap : "auto", "largest" or float
        The rule that counts submanifolds, see :func:`~unbraid.geometry.read_spectrum`. A number counts the
        eigenvalues below it.
    curved : bool
        Whether tangent spaces are corrected for curvature by a quadratic fit; not in the variant "paper".
    variant : "corrected" or "paper"
        "paper" is Algorithm 1 to the letter: 2 k neighbours, symmetrised, which also give the tangent spaces, by plain
        principal components; the Laplacian :math:`n_i S_i - \sum_j Q_{ij} S_j Q_{ij}^T`; FFDIAG; at every point
        clusters of diagonals with a cosine above .5. "auto" then is the largest gap.
    tol : float
        Residual of the eigenfields relative to the eigenvalues above the gap.
    precision : "float32" or "float64"
        Of the operator. Results come in the type of the data.
    n_jobs : int or None
        Threads; -1 is all cores, None is one.
    progress : bool or None
        Whether a bar is shown; None shows it when standard error is a terminal.
    random_state : int, RandomState, Generator or None
        Makes a run repeatable.

    Attributes
    ----------
    subspaces_ : list of arrays of shape (n_samples, n_features, dim_j)
        Orthonormal basis of each submanifold's tangent space at each point, largest dimension first. Rows of more
        than one axis, such as pictures, are flattened.
    n_submanifolds_ : int
    dims_ : list of int
    spectrum_ : array of shape (8,)
        Lowest eigenvalues, within [0, 2]; of the paper's Laplacian within twice the largest number of neighbours.
    scale_ : float
        First nonzero eigenvalue of the scalar Laplacian on the same graph: the reference for "near zero".
    gap_ : float
        Ratio of the first eigenvalue above the gap to the last below it; for a single manifold, of the first to
        5 % of ``scale_``.
    confidence_ : float
        ``1 - 1 / gap_``, halved for each of ``concerns_``; 0 if undetermined.
    determined_ : bool
        Whether the spectrum has a clear reading and the tangent spaces are stable.
    reason_ : str
        Why it is not determined.
    concerns_ : list of str
        The checks that failed; each was a warning of ``fit``.
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

    _parameter_constraints = {
        "dim": COUNT_OR_AUTO,
        "n_neighbors": COUNT_OR_AUTO,
        "gap": (Number(above=0, most=2), "auto", "largest"),
        "curved": (bool,),
        "variant": ("corrected", "paper"),
        "tol": (Number(above=0),),
        "precision": ("float32", "float64"),
        "n_jobs": (Whole(), None),
        "progress": (bool, None),
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        dim: int | str = "auto",
        n_neighbors: int | str = "auto",
        gap: float | str = "auto",
        *,
        curved: bool = True,
        variant: str = "corrected",
        tol: float = 0.01,
        precision: str = "float32",
        n_jobs: int | None = -1,
        progress: bool | None = None,
        random_state: Any = None,
    ) -> None:
        self.dim = dim
        self.n_neighbors = n_neighbors
        self.gap = gap
        self.curved = curved
        self.variant = variant
        self.tol = tol
        self.precision = precision
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the submanifolds of the rows of ``X``."""
        X = _flat_rows(self._read(X, fewest=4))
        rng = np.random.default_rng(seed_of(self.random_state))
        threads, as_paper = n_threads(self.n_jobs), self.variant == "paper"
        self.concerns_: list[str] = []
        with bar("fit", total=4, show=self.progress) as advance:
            Z, index, basis = self._prepare(X)
            k, m = self._choose_sizes(Z)
            neighbors = nearest(Z, m, workers=threads)[1].astype(np.int32)
            graph = self._graph(Z, neighbors, m if as_paper else min(m, 2 * k + 2))
            advance()
            frames = tangent_frames(Z, Z, graph.padded() if as_paper else neighbors, k, curved=self._curved)
            self.tangent_error_ = self._tangent_error(Z, frames, rng)
            advance()
            self.scale_ = diffusion_scale(graph, rng, normalised=not as_paper)
            advance()
            gap = "largest" if as_paper and self.gap == "auto" else self.gap
            narrow = frames.astype(self.precision)
            found = split(Z, narrow, graph, self.scale_, gap, self.tol, rng, threads, as_paper)
            advance()
        self.dim_, self.n_neighbors_, self.spectrum_ = k, m, found.spectrum
        self.dims_, self.n_submanifolds_ = found.dims, len(found.dims)
        self._X, self._basis = X, basis
        parts = np.split(found.axes, np.cumsum(found.dims)[:-1], axis=2)
        self.subspaces_ = [(basis @ (frames @ axes))[index].astype(X.dtype) for axes in parts]
        self._judge(found.reading, len(Z))
        return self

    @property
    def _curved(self) -> bool:
        return self.curved and self.variant != "paper"

    def _prepare(self, X: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """Distinct points in spatial order, in the coordinates of their span; its basis; the position of each row."""
        Z = X.astype(np.float64)
        if not np.ptp(Z, axis=0).any():
            raise ValueError(f"the {len(X)} points are identical; there is no manifold to find.")
        check_spread(Z)
        first, index = distinct_rows(Z)
        if len(first) < len(X):
            warn("UB301", stacklevel=3, count=len(X) - len(first), of=len(X))
        Z = Z[first] - Z[first].mean(axis=0)
        basis, noise = spanning_basis(Z)
        self.selection_: dict[str, str | DimensionEstimate] = {}
        self.selection_["n_components"] = f"{basis.shape[1]}, and {noise} directions of noise left out"
        Z = Z @ basis
        order = order_in_space(Z)
        rank = np.empty(len(Z), int)
        rank[order] = np.arange(len(Z))
        return Z[order], rank[index], basis

    def _choose_sizes(self, Z: NDArray) -> tuple[int, int]:
        n, size = Z.shape
        estimate = estimate_dimension(Z) if self.dim == "auto" else None
        k = max(1, estimate.dim) if estimate else int(self.dim)
        self._check_dim(k, n, size, estimate)
        usual = "2 k" if self.variant == "paper" else "k (k + 3)"
        enough = 2 * k if self.variant == "paper" else max(k * (k + 3), 12)
        wanted = enough if self.n_neighbors == "auto" else int(self.n_neighbors)
        if wanted > n - 1 and self.n_neighbors != "auto":
            raise ValueError(f"n_neighbors={wanted} needs more than {wanted} distinct points, got {n}.")
        if wanted > n - 1:
            self.concerns_.append(format_warning("UB241", points=n, dimension=k, wanted=wanted, used=n - 1))
        if self._curved and min(wanted, n - 1) < 1.25 * n_unknowns(k):
            self.concerns_.append(
                format_warning("UB242", neighbors=min(wanted, n - 1), dimension=k, unknowns=n_unknowns(k))
            )
        self.selection_["dim"] = estimate if estimate else "given"
        self.selection_["n_neighbors"] = usual if self.n_neighbors == "auto" else "given"
        return k, min(wanted, n - 1)

    def _check_dim(self, k: int, n: int, size: int, estimate: DimensionEstimate | None) -> None:
        if k > size:
            raise ValueError(
                f"dim={k} is larger than the data: the {n} points span {size} dimensions "
                f"of {self.n_features_in_} features. Set dim to at most {size}."
            )
        if n < k + 3:
            raise ValueError(f"{n} distinct points are too few for dimension {k}, which needs at least {k + 3}.")
        if estimate is not None and not estimate.clear:
            self.concerns_.append(format_warning("UB243", estimate=estimate))

    def _tangent_error(self, Z: NDArray, frames: NDArray, rng: np.random.Generator) -> float:
        k = frames.shape[2]
        m = min(len(Z) - 1, 2 * max(k * (k + 3), 12))
        some = rng.permutation(len(Z))[:200]
        wider = tangent_frames(Z, Z[some], nearest(Z, m, some)[1], k, curved=self._curved)
        return float(largest_angles(frames[some], wider).mean())

    def _graph(self, Z: NDArray, neighbors: NDArray, m: int) -> Graph:
        graph, labels = symmetrised(neighbors[:, :m])
        if labels.any():
            graph, labels = symmetrised(neighbors)
        if labels.any():
            sizes = np.sort(np.bincount(labels))[::-1]
            named = ", ".join(map(str, sizes[:5])) + (", ..." if len(sizes) > 5 else "")
            self.concerns_.append(format_warning("UB244", parts=len(sizes), sizes=named))
            graph = joined(Z, graph, labels)
        return graph

    def _judge(self, reading: Reading, n: int) -> None:
        """Record the reading of the spectrum and its confidence, and warn about every concern."""
        self.reason_, divided = reading.reason, reading.n_submanifolds > 1
        few = f"{n} points may be too few for dimension {self.dim_}, or too noisy"
        turn = f"turn by {self.tangent_error_:.2g} rad when twice as many neighbours are used"
        unsettled = not FIGURES["tangent_error"].holds(self.tangent_error_)
        # an eigenvalue that may be 0 is no evidence; a number as gap, and a single dimension, need none
        asked = self.gap == "auto" and self.dim_ > 1
        lifted = asked and self.spectrum_[0] <= LIFT * self.tangent_error_**2 * self.scale_
        if reading.determined and (unsettled or lifted) and not divided:
            self.reason_ = f"undetermined: the tangent spaces are unstable, they {turn}. {few}."
        if self.reason_:
            self.concerns_.append(format_warning("UB245", reason=self.reason_))
        elif self.gap != "auto" and not divided:
            self.concerns_.append(format_warning("UB246", gap=self.gap, lowest=self.spectrum_[0]))
        gap = FIGURES["submanifold_gap"]
        if divided and not gap.holds(reading.ratio):
            self.concerns_.append(format_warning("UB247", ratio=reading.ratio, safe=gap.limit(), few=few))
        if divided and unsettled:
            self.concerns_.append(format_warning("UB248", turn=turn, few=few))
        self.gap_, self.determined_ = reading.ratio, not self.reason_
        self.confidence_ = max(0.0, 1 - 1 / reading.ratio) / 2 ** len(self.concerns_) if self.determined_ else 0.0
        self.selection_["n_submanifolds"] = f"ratio {reading.ratio:.4g} across the gap"
        for concern in self.concerns_:
            emit(concern, stacklevel=3)

    def transform(self, X: Any) -> tuple[NDArray, ...]:
        """Subspaces at new points, carried there from their neighbours by parallel transport.

        Parameters
        ----------
        X : array-like of shape (n, n_features)

        Returns
        -------
        tuple of arrays of shape (n, n_features, dim_j)
            As ``subspaces_``, one array per submanifold; at points of the fit, these themselves.
            ``get_feature_names_out`` names the directions of all submanifolds, one after the other.
        """
        check_is_fitted(self)
        X = _flat_rows(self._read_new(X))
        places = self._X.astype(np.float64)
        first = distinct_rows(places)[0]
        adapted = self._basis.T @ np.concatenate(self.subspaces_, axis=2)[first].astype(np.float64)
        places, new = places[first] @ self._basis, X.astype(np.float64) @ self._basis
        width = min(self.n_neighbors_, len(places))
        distances, near = NeighborSearch(places).query(new, width, workers=n_threads(self.n_jobs))
        frames = tangent_frames(places, new, near, self.dim_, curved=self._curved)
        found = frames @ carried_axes(frames, adapted, near[:, : 2 * self.dim_ + 2], self.dims_, n_threads(self.n_jobs))
        known = distances[:, 0] <= 1e-9 * np.abs(places).max()
        found[known] = adapted[near[known, 0]]
        return tuple(np.split((self._basis @ found).astype(X.dtype), np.cumsum(self.dims_)[:-1], axis=2))

    def fit_transform(self, X: Any, y: Any = None) -> tuple[NDArray, ...]:
        """Fit, and the subspaces at the points of the fit."""
        return tuple(self.fit(X, y).subspaces_)

    def charts(self) -> list[Chart]:
        """Coordinates of the samples of the fit along each submanifold, see :func:`unbraid.geometry.charts`."""
        check_is_fitted(self)
        first, index = distinct_rows(self._X)
        found = charts(self._X[first], [s[first] for s in self.subspaces_])
        return [replace(chart, coordinates=chart.coordinates[index]) for chart in found]

    def analogy(self, a: int, b: int, c: int) -> int:
        """The sample d with a : b :: c : d, see :func:`unbraid.geometry.analogy`; for many, keep the charts."""
        return analogy(self.charts(), a, b, c)

    def _summary(self) -> Summary:
        return summary_of(self)

    @property
    def _n_features_out(self) -> int:
        return self.dim_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _flat_rows(rows: Rows) -> NDArray:
    values = rows.array()
    return values.reshape(len(values), -1)
