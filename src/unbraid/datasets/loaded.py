"""The original files of dSprites, Shapes3D, Cars3D, SmallNORB and MPI3D."""

import gzip
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.data.arrays import damaged, open_array, reading, spool
from unbraid.datasets.dsprites import DSprites
from unbraid.datasets.finite import Grid
from unbraid.datasets.registry import REMOTE, places
from unbraid.datasets.storage import find
from unbraid.datasets.tables import LoadedGrid, Reader

Folder = str | os.PathLike | None
SHAPES3D = ("floor_hue", "wall_hue", "object_hue", "scale", "shape", "orientation")
MPI3D = (
    "object_color",
    "object_shape",
    "object_size",
    "camera_height",
    "background_color",
    "horizontal_axis",
    "vertical_axis",
)
NORB = ("category", "instance", "elevation", "azimuth", "lighting")


def wrong_shape(path: Path, received: tuple, expected: str) -> ValueError:
    """The error for a readable file with unexpected content."""
    return ValueError(
        f"{path} holds an array of shape {received}; expected {expected}. It is a different or an incomplete file."
    )


def dsprites(file: str | os.PathLike | None = None, dtype: Any = "float32") -> Grid:
    """dSprites, drawn (see :class:`DSprites`); with ``file``, the images of the original .npz or .hdf5 file.

    >>> dsprites()
    <dsprites: 737280 rows, factors shape, scale, orientation, x, y, observations (64, 64) float32>
    """
    drawn = DSprites(dtype)
    if file is None:
        return drawn
    path = Path(file)
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist. Leave out `file` to draw dSprites without a download.")
    is_npz = path.suffix == ".npz"
    shape, _, read_images = open_array(path, "imgs")
    classes_shape, _, read_classes = open_array(path, "latents_classes" if is_npz else "latents/classes")
    if shape[1:] != (64, 64) or classes_shape not in ((shape[0], 6), (shape[0], 5)):
        raise wrong_shape(path, shape, "(n, 64, 64) images with (n, 6) classes")
    classes = read_classes(np.arange(shape[0]))[:, -5:]
    white = drawn.dtype.type(255 if drawn.dtype == np.uint8 else 1)

    def read(rows: np.ndarray) -> np.ndarray:
        return read_images(rows).astype(drawn.dtype) * white

    return _grid("dsprites", drawn.factor_names, path, classes, (64, 64), drawn.dtype, read)


def shapes3d(folder: Folder = None) -> Grid:
    """Shapes3D (Burgess, Kim 2018) from ``3dshapes.h5``: 480,000 images of 64 x 64 x 3, uint8.

    The factor sizes come from the file's own labels, which must form a complete grid.
    """
    path = find(places("shapes3d")[0], folder, what="shapes3d")
    shape, dtype, read = open_array(path, "images")
    labels_shape, _, read_labels = open_array(path, "labels")
    if len(shape) != 4 or shape[3] != 3 or labels_shape != (shape[0], 6):
        raise wrong_shape(path, shape, "(480000, 64, 64, 3) images with (480000, 6) labels")
    return _grid("shapes3d", SHAPES3D, path, _classes(read_labels(np.arange(shape[0]))), shape[1:], dtype, read)


def _classes(labels: np.ndarray) -> np.ndarray:
    """Class indices 0, 1, ... of every column."""
    return np.stack([np.unique(column, return_inverse=True)[1] for column in labels.T], axis=1)


def _grid(
    name: str, factor_names: Sequence[str], path: Path, classes: np.ndarray, shape: tuple, dtype: np.dtype, read: Reader
) -> Grid:
    """The grid of a file that has the cells in any order, with the classes (n, n_factors) of each."""
    sizes = classes.max(axis=0) + 1
    cells = np.ravel_multi_index(tuple(classes.T.astype(np.int64)), tuple(sizes))
    if len(cells) != np.prod(sizes) or len(np.unique(cells)) != len(cells):
        raise wrong_shape(path, classes.shape, f"every combination of {tuple(int(s) for s in sizes)} classes once")
    order = np.argsort(cells)
    return LoadedGrid(name, factor_names, sizes, shape, dtype, lambda rows: read(order[rows]))


