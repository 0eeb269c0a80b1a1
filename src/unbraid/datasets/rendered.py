"""A 3-D object under any pose and light, ray cast with Embree."""

import gzip
import os
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.datasets.product import ProductManifold
from unbraid.datasets.storage import find
from unbraid.runtime.extras import require

MESHES = {
    "bunny": ("stanford-bunny.obj",),
    "dragon": ("dragon_vrip_res3.ply.gz", "dragon_vrip_res4.ply.gz", "dragon_vrip_res3.ply", "dragon_vrip_res4.ply"),
    "spot": ("spot.obj",),
}
AMBIENT = 0.05


class RenderedObject(ProductManifold):
    r"""Shaded grey images of an object, pose in SO(3) and light in S^2, both uniform: ``rendered-object``.

    The factors are a rotation matrix (nine columns) and the direction towards the light (three), as in Pfau et al.
    (2020). Surfaces are matt with smooth normals and brightness :math:`((1 + n \cdot l) / 2)^2`: light from behind
    still shades them, so no pose is a mere silhouette. The background is black.

    Parameters
    ----------
    mesh : str or path
        "blob" (built in, without symmetry), "bunny", "dragon" or "spot" (looked for in the data folder), or the path
        of any mesh file that trimesh reads (.obj, .ply, .stl, .glb, ...; .gz of these too).
    image_size : int
        Side in pixels.
    samples : int
        Rays per pixel along each side, for smooth silhouettes.
    folder : path, optional
        Where the named meshes are; by default the data folder.

    Examples
    --------
    >>> blob = RenderedObject(image_size=16)
    >>> X, factors = blob.sample(2, random_state=0)
    >>> X.shape, list(blob.factor_groups)
    ((2, 16, 16), ['pose', 'light'])
    """

    name = "rendered-object"
    dtype: np.dtype = np.dtype(np.float32)

    def __init__(
        self,
        mesh: str | os.PathLike = "blob",
        image_size: int = 64,
        samples: int = 2,
        folder: str | os.PathLike | None = None,
    ):
        if image_size < 8 or samples < 1:
            raise ValueError(f"image_size >= 8 and samples >= 1; received {image_size} and {samples}.")
        super().__init__(["SO3", "S2"], rotate=False)
        self._groups = {"pose": slice(0, 9), "light": slice(9, 12)}
        self.factor_names = tuple(f"pose.{i}" for i in range(9)) + tuple(f"light.{i}" for i in range(3))
        self.samples = samples
        vertices, faces = blob() if mesh == "blob" else read_mesh(_mesh_path(mesh, folder))
        centre = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
        vertices = (vertices - centre) / np.linalg.norm(vertices - centre, axis=1).max()
        self.faces, self.normals = faces, _vertex_normals(vertices, faces)
        scene = require("embreex.rtcore_scene", "data")
        construction = require("embreex.mesh_construction", "data")
        self._scene = scene.EmbreeScene()
        self._mesh = construction.TriangleMesh(self._scene, vertices.astype(np.float32), faces.astype(np.int32))
        line = ((np.arange(image_size * samples) + 0.5) / (image_size * samples) * 2 - 1) * 1.02
        x, y = np.meshgrid(line, -line)
        # rays outside the unit ball around the object cannot hit it
        self._rays = np.flatnonzero(x.ravel() ** 2 + y.ravel() ** 2 < 1)
        self._start = np.stack([x.ravel(), y.ravel(), np.full(x.size, 2.0)], axis=1)[self._rays]
        self.shape = (image_size, image_size)

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        side = self.shape[0]
        out = np.empty((len(factors), side, side), dtype=np.float32)
        for image, pose, light in zip(out, factors[:, :9].reshape(-1, 3, 3), factors[:, 9:]):
            image[:] = self._image(pose, light)
        return out

    def _image(self, pose: np.ndarray, light: np.ndarray) -> np.ndarray:
        """Turning the object by R is looking at it along R^T: rays and light move, the scene stays."""
        origins = (self._start @ pose).astype(np.float32)
        directions = np.broadcast_to((np.array([0.0, 0.0, -1.0]) @ pose).astype(np.float32), origins.shape)
        hits = self._scene.run(origins, np.ascontiguousarray(directions), output=1)
        found = np.flatnonzero(hits["primID"] >= 0)
        u, v = hits["u"][found, None], hits["v"][found, None]
        corners = self.normals[self.faces[hits["primID"][found]]]
        normal = (1 - u - v) * corners[:, 0] + u * corners[:, 1] + v * corners[:, 2]
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-9)
        side, k = self.shape[0], self.samples
        pixels = np.zeros(side * k * side * k, dtype=np.float32)
        lit = ((1 + normal @ (light @ pose).astype(np.float32)) / 2) ** 2
        pixels[self._rays[found]] = AMBIENT + (1 - AMBIENT) * lit
        return pixels.reshape(side, k, side, k).mean(axis=(1, 3))


def blob() -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of a smooth body without symmetry: a sphere with three bumps and a dent.

    >>> vertices, faces = blob()
    >>> vertices.shape, int(faces.max())
    ((2562, 3), 2561)
    """
    sphere = require("trimesh", "data").creation.icosphere(subdivisions=4)
    bumps = np.array([[1.0, 0.2, 0.1], [-0.3, 1.0, 0.2], [0.1, -0.4, 1.0], [-0.6, -0.6, -0.3]])
    bumps /= np.linalg.norm(bumps, axis=1, keepdims=True)
    height = np.array([0.9, 0.5, 0.7, -0.35])
    width = np.array([0.35, 0.25, 0.5, 0.3])
    cosine = sphere.vertices @ bumps.T
    radius = 1 + (height * np.exp((cosine - 1) / width**2)).sum(axis=1)
    return sphere.vertices * radius[:, None], np.asarray(sphere.faces)


def read_mesh(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and triangles (m, 3) of a mesh file."""
    trimesh = require("trimesh", "data")
    kind = path.name.removesuffix(".gz").rpartition(".")[2]
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        mesh: Any = trimesh.load(BytesIO(data), file_type=kind, force="mesh", process=False)
        vertices, faces = np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces)
    except Exception as error:
        raise ValueError(
            f"{path} cannot be read as a mesh ({type(error).__name__}: {error}). trimesh reads .obj, .ply, .stl, .glb "
            "and others."
        ) from error
    if len(faces) == 0 or not np.isfinite(vertices).all():
        raise ValueError(f"{path} holds {len(faces)} triangles and {len(vertices)} vertices: there is nothing to draw.")
    return vertices, faces


def _mesh_path(mesh: str | os.PathLike, folder: str | os.PathLike | None) -> Path:
    if str(mesh) in MESHES:
        return find(MESHES[str(mesh)], folder, what=f"the mesh {mesh!r}")
    path = Path(mesh)
    if not path.is_file():
        raise FileNotFoundError(
            f"there is no mesh {mesh}. Give blob, {', '.join(MESHES)}, or the path of a mesh file (.obj, .ply, ...)."
        )
    return path


def _vertex_normals(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Mean of the adjacent triangles' normals, weighted by their areas."""
    corners = vertices[faces]
    face_normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.zeros_like(vertices)
    for column in range(3):
        np.add.at(normals, faces[:, column], face_normals)
    return (normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)).astype(np.float32)
