"""One small symmetric block per neighbourhood, summed into an alignment matrix.

For a neighbourhood of k points with tangent coordinates U (k x d), let T be an orthonormal basis of span[1, U] and W
one of the part of the products U_a U_b that is orthogonal to T. Then

    Hessian block (Donoho and Grimes 2003)   W W^T
    tangent block (LTSA, Zhang and Zha 2004) I - T T^T

Functions that are affine in the tangent coordinates lie in the null space of both. The tangent block also penalises
what is not quadratic, so it constrains the vectors that HLLE alone leaves free on a few points. With the smallest
neighbourhood, k = 1 + d + d(d+1)/2, the two are the same.

The blocks are of low rank, so the matrix is kept as their factors and written out only in the form that a solver needs.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee

from unbraid.manifold.neighbors import Floats
from unbraid.runtime.kernels import njit
from unbraid.spectral.local_frames import ANY_ORDER, local_frames

Ints = NDArray[np.int64]


def smallest_neighborhood(n_factors: int) -> int:
    """Points that a Hessian estimate needs: 1 + d + d(d+1)/2.

    >>> smallest_neighborhood(2)
    6
    """
    return 1 + n_factors + n_factors * (n_factors + 1) // 2


@dataclass(frozen=True)
class Alignment:
    """The sum over neighbourhoods of ``tangent * I + F^T diag(weights) F``, by its factors.

    Attributes
    ----------
    neighbors : array (n, k) of int
        Points of each neighbourhood, ascending.
    frames : array (n, p, k)
        Orthonormal functions F on each neighbourhood: the affine ones, then the quadratic ones.
    weights : array (p,)
        ``-tangent`` for the affine functions, ``hessian`` for the quadratic ones.
    tangent : float
    """

    neighbors: Ints
    frames: Floats
    weights: Floats
    tangent: float

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.neighbors), len(self.neighbors)

    @property
    def _blocks(self) -> tuple[Ints, Floats, Floats, float]:
        return self.neighbors, self.frames, self.weights, self.tangent

    @property
    def bandwidth(self) -> int:
        """How far the last entry of a column may lie below the diagonal."""
        return int((self.neighbors[:, -1] - self.neighbors[:, 0]).max())

    def trace(self) -> float:
        squares = np.einsum("npk,npk->p", self.frames, self.frames)
        return float(self.tangent * self.neighbors.size + self.weights @ squares)

    def __matmul__(self, V: Floats) -> Floats:
        width, k = V.shape[1], self.neighbors.shape[1]
        image, some, out = np.zeros((len(V), width)), np.empty((width, k)), np.empty((width, k))
        V = np.ascontiguousarray(V, np.float64)
        _times(self._blocks, V, some, out, image)
        return image

    def band(self) -> Floats:
        """The lower band, (bandwidth + 1, n) in LAPACK's form: entry (i, j) at [i - j, j]."""
        band = np.zeros((len(self.neighbors), self.bandwidth + 1))
        self._add_lower(band, banded=True)
        return band.T

    def toarray(self) -> Floats:
        """The upper triangle; zeros below the diagonal."""
        upper = np.zeros(self.shape)
        self._add_lower(upper, banded=False)
        return upper

    def tocsc(self) -> sp.csc_array:
        """The whole matrix, sparse."""
        near, n = self.neighbors, len(self.neighbors)
        listed = _lists(near, np.ones(near.size))
        place, indptr = np.full(n, -1), (listed.T @ listed).indptr.astype(np.int64)
        indices = np.empty(indptr[-1], dtype=np.int32)
        data, block = np.empty(indptr[-1]), np.empty(near.shape[1])
        _fill_rows(self._blocks, _owners(near), place, block, indptr, indices, data)
        return sp.csc_array((data, indices, indptr.astype(np.int32)), shape=(n, n))

    def _add_lower(self, out: Floats, *, banded: bool) -> None:
        row = np.empty(self.neighbors.shape[1])
        _add_lower(self._blocks, _owners(self.neighbors), row, out, banded)


def band_order(neighbors: NDArray[np.intp]) -> NDArray[np.intp]:
    """An order of the points (reverse Cuthill-McKee) in which every neighbourhood lies close together."""
    listed = _lists(neighbors, np.ones(neighbors.size, np.int8))
    return np.asarray(reverse_cuthill_mckee(sp.csr_matrix(listed + listed.T), symmetric_mode=True))


