"""A closed curve through noisy samples: their angles, those of new points, and the points at any angle."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unbraid.product.diffusion import BLOCK, Floats

NODES = 144
WIDTH = 0.25  # radians over which a noisy curve is smooth
QUICK = 1.5  # radians of a step in time, at most; the first guess too


@dataclass(frozen=True)
class ClosedCurve:
    r"""Points :math:`c_1, \dots, c_m` at even angles, and the noise around them.

    A sample at the angle of a node is :math:`x = c_g + e` with :math:`e \sim N(0, s^2 I)`, so the angles of a sample
    have the weights :math:`p_g \propto e^{-|x - c_g|^2 / 2 s^2}`; its place is their mean direction.

    Attributes
    ----------
    nodes : array (m, features)
    noise : float
        :math:`s^2`.
    radii : list of float
        Length of the curve over :math:`2 \pi`.
    sizes : list of int
        One factor of two functions, as of :class:`~unbraid.product.diffusion.ProductMaps`.
    """

    nodes: Floats
    noise: float
    radii: list[float]
    sizes: list[int] = field(default_factory=lambda: [2])

    def forward(self, points: Floats) -> Floats:
        """Places (n, 2): the cosine and the sine of the angle."""
        parts = [_places(self.weights(points[i : i + BLOCK])) for i in range(0, len(points), BLOCK)]
        return np.concatenate(parts) if parts else np.empty((0, 2))

    def weights(self, points: Floats) -> Floats:
        """Of every node at every point (n, m)."""
        squares = -2 * points @ self.nodes.T + np.square(self.nodes).sum(axis=1)
        weights = np.exp((squares.min(axis=1, keepdims=True) - squares) / (2 * self.noise))
        return weights / weights.sum(axis=1, keepdims=True)

    def parts(self, places: Floats) -> list[Floats]:
        """The columns of the factor."""
        return [places]

    def backward(self, places: Floats, known: Floats) -> Floats:
        """Points of the curve at these places."""
        turn = np.arctan2(places[:, 1], places[:, 0]) / (2 * np.pi) % 1 * len(self.nodes)
        first = turn.astype(np.intp) % len(self.nodes)
        share = (turn - np.floor(turn))[:, None]
        return (1 - share) * self.nodes[first] + share * self.nodes[(first + 1) % len(self.nodes)]


def closed_curve(points: Floats, angle: Floats, width: float) -> ClosedCurve:
    """The curve through samples of known angle: their mean with weights that fall off over ``width`` radians."""
    return _curve(points, _kernel(_grid(), angle, width), np.exp(1j * angle))


def improved(
    curve: ClosedCurve, points: Floats, width: float, runs: list[NDArray[np.intp]], rounds: int
) -> tuple[ClosedCurve, Floats]:
    """The curve after some rounds of expectation and maximisation, and the places of the samples on it.

    ``runs`` are rows that follow one another in time: from one to the next the angle moves by a step whose usual
    length is estimated too, so neighbours in time share what they say about it (a hidden Markov model on the nodes).
    """
    smooth = _kernel(_grid(), _grid(), width)
    speed = QUICK
    for _ in range(rounds):
        weights = curve.weights(points)
        if runs:
            weights, speed = _in_time(weights, runs, speed)
        curve = _curve(points, smooth @ weights.T, weights @ np.exp(1j * _grid()))
    weights = curve.weights(points)
    return curve, _places(_in_time(weights, runs, speed)[0] if runs else weights)


def _grid() -> Floats:
    return 2 * np.pi * np.arange(NODES) / NODES


def _kernel(at: Floats, angle: Floats, width: float) -> Floats:
    return np.exp((np.cos(at[:, None] - angle) - 1) / width**2)


def _curve(points: Floats, weights: Floats, direction: NDArray[np.complex128]) -> ClosedCurve:
    nodes = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300) @ points
    length = float(np.linalg.norm(np.roll(nodes, -1, axis=0) - nodes, axis=1).sum())
    places = np.stack([direction.real, direction.imag], axis=1)
    curve = ClosedCurve(nodes, 1.0, [length / (2 * np.pi)])
    left = float(np.square(points - curve.backward(places, places)).mean())
    return ClosedCurve(nodes, max(left, 1e-12 * float(points.var()) + 1e-300), curve.radii)


def _places(weights: Floats) -> Floats:
    direction = weights @ np.exp(1j * _grid())
    direction = direction / np.maximum(np.abs(direction), 1e-300)
    return np.stack([direction.real, direction.imag], axis=1)


def _in_time(weights: Floats, runs: list[NDArray[np.intp]], speed: float) -> tuple[Floats, float]:
    """The weights given all rows of a run (forward and backward), and the usual step that they show."""
    step = _kernel(_grid(), _grid(), max(speed, 2 * np.pi / NODES))
    step /= step.sum(axis=1, keepdims=True)
    known, cosines = weights.copy(), []
    for run in runs:
        forward, backward = weights[run], np.ones((len(run), NODES))
        for i in range(1, len(run)):
            forward[i] *= forward[i - 1] @ step + 1e-12
            forward[i] /= forward[i].sum()
        for i in range(len(run) - 2, -1, -1):
            backward[i] = step @ (backward[i + 1] * weights[run[i + 1]]) + 1e-12
            backward[i] /= backward[i].sum()
        known[run] = forward * backward / (forward * backward).sum(axis=1, keepdims=True)
        direction = np.exp(1j * np.angle(known[run] @ np.exp(1j * _grid())))
        cosines.append((direction[1:] * direction[:-1].conj()).real)
    mean = float(np.clip(np.concatenate(cosines).mean(), 0.3, 1 - 1e-6))
    return known, min(QUICK, float(np.sqrt(-2 * np.log(mean))))
