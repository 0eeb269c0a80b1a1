"""Rings: samples along one closed curve, put in order by the shortest tour through them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree, shortest_path
from scipy.spatial.distance import pdist, squareform

from unbraid.product.checks import FactorCheck, check
from unbraid.product.diffusion import Floats
from unbraid.product.turn import TIMES, hidden

LONGEST = 300  # samples of a tour; with more, noise makes it go to and fro
FEWEST = 20
MOST = 1000  # samples whose turn is checked
SPANS = (2, 3, 5, 8)  # samples on either side whose mean predicts one
NEAREST = (5, 8)  # neighbours of the graphs whose geodesics give an angle
FAR, FARTHEST = 0.05, 0.125  # strays of a ring, and of one that nearly meets itself
CLEARER = 0.75  # of the error: below, a ring that was laid on itself is unfolded for certain
SEGMENT = 3  # samples that a tour can move at once
BETTER = 0.99  # of the error: below, another order is taken


@dataclass(frozen=True)
class Ring:
    """Samples in their order around a closed curve.

    Attributes
    ----------
    tour : array of int (n,)
        The samples in order.
    angle : array (n,)
        Of each sample, in radians: its share of the way around.
    span : int
        Samples on either side whose mean predicts a sample best.
    left : float
        Share of the variance that this leaves.
    strays : float
        Share of the two nearest neighbours of a sample that are more than two steps away.
    unfolded : float
        What it leaves over what it left before this ring was unfolded; 1 if it was not.
    """

    tour: NDArray[np.intp]
    angle: Floats
    span: int
    left: float
    strays: float
    unfolded: float

    def holds(self, clear: bool) -> bool:
        """Whether the samples form a ring; ``clear`` if they clearly have more dimensions than one."""
        return self.strays <= (FAR if clear else FARTHEST) or (self.unfolded < CLEARER and not clear)


def ring_of(points: Floats, order: NDArray[np.intp]) -> Ring:
    r"""The order of samples around a closed curve.

    Several orders are tried, and the one kept in which the samples beside one predict it best: the shortest tour
    (greedy, then 2-opt and moves of up to three samples), straightened by reversing parts while :math:`\sum_i |x_i -
    (x_{i-1} + x_{i+1})/2|^2` decreases; the angle of the geodesics on small neighbour graphs, embedded in the plane,
    as it is and unfolded; and the order in which the samples came.

    Parameters
    ----------
    points : array (n, features)
    order : array of int
        The samples, as they came.
    """
    distances = squareform(pdist(points))
    squares = np.square(distances)
    tours = [
        _straightened(squares, _shortened(distances, _greedy(distances))),
        order[np.sort(np.unique(order, return_index=True)[1])],
    ]
    found = [np.argsort(geodesic_angle(distances, k)) for k in NEAREST]
    width = _width(len(points))
    laid = [np.argsort(unfolded(points, around(points, tour, 1), m, width)) for tour in found for m in TIMES]
    tours += found + laid
    left = [error(points[tour]) for tour in tours]
    chosen = 0
    for i in range(1, len(tours)):
        chosen = i if left[i] < BETTER * left[chosen] else chosen
    best, before = tours[chosen], min(left[2 : 2 + len(found)])
    errors = [_error(points[best], span) for span in SPANS]
    span = SPANS[int(np.argmin(errors))]
    angle = around(points, best, span)
    return Ring(
        best,
        angle,
        span,
        min(errors) / max(float(points.var(axis=0).sum()), 1e-300),
        _strays(distances, best),
        left[chosen] / max(before, 1e-300) if chosen >= 2 + len(found) else 1.0,
    )


def circle_checks(points: Floats, angle: Floats, rounds: int) -> list[FactorCheck]:
    """That the only circle counts one turn as one; few samples must also follow one another around it.

    Rows that go around it once (``rounds``) in the order in which they came are one turn, in its order.
    """
    some = slice(None, None, -(-len(points) // MOST))
    tour = np.argsort(angle)
    turn = 0.0 if rounds == 1 else hidden(points[some], angle[some])
    checks = [check("ring_turn", turn), check("ring_pairing", _pairing(points[tour]))]
    if len(points) <= LONGEST:
        distances = squareform(pdist(points))
        checks.append(check("ring_strays", _strays(distances, tour)))
        checks += [check("ring_margin", _margin(distances, tour))] if rounds != 1 else []
    return checks


def geodesic_plane(distances: Floats, k: int) -> Floats:
    """Places (n, 2), of unit length along each axis, that best keep the lengths of shortest paths by k neighbours."""
    n = len(distances)  # the graphs are sparse, as in a dense one lengths below 1e-8 are no edges
    nearest = np.argsort(distances, axis=1)[:, 1 : k + 1]
    graph = minimum_spanning_tree(csr_array(distances)).toarray()  # keeps it in one piece
    np.put_along_axis(graph, nearest, np.take_along_axis(distances, nearest, axis=1), axis=1)
    squares = np.square(shortest_path(csr_array(graph), directed=False))
    squares = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    return np.asarray(eigh(-squares / 2, subset_by_index=[n - 2, n - 1])[1])


def geodesic_angle(distances: Floats, k: int) -> Floats:
    """Angle in the plane that best keeps the lengths of shortest paths by the k nearest neighbours."""
    plane = geodesic_plane(distances, k)
    return np.arctan2(plane[:, 1], plane[:, 0])


def unfolded(points: Floats, angle: Floats, times: int, width: int) -> Floats:
    r"""The angle of a ring that was laid on itself two or three times: its angle counted that many times too fast.

    If :math:`\varphi = m \theta`, samples of equal :math:`\varphi` lie in m clusters around their mean, and change from
    one to the next after one turn. So with :math:`r_i`, a sample minus what those beside it predict, :math:`e^{i
    \theta}` is about the largest eigenvector of :math:`w_{ij} \langle r_i, r_j \rangle e^{i (\varphi_i -
    \varphi_j)/m}`, where :math:`w` falls off over ``width`` samples from i to j.
    """
    n = len(points)
    order = np.argsort(angle)
    path = points[order]
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    weights = np.exp(-np.square(np.minimum(apart, n - apart) / width))
    np.fill_diagonal(weights, 0)
    turn = np.angle(np.exp(1j * np.subtract.outer(angle[order], angle[order])))
    rest = path - weights / weights.sum(axis=1, keepdims=True) @ path
    matrix = weights * (rest @ rest.T) * np.exp(1j / times * turn)
    found = np.empty(n)
    found[order] = np.angle(eigh(matrix, subset_by_index=[n - 1, n - 1])[1][:, 0])
    return found


def _width(n: int) -> int:
    return max(3, n // 24)


def error(path: Floats) -> float:
    """Mean squared error of samples predicted by those beside them, with as many of these as predict best."""
    return min(_error(path, span) for span in SPANS)


def around(points: Floats, tour: NDArray[np.intp], span: int) -> Floats:
    """The share of the way around at which each sample lies, as an angle; the way is smoothed over ``span`` samples."""
    path = sum(np.roll(points[tour], shift, axis=0) for shift in range(-span, span + 1)) / (2 * span + 1)
    steps = np.linalg.norm(np.roll(path, -1, axis=0) - path, axis=1)
    angle = np.empty(len(tour))
    angle[tour] = 2 * np.pi * (np.cumsum(steps) - steps) / max(steps.sum(), 1e-300) - np.pi
    return angle


def _bends(squares: Floats, before: NDArray, at: NDArray, after: NDArray) -> Floats:
    """Squared distances of samples from the middle of the two beside them."""
    return (squares[at, before] + squares[at, after]) / 2 - squares[before, after] / 4


def _error(path: Floats, span: int) -> float:
    """Mean squared error of a sample predicted by the mean of those beside it, without what their noise adds."""
    beside = sum(np.roll(path, s, axis=0) + np.roll(path, -s, axis=0) for s in range(1, span + 1)) / (2 * span)
    return float(np.square(path - beside).sum(axis=1).mean()) * 2 * span / (2 * span + 1)


def _strays(distances: Floats, tour: NDArray[np.intp]) -> float:
    n = len(tour)
    place = np.empty(n, np.intp)
    place[tour] = np.arange(n)
    nearest = np.argsort(distances + np.diag(np.full(n, np.inf)), axis=1)[:, :2]
    apart = np.abs(place[nearest] - place[:, None])
    return float(np.mean(np.minimum(apart, n - apart) > 2))


def _margin(distances: Floats, tour: NDArray[np.intp]) -> float:
    n = len(tour)
    table = distances[np.ix_(tour, tour)]
    after = (np.arange(n) + 1) % n
    steps = table[np.arange(n), after]
    ratio = (table + table[np.ix_(after, after)]) / np.maximum(steps[:, None] + steps, 1e-300)
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return float(ratio[np.minimum(apart, n - apart) >= max(3, n // 12)].min())


def _pairing(path: Floats) -> float:
    steps = np.linalg.norm(np.roll(path, -1, axis=0) - path, axis=1)
    found = [0.0]
    for period in (2, 3):
        for start in range(period):
            own = np.arange(len(steps)) % period == start
            variance = steps[own].var() / own.sum() + steps[~own].var() / (~own).sum()
            found.append(abs(steps[own].mean() - steps[~own].mean()) / max(np.sqrt(variance), 1e-9 * steps.mean()))
    return float(max(found))


def _greedy(distances: Floats) -> NDArray[np.intp]:
    """A tour of the shortest steps that leave no sample with more than two."""
    n = len(distances)
    i, j = np.triu_indices(n, 1)
    piece, beside = np.arange(n), [list[int]() for _ in range(n)]
    for edge in np.argsort(distances[i, j], kind="stable"):
        a, b = int(i[edge]), int(j[edge])
        if len(beside[a]) < 2 and len(beside[b]) < 2 and piece[a] != piece[b]:
            piece[piece == piece[b]] = piece[a]
            beside[a].append(b)
            beside[b].append(a)
    tour, before = [next(a for a in range(n) if len(beside[a]) == 1)], -1
    while len(tour) < n:
        following = next(b for b in beside[tour[-1]] if b != before)
        before = tour[-1]
        tour.append(following)
    return np.array(tour)


def _shortened(distances: Floats, tour: NDArray[np.intp]) -> NDArray[np.intp]:
    """The tour after every reversal of a part, and every move of a short part, that shortens it."""
    n = len(tour)
    at = np.arange(n)
    after = (at + 1) % n
    least = 1e-9 * float(distances.mean())
    while True:
        table = distances[np.ix_(tour, tour)]
        steps = table[at, after]
        gain = np.triu(steps[:, None] + steps - table - table[np.ix_(after, after)], 2)
        i, j = (int(x) for x in np.unravel_index(gain.argmax(), gain.shape))
        best, shorter = float(gain[i, j]), np.concatenate([tour[: i + 1], tour[j:i:-1], tour[j + 1 :]])
        for size in range(1, min(SEGMENT, n - 3) + 1):
            last = (at + size - 1) % n
            saved = table[at - 1, at] + table[last, after[last]] - table[at - 1, after[last]]
            for first, end, step in ((at, last, 1), (last, at, -1)):
                gain = saved[:, None] - (table[first] + table[end][:, after] - steps)
                for within in range(-1, size):
                    gain[at, (at + within) % n] = 0
                i, j = (int(x) for x in np.unravel_index(gain.argmax(), gain.shape))
                if gain[i, j] > best:
                    best = float(gain[i, j])
                    part = tour[(i + np.arange(size)) % n]
                    rest = tour[~np.isin(tour, part)]
                    place = 1 + int(np.flatnonzero(rest == tour[j])[0])
                    shorter = np.concatenate([rest[:place], part[::step], rest[place:]])
        if best <= least:
            return tour
        tour = shorter


def _straightened(squares: Floats, tour: NDArray[np.intp]) -> NDArray[np.intp]:
    """The tour after every reversal of a part that makes it straighter."""
    n = len(tour)
    i, j = np.triu_indices(n, 3)
    i, j = i[j - i < n - 2], j[j - i < n - 2]
    least = 1e-9 * float(squares.mean())
    while True:
        bends = _bends(squares, np.roll(tour, 1), tour, np.roll(tour, -1))
        a, b, c, d, e, f, g, h = (tour[x % n] for x in (i - 1, i, i + 1, i + 2, j - 1, j, j + 1, j + 2))
        joined = (
            _bends(squares, a, b, f) + _bends(squares, b, f, e) + _bends(squares, d, c, g) + _bends(squares, c, g, h)
        )
        gain = bends[i] + bends[(i + 1) % n] + bends[j] + bends[(j + 1) % n] - joined
        best = int(gain.argmax())
        if gain[best] <= least:
            return tour
        tour = np.concatenate([tour[: i[best] + 1], tour[j[best] : i[best] : -1], tour[j[best] + 1 :]])
