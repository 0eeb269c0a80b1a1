"""Hessian eigenmaps, LTSA and Laplacian eigenmaps: codes that are the factors up to a linear map."""

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from unbraid.estimator.parameters import Number
from unbraid.manifold.neighbors import Floats, Indices, distance_graph
from unbraid.spectral.alignment import alignment, band_order, smallest_neighborhood
from unbraid.spectral.base import SpectralEstimator
from unbraid.spectral.eigen import Spectrum, independent_eigenvectors, smallest_eigenvectors, smoothest_coordinates
from unbraid.spectral.trial import Embedding


def _aligned(
    P: Floats, near: Indices, distances: Floats, d: int, rng: np.random.RandomState, *, hessian: float, tangent: float
) -> Spectrum:
    """Eigenvectors of the alignment matrix, solved in an order that keeps its band narrow."""
    order = band_order(near)
    place = np.argsort(order)
    M = alignment(P[order], place[near[order]], d, hessian=hessian, tangent=tangent)
    choose = smoothest_coordinates if tangent else smallest_eigenvectors  # without its LTSA term HLLE is the textbook's
    found = choose(M, d, random_state=rng)
    return replace(found, vectors=found.vectors[place])


def _diffused(P: Floats, near: Indices, distances: Floats, d: int, rng: np.random.RandomState) -> Spectrum:
    """Slowest functions of diffusion on the neighbour graph."""
    n, k = near.shape
    sigma = np.maximum(distances[:, min(7, k - 1)], 1e-12 * max(distances.max(), 1e-300))
    weights = np.exp(-(distances**2) / (sigma[:, None] * sigma[near]))
    W = sp.csr_array((weights.ravel(), (np.repeat(np.arange(n), k), near.ravel())), shape=(n, n))
    W = W.maximum(W.T)
    W = W - sp.diags_array(W.diagonal())
    degree = np.asarray(W.sum(axis=1)).ravel()
    root = np.sqrt(np.maximum(degree, 1e-300))
    L = sp.eye_array(n) - sp.diags_array(1 / root) @ W @ sp.diags_array(1 / root)
    found = independent_eigenvectors(sp.csc_array(L), d, null=root, random_state=rng)
    vectors = found.vectors / root[:, None]
    vectors = vectors - vectors.mean(axis=0)
    vectors /= np.linalg.norm(vectors, axis=0)
    return replace(found, vectors=vectors)


def unfolded(P: Floats, near: Indices, distances: Floats, d: int, rng: np.random.RandomState) -> Spectrum:
    """Classical scaling of the lengths of the shortest paths through the neighbour graph: Isomap.

    The values are one over the eigenvalues of the scaling, so that they rise.
    """
    n = len(near)
    squares = np.square(dijkstra(distance_graph(distances, near), directed=False))
    squares -= squares.mean(axis=0)
    squares -= squares.mean(axis=1, keepdims=True)
    values, vectors = scipy.linalg.eigh(squares / -2, subset_by_index=[n - d - 1, n - 1])
    return Spectrum(vectors[:, :0:-1], 1 / np.maximum(values[::-1], 1e-12 * values[-1]))


