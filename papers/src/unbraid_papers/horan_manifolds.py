"""The image manifolds of Horan et al. (2021) and the methods that are compared on them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA, FastICA
from sklearn.manifold import SpectralEmbedding

import unbraid as ub
from unbraid.manifold.neighbors import closest_pairs
from unbraid_papers.bench import Bench
from unbraid_papers.paper import Cell

SHAPES = ("shapes-xy", "shapes-xc")
FACES = ("faces 0, 1", "faces 2, 3", "faces 4, 5")
STYLEGAN = ("ffhq", "cat1", "cat2", "horse", "car", "kitchen", "bedroom", "church")
CLASSICAL = ("HLLE+ICA", "LEM+ICA", "PCA", "PCA+ICA")
NETS = ("HAE", "AE-2", "IRMAE-2", "VAE-2", "AE-128", "IRMAE-128", "VAE-128")
SEEDS = range(5)
LEM_NEIGHBORS = (10, 20, 30, 50)
N_PICTURES = 3000  # of faces at any scale: the paper's number; 1000 are too sparse a sample of them


class Size(NamedTuple):
    """How large an experiment is: squares to learn from, unseen images, their side, and the training of networks."""

    n: int
    n_unseen: int
    side: int | None
    preset: str
    steps: int
    steps_hae: int


SIZES = {
    "small": Size(1000, 250, 32, "patches", 200, 200),
    "paper": Size(3000, 500, None, "paper", 4_700, 47_000),  # 100 and 1000 passes over 3000 images, 64 at a time
}


class Images(NamedTuple):
    """Images as bytes and their factors: those to learn from, and others."""

    X: NDArray[np.uint8]
    factors: NDArray[np.float64]
    X_unseen: NDArray[np.uint8]
    factors_unseen: NDArray[np.float64]


def classical_cells(scale: str) -> list[Cell]:
    return _cells(_manifolds(scale), CLASSICAL)


def network_cells(scale: str) -> list[Cell]:
    return _cells(_manifolds(scale), NETS)


def _manifolds(scale: str) -> tuple[str, ...]:
    """Those of StyleGAN2 are for the paper's scale."""
    return (*SHAPES, *FACES, *STYLEGAN) if scale == "paper" else (*SHAPES, *FACES)


def _cells(manifolds: tuple[str, ...], methods: tuple[str, ...]) -> list[Cell]:
    return [{"manifold": m, "seed": seed, "method": method} for m in manifolds for seed in SEEDS for method in methods]


@lru_cache(maxsize=32)
def images_of(manifold: str, seed: int, bench: Bench) -> Images:
    """A fresh sample of the manifold for each seed, in bytes as images are stored."""
    size = SIZES[bench.scale]
    n = size.n if manifold in SHAPES else N_PICTURES
    X, factors = _source(manifold, bench).sample(n + size.n_unseen, random_state=seed)
    X = np.rint(255 * X).astype(np.uint8)
    return Images(X[:n], factors[:n], X[n:], factors[n:])


@lru_cache(maxsize=1)
def _source(manifold: str, bench: Bench) -> Any:
    side = SIZES[bench.scale].side
    if manifold in SHAPES:
        return ub.datasets.load(manifold, image_size=side or 64)
    if manifold in FACES:
        weights = bench.find("digiface_dcgan64.pt", what="the DCGAN of faces")
        return _faces(weights, (int(manifold[-4]), int(manifold[-1])), side)
    subject = manifold.rstrip("12")
    names = (f"stylegan2-{subject}.pt", f"stylegan2-{subject}.pkl")
    weights = bench.find(*names, what=f"StyleGAN2's generator for {subject}")
    return ub.datasets.load("gan-manifold", weights=weights, manifold=manifold, image_size=side or 256)


def _faces(weights: Any, components: tuple[int, int], side: int | None) -> Any:
    """z = 2 (s_1 w_1 + s_2 w_2): unit directions of the second block's principal components, s uniform in [-2, 2]."""
    options = {"layer": "main.5", "centre": np.zeros(100, np.float32), "n_samples": 2000, "image_size": side}
    faces = ub.datasets.load("gan-manifold", weights=weights, components=components, **options)
    lengths = np.linalg.norm(faces.directions.components, axis=1)
    faces.directions = replace(faces.directions, scales=2 / lengths)
    return faces