def alignment(
    X: Floats, neighbors: NDArray[np.intp], n_factors: int, *, hessian: float = 1.0, tangent: float = 0.01
) -> Alignment:
    """Sum over neighbourhoods of ``hessian * W W^T + tangent * (I - T T^T)``.

    Parameters
    ----------
    X : array (n, features)
    neighbors : array (n, k) of int
        Row i lists the points of neighbourhood i. Include i itself: a point that is in no list would get a zero row,
        which adds a null vector and makes the embedding useless.
    n_factors : int
        Dimension d of the tangent spaces.
    hessian, tangent : float
        Weights of the two blocks; (1, 0) is textbook HLLE, (0, 1) is LTSA.

    Examples
    --------
    A flat sheet: the coordinates are in the null space.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(50, 2))
    >>> near = np.argsort(((X[:, None] - X) ** 2).sum(-1), axis=1)[:, :9]
    >>> bool(abs(alignment(X, near, 2) @ X).max() < 1e-10)
    True
    """
    k, affine = neighbors.shape[1], 1 + n_factors
    needed = smallest_neighborhood(n_factors) if hessian else affine
    if k < needed:
        raise ValueError(
            f"{k} neighbours are too few for {n_factors} factors: a neighbourhood needs at least {needed} points "
            f"(the point itself counts). Raise n_neighbors to {needed} or more, or ask for fewer factors."
        )
    near = np.sort(neighbors.astype(np.int64), axis=1)
    frames = local_frames(X, near, n_factors, quadratic=hessian > 0)
    weights = np.where(np.arange(frames.shape[1]) < affine, -float(tangent), float(hessian))
    return Alignment(near, frames, weights, float(tangent))


def _lists(neighbors: NDArray[np.intp], entries: NDArray) -> sp.csr_array:
    """Row i has the entries of neighbourhood i in the columns of its points."""
    n, k = neighbors.shape
    return sp.csr_array((entries, neighbors.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))


def _owners(neighbors: Ints) -> tuple[Ints, Ints]:
    """Where each point is listed: places in the flat list, point by point, and where those of each point start."""
    listed = _lists(neighbors, np.arange(neighbors.size)).tocsc()
    return listed.data, listed.indptr.astype(np.int64)


# The kernels get their arrays allocated: compiling numpy's functions on first use takes longer than they save.


@njit(nogil=True, fastmath=ANY_ORDER)
def _block_row(F: Floats, weights: Floats, a: int, start: int, row: Floats) -> None:
    """Entries of row a of F^T diag(weights) F, from start on."""
    p, k = F.shape
    first = weights[0] * F[0, a]
    for b in range(start, k):
        row[b] = first * F[0, b]
    for c in range(1, p - 1, 2):  # two at a time: half as many passes over the row
        first, second = weights[c] * F[c, a], weights[c + 1] * F[c + 1, a]
        for b in range(start, k):
            row[b] += first * F[c, b] + second * F[c + 1, b]
    if p % 2 == 0:
        first = weights[p - 1] * F[p - 1, a]
        for b in range(start, k):
            row[b] += first * F[p - 1, b]


@njit(nogil=True)
def _add_lower(blocks: tuple, owners: tuple, row: Floats, out: Floats, banded: bool) -> None:
    """Column j of the lower triangle into row j of ``out``, from the diagonal on if ``banded``."""
    (neighbors, frames, weights, tangent), (owner, starts) = blocks, owners
    n, k = neighbors.shape
    for j in range(n):
        column, first = out[j], j if banded else 0
        column[j - first] = tangent * (starts[j + 1] - starts[j])
        for o in range(starts[j], starts[j + 1]):
            i, a = owner[o] // k, owner[o] % k
            _block_row(frames[i], weights, a, a, row)
            near = neighbors[i]
            for b in range(a, k):
                column[near[b] - first] += row[b]


@njit(nogil=True, fastmath=ANY_ORDER)
def _times(blocks: tuple, V: Floats, some: Floats, out: Floats, image: Floats) -> None:
    neighbors, frames, weights, tangent = blocks
    n, k = neighbors.shape
    p, width = len(weights), V.shape[1]
    for i in range(n):
        for a in range(k):
            for v in range(width):
                some[v, a] = V[neighbors[i, a], v]
        for v in range(width):
            for a in range(k):
                out[v, a] = tangent * some[v, a]
            for c in range(p):
                dot = 0.0
                for a in range(k):
                    dot += frames[i, c, a] * some[v, a]
                dot *= weights[c]
                for a in range(k):
                    out[v, a] += dot * frames[i, c, a]
        for a in range(k):
            for v in range(width):
                image[neighbors[i, a], v] += out[v, a]


@njit(nogil=True)
def _fill_rows(
    blocks: tuple, owners: tuple, place: Ints, block: Floats, indptr: Ints, indices: NDArray[np.int32], data: Floats
) -> None:
    (neighbors, frames, weights, tangent), (owner, starts) = blocks, owners
    n, k = neighbors.shape
    for row in range(n):
        end = indptr[row]
        for o in range(starts[row], starts[row + 1]):
            i, a = owner[o] // k, owner[o] % k
            _block_row(frames[i], weights, a, np.int64(0), block)
            block[a] += tangent
            for b in range(k):
                col = neighbors[i, b]
                if place[col] < indptr[row] or place[col] >= end or indices[place[col]] != col:
                    place[col] = end
                    indices[end] = col
                    data[end] = 0.0
                    end += 1
                data[place[col]] += block[b]
