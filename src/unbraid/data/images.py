"""Images in folders, tar archives, stacks and videos, decoded once; what is stored is what is read.

The rules. Values keep their type: 8, 12 and 16-bit whole numbers and floats stay the numbers that the file holds (the
unit of bytes is that of :mod:`unbraid.data.rows`). Every frame of a stack, GIF or video is an observation. A
picture with transparent parts is laid over black; CMYK and palettes become RGB. All pictures must have one type, one
size and one number of channels, but a grey one among colour ones is read as colour.
"""

import functools
import gzip
import io
import posixpath
import re
import shutil
import tarfile
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data.arrays import Opened, reading, spool
from unbraid.data.files import shown
from unbraid.data.pictures import ENDINGS, FRAMED, UnreadableError, decode, resized

Load = Callable[[str], Any]  # a name to a path or an open file
MEMORY_BUDGET = 2**30  # bytes of decoded rows that are kept in memory; more than that are kept in a file
Place = tuple[str, int]  # a file and the number of a frame in it


def natural(name: str) -> tuple[list, str]:
    """Sort key by which frame2 comes before frame10; names with the same numbers go by their letters.

    >>> sorted(["frame10.png", "frame2.png", "frame02.png"], key=natural)
    ['frame02.png', 'frame2.png', 'frame10.png']
    """
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)], name


def folder(path: Path, resize: tuple[int, int] | None, skip_unreadable: bool) -> tuple[Opened, list[str]]:
    """((shape, dtype, read), names) of the images below a folder."""
    found = [p for p in path.rglob("*") if p.suffix.lower() in ENDINGS and p.is_file()]
    files = {shown(p.relative_to(path)): p for p in found}
    if not files:
        raise ValueError(f"the folder {path} holds no images ({', '.join(ENDINGS)}).")
    return _opened(path, sorted(files, key=natural), lambda name: files[name], resize, skip_unreadable)


def single(path: Path, resize: tuple[int, int] | None, skip_unreadable: bool) -> tuple[Opened, list[str]]:
    """((shape, dtype, read), names) of the frames of one file: a stack, a GIF, a video, a DICOM series in one file."""
    return _opened(path, [path.name], lambda name: path, resize, skip_unreadable)


def tar(path: Path, resize: tuple[int, int] | None, skip_unreadable: bool) -> tuple[Opened, list[str]]:
    """The same of the images in a tar archive; a compressed one is unpacked to a temporary file first."""
    with reading(path, (tarfile.TarError, EOFError, OSError)):
        if path.suffix in (".gz", ".tgz"):
            with gzip.open(path) as stream:
                data = spool(stream, path)
        else:
            data = np.memmap(path, dtype=np.uint8, mode="r")
        with tarfile.open(path) as archive:
            entries = list(archive)
    found = [m for m in entries if (m.isfile() or m.islnk() or m.issym()) and m.name.lower().endswith(ENDINGS)]
    members = {shown(m.name): m for m in found}
    if not members:
        raise ValueError(f"{path} holds no images ({', '.join(ENDINGS)}).")
    if len(members) < len(found):
        names = [m.name for m in found]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{path} holds {twice} more than once. Create the archive again with unique names.")

    files = {posixpath.normpath(m.name): m for m in entries}
    targets = {name: _target(path, m, files) for name, m in members.items()}
    places = {name: (m.offset_data, m.size) for name, m in targets.items()}

    def load(name: str) -> io.BytesIO:
        start, size = places[name]
        return io.BytesIO(data[start : start + size].tobytes())

    return _opened(path, sorted(members, key=natural), load, resize, skip_unreadable)


def _target(path: Path, member: tarfile.TarInfo, files: dict[str, tarfile.TarInfo]) -> tarfile.TarInfo:
    """The file behind a hard or symbolic link within the archive; a file is its own."""
    found = member
    for _ in range(len(files)):
        if found.isfile():
            return found
        place = found.linkname if found.islnk() else posixpath.join(posixpath.dirname(found.name), found.linkname)
        if posixpath.normpath(place) not in files:
            break
        found = files[posixpath.normpath(place)]
    raise ValueError(
        f"{shown(member.name)} in {path} is a link to {shown(member.linkname)}, and no such file is in the archive. "
        "Create it again with the files themselves: tar --dereference."
    )


