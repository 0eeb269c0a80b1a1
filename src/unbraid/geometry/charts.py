"""Coordinates along each submanifold, and analogies by moving along them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import eigsh

from unbraid.geometry.graph import Graph, connected
from unbraid.manifold.neighbors import nearest
from unbraid.runtime.determinism import check_random_state

N_FUNCTIONS = 80
OTHER_WEIGHT = 30.0
KINDS = ("circle", "line", "curved")


@dataclass(frozen=True)
class Chart:
    """Coordinates of the samples along one submanifold.

    Attributes
    ----------
    kind : str
        "circle": one column, the angle in (-pi, pi]. "line": one column, the length along it from one end.
        "curved": ``dim + 1`` columns, the slowest functions on the submanifold (on a sphere, the point itself, to
        scale).
    coordinates : array of shape (n_samples, 1 or dim + 1)
    spectrum : array
        Eigenvalues of these functions.
    purity : float
        Share of their squared gradient that lies along this submanifold; 1 is perfect, ``dim`` over the whole dimension
        is chance.
    """

    kind: str
    coordinates: np.ndarray
    spectrum: np.ndarray
    purity: float

    def embedded(self) -> np.ndarray:
        """Coordinates in which near points are near: an angle becomes (cos, sin)."""
        if self.kind == "circle":
            return np.hstack([np.cos(self.coordinates), np.sin(self.coordinates)])
        return self.coordinates


def charts(X: np.ndarray, subspaces: list[np.ndarray], *, random_state: Any = 0) -> list[Chart]:
    r"""Coordinates along every submanifold of a fitted :class:`~unbraid.Geomancer`.

    Among the smoothest functions on the data, those of submanifold j alone minimise

    .. math:: \sum_i |\nabla_j f(x_i)|^2 + 30 \sum_{l \ne j} |\nabla_l f(x_i)|^2,

    the gradient taken along the found subspaces. The lowest are its coordinates: cosine and sine of the angle on a
    circle, a cosine of the length on a line, the point itself on a sphere.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data of the fit, without duplicates.
    subspaces : list of arrays
        ``subspaces_`` of the fit.
    random_state : int, RandomState, Generator or None
        Start of the eigen-solver.

    Returns
    -------
    list of Chart

    Examples
    --------
    >>> t = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    >>> chart, = charts(np.c_[np.cos(t), np.sin(t)], [np.c_[-np.sin(t), np.cos(t)][:, :, None]])
    >>> chart.kind, bool(np.ptp(np.diff(np.unwrap(chart.coordinates[:, 0]))) < 0.01)
    ('circle', True)
    """
    X = np.asarray(X, np.float64)
    frames = np.concatenate(subspaces, axis=2).astype(np.float64)
    k = frames.shape[2]
    _, near = nearest(X, min(len(X) - 1, max(4 * k, 8)))
    functions = _smooth_functions(connected(X, near[:, : 2 * k + 2]), min(N_FUNCTIONS, len(X) // 4), random_state)
    gradients = _gradients(X, frames, near, functions)
    bounds = np.cumsum([s.shape[2] for s in subspaces])[:-1]
    return [_chart(functions, gradients, inside) for inside in np.split(gradients, bounds, axis=1)]


def _smooth_functions(graph: Graph, count: int, random_state: Any) -> np.ndarray:
    """Slowest non-constant functions of diffusion on the graph, unit mean square."""
    start = check_random_state(random_state).uniform(0.5, 1, graph.n)
    values, vectors = eigsh(graph.normalised(), k=count, which="LA", v0=start, tol=1e-6)
    functions = ((1 / np.sqrt(graph.degrees))[:, None] * vectors)[:, np.argsort(-values)][:, 1:]
    functions -= functions.mean(axis=0)
    return np.linalg.qr(functions)[0] * np.sqrt(graph.n)


def _gradients(X: np.ndarray, frames: np.ndarray, near: np.ndarray, functions: np.ndarray) -> np.ndarray:
    """Gradient of each function in each point's basis (n, k, functions), by least squares over the neighbours."""
    gradients = np.empty((len(X), frames.shape[2], functions.shape[1]))
    for rows in np.array_split(np.arange(len(X)), max(1, len(X) // 1000)):
        steps = (X[near[rows]] - X[rows, None]) @ frames[rows]
        inverse = np.linalg.pinv(steps)
        gradients[rows] = inverse @ (functions[near[rows]] - functions[rows, None])
    return gradients


def _chart(functions: np.ndarray, gradients: np.ndarray, inside: np.ndarray) -> Chart:
    """The chart of a submanifold along which the part ``inside`` of the gradients lies."""
    dim = inside.shape[1]
    flat = (part.reshape(-1, functions.shape[1]) for part in (gradients, inside))
    whole, along = (part.T @ part / len(gradients) for part in flat)
    _, vectors = np.linalg.eigh(along + OTHER_WEIGHT * (whole - along))
    vectors = vectors[:, : dim + 1]
    spectrum = np.einsum("fc,fg,gc->c", vectors, along, vectors)
    purity = float(spectrum.sum() / np.einsum("fc,fg,gc->c", vectors, whole, vectors).sum())
    values = functions @ vectors
    if dim > 1:
        return Chart("curved", values, spectrum, purity)
    # On a circle the two slowest functions tie; on a line the second has four times the eigenvalue of the first.
    if spectrum[1] < 2 * spectrum[0]:
        return Chart("circle", np.arctan2(values[:, 1:2], values[:, :1]), spectrum, purity)
    length = np.pi / np.sqrt(spectrum[0])
    cosine = np.clip(values[:, :1] / np.sqrt(2), -1, 1)
    return Chart("line", length * np.arccos(cosine) / np.pi, spectrum, purity)


def analogy(found: list[Chart], a: int, b: int, c: int) -> int:
    """The sample d with a : b :: c : d, which moves from c along the submanifolds as b does from a.

    Along each submanifold, d keeps the position of c if b agrees with a, and takes the position of b if c agrees with
    a. If both moved, the analogy has no single answer on a curved submanifold, and that is an error.

    Parameters
    ----------
    found : list of Chart
        Of :func:`charts`.
    a, b, c : int
        Samples.

    Returns
    -------
    int
        The nearest sample.

    Examples
    --------
    >>> grid = np.array([[x, y] for x in range(3) for y in range(3)], float)
    >>> lines = [Chart("line", grid[:, [j]], np.ones(2), 1.0) for j in range(2)]
    >>> analogy(lines, 0, 2, 6)
    8
    """
    distances = np.zeros(len(found[0].coordinates))
    for j, chart in enumerate(found):
        place = chart.embedded()
        scale = np.sqrt(np.square(place - place.mean(axis=0)).sum(axis=1).mean())
        by_b, by_c = (np.linalg.norm(place[x] - place[a]) / scale for x in (b, c))
        if min(by_b, by_c) > 0.5 * max(by_b, by_c, 0.6):
            raise ValueError(
                f"both {b} and {c} differ from {a} along submanifold {j} (by {by_b:.2g} and {by_c:.2g} of its size), "
                "so the analogy has no single answer. Choose samples that differ in different submanifolds."
            )
        target = place[b] if by_b > by_c else place[c]
        distances += np.square(place - target).sum(axis=1) / scale**2
    return int(distances.argmin())
