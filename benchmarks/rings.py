"""Rings of pictures for ``experiment_rings.py``: real objects that turn once before real backgrounds.

An object lies in a random pose on a table that turns once; the camera and one lamp stand still. Behind it is a part of
a photograph or a painting. The lamp flickers by a few per cent, and every pixel has noise.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image
from scipy.spatial.transform import Rotation
from sklearn.datasets import load_sample_images
from trimesh import Trimesh

from unbraid.datasets.rendered import RenderedObject, _mesh_path, blob, read_mesh

SIZE = 48
VIEWS = 72
HARDER = 2  # times the noise and the flicker


class Rings:
    """Draws rings of views of the meshes in ``folder``; further pictures for backgrounds can be given."""

    def __init__(self, folder: Path | None, pictures: list[Path], meshes: list[str]):
        self.objects = {mesh: RenderedObject(mesh, SIZE, folder=folder) for mesh in meshes}
        with TemporaryDirectory() as place:
            for mesh in meshes:
                vertices, faces = blob() if mesh == "blob" else read_mesh(_mesh_path(mesh, folder))
                path = Path(place) / f"{mesh}.ply"
                pair(vertices, faces).export(path)
                self.objects[f"{mesh} pair"] = RenderedObject(path, SIZE)
        pixels = [*load_sample_images().images, *(np.asarray(Image.open(path)) for path in pictures)]
        self.pictures = [np.asarray(Image.fromarray(p).convert("L"), np.float64) / 255 for p in pixels]

    def draw(
        self, mesh: str, seed: int, n: int = VIEWS, *, even: bool = True, cropped: bool = False, hard: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Pictures (n, SIZE, SIZE) in random order, and their angles.

        The views are taken in even steps or at random angles. ``cropped`` pictures are black behind the object, and
        each is scaled so that the object fills its frame. A pair stands upright: two of a mesh, back to back, nearly
        alike after half a turn. ``hard`` pictures show a small object that orbits the middle of the table, under a lamp
        that sways and flickers more, with more noise.
        """
        rng = np.random.default_rng([seed, *mesh.encode()])
        start = 2 * np.pi * rng.uniform()
        angle = start + 2 * np.pi * (np.arange(n) / n if even else rng.uniform(size=n))
        lying = Rotation.identity() if "pair" in mesh else Rotation.random(rng=rng)
        turned = Rotation.from_euler("y", angle[:, None])
        tilt = Rotation.from_euler("x", rng.uniform(5, 35), degrees=True)
        pose = (tilt * turned * lying).as_matrix().reshape(n, 9)
        lamp = np.array([rng.uniform(-0.7, 0.7), 0.6, 1.0])
        light = lamp + (0.1 if hard else 0) * rng.normal(size=(n, 3))
        light /= np.linalg.norm(light, axis=1, keepdims=True)
        X = self.objects[mesh].observe(np.c_[pose, light]).astype(np.float64)
        if hard:
            X = _orbiting(X, angle, rng)
        X = np.stack([_filled(x) for x in X]) if cropped else np.where(X > 0, X, 0.8 * self._background(rng))
        more = HARDER if hard else 1
        X = X * (1 + more * rng.uniform(0.01, 0.04) * rng.normal(size=(n, 1, 1)))
        X = np.clip(X + more * rng.uniform(0.01, 0.05) * rng.normal(size=X.shape), 0, 1)
        order = rng.permutation(n)
        return X[order], np.angle(np.exp(1j * angle[order]))

    def _background(self, rng: np.random.Generator) -> np.ndarray:
        picture = self.pictures[rng.integers(len(self.pictures))]
        side = int(rng.uniform(0.3, 0.9) * min(picture.shape))
        top, left = (rng.integers(0, length - side + 1) for length in picture.shape)
        part = Image.fromarray(np.uint8(255 * picture[top : top + side, left : left + side]))
        return np.asarray(part.resize((SIZE, SIZE), Image.Resampling.LANCZOS), np.float64) / 255


def pair(vertices: np.ndarray, faces: np.ndarray) -> Trimesh:
    """Two of an object, back to back, the second of nine tenths of the size."""
    vertices = (vertices - vertices.mean(axis=0)) / np.ptp(vertices, axis=0).max()
    aside = [0.4, 0, 0.1]
    both = np.concatenate([vertices + aside, (0.9 * vertices + aside) * [-1, 1, -1]])
    return Trimesh(both, np.concatenate([faces, faces + len(vertices)]), process=False)


def _orbiting(pictures: np.ndarray, angle: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Objects of about half the size, at as much as a seventh of the frame from its middle, seen from above."""
    side = int(rng.uniform(0.4, 0.65) * SIZE)
    radius, phase = rng.uniform(0.05, 0.15) * SIZE, rng.uniform(0, 2 * np.pi)
    found = np.zeros_like(pictures)
    for frame, picture, turn in zip(found, pictures, angle + phase):
        left, top = (SIZE - side) // 2 + np.round(radius * np.array([np.cos(turn), 0.4 * np.sin(turn)])).astype(int)
        small = Image.fromarray(np.float32(picture)).resize((side, side), Image.Resampling.BILINEAR)
        frame[top : top + side, left : left + side] = np.asarray(small, np.float64)
    return found


def _filled(picture: np.ndarray) -> np.ndarray:
    """The part of a picture that is not black, scaled to its frame."""
    rows, columns = (np.flatnonzero((picture > 0).any(axis=axis)) for axis in (1, 0))
    side = max(np.ptp(rows), np.ptp(columns)) + 1
    top, left = (int(np.clip((part[0] + part[-1] + 1 - side) // 2, 0, SIZE - side)) for part in (rows, columns))
    part = Image.fromarray(np.float32(picture[top : top + side, left : left + side]))
    return np.asarray(part.resize((SIZE, SIZE), Image.Resampling.BILINEAR), np.float64)
