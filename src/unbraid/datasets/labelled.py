"""MNIST, EMNIST and CelebA from their original files."""

import gzip
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.data.arrays import reading
from unbraid.datasets.loaded import Folder, shaped, unpacked
from unbraid.datasets.storage import find, locate
from unbraid.datasets.tables import Table

EMNIST_CLASSES = {"byclass": 62, "bymerge": 47, "balanced": 47, "letters": 26, "digits": 10, "mnist": 10}


def mnist(split: str = "train", folder: Folder = None) -> Table:
    """MNIST (LeCun et al. 1998): 60,000 train or 10,000 test digits, 28 x 28, uint8; the factor is the digit.

    Parameters
    ----------
    split : "train" or "test"
    folder : path, optional
        With the four idx files, .gz or unpacked.
    """
    stem = {"train": "train", "test": "t10k"}.get(split)
    if stem is None:
        raise ValueError(f"split is train or test; received {split!r}.")
    images, labels = (
        read_idx(find((f"{name}.gz", name), folder, what="mnist"))
        for name in (f"{stem}-images-idx3-ubyte", f"{stem}-labels-idx1-ubyte")
    )
    return _digits("mnist", images, labels, 10)


def emnist(subset: str, split: str = "train", folder: Folder = None) -> Table:
    """EMNIST (Cohen et al. 2017), upright: the files hold each character transposed.

    Parameters
    ----------
    subset : "digits", "letters", "balanced", "byclass", "bymerge" or "mnist"
    split : "train" or "test"
    folder : path, optional
        With ``gzip.zip``, or with the idx files from it, .gz or unpacked.
    """
    if split not in ("train", "test"):
        raise ValueError(f"split is train or test; received {split!r}.")
    stems = [f"emnist-{subset}-{split}-{k}-ubyte" for k in ("images-idx3", "labels-idx1")]
    images, labels = (_emnist_file(stem, folder) for stem in stems)
    if subset == "letters":
        labels = labels - 1  # the file counts letters from 1
    return _digits(f"emnist-{subset}", images.transpose(0, 2, 1), labels, EMNIST_CLASSES[subset])


def _digits(name: str, images: np.ndarray, labels: np.ndarray, n_classes: int) -> Table:
    if images.ndim != 3 or labels.shape != (len(images),):
        raise ValueError(f"the files of {name} do not match: images {images.shape}, labels {labels.shape}.")
    if labels.min() < 0 or labels.max() >= n_classes:
        raise ValueError(f"{name} has labels 0 to {n_classes - 1}; its file has {labels.min()} to {labels.max()}.")
    return Table(labels[:, None], name, ("class",), (n_classes,), images.shape[1:], images.dtype, images.__getitem__)


def _emnist_file(stem: str, folder: Folder) -> np.ndarray:
    archive = locate(("gzip.zip", "emnist.zip"), folder)
    if archive is None or locate((f"{stem}.gz", stem), folder):
        return read_idx(find((f"{stem}.gz", stem, "gzip.zip"), folder, what="emnist"))
    with reading(archive, (zipfile.BadZipFile,)), zipfile.ZipFile(archive) as file:
        inside = [n for n in file.namelist() if n.endswith(f"{stem}.gz")]
        if not inside:
            raise ValueError(f"{archive} has no {stem}.gz; it has {', '.join(file.namelist()[:4])}, ...")
        return read_idx(archive / inside[0], gzip.open(file.open(inside[0])))


def read_idx(path: Path, stream: Any = None) -> np.ndarray:
    """An idx file: two zero bytes, a type, the number of dimensions, big-endian sizes, the numbers."""
    data = unpacked(path, stream)
    if len(data) < 4 or bytes(data[:3]) != b"\x00\x00\x08":
        raise ValueError(f"{path} is not an idx file of bytes: it starts with {bytes(data[:4])!r}.")
    start = 4 + 4 * int(data[3])
    return shaped(path, data[start:], data[4:start].view(">u4"), "u1")


def celeba(folder: Folder = None, image_size: int | None = 64) -> Table:
    """CelebA (Liu et al. 2015): 202,599 aligned faces with 40 yes-or-no attributes, read one by one, uint8.

    Parameters
    ----------
    folder : path, optional
        With the folder ``img_align_celeba`` and the file ``list_attr_celeba.txt``.
    image_size : int or None
        The central 148 x 148 pixels, resized to this; None keeps the original images (218 x 178).
    """
    place = find(("img_align_celeba",), folder, what="celeba")
    table = find(("list_attr_celeba.txt",), folder, what="celeba")
    lines = table.read_text(encoding="utf-8").splitlines()
    with reading(table, (IndexError, ValueError)):
        names = lines[1].split()
        rows = [line.split() for line in lines[2:] if line.strip()]
        files = [row[0] for row in rows]
        attributes = np.array([[int(v) for v in row[1:]] for row in rows])
    if len(rows) != int(lines[0]) or attributes.shape != (len(rows), len(names)):
        raise ValueError(
            f"{table} is truncated: its first line announces {lines[0]} rows, and it has {len(rows)} rows of "
            f"{attributes.shape[1:]} attributes."
        )
    shape = (218, 178, 3) if image_size is None else (image_size, image_size, 3)

    def read(numbers: np.ndarray) -> np.ndarray:
        return np.stack([_face(place / files[i], image_size, shape) for i in numbers])

    return Table(attributes > 0, "celeba", names, [2] * len(names), shape, np.dtype(np.uint8), read)


def _face(path: Path, side: int | None, shape: tuple[int, ...]) -> np.ndarray:
    from PIL import Image

    try:
        with Image.open(path) as image:
            face = image.convert("RGB")
    except OSError as error:
        raise ValueError(f"the image {path} cannot be read ({error}). Unpack img_align_celeba.zip again.") from error
    if side is not None:
        left, top = (face.width - 148) // 2, (face.height - 148) // 2
        face = face.crop((left, top, left + 148, top + 148)).resize((side, side), Image.Resampling.LANCZOS)
    pixels = np.asarray(face)
    if pixels.shape != shape:
        raise ValueError(f"{path} has shape {pixels.shape}; CelebA's aligned images have {shape}.")
    return pixels
