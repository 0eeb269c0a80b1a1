"""Diffusion on a point cloud: the Laplacian's eigenfunctions, products of gradients, and factors at new points."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh

from unbraid.manifold.neighbors import NeighborSearch, graph_of, neighborhoods

Floats = NDArray[np.float64]

N_FUNCTIONS = 120
DENSE = 600  # points up to which a dense eigen-solver is the faster one
TINY = 1e-12
REACH = {1: 2.5, 2: 4.0, 3: 4.1}  # by dimension: neighbours used, as a multiple of those that determine the width
ON_A_LINE = 12  # eigenfunctions of a line; a wide kernel cannot resolve more
LINE = 40  # parts of a line, each of which a kernel covers
EVEN, FURTHER = 1.35, 1.4  # second neighbour over first, and third over second, of even steps along a line
UNEVEN = 0.4  # standard deviation of the log density above which widths follow it; sampling alone makes .37
BLOCK = 4096
NEAR = 24  # samples of a local fit


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
        The stationary distribution of the walk; sums to 1.
    step : sparse array (n, n)
        One step, rows sum to 1.
    scale : float
        Squared width :math:`\epsilon` of the kernel :math:`e^{-d^2 / (\epsilon \rho_x \rho_y)}`.
    rho : array (n,)
        Width at each point relative to the median width: large where points are sparse.
    density : array (n,)
        What the kernel is divided by.
    core : int
        Neighbours that determine the width.
    width : int
        Neighbours of a point, including itself.
    n_pieces : int
        Connected parts of the neighbour graph.
    """

    functions: Floats
    decay: Floats
    weights: Floats
    step: sp.csr_array
    scale: float
    rho: Floats
    density: Floats
    core: int
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
        """Mean over the points under the stationary distribution of the walk."""
        return self.weights @ values

    def gamma(self, f: Floats, g: Floats) -> Floats:
        r"""Products of gradients at every point, for each pair of columns that broadcasting makes.

        .. math:: \langle\nabla f, \nabla g\rangle(x) \approx
            \frac{2}{\epsilon} \sum_y p(x, y) (f(y) - f(x)) (g(y) - g(x)),

        averaged over one more step of the walk, which halves its noise.
        """
        product = f * g
        raw = self.step @ product - f * (self.step @ g) - g * (self.step @ f) + product
        return 2 / self.scale * (self.step @ (raw / np.square(self.rho)[:, None]))

    def gram(self, functions: Floats) -> Floats:
        """Products of gradients (n, g, g) of all pairs of columns."""
        g = functions.shape[1]
        found = np.empty((len(functions), g, g))
        for a in range(g):
            found[:, a, a:] = self.gamma(functions[:, a:], functions[:, [a]])
            found[:, a:, a] = found[:, a, a:]
        return found


