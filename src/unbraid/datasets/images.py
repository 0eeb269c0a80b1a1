"""Images in folders and tar archives, decoded when they are asked for."""

import gzip
import io
import re
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.datasets.arrays import Opened, damaged, spool

ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")


def natural(name: str) -> list:
    """Sort key by which frame2 comes before frame10.

    >>> sorted(["frame10.png", "frame2.png"], key=natural)
    ['frame2.png', 'frame10.png']
    """
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def folder(path: Path, resize: tuple[int, int] | None, skip_unreadable: bool) -> Opened:
    """(shape, dtype, read) of the images below a folder."""
    names = [str(p.relative_to(path)) for p in path.rglob("*") if p.suffix.lower() in ENDINGS and p.is_file()]
    if not names:
        raise ValueError(f"the folder {path} holds no images ({', '.join(ENDINGS)}).")
    return _opened(path, sorted(names, key=natural), lambda name: path / name, resize, skip_unreadable)


def tar(path: Path, resize: tuple[int, int] | None, skip_unreadable: bool) -> Opened:
    """(shape, dtype, read) of the images in a tar archive; a compressed one is unpacked to a temporary file first."""
    try:
        if path.suffix in (".gz", ".tgz"):
            with gzip.open(path) as stream:
                data = spool(stream)
        else:
            data = np.memmap(path, dtype=np.uint8, mode="r")
        with tarfile.open(path) as archive:
            members = {m.name: m for m in archive if m.isfile() and m.name.lower().endswith(ENDINGS)}
    except (tarfile.TarError, EOFError, OSError) as error:
        raise damaged(path, error) from error
    if not members:
        raise ValueError(f"{path} holds no images ({', '.join(ENDINGS)}).")

    def load(name: str) -> io.BytesIO:
        start = members[name].offset_data
        return io.BytesIO(data[start : start + members[name].size].tobytes())

    return _opened(path, sorted(members, key=natural), load, resize, skip_unreadable)


def _opened(
    path: Path, names: list[str], load: Callable[[str], Any], resize: tuple[int, int] | None, skip_unreadable: bool
) -> Opened:
    if skip_unreadable:
        names = [name for name in names if _readable(load(name))]
        if not names:
            raise ValueError(f"none of the images in {path} can be read.")
    first = _decode(path, names[0], load, None, resize)
    mode = "RGB" if first.ndim == 3 else "L"

    def read(rows: np.ndarray) -> np.ndarray:
        out = np.empty((len(rows), *first.shape), dtype=np.uint8)
        for i, row in enumerate(rows):
            image = _decode(path, names[row], load, mode, resize)
            if image.shape != first.shape:
                raise ValueError(
                    f"the images in {path} have different sizes: {names[0]} is {first.shape[:2]} and {names[row]} is "
                    f"{image.shape[:2]} (height, width). Open it with resize=(height, width) to bring them to one."
                )
            out[i] = image
        return out

    return (len(names), *first.shape), np.dtype(np.uint8), read


def _readable(file: Any) -> bool:
    from PIL import Image

    try:
        with Image.open(file) as image:
            image.load()
    except (OSError, SyntaxError, ValueError):
        return False
    return True


def _decode(
    path: Path, name: str, load: Callable[[str], Any], mode: str | None, resize: tuple[int, int] | None
) -> np.ndarray:
    from PIL import Image

    try:
        with Image.open(load(name)) as image:
            grey = image.mode in ("1", "L", "I;16", "I", "F")
            if mode == "L" and not grey:
                raise ValueError(
                    f"{name} in {path} is a colour image among grey ones ({image.mode}); convert them to one kind."
                )
            picture = image.convert(mode or ("L" if grey else "RGB"))
            if resize is not None:
                picture = picture.resize((resize[1], resize[0]), Image.Resampling.BICUBIC)
            return np.asarray(picture)
    except (OSError, SyntaxError) as error:
        raise ValueError(
            f"the image {name} in {path} cannot be read ({error}). Remove or replace it, or open the data with "
            "skip_unreadable=True."
        ) from error
