"""Worlds by the thousand, with their factors: maps, laws, sizes, noise and broken assumptions, all drawn by a seed."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from worlds import copula, turned

Floats = NDArray[np.float64]
Rng = np.random.Generator


@dataclass(frozen=True)
class Simulated:
    """A drawn world.

    Attributes
    ----------
    kind : str
        Of the map, or of the assumption that is broken; these are the groups that are left out in turn.
    about : str
        The rest, in words.
    X, factors : arrays (n, features), (n, d)
    n_factors, n_neighbors : int or "auto"
        What the fit is told.
    method : str
        The method that is fitted.
    """

    kind: str
    about: str
    X: Floats
    factors: Floats
    n_factors: int | str = "auto"
    n_neighbors: int | str = "auto"
    method: str = "hessian-ica"


LAWS: dict[str, Callable[[int, Rng], Floats]] = {
    "uniform": lambda n, rng: rng.uniform(size=n),
    "beta 2 1": lambda n, rng: rng.beta(2, 1, size=n),
    "beta 2 2": lambda n, rng: rng.beta(2, 2, size=n),
    "arcsine": lambda n, rng: rng.beta(0.5, 0.5, size=n),
    "triangle": lambda n, rng: rng.triangular(0, rng.uniform(0.1, 0.5), 1, size=n),
    "exponential": lambda n, rng: np.minimum(rng.exponential(size=n), 4) / 4,
    "laplace": lambda n, rng: np.clip(rng.laplace(size=n), -4, 4) / 8 + 0.5,
    "two humps": lambda n, rng: np.clip(
        np.where(rng.uniform(size=n) < 0.5, 0.3, 0.7) + 0.12 * rng.normal(size=n), 0, 1
    ),
    "cut normal": lambda n, rng: np.clip(rng.normal(size=n) / 4 + 0.5, 0.1, 0.9),
}


def arcs(z: Floats, rng: Rng) -> Floats:
    """Each factor along a circular arc of its own: distances are kept."""
    turn = rng.uniform(0.5, 3.5, size=z.shape[1])
    return np.concatenate([np.sin(z * turn) / turn, np.cos(z * turn) / turn], axis=1)


def roll(z: Floats, rng: Rng) -> Floats:
    """The first factor along a spiral, by its length; the others straight."""
    first, last = np.pi, np.pi * rng.uniform(2, 4)
    t = np.linspace(first, last, 2000)
    length = np.concatenate([[0], np.cumsum(np.hypot(*np.diff([t * np.cos(t), t * np.sin(t)], axis=1)))])
    t = np.interp(z[:, 0], length / length[-1], t)
    spiral = np.column_stack([t * np.cos(t), t * np.sin(t)]) / last
    return np.c_[spiral, z[:, 1:] * rng.uniform(0.5, 2.0)]


def curves(z: Floats, rng: Rng) -> Floats:
    """Each factor along a smooth random curve of its own, at a speed that varies."""
    parts = []
    for column in z.T:
        waves = rng.normal(size=(3, 4)) / np.array([[1.0], [2.0], [3.0]])
        phases = rng.uniform(0, 2 * np.pi, size=(3, 4))
        parts.append(sum(waves[f] * np.sin(np.pi * (f + 1) / 2 * column[:, None] + phases[f]) for f in range(3)))
    return np.concatenate(parts, axis=1)


def network(z: Floats, rng: Rng) -> Floats:
    """A smooth random network of one or two layers."""
    hidden = np.tanh(z @ rng.normal(size=(z.shape[1], 60)) * rng.uniform(0.4, 1.8) + 0.5 * rng.normal(size=60))
    if rng.uniform() < 0.5:
        return hidden
    return np.tanh(hidden @ rng.normal(size=(60, 60)) / 60**0.5 * rng.uniform(0.5, 2))


def hill(z: Floats, rng: Rng) -> Floats:
    """A flat sheet over a hill."""
    bump = np.exp(-rng.uniform(2, 6) * ((z - z.mean(axis=0)) ** 2).sum(axis=1))
    return np.c_[z, rng.uniform(0.1, 0.7) * bump]


def waves(z: Floats, rng: Rng) -> Floats:
    """Random waves over the factors, as of a smooth random field."""
    frequencies = rng.normal(size=(z.shape[1], 80)) * rng.uniform(0.5, 2.0)
    return np.cos(z @ frequencies + rng.uniform(0, 2 * np.pi, size=80)) / 80**0.5


def bowl(z: Floats, rng: Rng) -> Floats:
    """A paraboloid or a saddle."""
    signs = rng.choice([-1.0, 1.0], size=z.shape[1])
    return np.c_[z, rng.uniform(0.2, 1.5) * ((z - z.mean(axis=0)) ** 2 @ signs)]


def patch(z: Floats, rng: Rng) -> Floats:
    """Part of a sphere by its angles."""
    angles = (z - 0.5) * rng.uniform(0.8, 2.2)
    found, rest = [], np.ones(len(z))
    for column in angles.T:
        found.append(rest * np.sin(column))
        rest = rest * np.cos(column)
    return np.column_stack([*found, rest])


def polynomial(z: Floats, rng: Rng) -> Floats:
    """A random polynomial of the third degree."""
    centred = z - 0.5
    a, b = np.triu_indices(z.shape[1])
    square = centred[:, a] * centred[:, b]
    cube = square * centred[:, [0]] + square[:, ::-1] * centred[:, [-1]]
    size = rng.uniform(0.3, 1.5)
    return (
        centred @ rng.normal(size=(z.shape[1], 40))
        + size * square @ rng.normal(size=(square.shape[1], 40))
        + size * cube @ rng.normal(size=(cube.shape[1], 40))
    )


def linear(z: Floats, rng: Rng) -> Floats:
    """A linear mixture."""
    return z @ rng.normal(size=(z.shape[1], 12))


def blob(z: Floats, rng: Rng) -> Floats:
    """Pictures of a soft spot: its place, size and brightness."""
    place = 0.2 + 0.6 * z[:, :2] if z.shape[1] > 1 else np.c_[0.2 + 0.6 * z, np.full(len(z), 0.5)]
    width = rng.uniform(0.1, 0.25) * (0.7 + 0.6 * z[:, 2] if z.shape[1] > 2 else np.ones(len(z)))
    grid = np.linspace(0, 1, 14)
    across, down = (np.exp(-((grid - p[:, None]) ** 2) / (2 * width[:, None] ** 2)) for p in place.T)
    pictures = (across[:, :, None] * down[:, None]).reshape(len(z), -1)
    return pictures * (0.5 + 0.5 * z[:, [3]]) if z.shape[1] > 3 else pictures


def disc(z: Floats, rng: Rng) -> Floats:
    """Pictures of a disc with a sharp edge, drawn with grey border pixels."""
    place = 0.3 + 0.4 * z[:, :2] if z.shape[1] > 1 else np.c_[0.3 + 0.4 * z, np.full(len(z), 0.5)]
    radius = rng.uniform(0.12, 0.22) * (0.7 + 0.6 * z[:, 2] if z.shape[1] > 2 else np.ones(len(z)))
    grid = np.linspace(0, 1, 20)
    far = np.hypot(grid[None, :, None] - place[:, 0, None, None], grid[None, None] - place[:, 1, None, None])
    pictures = np.clip((radius[:, None, None] - far) * 20 + 0.5, 0, 1).reshape(len(z), -1)
    return pictures * (0.5 + 0.5 * z[:, [3]]) if z.shape[1] > 3 else pictures


def peaks(z: Floats, rng: Rng) -> Floats:
    """Spectra: a peak that moves for each factor, one beside the other."""
    channels, width = np.linspace(0, z.shape[1], 60), rng.uniform(0.1, 0.4)
    places = np.arange(z.shape[1]) + 0.2 + 0.6 * z
    heights = rng.uniform(0.5, 1.5, size=z.shape[1])
    return sum(h * np.exp(-((channels - p[:, None]) ** 2) / (2 * width**2)) for h, p in zip(heights, places.T))


def body(z: Floats, rng: Rng) -> Floats:
    """Points of a rigid body, seen from the front: turned, tilted, nearer or farther, and moved."""
    cloud = rng.normal(size=(30, 3))
    cloud /= np.linalg.norm(cloud, axis=1, keepdims=True)
    columns = np.c_[z, np.full((len(z), 4 - z.shape[1]), 0.5)] - 0.5
    yaw, tilt = columns[:, 0] * rng.uniform(0.8, 2.5), columns[:, 1] * rng.uniform(0.8, 2.0)
    x = np.cos(yaw)[:, None] * cloud[:, 0] + np.sin(yaw)[:, None] * cloud[:, 2]
    depth = np.cos(yaw)[:, None] * cloud[:, 2] - np.sin(yaw)[:, None] * cloud[:, 0]
    y = np.cos(tilt)[:, None] * cloud[:, 1] - np.sin(tilt)[:, None] * depth
    size = 1 + 0.8 * columns[:, [2]]
    return np.c_[size * x + columns[:, [3]], size * y]


MAPS: dict[str, Callable[[Floats, Rng], Floats]] = {
    f.__name__: f
    for f in (
        arcs, roll, curves, network, hill, waves, bowl, patch, polynomial, linear, blob, disc, peaks, body,
    )
}  # fmt: skip


def _free(n: int, d: int, rng: Rng) -> tuple[Floats, str]:
    """Independent factors, each of a law of its own or all of the same."""
    names = [str(rng.choice(list(LAWS))) for _ in range(d)]
    if rng.uniform() < 0.5:
        names = [names[0]] * d
    if rng.uniform() < 0.3:
        names = ["uniform"] * d
    return np.column_stack([LAWS[name](n, rng) for name in names]), "+".join(names)


def _correlated(n: int, d: int, rng: Rng) -> tuple[Floats, str]:
    r = rng.uniform(0.1, 0.9)
    return copula((n, d), r, rng), f"r {r:.2f}"


def _inside(n: int, d: int, rng: Rng, keep: Callable[[Floats], NDArray[np.bool_]]) -> tuple[Floats, str]:
    kept = np.empty((0, d))
    while len(kept) < n:
        z = rng.uniform(-1, 1, size=(4 * n, d))
        kept = np.concatenate([kept, z[keep(z)]])
    return (kept[:n] + 1) / 2, ""


def _ball(n: int, d: int, rng: Rng) -> tuple[Floats, str]:
    return _inside(n, d, rng, lambda z: (z**2).sum(axis=1) < 1)


def _simplex(n: int, d: int, rng: Rng) -> tuple[Floats, str]:
    return _inside(n, d, rng, lambda z: z.sum(axis=1) < 0)


def _hole(n: int, d: int, rng: Rng) -> tuple[Floats, str]:
    least = rng.uniform(0.1, 0.6)
    found, _ = _inside(n, d, rng, lambda z: (z**2).sum(axis=1) > least)
    return found, f"of {least:.2f}"


def _slow(n: int, d: int, rng: Rng) -> tuple[Floats, str]:
    from scipy.signal import lfilter
    from scipy.stats import norm

    steps = float(np.exp(rng.uniform(np.log(5), np.log(80))))
    keep = np.exp(-1 / steps)
    drift = lfilter([(1 - keep**2) ** 0.5], [1, -keep], rng.normal(size=(n + 500, d)), axis=0)[500:]
    return norm.cdf(drift), f"{steps:.0f} rows"


def _short(n: int, d: int, rng: Rng) -> tuple[Floats, str]:
    """The last factor is so short that it may go unseen."""
    z, _ = _free(n, d, rng)
    length = float(np.exp(rng.uniform(np.log(0.005), np.log(0.3))))
    z[:, -1] *= length
    return z, f"of {length:.3f}"


def _varying(n: int, d: int, rng: Rng) -> tuple[Floats, str]:
    z, _ = _free(n, d, rng)
    least = rng.uniform(0.1, 0.8)
    z[:, 1] = (z[:, 1] - 0.5) * (least + (1 - least) * z[:, 0]) + 0.5
    return z, f"from {least:.2f}"


def _gaussian(n: int, d: int, rng: Rng) -> tuple[Floats, str]:
    z, _ = _free(n, d, rng)
    z[:, :2] = rng.normal(size=(n, 2)) / 5 + 0.5
    return z, ""


def _gap(n: int, d: int, rng: Rng) -> tuple[Floats, str]:
    """A band of the first factor is rare."""
    z, _ = _free(n, d, rng)
    left = rng.uniform(0.05, 0.3)
    rare = (abs(z[:, 0] - 0.5) < 0.15) & (rng.uniform(size=n) > left)
    z[rare, 0] = np.where(rng.uniform(size=rare.sum()) < 0.5, 0.3, 0.7) * rng.uniform(0.3, 1, size=rare.sum())
    return z, f"{left:.2f} left"


BROKEN: dict[str, Callable[[int, int, Rng], tuple[Floats, str]]] = {
    "correlated": _correlated, "ball": _ball, "simplex": _simplex, "hole": _hole, "varying width": _varying,
    "Gaussian": _gaussian, "gap": _gap, "slow": _slow, "short": _short,
}  # fmt: skip
OUTLIERS, CLOSED, SHEARED, CONFORMAL = "outliers", "closed", "sheared", "conformal"
ZEROED, REPEATED, UNION = "zeroed", "repeated", "union"
KINDS = (*MAPS, *BROKEN, OUTLIERS, CLOSED, SHEARED, CONFORMAL, ZEROED, REPEATED, UNION)
METHODS = {"hessian-ica": 0.55, "tangent-ica": 0.15, "laplacian-ica": 0.15, "pca-ica": 0.15}


def _mixed(z: Floats, kind: str, rng: Rng) -> Floats:
    """Coordinates of a sheet whose axes are not the factors, but nearly."""
    if kind == SHEARED:
        shear = np.eye(z.shape[1])
        shear[0, 1] = rng.uniform(0.1, 0.8)
        return z @ shear / 1.5
    w = 2 * (z[:, 0] - 0.5) + 2j * (z[:, 1] - 0.5)
    size = rng.uniform(0.1, 0.7)
    found = (w + size / 2 * w**2, np.exp(size * w), 1 / (w + 2 / size))[int(rng.integers(3))]
    found = found / max(np.ptp(found.real), np.ptp(found.imag))
    return np.c_[found.real, found.imag, z[:, 2:]]


def _spoilt(X: Floats, z: Floats, kind: str, rng: Rng) -> tuple[Floats, Floats]:
    """Rows lost, repeated, or of a piece with fewer factors."""
    n, share = len(X), rng.uniform(0.03, 0.6)
    some = rng.permutation(n)[: round(share * n)]
    if kind == ZEROED:
        X[some] = 0.0
    elif kind == REPEATED:
        of = rng.integers(n, size=len(some))
        X[some], z[some] = X[of], z[of]
    else:
        end, t = X[int(rng.integers(n))], rng.uniform(size=(len(some), 1))
        X[some] = end + t * rng.normal(size=X.shape[1]) * X.std() * rng.uniform(1, 3)
        z[some] = np.c_[t, np.tile(z[0, 1:], (len(some), 1))]
    return X, z


def _closed(n: int, rng: Rng) -> tuple[Floats, Floats, str]:
    """Factors and points of a circle, a cylinder, a torus or a sphere, or of a large part of one."""
    name = str(rng.choice(["circle", "cylinder", "torus", "sphere"]))
    share = rng.uniform(0.85, 1) if rng.uniform() < 0.3 else 1.0
    t = 2 * np.pi * share * rng.uniform(size=(n, 2))
    if name == "sphere":
        x = rng.normal(size=(n, 3))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        return np.c_[np.arctan2(x[:, 1], x[:, 0]), x[:, 2]], x, name
    circle = np.c_[np.cos(t[:, 0]), np.sin(t[:, 0])]
    if name == "circle":
        return t[:, :1], circle, f"{name} {share:.2f}"
    other = rng.uniform(0.5, 3) * t[:, 1:] / 2 if name == "cylinder" else np.c_[np.cos(t[:, 1]), np.sin(t[:, 1])]
    return t, np.c_[circle, rng.uniform(0.5, 1) * other], f"{name} {share:.2f}"


def simulate(seed: int, most: int = 4000) -> Simulated:
    """The world of a seed: its kind is drawn evenly, the rest by chance; of at most so many points."""
    rng = np.random.default_rng([seed, 20261118])
    kind = str(rng.choice(KINDS))
    n = int(120 * (most / 120) ** rng.beta(1.3, 1.3))
    z, bare, about = _closed(n, rng) if kind == CLOSED else _open(kind, n, rng)
    d = z.shape[1]
    bare = bare / np.sqrt(((bare - bare.mean(axis=0)) ** 2).sum(axis=1).mean())  # a mean square radius of 1
    noise = float(np.exp(rng.uniform(np.log(0.001), np.log(0.05)))) if rng.uniform() < 0.5 else 0.0
    X = turned(bare, rng, noise=noise, n_features=max(bare.shape[1], int(rng.integers(20, 80))))
    if kind == OUTLIERS:
        off = rng.uniform(size=n) < rng.uniform(0.005, 0.05)
        X[off] += rng.normal(size=(int(off.sum()), X.shape[1])) * rng.uniform(0.05, 0.3)
    if kind in (ZEROED, REPEATED, UNION):
        X, z = _spoilt(X, z, kind, rng)
    smallest = 1 + d + d * (d + 1) // 2
    k = int(np.exp(rng.uniform(np.log(smallest + 2), np.log(max(min(60, n // 4), smallest + 3)))))
    n_neighbors: int | str = k if rng.uniform() < 0.1 else "auto"
    n_factors: int | str = "auto" if rng.uniform() < 0.7 and n_neighbors == "auto" else d
    method = str(rng.choice(list(METHODS), p=list(METHODS.values())))
    return Simulated(kind, f"{about}, d {d}, n {n}, noise {noise:.3f}", X, z, n_factors, n_neighbors, method)


def _open(kind: str, n: int, rng: Rng) -> tuple[Floats, Floats, str]:
    """Factors with ends, of different lengths in three of five worlds, and what is seen of them."""
    many = 0.2 if kind in ("arcs", "linear", "network", "waves", "polynomial") and n < 1500 else 0.0
    if kind in MAPS:
        p = np.array([0.1, 0.5, 0.28, many, many / 2, many / 2])
        d = int(rng.choice([1, 2, 3, 4, 5, 6], p=p / p.sum()))
    else:
        d = int(rng.choice([2, 3], p=[0.7, 0.3]))
    z, law = BROKEN[kind](n, d, rng) if kind in BROKEN else _free(n, d, rng)
    z = z * np.exp(rng.uniform(np.log(0.35), 0, size=d)) if rng.uniform() < 0.6 else z
    name = kind if kind in MAPS else str(rng.choice(list(MAPS)))
    if kind in (SHEARED, CONFORMAL):
        return z, arcs(_mixed(z, kind, rng), rng), law
    return z, MAPS[name](z, rng), f"{name}, {law}"
