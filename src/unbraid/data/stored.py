"""What an HDF5 file or a Zarr folder really stores of an array: missing parts, and links that lead out of it."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.data.files import LARGE, PACKED, regular_files
from unbraid.trust.warnings import warn

STACK = 5  # warn, the function below, the opener of the format, open_array, open: then comes the user's line


def check_hdf5(path: Path, dataset: Any) -> None:
    """Refuse a data set with numbers in other files, unless these are HDF5 and there; warn of what is not written."""
    error = _outside(path, dataset)
    if error:
        raise error
    if dataset.is_virtual or not dataset.size:
        return
    if dataset.chunks is None:
        _check_complete(path, dataset, int(dataset.id.get_storage_size() > 0), 1, dataset.fillvalue)
        return
    total = _count(dataset.shape, dataset.chunks)
    _check_complete(path, dataset, dataset.id.get_num_chunks(), total, dataset.fillvalue)


def check_hdf5_inside(path: Path) -> None:
    """The same of all data sets of a file that another library will read; links to other files are refused too."""
    import h5py

    def found(name: str, link: Any) -> ValueError | None:  # h5py cannot pass on what is raised here
        if isinstance(link, h5py.ExternalLink):
            return ValueError(f"{path} links to another file, {link.filename}. Copy its data into one file.")
        item = file[name] if isinstance(link, h5py.HardLink) else None
        return _outside(path, item) if isinstance(item, h5py.Dataset) else None

    with h5py.File(path, "r") as file:
        error = file.visititems_links(found)
    if error:
        raise error


def _outside(path: Path, dataset: Any) -> ValueError | None:
    """The error about numbers that lie in other files."""
    if dataset.external:
        return ValueError(
            f"the array {dataset.name} of {path} keeps its numbers in another file, {dataset.external[0][0]}, which "
            "may be any. Copy the data into one file."
        )
    for part in dataset.virtual_sources() if dataset.is_virtual else ():
        if part.file_name != "." and not _is_there(path, part.file_name, part.dset_name):
            return ValueError(
                f"the array {dataset.name} of {path} is put together from other files, and {part.file_name} with "
                f"{part.dset_name} is not there. Copy all of them."
            )
    return None


def _is_there(path: Path, file_name: str, name: str) -> bool:
    """Whether a part of a virtual data set exists; of numbered ones (%b), whether any does."""
    import h5py

    for folder in (path.parent, Path()):
        found = folder / file_name
        parts = sorted(found.parent.glob(found.name.replace("%b", "*"))) if "%b" in file_name else [found]
        for part in parts:
            if part.is_file() and h5py.is_hdf5(part):
                with h5py.File(part, "r") as file:
                    return "%b" in name or name in file
    return False


def check_zarr(path: Path, array: Any) -> None:
    """Refuse chunks that are no files, and warn of those that are not stored."""
    folder = path / array.path
    files = regular_files(folder)
    steps = array.shards or array.chunks
    total = _count(array.shape, steps)
    if _is_hollow(array, len(files), total):
        raise _hollow(path, array, len(files), total)
    grid = [math.ceil(side / step) for side, step in zip(array.shape, steps)]
    keys = (array.metadata.encode_chunk_key(place) for place in np.ndindex(*grid))
    missing = [key for key in keys if key not in files]
    for key in missing:
        if (folder / key).is_dir():
            raise ValueError(f"the chunk {key} of {path} is a folder, not a file. Copy {path} again.")
    _check_complete(path, array, total - len(missing), total, array.fill_value)


def _count(shape: tuple[int, ...], steps: tuple[int, ...]) -> int:
    return math.prod(math.ceil(side / step) for side, step in zip(shape, steps))


def _is_hollow(array: Any, there: int, total: int) -> bool:
    return array.size * np.dtype(array.dtype).itemsize > LARGE and there * PACKED < total


def _hollow(path: Path, array: Any, there: int, total: int) -> ValueError:
    return ValueError(
        f"{path} announces an array of shape {tuple(array.shape)} and stores {there} of its {total} chunks: it was "
        "never filled. Write the data, or copy it again."
    )


def _check_complete(path: Path, array: Any, there: int, total: int, fill: Any) -> None:
    """A writer may leave out chunks of one value, and a copy may have lost them."""
    if _is_hollow(array, there, total):
        raise _hollow(path, array, there, total)
    if there < total:
        warn("UB304", stacklevel=STACK, missing=total - there, of=total, path=path, fill=repr(fill))
