"""Worlds with known factors: some keep what the methods assume, others break one assumption each."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rng = np.random.Generator


@dataclass(frozen=True)
class World:
    """A kind of world; ``breaks`` names the assumptions that are broken in it: a diagnostic should see each."""

    name: str
    draw: Callable[[int, Rng], Floats]
    breaks: tuple[str, ...] = ()


def bent(z: Floats, rng: Rng, *, noise: float = 0.0, n_features: int = 20) -> Floats:
    """Coordinates rolled up, each along a circular arc of its own: flat, so distances are kept; then turned."""
    turn = np.pi / 2 * (1 + np.arange(z.shape[1]) / 4) / np.maximum(np.ptp(z, axis=0), 1e-12)
    arcs = np.concatenate([np.sin(z * turn) / turn, np.cos(z * turn) / turn], axis=1)
    return turned(arcs, rng, noise=noise, n_features=n_features)


def turned(points: Floats, rng: Rng, *, noise: float = 0.0, n_features: int = 20) -> Floats:
    """Points in more features, turned at random, with noise in all of them."""
    basis = np.linalg.qr(rng.normal(size=(n_features, points.shape[1])))[0]
    return points @ basis.T + noise * rng.normal(size=(len(points), n_features))


def law(name: str, n: int, d: int, rng: Rng) -> Floats:
    """Independent columns of a law."""
    draws: dict[str, Callable[[], Floats]] = {
        "uniform": lambda: rng.uniform(size=(n, d)),
        "beta": lambda: rng.beta(2, 1, size=(n, d)),
        "bimodal": lambda: rng.beta(0.6, 0.6, size=(n, d)),
        "triangle": lambda: rng.triangular(0, 0.3, 1, size=(n, d)),
        "cut exponential": lambda: -np.log1p(-rng.uniform(size=(n, d)) * (1 - np.exp(-2))) / 2,
        "Gaussian": lambda: rng.normal(size=(n, d)) / 4,
    }
    return draws[name]()


def sheet(d: int, *, of: str = "uniform", noise: float = 0.0, sides: tuple[float, ...] = ()) -> Callable:
    """Independent factors on a bent sheet."""

    def draw(n: int, rng: Rng) -> Floats:
        return bent(law(of, n, d, rng) * np.array(sides or (1.0,) * d), rng, noise=noise)

    return draw


def inside(keep: Callable[[Floats], NDArray[np.bool_]], d: int = 2, noise: float = 0.0) -> Callable:
    """Uniform points of a part of the cube [-1, 1]^d, bent."""

    def draw(n: int, rng: Rng) -> Floats:
        z = rng.uniform(-1, 1, size=(20 * n, d))
        return bent(z[keep(z)][:n], rng, noise=noise)

    return draw


def correlated(r: float) -> Callable:
    """Two uniform factors whose normal scores correlate."""

    def draw(n: int, rng: Rng) -> Floats:
        from scipy.stats import norm

        z = rng.normal(size=(n, 2))
        z[:, 1] = r * z[:, 0] + (1 - r**2) ** 0.5 * z[:, 1]
        return bent(norm.cdf(z), rng)

    return draw


def closed(*angles: float, noise: float = 0.0, length: float = 0.0) -> Callable:
    """Circles of these radii, times an interval of this length if it is not 0."""

    def draw(n: int, rng: Rng) -> Floats:
        parts = []
        for radius in angles:
            t = rng.uniform(0, 2 * np.pi, n)
            parts += [radius * np.cos(t), radius * np.sin(t)]
        if length:
            parts.append(length * rng.uniform(size=n))
        return turned(np.column_stack(parts), rng, noise=noise)

    return draw


def sphere(d: int, noise: float = 0.0) -> Callable:
    """The surface of a ball, d-dimensional."""

    def draw(n: int, rng: Rng) -> Floats:
        x = rng.normal(size=(n, d + 1))
        return turned(x / np.linalg.norm(x, axis=1, keepdims=True), rng, noise=noise)

    return draw


def noise_of(n_features: int, of: str = "normal") -> Callable:
    """Nothing at all."""
    return lambda n, rng: getattr(rng, of)(size=(n, n_features))


def clusters(k: int, spread: float, n_features: int = 20) -> Callable:
    """Separate Gaussian groups."""

    def draw(n: int, rng: Rng) -> Floats:
        centres = rng.normal(size=(k, n_features))
        return centres[rng.integers(k, size=n)] + spread * rng.normal(size=(n, n_features))

    return draw


def islands(n: int, rng: Rng) -> Floats:
    """A sheet of which a band across the middle is missing."""
    z = rng.uniform(size=(n, 2))
    z[:, 0] += 0.6 * (z[:, 0] > 0.5)
    return bent(z, rng)


def linear(n: int, rng: Rng) -> Floats:
    """Three uniform sources, mixed linearly."""
    return rng.uniform(size=(n, 3)) @ rng.normal(size=(3, 12))


def varying(n: int, rng: Rng) -> Floats:
    """The second factor's range depends on the first."""
    z = rng.uniform(size=(n, 2))
    return bent(np.column_stack([2 * z[:, 0], (z[:, 1] - 0.5) * (0.25 + z[:, 0])]), rng)


