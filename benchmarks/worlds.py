"""Kinds of worlds with known factors: some keep what the methods assume, others break it, or look as if they did."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rng = np.random.Generator
Drawn = tuple[Floats, Floats]
Draw = Callable[[int, Rng], Drawn]
Map = Callable[[Floats, Rng], Floats]


@dataclass(frozen=True)
class World:
    """A kind of world.

    Attributes
    ----------
    name : str
    draw : function of n and a generator
        To the observations and the factors; no columns of factors where there is nothing to find.
    breaks : tuple of str
        The assumptions that are broken in it: a diagnostic should see each.
    family : str
        Kinds that are left out together: those of :mod:`guess_worlds` have the same names.
    kinds : tuple of str
        What the factors are, where not all are intervals.
    """

    name: str
    draw: Draw
    breaks: tuple[str, ...] = ()
    family: str = ""
    kinds: tuple[str, ...] = ()


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
        "steep": lambda: rng.beta(5, 1, size=(n, d)),
        "bimodal": lambda: rng.beta(0.6, 0.6, size=(n, d)),
        "triangle": lambda: rng.triangular(0, 0.3, 1, size=(n, d)),
        "cut exponential": lambda: -np.log1p(-rng.uniform(size=(n, d)) * (1 - np.exp(-2))) / 2,
        "Gaussian": lambda: rng.normal(size=(n, d)) / 4,
        "Laplace": lambda: rng.laplace(size=(n, d)) / 6,
        "Student": lambda: rng.standard_t(4, size=(n, d)) / 6,
        "levels": lambda: rng.integers(8, size=(n, d)) / 7,
    }
    return draws[name]()


def sheet(d: int, *, of: str = "uniform", noise: float = 0.0, sides: tuple[float, ...] = ()) -> Draw:
    """Independent factors on a bent sheet."""

    def draw(n: int, rng: Rng) -> Drawn:
        z = law(of, n, d, rng) * np.array(sides or (1.0,) * d)
        return bent(z, rng, noise=noise), z

    return draw


def seen(look: Map, d: int = 2, of: str = "uniform") -> Draw:
    """Independent factors through a map, turned."""

    def draw(n: int, rng: Rng) -> Drawn:
        z = law(of, n, d, rng)
        return turned(look(z, rng), rng, n_features=60), z

    return draw


def inside(keep: Callable[[Floats], NDArray[np.bool_]], d: int = 2, noise: float = 0.0) -> Draw:
    """Uniform points of a part of the cube [-1, 1]^d, bent."""

    def draw(n: int, rng: Rng) -> Drawn:
        z = rng.uniform(-1, 1, size=(40 * n, d))
        z = z[keep(z)][:n]
        return bent(z, rng, noise=noise), z

    return draw


def correlated(r: float, d: int = 2) -> Draw:
    """Uniform factors; the normal scores of the first two correlate."""

    def draw(n: int, rng: Rng) -> Drawn:
        z = copula((n, d), r, rng)
        return bent(z, rng), z

    return draw


def copula(shape: tuple[int, int], r: float, rng: Rng) -> Floats:
    """Uniform columns; the normal scores of the first two correlate."""
    from scipy.stats import norm

    z = rng.normal(size=shape)
    z[:, 1] = r * z[:, 0] + (1 - r**2) ** 0.5 * z[:, 1]
    return norm.cdf(z)


def mixed(of: str, d: int, noise: float = 0.0) -> Draw:
    """Sources mixed linearly."""

    def draw(n: int, rng: Rng) -> Drawn:
        z = law(of, n, d, rng)
        X = z @ rng.normal(size=(d, 12))
        return X + noise * X.std() * rng.normal(size=X.shape), z

    return draw


def closed(*angles: float, noise: float = 0.0, length: float = 0.0, share: float = 1.0) -> Draw:
    """Circles of these radii, or this share of each, times an interval of this length if it is not 0."""

    def draw(n: int, rng: Rng) -> Drawn:
        t = rng.uniform(0, 2 * np.pi * share, size=(n, len(angles)))
        parts = [radius * part(t[:, i]) for i, radius in enumerate(angles) for part in (np.cos, np.sin)]
        z = np.c_[t, rng.uniform(size=n)] if length else t
        parts += [length * z[:, -1]] if length else []
        return turned(np.column_stack(parts), rng, noise=noise), z

    return draw


def sphere(d: int, noise: float = 0.0, above: float = -1.0) -> Draw:
    """The surface of a ball, d-dimensional, a direction; or the part above a height, its factors those of a globe."""

    def draw(n: int, rng: Rng) -> Drawn:
        x = rng.normal(size=(60 * n if above > -1 else n, d + 1))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        x = x[x[:, -1] >= above][:n]
        return turned(x, rng, noise=noise), np.c_[np.arctan2(x[:, 1], x[:, 0]), x[:, 2:]] if above > -1 else x

    return draw


def noise_of(n_features: int, of: str = "normal") -> Draw:
    """Nothing at all."""
    return lambda n, rng: (getattr(rng, of)(size=(n, n_features)), np.empty((n, 0)))


def clusters(k: int, spread: float, n_features: int = 20) -> Draw:
    """Separate Gaussian groups."""

    def draw(n: int, rng: Rng) -> Drawn:
        centres = rng.normal(size=(k, n_features))
        X = centres[rng.integers(k, size=n)] + spread * rng.normal(size=(n, n_features))
        return X, np.empty((n, 0))

    return draw


def islands(n: int, rng: Rng) -> Drawn:
    """A sheet of which a band across the middle is missing."""
    z = rng.uniform(size=(n, 2))
    z[:, 0] += 0.6 * (z[:, 0] > 0.5)
    return bent(z, rng), z


def varying(n: int, rng: Rng) -> Drawn:
    """The second factor's range depends on the first."""
    z = rng.uniform(size=(n, 2))
    z = np.column_stack([2 * z[:, 0], (z[:, 1] - 0.5) * (0.25 + z[:, 0])])
    return bent(z, rng), z


