"""What lies at a path, before it is read: a file or folder with a name that can be written, and of a sane size."""

import os
import shutil
import stat
import tempfile
from pathlib import Path

KINDS = (
    ".npy, .npz, .h5 or .hdf5, .zarr, .mat, .h5ad, .nc; tables .csv, .tsv, .parquet, .feather, .xlsx; a folder, a .tar "
    "or a .tar.gz of images; one image stack, GIF, video or DICOM file"
)
LARGE = 2**30  # bytes that are unpacked without a question
PACKED = 200  # to one: what is large and packed more tightly holds nothing (dSprites, nearly all zero, is at 116)


def shown(name: str | os.PathLike) -> str:
    r"""A file name as text that can be printed and saved; bytes that are no UTF-8 are spelt out.

    >>> shown("caf\udce9.png")
    'caf\\udce9.png'
    """
    return str(name).encode("utf-8", "backslashreplace").decode()


def check_place(path: Path) -> None:
    """Refuse what is not there, is empty, has no proper name, or never ends: a pipe or a device."""
    if shown(path) != str(path):
        raise ValueError(f"the name {shown(path)} is not UTF-8, so it cannot be printed or saved. Rename it.")
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {path}. What can be opened: {KINDS}.")
    if not (path.is_file() or path.is_dir()):
        raise ValueError(f"{path} is neither a file nor a folder, but a pipe or a device. Save the data to a file.")
    if path.is_file() and path.stat().st_size == 0:
        raise ValueError(f"{path} is empty (0 bytes). Copy or download it again.")


def check_unpacked(path: Path, packed: int, unpacked: int) -> None:
    """Refuse an archive that grows beyond all data, or beyond the disk.

    >>> check_unpacked(Path("a.npz"), 1000, 2**40)
    Traceback (most recent call last):
    ValueError: a.npz is packed more than 200 to one, to 1024 GiB or more: no data are. ...
    """
    if unpacked > max(LARGE, PACKED * packed):
        raise ValueError(
            f"{path} is packed more than {PACKED} to one, to {unpacked / 2**30:.4g} GiB or more: no data are. Unpack "
            "it by hand if it is sound."
        )
    if unpacked > LARGE and unpacked > (free := shutil.disk_usage(tempfile.gettempdir()).free):
        raise ValueError(
            f"{path} needs {unpacked / 2**30:.4g} GiB unpacked, and {tempfile.gettempdir()} has {free / 2**30:.4g} GiB "
            "free. Free some, or set TMPDIR to a larger disk."
        )


def regular_files(folder: Path) -> set[str]:
    """All files below a folder, by their paths in it; a pipe or a device among them is refused."""
    found = set()
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent) / name
            if path.exists() and not stat.S_ISREG(path.stat().st_mode):
                raise ValueError(f"{shown(path)} is no file, but a pipe or a device. Copy {folder} again.")
            found.add(path.relative_to(folder).as_posix())
    return found