def mpi3d(kind: str, folder: Folder = None, factor_sizes: tuple[int, ...] | None = None) -> Grid:
    """MPI3D (Gondal et al. 2019), toy, realistic, real or complex: one .npz with 64 x 64 x 3 images, uint8.

    Parameters
    ----------
    kind : "toy", "realistic", "real" or "complex"
    folder : path, optional
    factor_sizes : tuple of seven int, optional
        Default: (6, 6, 2, 3, 3, 40, 40) for 1,036,800 images, (4, 4, 2, 3, 3, 40, 40) for 460,800 (complex, and the
        competition's first files).
    """
    name = f"mpi3d-{kind}"
    path = find(places(name)[0], folder, what=name)
    shape, dtype, read = open_array(path, "images")
    known: dict[int, tuple[int, ...]] = {int(np.prod(s)): s for s in ((6, 6, 2, 3, 3, 40, 40), (4, 4, 2, 3, 3, 40, 40))}
    sizes = factor_sizes or known.get(int(np.prod(shape[:-3])), ())
    if len(shape) < 4 or shape[-1] != 3 or len(sizes) != 7 or np.prod(sizes) != np.prod(shape[:-3]):
        raise wrong_shape(path, shape, f"(n, 64, 64, 3) with n one of {', '.join(str(n) for n in known)}")
    if len(shape) > 4:
        cells, rest = shape[:-3], shape[-3:]

        def read_cells(rows: np.ndarray) -> np.ndarray:
            first, *others = np.unravel_index(rows, cells)
            return np.stack([read(np.array([f]))[(0, *other)] for f, *other in zip(first, *others)])

        return LoadedGrid(name, MPI3D, sizes, rest, dtype, read_cells)
    return LoadedGrid(name, MPI3D, sizes, shape[1:], dtype, read)


def cars3d(folder: Folder = None, image_size: int = 64) -> Grid:
    """Cars3D (Reed et al. 2015): 183 cars, 24 azimuths, 4 elevations; from the folder ``cars`` of the analogy data.

    Parameters
    ----------
    folder : path, optional
        It, or a folder in it named ``cars``, holds ``car_001_mesh.mat``, ...
    image_size : int
        The originals have 128 pixels; disentanglement studies use 64.
    """
    from scipy.io import loadmat

    place = find(places("cars3d")[0], folder, what="cars3d")
    files = sorted(place.glob("*.mat"))
    if not files:
        raise FileNotFoundError(f"{place} contains no car_*_mesh.mat. Unpack {REMOTE['cars3d'][0].name} there.")
    cars: list[np.ndarray] = []
    for file in files:
        try:
            images = loadmat(file)["im"]
        except KeyError as error:
            raise ValueError(f"{file} has no key 'im'; it is not a file of Cars3D.") from error
        except Exception as error:
            raise damaged(file, error) from error
        if images.ndim != 5 or images.shape[2] != 3 or (cars and images.shape[:2:-1] != cars[0].shape[:2]):
            raise wrong_shape(file, images.shape, "(128, 128, 3, 24, 4)")
        cars.append(_resized(images.transpose(4, 3, 0, 1, 2), image_size))
    stack = np.stack(cars, axis=2)
    sizes, flat = stack.shape[:3], stack.reshape(-1, *stack.shape[3:])
    return LoadedGrid(
        "cars3d", ("elevation", "azimuth", "object"), sizes, flat.shape[1:], flat.dtype, lambda rows: flat[rows]
    )