def slow(steps: float, d: int = 2) -> Draw:
    """A recording: every factor drifts, and forgets where it was after so many rows."""

    def draw(n: int, rng: Rng) -> Drawn:
        from scipy.signal import lfilter
        from scipy.stats import norm

        keep = np.exp(-1 / steps)
        drift = lfilter([(1 - keep**2) ** 0.5], [1, -keep], rng.normal(size=(n + 500, d)), axis=0)[500:]
        z = norm.cdf(drift)
        return bent(z, rng), z

    return draw


def sheared(by: float) -> Draw:
    """A sheet that is a parallelogram: its sides are the factors, and are not at right angles."""

    def draw(n: int, rng: Rng) -> Drawn:
        z = rng.uniform(size=(n, 2))
        return bent(z @ [[1.0, by], [0.0, 1.0]], rng), z

    return draw


def conformal(change: Callable[[NDArray], NDArray]) -> Draw:
    """A sheet through a map of the complex plane, which keeps angles and changes lengths; then bent."""

    def draw(n: int, rng: Rng) -> Drawn:
        z = rng.uniform(-1, 1, size=(n, 2))
        w = change(z[:, 0] + 1j * z[:, 1])
        return bent(np.c_[w.real, w.imag], rng), z

    return draw


def zeroed(share: float, d: int = 2) -> Draw:
    """A sheet; this share of its rows was lost, and is zero."""

    def draw(n: int, rng: Rng) -> Drawn:
        X, z = sheet(d)(n, rng)
        X[rng.permutation(n)[: round(share * n)]] = 0.0
        return X, z

    return draw


