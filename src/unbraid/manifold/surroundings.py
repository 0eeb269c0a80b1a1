"""What the neighbours of each point show: pieces that lie apart, strays, noise off the tangent, and edges.

Closed loops (circles, tori, spheres) have no edge, and no code can run along them without a jump.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra, minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform

from unbraid.manifold.neighbors import Floats, distance_graph, graph_of, nearest, neighborhoods
from unbraid.trust.table import FIGURES

# By dimension: neighbours, and the offset of their mean beyond which a point lies at an edge.
EDGE = {1: (30, 0.70), 2: (30, 0.45), 3: (40, 0.40)}
TREE_POINTS = 1000
CURVE = 0.6  # share of the points on the longest path of their minimum spanning tree: of a sheet it has far fewer
CLEARLY = 0.5  # of the least edge: noise, and steep pictures on a grid, hide some of it; loops have a tenth of it
PART_NEIGHBORS, FEWEST_IN_PARTS = 13, 100
THIN, THICK = 10**-1.2, 10**-0.8  # ratios of eigenvalues
BETWEEN = 0.25  # points in between, relative to the smaller part
FEWEST_AT_EDGES = 200  # points of which enough lie at an edge to count them
THINNED, DRAWS = 250, 4  # points whose neighbourhoods are wide beside noise; means over draws
PIECE_NEIGHBORS = 10
MOST_COLUMNS, OF_UNITS = 200, 5.0  # times what is left in the given units: what small columns hold by themselves
ONE_DIRECTION, SAME_SCALE = 2.5, (0.6, 1.2)  # what noise exceeds, and between which curvature and repeated rows are not
STRAY = 4.0  # times the distance of a point to its tenth neighbour: farther points are not its neighbours
FEWEST = 30  # points among which strays are looked for
SMALL_PIECE, MOST_STRAYS = 0.05, 0.3  # shares of the points: larger pieces are part of the data


def apart(points: Floats) -> tuple[float, int]:
    """Share of the points outside of the largest piece of the 10-neighbour graph, and the number of pieces.

    Examples
    --------
    >>> line = np.arange(100.0)[:, None]
    >>> apart(line), apart(np.concatenate([line, 1000 + line]))
    ((0.0, 1), (0.5, 2))
    """
    graph = graph_of(neighborhoods(points, min(PIECE_NEIGHBORS, len(points) - 1) + 1)[1])
    return 1 - graph.largest_share, graph.n_components


def strays(points: Floats) -> NDArray[np.bool_]:
    r"""Which distinct points lie off the rest, alone or in small groups.

    Points i and j are joined if they are neighbours and :math:`|x_i - x_j| \le 4 \min(r_i, r_j)`, where :math:`r_i`
    is the distance of i to its tenth neighbour. A tail, however long, thins out gradually and stays joined; a stray is
    far from points that are close to each other. Groups of more than 5 % of the points are none.

    Parameters
    ----------
    points : array (n, features)

    Returns
    -------
    array (n,) of bool
        All False below 30 points, or if more than 30 % would be strays.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> tail, line = np.cumsum(rng.exponential(1.02 ** np.arange(200))), np.arange(200.0)
    >>> np.flatnonzero(strays(np.c_[line, 0 * line + 90 * (line == 50)])), strays(tail[:, None]).any()
    (array([50]), np.False_)
    """
    n, k = len(points), PIECE_NEIGHBORS
    if n < FEWEST:
        return np.zeros(n, dtype=bool)
    distances, near = neighborhoods(points, k + 1)
    reach = distances[:, k]
    i, j, lengths = np.repeat(np.arange(n), k), near[:, 1:].ravel(), distances[:, 1:].ravel()
    joined = lengths <= STRAY * np.minimum(reach[i], reach[j])
    graph = csr_array((np.ones(int(joined.sum()), dtype=np.int8), (i[joined], j[joined])), shape=(n, n))
    _, labels = connected_components(graph, directed=False)
    sizes = np.bincount(labels)
    off = (sizes[labels] <= SMALL_PIECE * n) & (labels != sizes.argmax())
    return off if off.mean() <= MOST_STRAYS else np.zeros(n, dtype=bool)


def off_tangent(points: Floats, d: int, near: NDArray[np.intp] | None = None) -> float:
    """Median share of the variance of a neighbourhood that lies off its d-dimensional tangent: noise and curvature.

    Parameters
    ----------
    points : array (n, features)
    d : int
    near : array of int, (neighbourhoods, k), optional
        Which points make a neighbourhood; by default each point with its 16 nearest, or 6 d if that is more.

    Returns
    -------
    float

    Examples
    --------
    >>> flat = np.random.default_rng(0).uniform(size=(500, 2)) @ [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]
    >>> off_tangent(flat, 2) < 1e-9
    True
    """
    if near is None:
        _, near = neighborhoods(points, min(max(16, 6 * d), len(points) - 1) + 1)
    around = points[near] - points[near].mean(axis=1, keepdims=True)
    values = np.linalg.eigvalsh(around.transpose(0, 2, 1) @ around)
    return float(np.median(1 - values[:, -d:].sum(axis=1) / np.maximum(values.sum(axis=1), 1e-300)))


def left_over(points: Floats, codes: Floats, n_features: int) -> tuple[float, float]:
    r"""What the codes leave unexplained: noise, or a factor too short to have a code, or a second piece.

    Every point is predicted from the points with the nearest codes, by a linear function of these. The covariance of
    the errors has the eigenvalues :math:`\lambda_i`. Noise leaves the same in every direction, so for noise
    :math:`(\sum \lambda)^2 / \sum \lambda^2` is about the number of features beyond the factors; curvature leaves more
    the wider the neighbourhoods are. What is left along one direction, at any width, is neither.

    Parameters
    ----------
    points : array (n, components)
    codes : array (n, d)
    n_features : int
        Of the data: with few of them noise cannot be told from a factor.

    Returns
    -------
    left : float
        Share of the variance that is left along the direction in which it is most.
    further : float
        The same if that is neither noise nor curvature, else 0.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.uniform(size=(800, 3)) * [1, 1, 0.05]
    >>> X = np.c_[np.sin(z[:, :2]), np.cos(z[:, :2]), z[:, 2]]
    >>> left_over(X, z[:, :2], 5)[1] > 1e-4, left_over(X[:, :4], z[:, :2], 4)[1]
    (True, 0.0)
    """
    codes = codes / np.maximum(codes.std(axis=0), 1e-300)
    d, most, total = codes.shape[1], (len(points) - 1) // 2, max(points.var(axis=0).sum(), 1e-300)
    k = min(d + 5, most)  # small neighbourhoods, in which little is due to curvature
    near = nearest(codes, 2 * k)[1]
    twice = _weights(codes, near)
    left = np.linalg.eigvalsh(_errors(points, near, twice))[-1]
    values, vectors = np.linalg.eigh(_errors(points, near[:, :k], _weights(codes, near[:, :k])))
    shares = values / max(values.sum(), 1e-300)  # squares of the values themselves overflow
    directions = 1 / max((shares**2).sum(), 1e-300)
    growth = _errors(points @ vectors[:, -1:], near, twice).item() / max(values[-1], 1e-300)
    one = directions < min(ONE_DIRECTION, 0.75 * (n_features - d)) and SAME_SCALE[0] < growth < SAME_SCALE[1]
    return float(left / total), float(values[-1] / total) if one else 0.0


def left_in_columns(rows: Floats, codes: Floats) -> float:
    """What the codes leave unexplained of columns that vary little beside others.

    As in :func:`left_over`, along one direction, but with every column in units of its own spread.

    Parameters
    ----------
    rows : array (n, features)
        At most 200 columns are used, drawn at random.
    codes : array (n, d)

    Returns
    -------
    float
        Share of the variance; 0 if as given a fifth of it or more is left, so that the units make no difference.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.uniform(size=(500, 2))
    >>> X = np.c_[30 * z[:, :1] + rng.normal(size=(500, 3)), z[:, 1:] + 0.05 * rng.normal(size=(500, 9))]
    >>> left_in_columns(X, z[:, :1]) > 0.5, left_in_columns(X, z)
    (True, 0.0)
    """
    spread = rows.std(axis=0)
    columns = np.random.default_rng(0).permutation(np.flatnonzero(spread > 0))[:MOST_COLUMNS]
    given = np.asarray(rows[:, columns] / spread[columns].max(), dtype=np.float64)
    equal, codes = given / given.std(axis=0), codes / np.maximum(codes.std(axis=0), 1e-300)
    near = nearest(codes, min(2 * codes.shape[1] + 10, (len(rows) - 1) // 2))[1]
    weights = _weights(codes, near)
    shares = [np.linalg.eigvalsh(_errors(X, near, weights))[-1] / X.var(axis=0).sum() for X in (equal, given)]
    return float(shares[0]) if shares[0] > OF_UNITS * shares[1] else 0.0


def _weights(codes: Floats, near: NDArray[np.intp]) -> Floats:
    """What predicts each point from these neighbours, as a linear function of the codes."""
    design = np.concatenate([np.ones((*near.shape, 1)), codes[near] - codes[:, None]], axis=2)
    gram = design.transpose(0, 2, 1) @ design
    diagonal = np.arange(1, gram.shape[1])
    gram[:, diagonal, diagonal] += 1e-6 * np.trace(gram, axis1=1, axis2=2)[:, None]
    return np.linalg.solve(gram, design.transpose(0, 2, 1))[:, 0]


def _errors(points: Floats, near: NDArray[np.intp], weights: Floats) -> Floats:
    """Covariance of the errors of predicting each point from its neighbours, at unit gain."""
    errors = points - np.einsum("nk,nkm->nm", weights, points[near])
    return np.atleast_2d(np.cov((errors / np.sqrt(1 + (weights**2).sum(axis=1))[:, None]).T))


def edge_share(points: Floats, d: int) -> float:
    """Share of the points that lie at an edge of the d-dimensional manifold around them.

    At an edge all neighbours lie on one side: the mean of their offsets, along the tangent, is long relative to the
    mean length of the offsets.

    Parameters
    ----------
    points : array (n, features)
    d : int
        1, 2 or 3.

    Returns
    -------
    float

    Examples
    --------
    >>> t = np.linspace(0, 2 * np.pi, 500, endpoint=False)
    >>> circle = np.column_stack([np.cos(t), np.sin(t)])
    >>> edge_share(circle, 1), edge_share(circle[:400], 1) > 0.02
    (0.0, True)
    """
    return float(np.mean(_at_edge(points, d, np.arange(len(points)))))


def _at_edge(points: Floats, d: int, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    k, threshold = EDGE[d]
    _, near = nearest(points, min(k, len(points) - 1), rows)
    offsets = points[near] - points[rows][:, None]
    centred = offsets - offsets.mean(axis=1, keepdims=True)
    _, axes = np.linalg.eigh(centred.transpose(0, 2, 1) @ centred)
    along = offsets @ axes[:, :, -d:]
    lengths = np.linalg.norm(along, axis=2).mean(axis=1)
    return np.linalg.norm(along.mean(axis=1), axis=1) > threshold * np.maximum(lengths, 1e-300)


def edge_ratio(points: Floats, d: int) -> float:
    """The edge of the points over that of a uniform cube of as many: near 0 for a closed manifold, 1 for a cube."""
    return edge_share(points, d) / _cube_edge(len(points), d)


def shows_no_edge(points: Floats, d: int, rng: np.random.RandomState) -> bool:
    """Whether few points at an edge mean that there is none, or noise may hide it.

    In narrow neighbourhoods noise of the same size puts points on every side. Among fewer points they are wider, and
    the edge of a box is there again, while a closed manifold still has none.

    Parameters
    ----------
    points : array (n, features)
    d : int
    rng : numpy.random.RandomState
        Draws about 250 of the points, up to four times.

    Returns
    -------
    bool
        Whether these have less than half of the least edge.

    Examples
    --------
    >>> rng = np.random.RandomState(0)
    >>> box, noise = rng.random_sample((2000, 2)), 0.05 * rng.standard_normal((2000, 6))
    >>> closed = torus(2000, 2, rng) / 4
    >>> [shows_no_edge(np.pad(flat, [(0, 0), (0, 6 - flat.shape[1])]) + noise, 2, rng) for flat in (closed, box)]
    [True, False]
    """
    parts = max(1, len(points) // THINNED)
    order = rng.permutation(len(points))
    ratios = [edge_ratio(points[order[i::parts]], d) for i in range(min(parts, DRAWS))]
    return bool(np.mean(ratios) < CLEARLY * FIGURES["edge"].limit(d))


@cache
def _cube_edge(n: int, d: int) -> float:
    return max(edge_share(np.random.RandomState(0).random_sample((n, d)), d), 1 / n)


def end_distance(points: Floats, rng: np.random.RandomState) -> float:
    """Distance between the ends of a curve, in units of its longest step; of a large set, 1000 points are used.

    The curve is the longest path of the minimum spanning tree. Near 1 the ends meet: it is a circle.

    Parameters
    ----------
    points : array (n, features)
    rng : numpy.random.RandomState
        Draws these points.

    Returns
    -------
    float

    Examples
    --------
    >>> t = np.linspace(0, 2 * np.pi, 500, endpoint=False)
    >>> circle = np.column_stack([np.cos(t), np.sin(t)])
    >>> rng = np.random.RandomState(0)
    >>> round(end_distance(circle, rng), 3), end_distance(circle[:400], rng) > 50
    (1.0, True)
    """
    if len(points) > TREE_POINTS:
        points = points[rng.permutation(len(points))[:TREE_POINTS]]
    return _longest_path(points, minimum_spanning_tree(csr_array(squareform(pdist(points)))))[0]


def _longest_path(points: Floats, tree: csr_array) -> tuple[float, float]:
    """Of the longest path of a tree: distance of its ends in units of its longest step, share of the points on it."""
    reach = dijkstra(tree, directed=False, indices=[0])[0]
    start = int(np.argmax(np.where(np.isfinite(reach), reach, 0.0)))
    reach, before = (row[0] for row in dijkstra(tree, directed=False, indices=[start], return_predecessors=True))
    end = step = int(np.argmax(np.where(np.isfinite(reach), reach, 0.0)))
    longest, steps = 0.0, 1
    while step != start:
        longest = max(longest, float(reach[step] - reach[before[step]]))
        step, steps = int(before[step]), steps + 1
    return float(np.linalg.norm(points[start] - points[end]) / max(longest, 1e-300)), steps / len(points)


def is_closed(points: Floats, d: int, rng: np.random.RandomState) -> bool:
    """Whether points of a d-dimensional fit go around a loop: a curve whose ends meet, or too little edge.

    Parameters
    ----------
    points : array (n, features)
        Distinct points.
    d : int
    rng : numpy.random.RandomState
        Draws 1000 of them, if there are more.

    Returns
    -------
    bool

    Examples
    --------
    >>> t = np.linspace(0, 2 * np.pi, 72, endpoint=False)
    >>> turn, rng = np.column_stack([np.cos(t), np.sin(t)]), np.random.RandomState(0)
    >>> [is_closed(points, d, rng) for points in (turn, turn[:60]) for d in (1, 2)]
    [True, True, False, False]
    """
    if len(points) > TREE_POINTS:
        points = points[np.sort(rng.permutation(len(points))[:TREE_POINTS])]
    n, k = len(points), min(PIECE_NEIGHBORS, len(points) - 1)
    ends, share = _longest_path(points, minimum_spanning_tree(distance_graph(*neighborhoods(points, k + 1))))
    if (d == 1 or share > CURVE) and not FIGURES["end_distance"].holds(ends):
        return True
    if d not in EDGE or n < FEWEST_AT_EDGES or (d > 1 and share > CURVE):
        return False
    limit = CLEARLY * FIGURES["edge"].limit(d)
    some = _at_edge(points, d, np.arange(0, n, 2))  # in a box half of them show enough
    return bool(some.sum() / n / _cube_edge(n, d) < limit) and edge_ratio(points, d) < limit


def thin_part(points: Floats) -> tuple[int, NDArray[np.bool_]] | None:
    r"""The part of the points that has fewer dimensions than the rest, such as a line beside a sheet, and how many.

    The local spectra of 13 points fall by :math:`\lambda_{j+1} / \lambda_j`, median over neighbours. A part of
    dimension j is where that is below .06, if it is above .16 elsewhere and hardly anywhere in between.

    Parameters
    ----------
    points : array (n, features)

    Returns
    -------
    int, array (n,) of bool; or None
        None where all points have the same dimension, or below 100 points.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sheet, line = np.c_[rng.uniform(size=(200, 2)), np.zeros(200)], np.c_[np.zeros((100, 2)), rng.uniform(size=100)]
    >>> dim, part = thin_part(np.concatenate([sheet, line]))
    >>> dim, int(part[:200].sum()) < 10, int(part[200:].sum()) > 90, thin_part(sheet) is None
    (1, True, True, True)
    """
    if len(points) < FEWEST_IN_PARTS:
        return None
    _, near = neighborhoods(points, PART_NEIGHBORS)
    around = points[near] - points[near].mean(axis=1, keepdims=True)
    spectra = np.maximum(np.linalg.eigvalsh(around.transpose(0, 2, 1) @ around)[:, ::-1], 1e-300)
    for j in range(min(3, points.shape[1] - 1)):
        fall = np.median((spectra[:, j + 1] / spectra[:, j])[near], axis=1)
        thin, thick = fall < THIN, fall > THICK
        smaller = min(thin.mean(), thick.mean())
        if smaller >= SMALL_PIECE and 1 - thin.mean() - thick.mean() <= BETWEEN * smaller:
            return j + 1, thin
    return None


def torus(n: int, d: int, rng: np.random.RandomState) -> Floats:
    """Uniform points of a flat torus (a circle for d = 1): what a test of edges should detect."""
    angles = 2 * np.pi * rng.random_sample((n, d))
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