def try_classical(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """One spectral or linear method on one sample."""
    images, method = images_of(cell["manifold"], cell["seed"], bench), cell["method"]
    if method == "LEM+ICA":
        return _scored(cell, images, textbook_lem(images.X, cell["seed"]), None, bench)
    encode = _encoder(method, images.X, cell["seed"])
    codes = encode(images.X)
    found = _scored(cell, images, codes, encode(images.X_unseen), bench)
    return found | {"best_turn": best_turn(images.factors, codes)} if method == "HLLE+ICA" else found


def try_network(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """One network on one sample: what its codes are worth, and how it decodes."""
    images = images_of(cell["manifold"], cell["seed"], bench)
    model = trained(cell, images, bench)
    codes, unseen = two_codes(model.transform(images.X), model.transform(images.X_unseen))
    if cell["method"].endswith("128"):
        return _scored(cell, images, codes, unseen, bench)
    found = _scored(cell, images, codes, unseen, bench, strip=strip(model, images))
    if cell["method"] == "VAE-2":
        found["dead"] = int((np.asarray(model.kl_) < 0.05).sum())
    return found | decoding(model, images, cell["seed"])


def _scored(
    cell: Cell, images: Images, codes: NDArray, unseen: NDArray | None, bench: Bench, **kept: NDArray
) -> dict[str, Any]:
    """MCC and local isometry of the codes; those of the first sample are kept for the pictures."""
    if cell["seed"] == 0:
        i, j, lengths = closest_pairs(as_rows(images.X[:300]).astype(np.float64), 0.05)
        near = {"pairs": np.stack([i, j]), "lengths": lengths}
        bench.keep(cell, codes=np.asarray(codes, np.float32), factors=images.factors, **near, **kept)
    found: dict[str, Any] = {
        "mcc": ub.metrics.mcc(images.factors, codes),
        "isometry": ub.metrics.local_isometry(images.X, codes, pairs="closest", max_points=300),
    }
    if unseen is not None:
        found["mcc_unseen"] = ub.metrics.mcc(images.factors_unseen, unseen)
    return found


def best_turn(factors: NDArray, codes: NDArray, n_angles: int = 90) -> float:
    """The MCC of two codes, whitened and turned as suits the factors best: what a perfect ICA could reach.

    >>> z = np.random.default_rng(0).normal(size=(2000, 2))
    >>> best_turn(z, z @ np.array([[0.8, 0.6], [-0.6, 0.8]])) > 0.999
    True
    """
    white = np.linalg.svd(codes - codes.mean(0), full_matrices=False)[0]
    angles = np.arange(n_angles) * np.pi / 2 / n_angles
    turns = [np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) for a in angles]
    return max(ub.metrics.mcc(factors, white @ turn) for turn in turns)


def _encoder(method: str, X: NDArray, seed: int) -> Callable[[NDArray], NDArray]:
    if method == "PCA":
        pca = PCA(2, svd_solver="randomized", random_state=seed).fit(as_rows(X))
        return lambda X: pca.transform(as_rows(X))
    models = {
        "HLLE+ICA": lambda: ub.HessianICA(2, selection="closest", random_state=seed),
        "PCA+ICA": lambda: ub.PCAICA(2, random_state=seed),
    }
    encode: Callable[[NDArray], NDArray] = models[method]().fit(X).transform
    return encode


def as_rows(X: NDArray) -> NDArray:
    """Images in bytes as vectors in [0, 1], in single precision."""
    return X.reshape(len(X), -1).astype(np.float32) / np.float32(255)


def textbook_lem(X: NDArray, seed: int, neighbors: tuple[int, ...] = LEM_NEIGHBORS) -> NDArray[np.float64]:
    """The two slowest eigenvectors and fastICA; k by the paper's score of local isometry.

    The library's own ``LaplacianICA`` passes over eigenvectors that are functions of earlier ones.
    """
    Z = PCA(50, svd_solver="randomized", random_state=0).fit_transform(as_rows(X))
    best, kept = -np.inf, np.empty((0, 2))
    for k in neighbors:
        embed = SpectralEmbedding(2, affinity="nearest_neighbors", n_neighbors=k, random_state=seed)
        codes = FastICA(2, fun="cube", whiten="unit-variance", random_state=seed).fit_transform(embed.fit_transform(Z))
        score = ub.metrics.local_isometry(Z, codes, pairs="closest", max_points=300) if len(neighbors) > 1 else 0.0
        if score > best:
            best, kept = score, codes
    return kept


def trained(cell: Cell, images: Images, bench: Bench) -> Any:
    """A network of the paper; all have the same encoder and decoder."""
    kind, _, width = cell["method"].partition("-")
    size = SIZES[bench.scale]
    options: dict[str, Any] = {"preset": size.preset, "random_state": cell["seed"], "progress": bench.progress}
    options |= {"checkpoint": bench.checkpoint(cell), "max_steps": size.steps_hae if kind == "HAE" else size.steps}
    if kind == "HAE":
        teacher = ub.HessianICA(2, selection="closest", random_state=cell["seed"])
        return ub.HessianAutoencoder(2, teacher=teacher, **options).fit(images.X)
    return {"AE": ub.Autoencoder, "IRMAE": ub.IRMAE, "VAE": ub.VAE}[kind](int(width), **options).fit(images.X)


def two_codes(codes: NDArray, unseen: NDArray) -> tuple[NDArray, NDArray]:
    """A bottleneck of 128 is brought to two codes by fastICA, as the paper does."""
    if codes.shape[1] == 2:
        return codes, unseen
    ica = FastICA(2, whiten="unit-variance", random_state=0, max_iter=1000).fit(codes.astype(float))
    return ica.transform(codes.astype(float)), ica.transform(unseen.astype(float))


def decoding(model: Any, images: Images, seed: int, n_pairs: int = 20, n_steps: int = 17) -> dict[str, float]:
    """Reconstruction of unseen images, and how images change along straight lines between codes.

    ``error`` is the squared error as a share of the images' variance. ``jump`` is the largest of the steps between
    neighbouring images over their mean: 1 where the images change evenly. ``astray`` is the squared distance of a
    decoded image to the nearest real one, as a share of the variance.
    """
    X, X_unseen = as_rows(images.X), as_rows(images.X_unseen)
    variance = float(X.var(axis=0).sum())
    back = np.asarray(model.reconstruct(images.X_unseen)).reshape(X_unseen.shape)
    codes = model.transform(images.X_unseen)
    ends = np.random.default_rng(seed).choice(len(codes), (n_pairs, 2), replace=False)
    paths = np.stack([path(model, codes[i], codes[j], n_steps) for i, j in ends])
    steps = np.linalg.norm(np.diff(paths, axis=1), axis=2)
    flat = paths.reshape(-1, X.shape[1])
    squares = (flat**2).sum(axis=1)[:, None] + (X**2).sum(axis=1) - 2 * flat @ X.T
    return {
        "error": float(np.square(back - X_unseen).sum(axis=1).mean() / variance),
        "jump": float((steps.max(axis=1) / np.maximum(steps.mean(axis=1), 1e-12)).mean()),
        "astray": float(np.maximum(squares.min(axis=1), 0).mean() / variance),
    }


def path(model: Any, left: NDArray, right: NDArray, n_steps: int) -> NDArray:
    """Decoded images on the straight line between two codes, as vectors in [0, 1]."""
    decoded = ub.report.interpolate(model.inverse_transform, left, right, n_steps=n_steps)
    return np.asarray(decoded, np.float32).reshape(n_steps, -1)


def strip(model: Any, images: Images, n_steps: int = 9) -> NDArray[np.uint8]:
    """The images between two unseen ones near opposite corners, real ends included."""
    factors = images.factors_unseen
    corners = [np.quantile(factors, q, axis=0) for q in (0.1, 0.9)]
    low, high = (int(np.argmin(np.square(factors - c).sum(axis=1))) for c in corners)
    codes = model.transform(images.X_unseen[[low, high]])
    decoded = np.rint(255 * np.clip(path(model, codes[0], codes[1], n_steps), 0, 1)).astype(np.uint8)
    real = images.X_unseen
    return np.concatenate([real[low][None], decoded.reshape(n_steps, *real.shape[1:]), real[high][None]])