def twice(n: int, rng: Rng) -> Drawn:
    """Every row is there two times."""
    X, z = sheet(2)((n + 1) // 2, rng)
    return np.concatenate([X, X])[:n], np.concatenate([z, z])[:n]


def astray(share: float) -> Draw:
    """A sheet; some rows are elsewhere."""

    def draw(n: int, rng: Rng) -> Drawn:
        X, z = sheet(2)(n, rng)
        off = rng.permutation(n)[: round(share * n)]
        X[off] += X.std() * rng.normal(size=(len(off), X.shape[1]))
        return X, z

    return draw


def union(n: int, rng: Rng) -> Drawn:
    """A sheet, and a line that leaves it."""
    half = n // 2
    z = rng.uniform(size=(n, 2))
    flat = np.c_[np.sin(z), np.cos(z)][:half]
    line = flat[0] + np.outer(z[half:, 0], [0.0, 0.0, 1.0, 1.0])
    points = np.c_[np.concatenate([flat, line]), np.r_[np.zeros(half), z[half:, 0]]]
    order = rng.permutation(n)
    return turned(points, rng)[order], np.r_[z[:half], np.c_[z[half:, 0], np.zeros(n - half)]][order]


def rhombus(n: int, rng: Rng) -> Drawn:
    """A square that stands on its corner: a product in other axes than those of the factors."""
    z = rng.uniform(-1, 1, size=(n, 2))
    factors = z @ [[1.0, 1.0], [-1.0, 1.0]]
    return bent(factors, rng), factors


def bump(n: int, rng: Rng) -> Drawn:
    """A square, three times as dense around a corner of its middle."""
    z = rng.uniform(size=(6 * n, 2))
    dense = 1 + 2 * np.exp(-8 * ((z - [0.3, 0.7]) ** 2).sum(axis=1))
    z = z[rng.uniform(0, 3, size=len(z)) < dense][:n]
    return bent(z, rng), z


def levels_and_more(n: int, rng: Rng) -> Drawn:
    """One factor has eight levels, the other is continuous."""
    z = np.c_[law("levels", n, 1, rng), rng.uniform(size=n)]
    return bent(z, rng), z


def one_gaussian(n: int, rng: Rng) -> Drawn:
    """One of two factors is Gaussian, which ICA can do with."""
    z = np.c_[rng.normal(size=n) / 4, rng.uniform(size=n)]
    return bent(z, rng), z


def gross(n: int, rng: Rng) -> Drawn:
    """A sheet, with noise of heavy tails in every feature."""
    X, z = sheet(2)(n, rng)
    return X + 0.01 * rng.standard_t(2.5, size=X.shape), z


def rolled(z: Floats, rng: Rng) -> Floats:
    """A Swiss roll."""
    t = 1.5 * np.pi * (1 + 2 * z[:, 0])
    return np.c_[t * np.cos(t), t * np.sin(t), 21 * z[:, 1]] / 10


def polar(z: Floats, rng: Rng) -> Floats:
    """Part of a ring by radius and angle: the factors are at right angles, and not of even length; then rolled."""
    r, t = 1 + z[:, 0], 1.5 * z[:, 1]
    return np.c_[r * np.cos(t), np.sin(r * np.sin(t)), np.cos(r * np.sin(t))]


def uneven(z: Floats, rng: Rng) -> Floats:
    """Every factor along an arc of its own, fast at first, and then slower."""
    w = np.expm1(-1.5 * z)
    return np.c_[np.sin(2 * w), np.cos(2 * w)]


def nets(z: Floats, rng: Rng) -> Floats:
    """A random network of one layer."""
    return np.tanh(z @ rng.normal(size=(z.shape[1], 50)) + 0.5 * rng.normal(size=50))


def rays(z: Floats, rng: Rng) -> Floats:
    """Random waves over the factors."""
    return np.cos(z @ rng.normal(size=(z.shape[1], 60)) * 1.2 + rng.uniform(0, 2 * np.pi, size=60)) / 8


def cubic(z: Floats, rng: Rng) -> Floats:
    """A random polynomial of the third degree."""
    c = z - 0.5
    terms = np.c_[c, c**2, c**3, c[:, [0]] * c[:, [-1]], c[:, [0]] ** 2 * c[:, [-1]]]
    return terms @ rng.normal(size=(terms.shape[1], 30))


def spot(z: Floats, rng: Rng) -> Floats:
    """Pictures of a soft spot: its place, and its size."""
    grid = np.linspace(0, 1, 7)
    width = 0.2 * (0.7 + 0.6 * z[:, 2] if z.shape[1] > 2 else np.ones(len(z)))[:, None]
    across, down = (np.exp(-((grid - (0.2 + 0.6 * p)[:, None]) ** 2) / (2 * width**2)) for p in z.T[:2])
    return (across[:, :, None] * down[:, None]).reshape(len(z), -1)


def peaks(z: Floats, rng: Rng) -> Floats:
    """Spectra: a peak that moves for each factor."""
    channels, places = np.linspace(0, z.shape[1], 50), np.arange(z.shape[1]) + 0.2 + 0.6 * z
    return sum(np.exp(-((channels - p[:, None]) ** 2) / 0.1) for p in places.T)


def eight(z: Floats, rng: Rng) -> Floats:
    """A curve that crosses itself."""
    t = 1.8 * np.pi * z[:, 0]
    return np.c_[np.sin(t), np.sin(t) * np.cos(t)]


def helix(z: Floats, rng: Rng) -> Floats:
    """A curve that winds three times, and never meets itself."""
    t = 6 * np.pi * z[:, 0]
    return np.c_[np.cos(t), np.sin(t), 0.3 * t]


def moebius(z: Floats, rng: Rng) -> Floats:
    """A band with a half turn, whose ends meet."""
    t, w = 2 * np.pi * z[:, 0], 0.8 * (z[:, 1] - 0.5)
    r = 1 + w * np.cos(t / 2)
    return np.c_[r * np.cos(t), r * np.sin(t), w * np.sin(t / 2)]


def disk(z: Floats) -> NDArray[np.bool_]:
    """The unit ball of any dimension."""
    return (z**2).sum(axis=1) < 1


DEPENDENT = ("independent codes",)
SUPPORT = ("independent codes", "product support", "filled box")
BALL = ("filled box",)
LOOP = ("no closed loops",)
GAUSSIAN = ("non-Gaussian",)
NOTHING, PIECES = ("structure",), ("connected",)
WORLDS = [
    World("sheet d=1", sheet(1), (), "arcs"),
    World("sheet d=2", sheet(2), (), "arcs"),
    World("sheet d=3", sheet(3), (), "arcs"),
    World("sheet d=4", sheet(4), (), "arcs"),
    World("sheet d=5", sheet(5), (), "arcs"),
    World("sheet d=6", sheet(6), (), "arcs"),
    World("sheet 3:1", sheet(2, sides=(3.0, 1.0)), (), "arcs"),
    World("sheet 10:1", sheet(2, sides=(10.0, 1.0)), (), "arcs"),
    World("sheet, noise .01", sheet(2, noise=0.01), (), "arcs"),
    World("sheet, noise .03", sheet(2, noise=0.03), (), "arcs"),
    World("sheet, noise .1", sheet(2, noise=0.1), (), "arcs"),
    World("sheet, gross noise", gross, (), "gross"),
    World("arc, noise .02", sheet(1, noise=0.02), (), "arcs"),
    World("sheet d=3, noise .01", sheet(3, noise=0.01), (), "arcs"),
    World("beta law", sheet(2, of="beta"), (), "arcs"),
    World("steep law", sheet(2, of="steep"), (), "arcs"),
    World("bimodal law", sheet(2, of="bimodal"), (), "arcs"),
    World("triangle law", sheet(2, of="triangle"), (), "arcs"),
    World("cut exponential law", sheet(2, of="cut exponential"), (), "arcs"),
    World("Laplace law", sheet(2, of="Laplace"), (), "tails"),
    World("Student law", sheet(2, of="Student"), (), "tails"),
    World("one Gaussian factor", one_gaussian, (), "one Gaussian"),
    World("eight levels", levels_and_more, (), "levels"),
    World("grid of levels", sheet(2, of="levels"), (), "levels"),
    World("dense corner", bump, (), "bump"),
    World("linear mixture", mixed("uniform", 3), (), "linear"),
    World("linear mixture, Laplace", mixed("Laplace", 3), (), "linear"),
    World("linear mixture, noise", mixed("uniform", 2, 0.05), (), "linear"),
    World("linear mixture d=6", mixed("uniform", 6), (), "linear"),
    World("linear mixture, Gaussian", mixed("Gaussian", 2), GAUSSIAN, "Gaussian"),
    World("Swiss roll", seen(rolled), (), "roll"),
    World("part of a ring", seen(polar), (), "polar"),
    World("uneven speed", seen(uneven), (), "curves"),
    World("random network", seen(nets), (), "network"),
    World("random waves", seen(rays), (), "waves"),
    World("random waves d=3", seen(rays, 3), (), "waves"),
    World("random polynomial", seen(cubic), (), "polynomial"),
    World("moving spot", seen(spot), (), "blob"),
    World("moving spot and size", seen(spot, 3), (), "blob"),
    World("two peaks", seen(peaks), (), "peaks"),
    World("helix", seen(helix, 1), (), "helix"),
    World("three quarters of a circle", closed(1.0, share=0.75), (), "arcs"),
    World("conformal map, square", conformal(lambda z: z + 0.15 * z**2), (), "conformal"),
    World("conformal map, exponential", conformal(lambda z: np.exp(0.5 * z)), (), "conformal"),
    World("conformal map, inverse", conformal(lambda z: 1 / (z + 3)), (), "conformal"),
    World("slow recording, 10 rows", slow(10), (), "slow"),
    World("slow recording, 40 rows", slow(40), (), "slow"),
    World("sheared by .2", sheared(0.2), (), "sheared"),
    World("sheared by .5", sheared(0.5), (), "sheared"),
    World("each row twice", twice, (), "repeated"),
    World("strays 2 %", astray(0.02), (), "outliers"),
    World("correlation .3", correlated(0.3), (), "correlated"),
    World("correlation .6", correlated(0.6), DEPENDENT, "correlated"),
    World("correlation .6, three factors", correlated(0.6, 3), DEPENDENT, "correlated"),
    World("correlation .8", correlated(0.8), DEPENDENT, "correlated"),
    World("rhombus at 45 degrees", rhombus, (), "rhombus"),
    World("third factor of .02", sheet(3, sides=(1.0, 1.0, 0.02)), (), "short"),
    World("third factor of .1", sheet(3, sides=(1.0, 1.0, 0.1)), (), "short"),
    World("a tenth of the rows zero", zeroed(0.1), (), "zeroed"),
    World("half of the rows zero", zeroed(0.5), (), "zeroed"),
    World("half of the rows zero, d=3", zeroed(0.5, 3), (), "zeroed"),
    World("sheet and line", union, (), "union"),
    World("disk", inside(disk), SUPPORT, "ball"),
    World("disk, noise .02", inside(disk, noise=0.02), SUPPORT, "ball"),
    World("ball", inside(disk, d=3), BALL, "ball"),
    World("triangle", inside(lambda z: z.sum(axis=1) < 0), SUPPORT, "simplex"),
    World("hexagon", inside(lambda z: abs(z.sum(axis=1)) < 1), SUPPORT, "hexagon"),
    World("L shape", inside(lambda z: (z < 0).any(axis=1)), SUPPORT, "L shape"),
    World("annulus", inside(lambda z: abs((z**2).sum(axis=1) - 0.65) < 0.35), SUPPORT, "hole"),
    World("hole", inside(lambda z: (z**2).sum(axis=1) > 0.3), SUPPORT, "hole"),
    World("varying width", varying, SUPPORT, "varying width"),
    World("cap of a sphere", sphere(2, above=0.5), (), "cap"),
    World("circle", closed(1.0), LOOP, "closed", ("circle",)),
    World("circle, noise .03", closed(1.0, noise=0.03), LOOP, "closed", ("circle",)),
    World("torus", closed(1.0, 0.7), LOOP, "closed", ("circle", "circle")),
    World("torus, noise .02", closed(1.0, 0.7, noise=0.02), LOOP, "closed", ("circle", "circle")),
    World("cylinder", closed(1.0, length=3.0), LOOP, "closed", ("circle", "interval")),
    World("short cylinder", closed(1.0, length=1.0), LOOP, "closed", ("circle", "interval")),
    World("sphere", sphere(2), LOOP, "closed", ("sphere",)),
    World("sphere, noise .02", sphere(2, noise=0.02), LOOP, "closed", ("sphere",)),
    World("Moebius band", seen(moebius), LOOP, "closed"),
    World("figure eight", seen(eight, 1), (), "eight"),
    World("Gaussian factors", sheet(2, of="Gaussian"), GAUSSIAN, "Gaussian"),
    World("three Gaussian factors", sheet(3, of="Gaussian"), GAUSSIAN, "Gaussian"),
    World("Gaussian noise, 5 features", noise_of(5), NOTHING, "nothing"),
    World("Gaussian noise, 30 features", noise_of(30), NOTHING, "nothing"),
    World("uniform noise, 10 features", noise_of(10, "uniform"), NOTHING, "nothing"),
    World("five clusters", clusters(5, 0.2), PIECES, "nothing"),
    World("twenty clusters", clusters(20, 0.1), PIECES, "nothing"),
    World("two islands", islands, PIECES, "islands"),
]