def _resized(images: np.ndarray, side: int) -> np.ndarray:
    """Images (..., height, width[, 3]) at ``side`` x ``side``, uint8."""
    from PIL import Image

    lead = images.shape[:2]
    flat = images.reshape(-1, *images.shape[2:]).astype(np.uint8)
    if flat.shape[1:3] != (side, side):
        flat = np.stack([np.asarray(Image.fromarray(i).resize((side, side), Image.Resampling.LANCZOS)) for i in flat])
    return flat.reshape(*lead, *flat.shape[1:])


def smallnorb(folder: Folder = None, split: str = "all", image_size: int = 64) -> Grid:
    """SmallNORB (LeCun, Huang, Bottou 2004), the left image of each pair: toys under all views and lights, uint8.

    Parameters
    ----------
    folder : path, optional
        With the .mat or .mat.gz files (dat, cat and info of each split).
    split : "all", "train" or "test"
        Train and test hold five different toys per category; "all" has ten.
    image_size : int
        The originals have 96 pixels; disentanglement studies use 64.
    """
    parts = {"all": ("training", "testing"), "train": ("training",), "test": ("testing",)}
    if split not in parts:
        raise ValueError(f"split is one of {', '.join(parts)}; received {split!r}.")
    stacks, tables = [], []
    for part in parts[split]:
        dat, cat, info = (
            read_norb(find((f"{stem}.mat", f"{stem}.mat.gz"), folder, what="smallnorb"))
            for stem in (f"smallnorb-5x{_NORB_TOYS[part]}x9x18x6x2x96x96-{part}-{k}" for k in ("dat", "cat", "info"))
        )
        if dat.ndim != 4 or dat.shape[1] != 2 or cat.shape != dat.shape[:1] or info.shape != (len(dat), 4):
            raise ValueError(
                f"the {part} files of smallnorb do not match: dat {dat.shape}, cat {cat.shape}, "
                f"info {info.shape}; expected (n, 2, 96, 96), (n,) and (n, 4)."
            )
        stacks.append(_resized(dat[:, :1], image_size)[:, 0])
        tables.append(np.column_stack([cat, info]))
    images, table = np.concatenate(stacks), np.concatenate(tables)
    source, shape = Path(f"smallnorb ({split})"), images.shape[1:]
    return _grid("smallnorb", NORB, source, _classes(table), shape, images.dtype, images.__getitem__)


_NORB_TOYS = {"training": "46789", "testing": "01235"}
_NORB_TYPES = {0x1E3D4C55: "u1", 0x1E3D4C54: "<i4", 0x1E3D4C51: "<f4", 0x1E3D4C53: "<f8"}


def read_norb(path: Path) -> np.ndarray:
    """NORB's binary matrix: a type, the number of dimensions, at least three sizes, the numbers (little endian)."""
    data = unpacked(path)
    if len(data) < 20:
        raise ValueError(f"{path} is truncated: {len(data)} bytes, shorter than its header.")
    kind, n_dims = data[:8].view("<i4")
    if int(kind) not in _NORB_TYPES or not 1 <= n_dims <= 8:
        raise ValueError(f"{path} is not a NORB matrix: it starts with {int(kind):#x}.")
    start = 8 + 4 * max(3, n_dims)
    return shaped(path, data[start:], data[8 : 8 + 4 * n_dims].view("<i4"), _NORB_TYPES[int(kind)])


def unpacked(path: Path, stream: Any = None) -> np.ndarray:
    """The bytes of a file, or of a stream from it, without their compression."""
    opener: Any = gzip.open if path.suffix == ".gz" else Path.open
    with reading(path, (OSError, EOFError)), stream or opener(path, "rb") as file:
        return spool(file)


def shaped(path: Path, data: np.ndarray, sizes: np.ndarray, dtype: str) -> np.ndarray:
    """Bytes as an array of these sizes, which its header announced."""
    shape = tuple(int(s) for s in sizes)
    needed = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if len(data) != needed:
        raise ValueError(
            f"{path} is truncated: {shape} needs {needed} bytes, and it has {len(data)}. Download it again."
        )
    return np.asarray(data).view(dtype).reshape(shape)
