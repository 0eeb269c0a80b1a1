"""Diffusion on a point cloud: the Laplacian's eigenfunctions, and products of gradients without any gradient."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh

from unbraid.manifold.neighbors import graph_of, neighborhoods

Floats = NDArray[np.float64]

N_FUNCTIONS = 120
DENSE = 600  # points up to which a dense eigen-solver is the faster one
TINY = 1e-12


@dataclass(frozen=True)
class Diffusion:
    r"""A random walk on the points whose generator is the Laplacian, whatever their density.

    Attributes
    ----------
    functions : array (n, m)
        Eigenfunctions, slowest first, without the constant; orthonormal under ``weights``.
    decay : array (m,)
        Eigenvalues :math:`\mu` of one step.
    weights : array (n,)
        The law that the walk leaves as it is; sums to 1.
    step : sparse array (n, n)
        One step, rows sum to 1.
    scale : float
        Squared width :math:`\epsilon` of the kernel :math:`e^{-d^2 / \epsilon}`.
    density : array (n,)
        Of the points, as the kernel sees it.
    width : int
        Neighbours of a point, itself among them.
    n_pieces : int
        Connected parts of the neighbour graph.
    """

    functions: Floats
    decay: Floats
    weights: Floats
    step: sp.csr_array
    scale: float
    density: Floats
    width: int
    n_pieces: int

    @property
    def eigenvalues(self) -> Floats:
        r"""Of the Laplacian: :math:`\lambda = -4 \log \mu / \epsilon`."""
        return -4 * np.log(np.clip(self.decay, TINY, 1 - TINY)) / self.scale

    @property
    def energies(self) -> Floats:
        r"""Mean of :math:`|\nabla f|^2` of each eigenfunction as :meth:`gamma` measures it."""
        return 4 * np.maximum(1 - self.decay, TINY) / self.scale

    def mean(self, values: Floats) -> Floats:
        """Mean over the points by the law of the walk."""
        return self.weights @ values

    def gamma(self, f: Floats, g: Floats) -> Floats:
        r"""Products of gradients at every point, for each pair of columns that broadcasting makes.

        .. math:: \langle\nabla f, \nabla g\rangle(x) \approx
            \frac{2}{\epsilon} \sum_y p(x, y) (f(y) - f(x)) (g(y) - g(x)),

        averaged over one more step of the walk, which halves its noise.
        """
        product = f * g
        raw = self.step @ product - f * (self.step @ g) - g * (self.step @ f) + product
        return 2 / self.scale * (self.step @ raw)

    def gram(self, functions: Floats) -> Floats:
        """Products of gradients (n, g, g) of all pairs of columns."""
        g = functions.shape[1]
        found = np.empty((len(functions), g, g))
        for a in range(g):
            found[:, a, a:] = self.gamma(functions[:, a:], functions[:, [a]])
            found[:, a:, a] = found[:, a, a:]
        return found


def diffuse(points: Floats, random_state: np.random.RandomState) -> Diffusion:
    """The walk on these points, with neighbourhoods that grow as the square root of their number."""
    n = len(points)
    core = max(8, round(np.sqrt(n) / 4))
    distances, near = neighborhoods(points, min(n, 4 * core + 1))
    scale = max(float(np.median(np.square(distances[:, min(core, near.shape[1] - 1)]))), 1e-300)
    kernel = kernel_matrix(distances, near, scale)
    density = np.asarray(kernel.sum(axis=1), np.float64)
    kernel = sp.csr_array(sp.diags_array(1 / density) @ kernel @ sp.diags_array(1 / density))
    degree = kernel.sum(axis=1)
    root = sp.diags_array(1 / np.sqrt(degree))
    count = min(N_FUNCTIONS, max(6, n // 8), n - 2) + 1
    values, vectors = _largest(sp.csr_array(root @ kernel @ root), count, random_state)
    functions = vectors / np.sqrt(degree / degree.sum())[:, None]
    step = sp.csr_array(sp.diags_array(1 / degree) @ kernel)
    law = degree / degree.sum()
    pieces = graph_of(near).n_components
    return Diffusion(functions[:, 1:], values[1:], law, step, scale, density, near.shape[1], pieces)


def kernel_matrix(distances: Floats, near: NDArray[np.intp], scale: float) -> sp.csr_array:
    """Gaussian weights of all pairs of which one is a neighbour of the other."""
    n, k = near.shape
    values = np.exp(-np.square(distances) / scale)
    directed = sp.csr_array((values.ravel(), near.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    return sp.csr_array(directed.maximum(directed.T))


def _largest(matrix: sp.csr_array, count: int, random_state: np.random.RandomState) -> tuple[Floats, Floats]:
    """Eigenvalues, largest first, and eigenvectors with the sign of their largest entry fixed."""
    start = random_state.uniform(0.5, 1, matrix.shape[0])
    if matrix.shape[0] <= DENSE:
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        values, vectors = eigsh(matrix, k=count, which="LA", v0=start, tol=1e-8)
    order = np.argsort(-values)[:count]
    vectors = vectors[:, order]
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(count)])
    return values[order], vectors * signs