def _opened(
    path: Path, names: list[str], load: Load, resize: tuple[int, int] | None, skip_unreadable: bool
) -> tuple[Opened, list[str]]:
    @functools.lru_cache(maxsize=2)  # the frames of a file are asked for one after the other
    def decoded(name: str) -> np.ndarray:
        try:
            frames = decode(load(name), name)
        except UnreadableError as error:
            raise UnreadableError(
                f"the image {name} in {path} cannot be read ({error}). Remove or replace it, or open the data with "
                "skip_unreadable=True."
            ) from error
        return frames if resize is None else np.stack([resized(frame, resize) for frame in frames])

    def frame_at(place: Place) -> np.ndarray:
        name, number = place
        return (early[name] if name in early else decoded(name))[number]

    places, early = _places(path, names, decoded, skip_unreadable)
    first = frame_at(places[0])

    def read(rows: np.ndarray) -> np.ndarray:
        out = np.empty((len(rows), *first.shape), dtype=first.dtype)
        for i, row in enumerate(rows):
            found = frame_at(places[row])
            if found.ndim == 2 and first.ndim == 3:
                found = np.repeat(found[..., None], first.shape[2], axis=2)
            _check_like(path, first, places[0], found, places[row])
            out[i] = found
        return out

    kept = KeptRows((len(places), *first.shape), first.dtype, read)
    kept(np.array([row for row, (name, _) in enumerate(places) if row == 0 or name in early]))
    early.clear()
    frames = Counter(name for name, _ in places)
    row_names = [name if frames[name] == 1 else f"{name} {frame}" for name, frame in places]
    return (kept.rows.shape, first.dtype, kept), row_names


def _places(
    path: Path, names: list[str], decoded: Callable[[str], np.ndarray], skip_unreadable: bool
) -> tuple[list[Place], dict[str, np.ndarray]]:
    """Every frame of every file, without files that cannot be read where that is asked for.

    A file that may hold several frames, or may have to be left out, is decoded to find out; up to the budget of memory
    its frames are returned too, so that it need not be decoded again.
    """
    places: list[Place] = []
    early: dict[str, np.ndarray] = {}
    room = MEMORY_BUDGET
    for name in names:
        count = 1
        if skip_unreadable or name.lower().endswith(FRAMED):
            try:
                frames = decoded(name)
            except UnreadableError:
                if skip_unreadable:
                    continue
                raise
            count, room = len(frames), room - frames.nbytes
            if room >= 0:
                early[name] = frames
        places += [(name, frame) for frame in range(count)]
    if not places:
        raise ValueError(f"none of the images in {path} can be read. Check that they are complete.")
    return places, early


def _check_like(path: Path, first: np.ndarray, place: Place, found: np.ndarray, other: Place) -> None:
    if found.ndim > first.ndim:
        raise ValueError(f"{other[0]} in {path} is a colour image among grey ones; convert them to one kind.")
    if found.shape[:2] != first.shape[:2]:
        raise ValueError(
            f"the images in {path} have different sizes: {place[0]} is {first.shape[:2]} and {other[0]} is "
            f"{found.shape[:2]} (height, width). Open it with resize=(height, width) (--resize HxW) to resize them."
        )
    if found.shape != first.shape or found.dtype != first.dtype:
        raise ValueError(
            f"the images in {path} are of different kinds: {place[0]} is {first.dtype} of shape {first.shape} and "
            f"{other[0]} {found.dtype} of shape {found.shape}. Their values are not in one unit; convert them to one "
            "kind."
        )


class KeptRows:
    """A reader that asks another one for each row at most once.

    Up to ``MEMORY_BUDGET`` bytes (1 GiB) the rows are kept in memory. Beyond, they are kept in a memory map in a folder
    of the system's temporary directory, which is removed with the reader or at the end of the program.

    Parameters
    ----------
    shape : tuple of int
    dtype : numpy dtype
    read : callable
        ``read(rows)`` gives the rows with these numbers.

    Examples
    --------
    >>> asked = []
    >>> kept = KeptRows((3, 2), np.float64, lambda rows: asked.extend(rows) or np.ones((len(rows), 2)))
    >>> kept(np.array([0, 2, 0])).shape, kept(np.array([1, 2])).shape, [int(row) for row in asked]
    ((3, 2), (2, 2), [0, 2, 1])
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, read: Callable[[NDArray], NDArray]):
        self._read = read
        self._known = np.zeros(shape[0], dtype=bool)
        if int(np.prod(shape)) * np.dtype(dtype).itemsize <= MEMORY_BUDGET:
            self.rows = np.empty(shape, dtype=dtype)
        else:
            folder = tempfile.mkdtemp(prefix="unbraid-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self.rows = np.memmap(Path(folder) / "rows", dtype=dtype, mode="w+", shape=shape)

    def __call__(self, rows: NDArray) -> NDArray:
        missing = np.unique(rows[~self._known[rows]])
        if len(missing):
            self.rows[missing] = self._read(missing)
            self._known[missing] = True
        return self.rows[rows]
