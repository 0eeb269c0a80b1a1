"""Where data files are: a folder given by the caller, by ``UNBRAID_DATA``, or the user's cache."""

import os
from collections.abc import Sequence
from pathlib import Path


def data_folder() -> Path:
    """``UNBRAID_DATA``, or ``unbraid`` in the user's cache folder."""
    chosen = os.environ.get("UNBRAID_DATA")
    if chosen:
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unbraid"


def locate(names: Sequence[str], folder: str | os.PathLike | None = None) -> Path | None:
    """The first of ``names`` in the folder or one of its subfolders; None if there is none."""
    root = data_folder() if folder is None else Path(folder)
    for name in names:
        for place in (root / name, *sorted(root.glob(f"*/{name}"))):
            if place.exists():
                return place
    return None


def find(names: Sequence[str], folder: str | os.PathLike | None = None, what: str = "the data") -> Path:
    """Like :func:`locate`, with an error that says which file to put where."""
    found = locate(names, folder)
    if found is None:
        root = data_folder() if folder is None else Path(folder)
        raise FileNotFoundError(
            f"the files of {what} were not found. Put {' or '.join(names)} into {root}, set UNBRAID_DATA to the "
            "folder that has it, or give folder=."
        )
    return found
