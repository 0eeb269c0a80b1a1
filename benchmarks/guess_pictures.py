"""Picture sets with known factors: faces and digits of generators, meshes and shapes.

Every set is for calibration or for judging, and says which: even seeds and latent vectors, the bunny, and the faces of
components 0 and 1 and of 4 and 5 of the large generator are for calibration.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import unbraid as ub

POINTS, FACES = 1000, 400
Pictures = tuple[str, bool, NDArray, NDArray]


def picture_sets(folder: Path) -> Iterator[Pictures]:
    """Name, whether it is for judging, pictures and factors of each; ``folder`` holds generators/ and meshes/.

    The faces of the large generator are drawn only where UNBRAID_DATA holds it (``unbraid datasets get``); 500 of each.
    """
    yield from shapes()
    yield from decoded("digits", _decoder(folder / "generators" / "csinva_mnist_vae.pth", "fc3", "fc4"), 20, 12)
    yield from decoded("drawn", _decoder(folder / "generators" / "csinva_mnist_gan_mlp_G.ckpt", "0", "2", "4"), 64, 8)
    yield from meshes(folder / "meshes")
    yield from faces(folder / "generators" / "digiface_dcgan64.pt")
    if "UNBRAID_DATA" in os.environ:
        yield from large_faces()


def faces(weights: Path) -> Iterator[Pictures]:
    """Faces of a generator around several latent vectors, along its principal components."""
    for centre in range(4):
        for components in ((0, 1), (2, 3), (1, 4), (0, 3, 5))[: 4 if centre < 2 else 2]:
            made = ub.datasets.load("gan-manifold", weights=weights, components=components, centre=centre)
            yield f"faces {components} at {centre}", bool(centre % 2), *made.sample(FACES, random_state=centre)


def large_faces() -> Iterator[Pictures]:
    """Faces of StyleGAN, along its principal components."""
    for components in ((0, 1), (2, 3), (4, 5), (6, 7), (0, 1, 2), (8, 9)):
        made = ub.datasets.load("gan-manifold", generator="ffhq", components=components, image_size=64)
        judged = components not in ((0, 1), (4, 5))
        yield f"large faces {components}", judged, *made.sample(500, random_state=0)


def _decoder(weights: Path, *layers: str) -> list[tuple[NDArray, NDArray]]:
    import torch

    state = torch.load(weights, map_location="cpu", weights_only=True)
    return [(state[f"{layer}.weight"].numpy(), state[f"{layer}.bias"].numpy()) for layer in layers]


def decoded(name: str, layers: list[tuple[NDArray, NDArray]], size: int, n_sets: int) -> Iterator[Pictures]:
    """Digits of a decoder: two or three of its latent variables, the others at a random place.

    They are uniform; of every fourth set they are correlated or of a disk.
    """
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        latent = np.tile(rng.normal(size=size), (POINTS, 1))
        d = 3 if seed % 6 > 3 else 2
        axes = rng.choice(size, d, replace=False)
        factors = rng.uniform(-1.5, 1.5, size=(20 * POINTS, d))
        if seed % 4 == 2:
            factors[:, 1] = 0.8 * factors[:, 0] + 0.6 * factors[:, 1]
        elif seed % 4 == 3:
            factors = factors[(factors[:, :2] ** 2).sum(axis=1) < 1.5**2]
        latent[:, axes] = factors = factors[:POINTS]
        hidden = latent
        for i, (W, b) in enumerate(layers):
            hidden = hidden @ W.T + b
            if i + 1 < len(layers):
                hidden = np.maximum(hidden, 0) if name == "digits" else np.where(hidden > 0, hidden, 0.2 * hidden)
        yield f"{name} {seed}", bool(seed % 2), 1 / (1 + np.exp(-hidden)), factors


def meshes(folder: Path) -> Iterator[Pictures]:
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
            yield f"mesh {mesh} {moving}", mesh != "bunny", made.observe(states), factors


def shapes() -> Iterator[Pictures]:
    """Drawn shapes."""
    for name in ("shapes-xy", "shapes-xc"):
        for seed in (0, 1):
            yield f"shapes {name[7:]} {seed}", bool(seed), *ub.datasets.load(name).sample(POINTS, random_state=seed)


def _about_x(angle: NDArray) -> NDArray:
    c, s, o = np.cos(angle), np.sin(angle), np.zeros(len(angle))
    return np.stack([o + 1, o, o, o, c, -s, o, s, c], axis=1).reshape(-1, 3, 3)


def _about_y(angle: NDArray) -> NDArray:
    c, s, o = np.cos(angle), np.sin(angle), np.zeros(len(angle))
    return np.stack([c, o, s, o, o + 1, o, -s, o, c], axis=1).reshape(-1, 3, 3)
