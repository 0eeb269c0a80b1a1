"""Where data files are: a folder given by the caller, by ``UNBRAID_DATA``, or the user's cache; and how they get there.

Downloads are checked, resumable, and complete or not at all.
"""

import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from unbraid.runtime.progress import bar

BLOCK = 1 << 20


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


@dataclass(frozen=True)
class Remote:
    """One file: its name, its md5, its URL, or the page for a manual download."""

    name: str
    md5: str = ""
    url: str = ""
    page: str = ""


def md5_of(path: Path) -> str:
    """The md5 of a file, read in blocks."""
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def download(url: str, path: Path, md5: str = "") -> None:
    """Download a file next to its place, resuming if interrupted, and move it there once its checksum is right."""
    part = path.with_name(path.name + ".part")
    path.parent.mkdir(parents=True, exist_ok=True)
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            resumed = have > 0 and answer.status == 206
            length = answer.headers.get("Content-Length")
            total = None if length is None else int(length) + (have if resumed else 0)
            with part.open("ab" if resumed else "wb") as file, bar(path.name, total) as advance:
                advance(have if resumed else 0)
                while block := answer.read(BLOCK):
                    file.write(block)
                    advance(len(block))
    except urllib.error.HTTPError as error:
        if error.code != 416:  # the partial file is already complete
            raise ConnectionError(
                f"{url} answers {error.code} ({error.reason}). Put {path.name} into {path.parent} manually."
            ) from error
        total = have
    except (urllib.error.URLError, OSError) as error:
        raise ConnectionError(
            f"{url} cannot be reached ({error}). Without a network, put {path.name} into {path.parent}, or set "
            "UNBRAID_DATA to the folder that has it. The partial download is kept and will be resumed."
        ) from error
    size = part.stat().st_size
    if total is not None and size < total:
        raise ConnectionError(
            f"the download of {path.name} stopped at {size} of {total} bytes. Run the same command again to resume."
        )
    if md5 and md5_of(part) != md5:
        received = md5_of(part)
        part.unlink()
        raise ValueError(
            f"{path.name} from {url} has the wrong checksum: md5 {received}, expected {md5}. It was deleted, and "
            f"{path} was not changed. Try again, or download it from another source."
        )
    os.replace(part, path)
