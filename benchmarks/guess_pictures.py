"""Picture sets with known factors, none of which the calibration has seen: faces, digits, meshes and shapes."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import unbraid as ub

POINTS = 1500


def picture_sets(folder: Path) -> Iterator[tuple[str, NDArray, NDArray]]:
    """Name, pictures and factors of each set; ``folder`` holds generators/ and meshes/."""
    yield from shapes()
    yield from digits(folder / "generators" / "csinva_mnist_vae.pth")
    yield from meshes(folder / "meshes")
    yield from faces(folder / "generators" / "digiface_dcgan64.pt")


def faces(weights: Path) -> Iterator[tuple[str, NDArray, NDArray]]:
    """Faces of a generator around several latent vectors, along pairs of its principal components."""
    for centre in (0, 1, 2):
        for components in ((0, 1), (2, 3), (4, 5), (1, 4)):
            made = ub.datasets.load("gan-manifold", weights=weights, components=components, centre=centre)
            yield f"faces {components} at {centre}", *made.sample(POINTS, random_state=centre)


def digits(weights: Path) -> Iterator[tuple[str, NDArray, NDArray]]:
    """Digits of a decoder: two of its twenty latent variables, uniform, the others at a random place."""
    import torch

    state = torch.load(weights, map_location="cpu", weights_only=True)
    W3, b3, W4, b4 = (state[f"fc{layer}.{part}"].numpy() for layer in (3, 4) for part in ("weight", "bias"))
    for seed in range(8):
        rng = np.random.default_rng(seed)
        latent = np.tile(rng.normal(size=20), (POINTS, 1))
        axes = rng.choice(20, 2, replace=False)
        factors = rng.uniform(-1.5, 1.5, size=(POINTS, 2))
        latent[:, axes] = factors
        hidden = np.maximum(latent @ W3.T + b3, 0)
        yield f"digits {seed}", 1 / (1 + np.exp(-(hidden @ W4.T + b4))), factors


def meshes(folder: Path) -> Iterator[tuple[str, NDArray, NDArray]]:
    """Objects that turn by part of a circle, while they tilt or the light moves."""
    for mesh in ("bunny", "spot", "dragon"):
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


def shapes() -> Iterator[tuple[str, NDArray, NDArray]]:
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