def diffuse(points: Floats, random_state: np.random.RandomState, dim: int) -> Diffusion:
    """The walk on these points of dimension ``dim``, whose generator is the Laplacian, whatever their density."""
    n = len(points)
    dim = max(1, dim)
    core = _core(points, dim)
    distances, near = neighborhoods(points, min(n, round(core * REACH.get(dim, REACH[3])) + 1))
    scale, rho, alpha = _widths(distances, near, core, dim)
    kernel = kernel_matrix(np.square(distances) / (scale * rho[:, None] * rho[near]), near)
    density = np.power(np.asarray(kernel.sum(axis=1), np.float64) / rho**dim, alpha)
    kernel = sp.csr_array(sp.diags_array(1 / density) @ kernel @ sp.diags_array(1 / density))
    degree = np.asarray(kernel.sum(axis=1), np.float64)
    root = sp.diags_array(1 / (np.sqrt(degree) * rho))
    count = min(ON_A_LINE if dim == 1 else N_FUNCTIONS, max(6, n // 8), n - 2) + 1
    generator = sp.csr_array(root @ kernel @ root + sp.diags_array(1 - 1 / np.square(rho)))
    values, vectors = _largest(generator, count, random_state)
    law = degree * np.square(rho)
    law /= law.sum()
    functions = vectors / np.sqrt(law)[:, None]
    step = sp.csr_array(sp.diags_array(1 / degree) @ kernel)
    pieces = graph_of(near).n_components
    return Diffusion(functions[:, 1:], values[1:], law, step, scale, rho, density, core, near.shape[1], pieces)


def _core(points: Floats, dim: int) -> int:
    """Neighbours that determine the width: more on a line, where gaps vary most, unless steps are even."""
    n = len(points)
    if dim == 1:
        return 2 if even_steps(points) else max(8, round(n / LINE))
    return max(8, round(np.sqrt(n) / 4))


def even_steps(points: Floats) -> bool:
    """Whether the samples follow one another on a line in even steps, as the views of a turntable do.

    The first two neighbours are then about equally near, and the third is twice as far.

    >>> angle = 2 * np.pi * np.arange(40) / 40
    >>> even_steps(np.c_[np.cos(angle), np.sin(angle)]), even_steps(np.random.default_rng(0).normal(size=(40, 2)))
    (True, False)
    """
    if len(points) < 8:
        return False
    first, second, third = np.maximum(neighborhoods(points, 4)[0][:, 1:].T, 1e-300)
    return bool(np.quantile(second / first, 0.75) < EVEN and np.quantile(third / second, 0.25) > FURTHER)


def _widths(distances: Floats, near: NDArray[np.intp], core: int, dim: int) -> tuple[float, Floats, float]:
    r"""Squared width of the kernel, relative widths of the points, and the power of the density that is divided out.

    One width for all, and :math:`\alpha = 1`, where the density hardly varies. Otherwise neighbours decide,
    :math:`\rho \propto q^{-1/d}`, and the walk at the speed :math:`1 / \rho^2` is that of the Laplacian for
    :math:`\alpha = 1/2 - 1/d` (Berry & Harlim 2016, Variable bandwidth diffusion kernels).
    """
    radii = np.maximum(distances[:, min(core, near.shape[1] - 1)], 1e-300)
    logs = np.log(radii)[near[:, : core + 1]].mean(axis=1)
    if dim * float(np.std(logs)) <= UNEVEN:
        return float(np.median(np.square(radii))), np.ones(len(radii)), 1.0
    rho = np.exp(logs - np.median(logs))
    return float(np.exp(2 * np.median(logs))), rho, 0.5 - 1 / dim


def kernel_matrix(squares: Floats, near: NDArray[np.intp]) -> sp.csr_array:
    """Gaussian weights of all pairs of which one is a neighbour of the other."""
    n, k = near.shape
    directed = sp.csr_array((np.exp(-squares).ravel(), near.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    return sp.csr_array(directed.maximum(directed.T))


def _largest(matrix: sp.csr_array, count: int, random_state: np.random.RandomState) -> tuple[Floats, Floats]:
    """Eigenvalues, largest first, and eigenvectors with the sign of their largest entry fixed."""
    start = random_state.uniform(0.5, 1, matrix.shape[0])
    if matrix.shape[0] <= DENSE:
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        values, vectors = eigsh(matrix, k=count, which="LA", v0=start, tol=1e-8, ncv=max(2 * count + 1, 40))
    order = np.argsort(-values)[:count]
    vectors = vectors[:, order]
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(count)])
    return values[order], vectors * signs


@dataclass(frozen=True)
class ProductMaps:
    r"""Factors at any point, by the walk on the samples.

    An eigenfunction is known everywhere, :math:`f(x) = \frac1\mu \sum_y p(x, y) f(y)`, and so is every factor, a
    combination of some. Decoding averages the samples with similar factors, and corrects the mean by a linear fit.

    Attributes
    ----------
    points : array (n, features)
    density : array (n,)
        By which the kernel is divided.
    targets : array (n, columns)
        The functions of all factors in adjacent columns, each divided by its decay.
    centre, whiten : arrays (columns,), (columns, columns)
        Maps the functions of a circle or a sphere to a unit vector.
    scale : float
        Squared width of the kernel.
    rho : array (n,)
        Width at each sample relative to the median width.
    core, width : int
        Neighbours that determine the width, and those in the kernel.
    sizes : list of int
        Functions of each factor.
    radii : list of float
    """

    points: Floats
    density: Floats
    targets: Floats
    centre: Floats
    whiten: Floats
    scale: float
    rho: Floats
    core: int
    width: int
    sizes: list[int]
    radii: list[float]

    def forward(self, points: Floats) -> Floats:
        """Places (n, columns): a cosine for an interval, a unit vector for a circle or a sphere."""
        search = NeighborSearch(self.points)
        parts = [self._places(search, points[i : i + BLOCK]) for i in range(0, len(points), BLOCK)]
        return np.concatenate(parts) if parts else np.empty((0, sum(self.sizes)))

    def _places(self, search: NeighborSearch, points: Floats) -> Floats:
        distances, near = search.query(points, self.width)
        own = np.exp(np.log(self.rho)[near[:, : self.core + 1]].mean(axis=1, keepdims=True))
        squares = np.square(distances) / (self.scale * own * self.rho[near])
        # far from all samples the nearest one decides, where all weights would vanish
        weights = np.exp(squares[:, :1] - squares) / self.density[near]
        functions = np.einsum("nk,nkc->nc", weights / weights.sum(axis=1, keepdims=True), self.targets[near])
        places = (functions - self.centre) @ self.whiten
        for part in self.parts(places):
            if part.shape[1] == 1:
                np.clip(part, -1, 1, out=part)
            else:
                part /= np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1e-300)
        return places

    def parts(self, places: Floats) -> list[Floats]:
        """The columns of each factor."""
        return np.split(places, np.cumsum(self.sizes)[:-1], axis=1)

    def backward(self, places: Floats, known: Floats) -> Floats:
        """Points whose factors are ``places``; ``known`` are the places of the samples."""
        table = self._stretched(known)
        search = NeighborSearch(table)
        parts = [
            self._fitted(search, table, self._stretched(places[i : i + BLOCK])) for i in range(0, len(places), BLOCK)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self.points.shape[1]))

    def _stretched(self, places: Floats) -> Floats:
        """Places as lengths: an interval in units of the data, a circle or a sphere of its radius."""
        parts = [np.arccos(np.clip(part, -1, 1)) if part.shape[1] == 1 else part for part in self.parts(places)]
        return np.concatenate([radius * part for radius, part in zip(self.radii, parts)], axis=1)

    def _fitted(self, search: NeighborSearch, table: Floats, queries: Floats) -> Floats:
        distances, near = search.query(queries, min(NEAR, len(table)))
        width = np.maximum(np.median(distances, axis=1, keepdims=True), 1e-9 * table.std() + 1e-300)
        weights = np.exp(-np.square(distances / width))
        weights /= weights.sum(axis=1, keepdims=True)
        steps = table[near] - queries[:, None]
        mean_step = np.einsum("nk,nkc->nc", weights, steps)
        values = self.points[near]
        mean_value = np.einsum("nk,nkf->nf", weights, values)
        centred = steps - mean_step[:, None]
        weighted = centred * weights[:, :, None]
        gram = np.einsum("nkc,nkd->ncd", weighted, centred)
        # a circle's two columns have one direction: the ridge keeps the other still
        ridge = 1e-2 * np.trace(gram, axis1=1, axis2=2) + 1e-12 * table.var() + 1e-300
        cross = np.einsum("nkc,nkf->ncf", weighted, values - mean_value[:, None])
        slopes = np.linalg.solve(gram + ridge[:, None, None] * np.eye(gram.shape[1]), cross)
        return mean_value - np.einsum("nc,ncf->nf", mean_step, slopes)