class HessianEigenmaps(SpectralEstimator):
    r"""Hessian eigenmaps (HLLE) of Donoho and Grimes, stabilised by a small tangent term.

    The embedding minimises the sum over neighbourhoods of the squared Hessian of each coordinate,

    .. math:: y^T \Big[\sum_i W_i W_i^T + \epsilon\,(I - T_i T_i^T)\Big] y,

    where T_i spans the functions that are affine in the tangent coordinates of neighbourhood i, and W_i the quadratic
    ones beyond. For data x = g(z) with g locally isometric the minimisers are linear in z.

    Use it if the data lie on a curved sheet that could be flattened. Follow it with ICA (:class:`HessianICA`) to get
    the individual factors.

    Parameters
    ----------
    tangent_weight : float
        :math:`\epsilon`; 0 is the textbook method, which collapses onto a few points when neighbourhoods are large, and
        takes the smallest eigenvectors even where one is a function of others.
    **settings
        See :class:`~unbraid.HessianICA`, as for the attributes; there is no ``rotation``, ``contrast`` or ``n_init``.

    References
    ----------
    Donoho, Grimes (2003), Hessian eigenmaps, PNAS 100(10).

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(0).uniform(size=(400, 2))
    >>> X = np.c_[np.sin(2 * z[:, 0]), np.cos(2 * z[:, 0]), 2 * z[:, 1]]      # a bent sheet
    >>> Y = HessianEigenmaps(n_factors=2, n_neighbors=12, random_state=0).fit_transform(X)
    >>> residual = np.linalg.lstsq(np.c_[Y, np.ones(400)], z)[1]              # z is linear in Y
    >>> bool(residual.max() < 1e-3)
    True
    """

    kind: ClassVar[str] = "hessian"
    _other_embedding = ("Laplacian eigenmaps", _diffused)
    _parameter_constraints = {"tangent_weight": (Number(0),)}

    def __init__(
        self,
        n_factors: int | str = 2,
        n_neighbors: int | str = "auto",
        *,
        tangent_weight: float = 0.01,
        **settings: Any,
    ) -> None:
        super().__init__(n_factors, n_neighbors, **settings)
        self.tangent_weight = tangent_weight

    def _smallest_neighborhood(self, d: int) -> int:
        return smallest_neighborhood(d)

    def _embedding(self) -> Embedding:
        return partial(_aligned, hessian=1.0, tangent=float(self.tangent_weight))


class LTSA(SpectralEstimator):
    """Local tangent space alignment: coordinates that are affine in every tangent space.

    The alignment matrix is the sum of ``I - T_i T_i^T``. scikit-learn's ``method="hessian"`` computes this too,
    because it keeps every column beyond the affine ones; :class:`HessianEigenmaps` keeps the quadratic ones only.

    Parameters
    ----------
    **settings
        See :class:`~unbraid.HessianICA`, as for the attributes; there are no ``tangent_weight``, ``rotation``,
        ``contrast`` and ``n_init``. A neighbourhood needs n_factors + 2 points.

    References
    ----------
    Zhang, Zha (2004), Principal manifolds and nonlinear dimensionality reduction via tangent space alignment.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(200, 2)) @ [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]]
    >>> LTSA(n_factors=2, n_neighbors=10, random_state=0).fit_transform(X).shape
    (200, 2)
    """

    kind: ClassVar[str] = "tangent"
    _other_embedding = ("Laplacian eigenmaps", _diffused)

    def _smallest_neighborhood(self, d: int) -> int:
        return d + 2

    def _embedding(self) -> Embedding:
        return partial(_aligned, hessian=0.0, tangent=1.0)


class LaplacianEigenmaps(LTSA):
    r"""Laplacian eigenmaps: the slowest functions on the neighbour graph.

    Eigenvectors of :math:`L y = \lambda D y` with weights :math:`\exp(-|x_i - x_j|^2 / \sigma_i \sigma_j)`, where
    :math:`\sigma_i` is the distance to the seventh neighbour. On a product of intervals they are cosines of single
    factors, if the factors have similar lengths. It never collapses, but correlations with the factors stay below
    about .99.

    Parameters
    ----------
    **settings
        See :class:`~unbraid.HessianICA`, as for the attributes; there are no ``tangent_weight``, ``rotation``,
        ``contrast`` and ``n_init``.

    References
    ----------
    Belkin, Niyogi (2003), Laplacian eigenmaps for dimensionality reduction and data representation. Scaling of
    the weights: Zelnik-Manor, Perona (2004).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> y = LaplacianEigenmaps(n_factors=1, n_neighbors=5, random_state=0).fit_transform(X)[:, 0]
    >>> bool(abs(np.corrcoef(y, np.cos(np.pi * X[:, 0]))[0, 1]) > 0.99)
    True
    """

    kind: ClassVar[str] = "laplacian"
    _other_embedding = ("LTSA", partial(_aligned, hessian=0.0, tangent=1.0))

    def _embedding(self) -> Embedding:
        return _diffused