DEPENDENT = ("independent codes",)
SUPPORT = ("independent codes", "product support", "filled box")
BALL = ("filled box",)
LOOP = ("no closed loops",)
WORLDS = [
    World("sheet d=1", sheet(1)),
    World("sheet d=2", sheet(2)),
    World("sheet d=3", sheet(3)),
    World("sheet 3:1", sheet(2, sides=(3.0, 1.0))),
    World("sheet, noise .01", sheet(2, noise=0.01)),
    World("sheet, noise .03", sheet(2, noise=0.03)),
    World("arc, noise .02", sheet(1, noise=0.02)),
    World("sheet d=3, noise .01", sheet(3, noise=0.01)),
    World("beta law", sheet(2, of="beta")),
    World("bimodal law", sheet(2, of="bimodal")),
    World("triangle law", sheet(2, of="triangle")),
    World("cut exponential law", sheet(2, of="cut exponential")),
    World("linear mixture", linear),
    World("correlation .3", correlated(0.3)),
    World("correlation .6", correlated(0.6), DEPENDENT),
    World("correlation .8", correlated(0.8), DEPENDENT),
    World("disk", inside(lambda z: (z**2).sum(axis=1) < 1), SUPPORT),
    World("disk, noise .02", inside(lambda z: (z**2).sum(axis=1) < 1, noise=0.02), SUPPORT),
    World("ball", inside(lambda z: (z**2).sum(axis=1) < 1, d=3), BALL),
    World("triangle", inside(lambda z: z.sum(axis=1) < 0), SUPPORT),
    World("annulus", inside(lambda z: abs((z**2).sum(axis=1) - 0.65) < 0.35), SUPPORT),
    World("hole", inside(lambda z: (z**2).sum(axis=1) > 0.3), SUPPORT),
    World("varying width", varying, SUPPORT),
    World("circle", closed(1.0), LOOP),
    World("circle, noise .03", closed(1.0, noise=0.03), LOOP),
    World("torus", closed(1.0, 0.7), LOOP),
    World("torus, noise .02", closed(1.0, 0.7, noise=0.02), LOOP),
    World("cylinder", closed(1.0, length=3.0), LOOP),
    World("short cylinder", closed(1.0, length=1.0), LOOP),
    World("sphere", sphere(2), LOOP),
    World("sphere, noise .02", sphere(2, noise=0.02), LOOP),
    World("Gaussian factors", sheet(2, of="Gaussian"), ("non-Gaussian",)),
    World("three Gaussian factors", sheet(3, of="Gaussian"), ("non-Gaussian",)),
    World("Gaussian noise, 5 features", noise_of(5), ("structure",)),
    World("Gaussian noise, 30 features", noise_of(30), ("structure",)),
    World("uniform noise, 10 features", noise_of(10, "uniform"), ("structure",)),
    World("five clusters", clusters(5, 0.2), ("connected",)),
    World("twenty clusters", clusters(20, 0.1), ("connected",)),
    World("two islands", islands, ("connected",)),
]
