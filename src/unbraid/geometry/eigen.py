"""The lowest eigenfields of the connection Laplacian, by a Chebyshev filter, coarse level first."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import eigsh

from unbraid.geometry.graph import Graph, connected
from unbraid.geometry.operator import LANES, Diffusion
from unbraid.manifold.neighbors import nearest
from unbraid.trust.warnings import warn

COARSE = 4000
RATIO = 6
MAX_DEGREE = 40
MAX_PASSES = 30
ROUGHLY = 0.35
ROWS = 100_000


@dataclass(frozen=True)
class Eigenfields:
    """``values`` (LANES,) ascending, ``fields`` (n, k(k+1)/2, LANES), ``residuals`` (LANES,)."""

    values: np.ndarray
    fields: np.ndarray
    residuals: np.ndarray


def lowest_fields(
    X: np.ndarray,
    frames: np.ndarray,
    graph: Graph,
    n_neighbors: int,
    *,
    tol: float,
    rng: np.random.Generator,
    threads: int = 1,
    normalised: bool = True,
) -> Eigenfields:
    """Lowest ``LANES`` eigenfields of the connection Laplacian on ``graph``.

    The wanted fields are parallel, so a thinned sample has them too: above ``COARSE`` points every ``RATIO``-th is
    solved first, and the result is carried to the others by parallel transport; few passes remain. Without
    normalisation (the paper's Laplacian) all points are solved at once.
    """
    operator = Diffusion(frames, graph, threads=threads, normalised=normalised)
    if graph.n <= COARSE or not normalised:
        return filtered(operator, rng.standard_normal(operator.shape).astype(frames.dtype), tol=tol)
    picked = np.arange(0, graph.n, RATIO)
    thinned = connected(X[picked], nearest(X[picked], n_neighbors, workers=threads)[1])
    coarse = lowest_fields(X[picked], frames[picked], thinned, n_neighbors, tol=tol, rng=rng, threads=threads)
    start = np.zeros(operator.shape, frames.dtype)
    start[picked] = coarse.fields * np.sqrt(graph.degrees[picked] / thinned.degrees)[:, None, None]
    return filtered(operator, _spread(operator, start, picked), tol=tol)


def _spread(operator: Diffusion, x: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Fill the other points with what diffuses to them from the known ones."""
    mass = np.zeros(len(x), x.dtype)
    mass[known] = 1
    adjacency = operator.graph.adjacency()
    for _ in range(50):
        if mass.all():
            break
        spread, reached = operator(x), adjacency @ mass
        empty = (mass == 0) & (reached > 0)
        x[empty] = spread[empty] * (operator.graph.degrees / np.maximum(reached, 1))[empty, None, None].astype(x.dtype)
        mass[empty] = 1
    return x


def filtered(operator: Diffusion, x: np.ndarray, *, tol: float) -> Eigenfields:
    """Chebyshev-filtered subspace iteration from ``x`` until the fields below the gap are known to ``tol``.

    Each pass damps the part of the spectrum above the current largest Ritz value, then rotates to Ritz vectors.
    """
    x, values, residuals = _ritz(operator, operator(x))
    calls = 2
    for _ in range(MAX_PASSES):
        cut = float(np.clip(values[-1], 1e-4, 0.9))
        degree = int(np.clip(np.ceil(2 / np.sqrt(cut)), 8, MAX_DEGREE))
        before = values
        x, values, residuals = _ritz(operator, _chebyshev(operator, x, cut, degree))
        calls += degree + 1
        if _settled(values, residuals, before, tol):
            break
    else:
        warn("UB402", residual=residuals[0], lowest=values[0], highest=values[-1], calls=calls)
    return Eigenfields(operator.unit * np.maximum(values, 0), x, operator.unit * residuals)


def _settled(values: np.ndarray, residuals: np.ndarray, before: np.ndarray, tol: float) -> bool:
    """The fields below the widest gap, if there is one, are known to ``tol`` and the next eigenvalue roughly."""
    lifted = np.maximum(values, 1e-6)
    ratios = lifted[1:] / lifted[:-1]
    below = int(ratios.argmax()) + 1 if ratios.max() >= 2 else 0
    known = residuals[:below] <= tol * lifted[below]
    steady = values[below] >= (1 - ROUGHLY) * before[below]
    return bool(known.all() and steady)


def _chebyshev(operator: Diffusion, x: np.ndarray, cut: float, degree: int) -> np.ndarray:
    """Scaled Chebyshev polynomial of the operator that is small on [-1, 1 - cut] and 1 at 1; overwrites ``x``."""
    center, half = -cut / 2, 1 - cut / 2
    first = sigma = half / (1 - center)
    previous, current = x, (operator(x) - x.dtype.type(center) * x) * x.dtype.type(sigma / half)
    for _ in range(degree - 1):
        following = 1 / (2 / first - sigma)
        new = operator(current)
        new -= x.dtype.type(center) * current
        new *= x.dtype.type(2 * following / half)
        previous *= x.dtype.type(-sigma * following)
        new += previous
        previous, current, sigma = current, new, following
    return current


def _ritz(operator: Diffusion, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ritz vectors and values of I - A on the span of ``x``, lowest first, and the residuals' norms."""
    flat = x.reshape(-1, LANES)
    flat = flat @ _orthonormalising(flat)
    flat = flat @ _orthonormalising(flat)
    image = operator(flat.reshape(x.shape)).reshape(-1, LANES)
    inner = (flat.T @ image).astype(np.float64)
    values, turn = np.linalg.eigh(-(inner + inner.T) / 2)
    turn = turn.astype(x.dtype)
    flat, image = flat @ turn, image @ turn
    residuals = np.linalg.norm(image + flat * values.astype(x.dtype), axis=0)
    return flat.reshape(x.shape), 1 + values, residuals.astype(np.float64)


def _orthonormalising(flat: np.ndarray) -> np.ndarray:
    """T with ``flat @ T`` orthonormal; directions lost to rounding are kept small rather than blown up."""
    gram = np.zeros((LANES, LANES))
    for start in range(0, len(flat), ROWS):
        part = flat[start : start + ROWS].astype(np.float64)
        gram += part.T @ part
    values, vectors = np.linalg.eigh(gram)
    return (vectors / np.sqrt(np.maximum(values, 1e-12 * values[-1]))).astype(flat.dtype)


def diffusion_scale(graph: Graph, rng: np.random.Generator, *, normalised: bool = True) -> float:
    """First nonzero eigenvalue of the scalar Laplacian of the graph: the reference for 'near zero'.

    A parallel field times the slowest function on the manifold is an eigenfield with this value, so a product has an
    eigenvalue at or below it right after its near-zero ones.
    """
    start = rng.uniform(0.5, 1, graph.n)
    unit = 1.0 if normalised else float(graph.degrees.max())
    walk = graph.normalised() if normalised else graph.lazy(unit)
    values = eigsh(walk, k=2, which="LA", tol=1e-2, v0=start, return_eigenvectors=False)
    return float(unit * max(1 - values.min(), 1e-12))
