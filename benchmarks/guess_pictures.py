"""Picture sets with known factors: faces and digits of generators, meshes, shapes and sprites.

A set is for calibration or for judging, never for both: decoders are given other latent vectors, and sprites, the cow
and the faces of the large generator are only judged.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from worlds import copula

import unbraid as ub

POINTS, FACES = 1000, 400
SIZES = (300, 600, 1000, 2000)  # of the digits of calibration, in turn
Pictures = tuple[str, NDArray, NDArray]


def picture_sets(folder: Path, *, judged: bool) -> Iterator[Pictures]:
    """Name, pictures and factors of each; ``folder`` holds generators/, meshes/ and dsprites/.

    The faces of the large generator are drawn only where UNBRAID_DATA holds it (``unbraid datasets get``).
    """
    generators = folder / "generators"
    seeds = range(100, 106) if judged else range(40)
    yield from decoded("digits", _decoder(generators / "csinva_mnist_vae.pth", "fc3", "fc4"), 20, seeds)
    yield from decoded("drawn", _decoder(generators / "csinva_mnist_gan_mlp_G.ckpt", "0", "2", "4"), 64, seeds)
    yield from meshes(folder / "meshes", ("spot",) if judged else ("bunny", "dragon"))
    yield from faces(generators / "digiface_dcgan64.pt", (4, 5, 6) if judged else (0, 1, 2, 3))
    if not judged:
        yield from shapes()
        return
    yield from sprites(folder / "dsprites" / "dsprites_grid_46080.npz")
    if "UNBRAID_DATA" in os.environ:
        yield from large_faces()


def faces(weights: Path, centres: tuple[int, ...]) -> Iterator[Pictures]:
    """Faces of a generator around several latent vectors, along its principal components."""
    for centre in centres:
        for components in ((0, 1), (2, 3), (1, 4), (0, 3, 5)):
            made = ub.datasets.load("gan-manifold", weights=weights, components=components, centre=centre)
            yield f"faces {components} at {centre}", *made.sample(FACES, random_state=centre)


def large_faces() -> Iterator[Pictures]:
    """Faces of StyleGAN, along its principal components."""
    for components in ((0, 1), (2, 3), (6, 7), (0, 1, 2)):
        made = ub.datasets.load("gan-manifold", generator="ffhq", components=components, image_size=64)
        yield f"large faces {components}", *made.sample(FACES, random_state=0)


def sprites(file: Path) -> Iterator[Pictures]:
    """Sprites of one shape: its place, and its place across with its size; factors have levels."""
    with np.load(file) as data:
        images, classes, values = (data[name] for name in ("imgs", "latents_classes", "latents_values"))
    shape, size, angle, x, y = classes.T
    for kind, name in enumerate(("square", "ellipse", "heart")):
        still = (shape == kind) & (angle == 0)
        for factors, kept in (((3, 4), still & (size == 5)), ((1, 3), still & (y == 7)), ((1, 3, 4), still)):
            if len(factors) == 2 or kind == 1:
                yield f"sprites {name} {factors}", images[kept].astype(float), values[kept][:, factors]


def _decoder(weights: Path, *layers: str) -> list[tuple[NDArray, NDArray]]:
    import torch

    state = torch.load(weights, map_location="cpu", weights_only=True)
    return [(state[f"{layer}.weight"].numpy(), state[f"{layer}.bias"].numpy()) for layer in layers]


def decoded(name: str, layers: list[tuple[NDArray, NDArray]], size: int, seeds: range) -> Iterator[Pictures]:
    """Digits of a decoder: two or three of its latent variables, the others at a random place.

    They are uniform; of every fourth set two are correlated, and of every fourth they fill a disk.
    """
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n = SIZES[seed // 4 % len(SIZES)]
        latent = np.tile(rng.normal(size=size), (n, 1))
        d = 3 if seed % 6 > 3 else 2
        axes = rng.choice(size, d, replace=False)
        factors = rng.uniform(-1.5, 1.5, size=(20 * n, d))
        if seed % 4 == 2:
            factors = 3 * copula(factors.shape, 0.6, rng) - 1.5
        elif seed % 4 == 3:
            factors = factors[(factors[:, :2] ** 2).sum(axis=1) < 1.5**2]
        latent[:, axes] = factors = factors[:n]
        hidden = latent
        for i, (W, b) in enumerate(layers):
            hidden = hidden @ W.T + b
            if i + 1 < len(layers):
                hidden = np.maximum(hidden, 0) if name == "digits" else np.where(hidden > 0, hidden, 0.2 * hidden)
        yield f"{name} {seed}", 1 / (1 + np.exp(-hidden)), factors


def meshes(folder: Path, names: tuple[str, ...]) -> Iterator[Pictures]:
    """Objects that turn by part of a circle, while they tilt or the light moves."""
    for mesh in names:
        made = ub.datasets.load("rendered-object", mesh=mesh, image_size=32, folder=folder)
        for moving in ("tilt", "light"):
            rng = np.random.default_rng(0)
            factors = rng.uniform(-1, 1, size=(POINTS, 2)) * [0.7, 0.5 if moving == "tilt" else 0.9]
            yaw, other = factors.T
            tilt = other if moving == "tilt" else np.zeros(POINTS)
            sun = other if moving == "light" else np.full(POINTS, 0.4)
            light = np.stack([np.sin(sun), 0.3 * np.ones(POINTS), np.cos(sun)], axis=1)
            light /= np.linalg.norm(light, axis=1, keepdims=True)
            states = np.c_[(_about_x(tilt) @ _about_y(yaw)).reshape(POINTS, 9), light]
            yield f"mesh {mesh} {moving}", made.observe(states), factors


def shapes() -> Iterator[Pictures]:
    """Drawn shapes."""
    for name in ("shapes-xy", "shapes-xc"):
        for seed in (0, 1):
            yield f"shapes {name[7:]} {seed}", *ub.datasets.load(name).sample(POINTS, random_state=seed)


def _about_x(angle: NDArray) -> NDArray:
    c, s, o = np.cos(angle), np.sin(angle), np.zeros(len(angle))
    return np.stack([o + 1, o, o, o, c, -s, o, s, c], axis=1).reshape(-1, 3, 3)


def _about_y(angle: NDArray) -> NDArray:
    c, s, o = np.cos(angle), np.sin(angle), np.zeros(len(angle))
    return np.stack([c, o, s, o, o + 1, o, -s, o, c], axis=1).reshape(-1, 3, 3)
