"""Product manifolds of known factors, and manifolds that are none, for ``experiment_product.py``.

The length of a factor is the half wave of its slowest function: the length of an interval, half the circumference of
a circle, and that of a sphere over the root of 2. So the eigenvalues of the first functions are apart by the square of
the ratio, the hardest reading of "four times shorter". Of three factors the middle one lies halfway, geometrically. The
first of a name is the longest; it has radius 1 (an interval: length pi).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from worlds import Floats, Rng, turned

import unbraid as ub

KIND = {"I": "interval", "C": "circle", "S": "sphere"}
SHAPES = ("I I", "C I", "C C", "S I", "C I I")
RATIOS = (1.3, 2.0, 4.0)
POINTS = (500, 1000, 2000, 5000)


@dataclass(frozen=True)
class Drawn:
    """Rows, and what made them: ``kinds`` is empty where no product did."""

    X: NDArray
    factors: Floats
    kinds: tuple[str, ...]


Draw = Callable[[int, Rng], Drawn]


def factor(letter: str, n: int, rng: Rng) -> tuple[Floats, Floats]:
    """Values of a factor of unit radius, and their points."""
    if letter == "I":
        value = rng.uniform(0, np.pi, (n, 1))
        return value, value
    if letter == "C":
        angle = rng.uniform(-np.pi, np.pi, (n, 1))
        return angle, np.c_[np.cos(angle), np.sin(angle)]
    direction = rng.normal(size=(n, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return direction, np.sqrt(2) * direction


def product(shape: str, ratio: float, noise: float = 0.0, backwards: bool = False) -> Draw:
    """A product of factors; ``backwards`` makes the last the longest."""

    def draw(n: int, rng: Rng) -> Drawn:
        letters = shape.split()
        radii = ratio ** -np.linspace(0, 1, len(letters)) if len(letters) > 1 else np.ones(1)
        made = [factor(letter, n, rng) for letter in letters]
        points = [r * p for r, (_, p) in zip(radii[::-1] if backwards else radii, made)]
        X = turned(np.concatenate(points, axis=1), rng, noise=noise, n_features=12)
        return Drawn(X, np.concatenate([v for v, _ in made], axis=1), tuple(KIND[letter] for letter in letters))

    return draw


def anything(n: int, rng: Rng) -> Drawn:
    """Any of the shapes, in either order, of a ratio of 1.1 to 4, half of them with noise up to .04."""
    ratio = 1.1 * (4 / 1.1) ** rng.uniform()
    noise = max(0.0, rng.uniform(-0.04, 0.04))
    return product(str(rng.choice(SHAPES)), ratio, noise, bool(rng.integers(2)))(n, rng)


def dependent(n: int, rng: Rng) -> Drawn:
    """An angle and a height that depend on each other: correlation about .37 of the height and the cosine."""
    angle, height = rng.uniform(-np.pi, np.pi, 3 * n), rng.uniform(0, np.pi / 1.3, 3 * n)
    kept = rng.uniform(size=3 * n) < 0.5 + 0.47 * np.cos(angle) * np.cos(1.3 * height)
    angle, height = angle[kept][:n], height[kept][:n]
    return Drawn(np.c_[np.cos(angle), np.sin(angle), height], np.c_[angle, height], ("circle", "interval"))


def curve(n: int, rng: Rng) -> Drawn:
    """A closed curve of uneven speed, and a spiral beside it."""
    t, s = rng.uniform(-np.pi, np.pi, n), rng.uniform(1, 3, n)
    loop = np.c_[1.5 * np.cos(t), np.sin(t), 0.3 * np.cos(2 * t)]
    return Drawn(np.c_[loop, 0.6 * s * np.cos(2 * s), 0.6 * s * np.sin(2 * s)], np.c_[t, s], ("circle", "interval"))


def torus_of_revolution(n: int, rng: Rng) -> Drawn:
    """Round the axis the way is longer outside than inside: no product metric."""
    a, b = rng.uniform(-np.pi, np.pi, (2, n))
    far = 2 + np.cos(b)
    return Drawn(np.c_[far * np.cos(a), far * np.sin(a), np.sin(b)], np.c_[a, b], ("circle", "circle"))


def roll(n: int, rng: Rng) -> Drawn:
    """A Swiss roll, by its length."""
    t, height = rng.uniform(4, 12, n), rng.uniform(0, 20, n)
    return Drawn(np.c_[t * np.cos(t), height, t * np.sin(t)], np.c_[t**2, height], ("interval", "interval"))


def knot(n: int, rng: Rng) -> Drawn:
    """A trefoil: one circle."""
    t = rng.uniform(-np.pi, np.pi, n)
    X = np.c_[np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)]
    return Drawn(X, t[:, None], ("circle",))


def patch(**options: float) -> Draw:
    """The data set ``turning-patch``."""

    def draw(n: int, rng: Rng) -> Drawn:
        data = ub.datasets.load("turning-patch", **options)
        X, factors = data.sample(n, random_state=rng)
        return Drawn(X, factors, data.factor_kinds)

    return draw


def none(make: Callable[[int, Rng], Floats]) -> Draw:
    """Rows that no product made."""
    return lambda n, rng: Drawn(make(n, rng), np.empty((n, 0)), ())


def _disk(n: int, rng: Rng) -> Floats:
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.sqrt(rng.uniform(size=n))
    return np.c_[radius * np.cos(angle), radius * np.sin(angle)]


def _annulus(n: int, rng: Rng) -> Floats:
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.sqrt(rng.uniform(0.25, 1, n))
    return np.c_[radius * np.cos(angle), radius * np.sin(angle)]


def _moebius(n: int, rng: Rng) -> Floats:
    t, s = rng.uniform(0, 2 * np.pi, n), rng.uniform(-0.5, 0.5, n)
    return np.c_[np.cos(t), np.sin(t), s * np.cos(t / 2), s * np.sin(t / 2)]


def _triangle(n: int, rng: Rng) -> Floats:
    u = rng.uniform(size=(n, 2))
    return np.where(u.sum(axis=1, keepdims=True) > 1, 1 - u, u)


def _clusters(n: int, rng: Rng) -> Floats:
    return np.concatenate([rng.uniform(size=(n // 2, 2)), rng.uniform(size=(n // 2, 2)) + [3, 0]])


def _cap(n: int, rng: Rng) -> Floats:
    height, angle = rng.uniform(0, 1, n), rng.uniform(0, 2 * np.pi, n)
    return np.c_[np.sqrt(1 - height**2) * np.cos(angle), np.sqrt(1 - height**2) * np.sin(angle), height]


def _klein(n: int, rng: Rng) -> Floats:
    a, b = rng.uniform(0, 2 * np.pi, (2, n))
    return np.c_[
        (2 + np.cos(b)) * np.cos(a),
        (2 + np.cos(b)) * np.sin(a),
        np.sin(b) * np.cos(a / 2),
        np.sin(b) * np.sin(a / 2),
    ]


def _eight(n: int, rng: Rng) -> Floats:
    t = rng.uniform(0, 2 * np.pi, n)
    return np.c_[np.sin(t), np.sin(2 * t) / 2]


def _corner(n: int, rng: Rng) -> Floats:
    z = rng.uniform(-1, 1, (3 * n, 2))
    return z[(z < 0).any(axis=1)][:n]


def _rotations(n: int, rng: Rng) -> Floats:
    return ub.datasets.load("product-manifold", manifolds=["SO3"], n_features=9).sample(n, random_state=rng)[0]


GOOD: dict[str, Draw] = {
    **{f"{s.replace(' ', ' x ')} at {r}": product(s, r) for s in SHAPES for r in RATIOS},
    "I": product("I", 1),
    "C": product("C", 1),
    "S": product("S", 1),
    "C x I at 1.3, noise .05": product("C I", 1.3, 0.05),
    "C x I at 2, noise .05": product("C I", 2, 0.05),
    "I x I x I x I at 2": product("I I I I", 2),
    "C x C x I x I at 1.5": product("C C I I", 1.5),
    "C x I, dependent": dependent,
    "curved: loop x spiral": curve,
    "curved: roll": roll,
    "curved: trefoil": knot,
    "patch, turns": patch(moves=0),
    "patch, turns and moves": patch(moves=1),
    "patch, turns and moves in two": patch(moves=2),
}
BROKEN: dict[str, Draw] = {
    "disk": none(_disk),
    "annulus": none(_annulus),
    "Moebius strip": none(_moebius),
    "Klein bottle": none(_klein),
    "triangle": none(_triangle),
    "corner": none(_corner),
    "half a sphere": none(_cap),
    "rotations": none(_rotations),
    "figure of eight": none(_eight),
    "two clusters": none(_clusters),
    "noise, 3 features": none(lambda n, rng: rng.normal(size=(n, 3))),
    "noise, 10 features": none(lambda n, rng: rng.normal(size=(n, 10))),
    "warped: torus of revolution": torus_of_revolution,
    "patch, off-centre .1": patch(moves=1, pivot=0.1),
    "patch, off-centre .25": patch(moves=2, pivot=0.25),
}
WORLDS: dict[str, Draw] = {**GOOD, **BROKEN, "anything": anything}
