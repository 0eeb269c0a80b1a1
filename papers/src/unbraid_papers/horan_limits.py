"""How far HLLE+ICA goes: rescaled factors, the neighbourhood, time, few points, noise, more factors, many points."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import unbraid as ub
from unbraid.spectral import HessianEigenmaps
from unbraid_papers.bench import Bench
from unbraid_papers.horan_manifolds import DCGAN, FFHQ, SHAPES, SIZES, images_of, textbook_lem
from unbraid_papers.paper import Cell

STRETCHES = ("square", "2 : 1", "4 : 1", "8 : 1", "log x, exp y")
RESCALED = ("HLLE+ICA", "LEM+ICA", "LEM+ICA, ours")
NEIGHBORS = (8, 12, 18, 30, 50, 80)
N_RESCALED = 1000
BLOCK = 100_000
CAPS = (30, 60, 90)  # degrees from the pole; 90 is half of the sphere


def _seeds(scale: str) -> range:
    return range(3 if scale == "small" else 10)


def rescaling_cells(scale: str) -> list[Cell]:
    seeds = range(5 if scale == "small" else 10)
    return [{"factors": f, "seed": s, "method": m} for f in STRETCHES for s in seeds for m in RESCALED]


def try_rescaled(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """Rank correlations, for a disentangled code may be any monotone function of its factor."""
    latents = np.random.default_rng(cell["seed"]).uniform(size=(N_RESCALED, 2))
    X = np.rint(255 * ub.datasets.load("shapes-xy", image_size=32).observe(positions(latents, cell["factors"])))
    X = X.astype(np.uint8)
    if cell["method"] == "LEM+ICA":
        codes = textbook_lem(X, cell["seed"])
    else:
        method = ub.HessianICA if cell["method"] == "HLLE+ICA" else ub.LaplacianICA
        codes = method(2, selection="closest", random_state=cell["seed"]).fit(X).transform(X)
    return {"mcc": ub.metrics.mcc(latents, codes, kind="spearman")}


def positions(latents: NDArray[np.float64], factors: str) -> NDArray[np.float64]:
    """Where the square is: a field of some proportions, or log and exp of the latent variables.

    >>> positions(np.array([[1.0, 1.0]]), "4 : 1").tolist()
    [[1.0, 0.25]]
    """
    if factors == "square":
        return latents
    if factors == "log x, exp y":
        return np.c_[np.log1p(9 * latents[:, 0]) / np.log(10), np.expm1(2 * latents[:, 1]) / np.expm1(2)]
    return latents / [1.0, float(factors[0])]


def neighbor_cells(scale: str) -> list[Cell]:
    return [{"manifold": m, "k": k} for m in (*SHAPES, *FFHQ[:3], *DCGAN) for k in NEIGHBORS]


def try_neighbors(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """Score and local isometry at a given k; the sample of seed 0."""
    images = images_of(cell["manifold"], 0, bench)
    codes = ub.HessianICA(2, cell["k"], random_state=0).fit(images.X).transform(images.X)
    isometry = ub.metrics.local_isometry(images.X, codes, pairs="closest", max_points=600)
    return {"mcc": ub.metrics.mcc(images.factors, codes), "isometry": isometry}


def time_cells(scale: str) -> list[Cell]:
    side = 64 if scale == "small" else 256
    return [{"method": m, "side": side} for m in ("HLLE+ICA", "autoencoder")]


def measure_time(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """CPU seconds: HLLE+ICA with k = 30, and an autoencoder from the time of a few of its steps."""
    side = cell["side"]
    X, _ = ub.datasets.load("shapes-xy", image_size=(side, side, 3), dtype="uint8").sample(3000, random_state=0)
    if cell["method"] == "HLLE+ICA":
        ub.HessianICA(2, 30, random_state=0).fit(X[:200])  # compiles what is compiled at the first use
        began = time.process_time()
        ub.HessianICA(2, 30, random_state=0).fit(X)
        return {"cpu": time.process_time() - began}
    return {"cpu": _seconds_per_step(X) * SIZES["paper"].steps}


def _seconds_per_step(X: NDArray, few: int = 3, more: int = 15) -> float:
    """What further steps cost, so that what is done once does not count."""
    seconds = []
    for steps in (few, more):
        began = time.process_time()
        ub.Autoencoder(2, preset="paper", max_steps=steps, random_state=0, progress=False).fit(X)
        seconds.append(time.process_time() - began)
    return (seconds[1] - seconds[0]) / (more - few)


def limit_cells(scale: str) -> list[Cell]:
    """Few images, noisy images, and more factors: one of them is changed at a time."""
    seeds, n = _seeds(scale), 1000 if scale == "small" else 3000
    sparse = [{"limit": "images", "at": m, "seed": s} for m in (100, 200, 400, n) for s in seeds]
    noise = [{"limit": "noise", "at": e, "n": n, "seed": s} for e in (0.05, 0.1, 0.2, 0.4) for s in seeds]
    points = 2000 if scale == "small" else 10_000
    factors = [{"limit": "factors", "at": d, "n": points, "seed": s} for d in (2, 3, 4) for s in seeds]
    return [*sparse, *noise, *factors]


def try_limit(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """HLLE+ICA as it comes."""
    n_factors, seed = 2, cell["seed"]
    if cell["limit"] == "factors":
        n_factors = cell["at"]
        sheet = ub.datasets.load("isometric", n_factors=n_factors, n_features=50, random_state=seed)
        X, factors = sheet.sample(cell["n"], random_state=seed)
    else:
        n = cell["at"] if cell["limit"] == "images" else cell["n"]
        X, factors = ub.datasets.load("shapes-xy", image_size=32).sample(n, random_state=seed)
        if cell["limit"] == "noise":
            X = X + cell["at"] * np.random.default_rng(seed).standard_normal(X.shape)
    return {"mcc": ub.metrics.mcc(factors, ub.HessianICA(n_factors, random_state=seed).fit(X).transform(X))}


def sphere_cells(scale: str) -> list[Cell]:
    return [{"degrees": d, "n": N_RESCALED, "seed": s} for d in CAPS for s in _seeds(scale)]


def try_sphere(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """Points spread evenly over a cap of a sphere, within so many degrees of its pole; HLLE alone has no ICA."""
    rng = np.random.default_rng(cell["seed"])
    height = rng.uniform(np.cos(np.radians(cell["degrees"])), 1, cell["n"])
    turn, radius = rng.uniform(0, 2 * np.pi, cell["n"]), np.sqrt(1 - height**2)
    X = np.c_[radius * np.cos(turn), radius * np.sin(turn), height]
    codes = HessianEigenmaps(2, random_state=cell["seed"]).fit_transform(X)
    return {"isometry": ub.metrics.local_isometry(X, codes, pairs="closest", max_points=600)}


def many_cells(scale: str) -> list[Cell]:
    return [{"points": 1_000_000}, {"points": 10_000_000}]


def try_many(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """Points that are made as they are read; their factors and codes are all that is held."""
    sheet = ub.datasets.load("isometric", n_factors=2, n_features=10, random_state=0)

    def factors() -> Iterator[NDArray[np.float64]]:
        rng = np.random.default_rng(1)
        return (rng.uniform(size=(BLOCK, 2)) for _ in range(cell["points"] // BLOCK))

    model = ub.HessianICA(2, 12, random_state=0).fit(lambda: (sheet.observe(z) for z in factors()))
    codes = model.transform(lambda: (sheet.observe(z) for z in factors()))
    return {"mcc": ub.metrics.mcc(np.concatenate(list(factors())), codes), "landmarks": model.n_landmarks_}
