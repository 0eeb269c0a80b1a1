"""Recordings: many noisy rows around one ring, whose neighbours in time support each other."""

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.distance import pdist, squareform

from unbraid.product.curve import WIDTH, ClosedCurve, closed_curve, improved
from unbraid.product.diffusion import Floats
from unbraid.product.ring import LONGEST, geodesic_angle, geodesic_plane
from unbraid.product.turn import shared

ROUNDS = 8
MOST = 1000  # rows whose geodesics give the first angle
NEIGHBORS = 20
LASTING = 0.05  # correlation of rows with the next from which they are in the order of time
SMOOTH = 1.5  # rows over which those in order are smoothed for the first angle
LEFT = 0.75  # share of the variance that noise leaves, at most; a curve through mere noise leaves .9
WIDE = 1.9  # times what noise shares: with place cells in a box, rows of equal angle share a second direction
WIDTHS = (1.5, 3.0)  # rows over which a recording is smoothed to see its hole: one blurs fast turns, one leaves noise
HOLE_NEIGHBORS, HOLE_PARTS, HOLE_SHARE = 15, 10, 0.02
PARTS, EMPTY = 16, 0.25  # parts of a ring, each with at least this share of its rows; a track or clusters leave gaps


def noisy_ring(rows: Floats) -> tuple[ClosedCurve, Floats, bool]:
    """The closed curve through many noisy rows, their places, and whether rows follow one another in time.

    It starts from the angle of geodesics between some rows, smoothed over time if they are in order.
    """
    n = len(rows)
    together = in_order(rows)
    seen = gaussian_filter1d(rows, SMOOTH, axis=0) if together else rows
    some = slice(None, None, -(-n // MOST))
    angle = geodesic_angle(squareform(pdist(seen[some])), NEIGHBORS)
    start = closed_curve(rows[some], angle, WIDTH)
    return *improved(start, rows, WIDTH, [np.arange(n)] if together else [], ROUNDS), together


def in_order(rows: Floats) -> bool:
    """Whether each row is like the next."""
    centred = rows - rows.mean(axis=0)
    memory = (centred[1:] * centred[:-1]).sum() / max(float(np.square(centred).sum()), 1e-300)
    return bool(memory > max(LASTING, 4 / np.sqrt(len(rows))))


def hole(rows: Floats) -> float:
    """How empty the middle of a recording is: about 1 for a ring, .5 or less for a filled shape.

    The distance from the middle within which 2 % of the rows lie, in a plane that keeps geodesics and has unit variance
    along both axes, of rows smoothed over time; 0 for rows in no order, which cannot be smoothed.

    >>> turn = np.cumsum(np.random.default_rng(0).normal(0.1, 0.2, size=(600, 1)), axis=0)
    >>> rows = np.c_[np.cos(turn), np.sin(turn)] + np.random.default_rng(1).normal(0, 0.3, size=(600, 2))
    >>> hole(rows) > 0.62 > hole(np.random.default_rng(2).permutation(rows))
    True
    """
    if not in_order(rows):
        return 0.0
    found, some = [], slice(None, None, -(-len(rows) // MOST))
    for width in WIDTHS:
        seen = gaussian_filter1d(rows, width, axis=0)[some]
        seen = seen - seen.mean(axis=0)
        left, sizes, _ = np.linalg.svd(seen, full_matrices=False)
        plane = geodesic_plane(squareform(pdist((left * sizes)[:, :HOLE_PARTS])), HOLE_NEIGHBORS)
        found.append(np.quantile(np.linalg.norm(plane, axis=1), HOLE_SHARE) * np.sqrt(len(seen)))
    return float(max(found))


def could_be_ring(points: Floats, origin: Floats) -> bool:
    """Whether one ring with noise, and a gain that varies, would explain many points; a disk may pass too.

    Parameters
    ----------
    points : array (n, features)
        In the order of their rows.
    origin : array (features,)
        Where all features are 0: a gain moves points away from it.
    """
    if len(points) <= LONGEST:
        return False
    curve, places, _ = noisy_ring(points)
    left = curve.noise * points.shape[1] / max(float(points.var(axis=0).sum()), 1e-300)
    steps = np.linalg.norm(np.roll(curve.nodes, -1, axis=0) - curve.nodes, axis=1)
    along = np.append(0, np.cumsum(steps))
    angle = np.arctan2(places[:, 1], places[:, 0]) % (2 * np.pi)
    place = np.interp(angle, np.linspace(0, 2 * np.pi, len(along)), along / along[-1])
    if left > LEFT or np.histogram(place, PARTS, (0, 1))[0].min() < EMPTY * len(points) / PARTS:
        return False
    some = slice(None, None, -(-len(points) // MOST))
    middle = curve.backward(places, places)[some]
    ahead = np.exp(1j * (angle[some] + 0.05))
    tangent = curve.backward(np.stack([ahead.real, ahead.imag], axis=1), places) - middle
    rest = points[some] - middle
    for directions in np.linalg.qr(np.stack([tangent, middle - origin], axis=2))[0].transpose(2, 0, 1):
        rest = rest - (rest * directions).sum(axis=1, keepdims=True) * directions
    found, noise = shared(rest, angle[some])
    return found < WIDE * noise
