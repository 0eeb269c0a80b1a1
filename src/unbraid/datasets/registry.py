"""The names of the data sets, what makes each one, and where its original files are."""

import inspect
import os
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from unbraid.datasets.base import Dataset
from unbraid.datasets.remote import Remote, download, md5_of
from unbraid.datasets.storage import data_folder, locate
from unbraid.runtime.extras import require


@dataclass(frozen=True)
class Entry:
    """One line of ``unbraid datasets list``.

    ``maker`` is ``module:callable`` below ``package``; ``fixed`` are options that the name implies; ``needs`` are
    packages beyond the core, each with the extra that brings it. Another distribution adds a data set by an entry point
    of the group ``unbraid.datasets`` that leads from its name to its Entry.
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
        """The class or function that makes it; a missing package is answered with the extra that brings it."""
        for package, extra in self.needs:
            require(package, extra)
        module, _, attribute = self.maker.partition(":")
        return getattr(import_module(f"{self.package}.{module}"), attribute)

    def here(self) -> str:
        """ "yes" when it needs no file or its files are in the data folder, "no" when they are not."""
        if self.origin == "drawn":
            return "yes"
        if self.origin != "file":
            return "-"
        return "yes" if all(locate(place) for place in places(self.name)) else "no"

    def options(self) -> list[str]:
        """Names of the options that :func:`load` takes for it."""
        return [p for p in inspect.signature(self.make()).parameters if p not in dict(self.fixed)]


MESHES = (("trimesh", "data"), ("embreex", "data"))

ENTRIES = (
    Entry("dsprites", "loaded:dsprites", "shape, scale, orientation, x, y", "737,280", "drawn"),
    Entry("color-dsprites", "dsprites_colour:ColorDSprites", "as dsprites", "737,280", "drawn"),
    Entry("noisy-dsprites", "dsprites_colour:NoisyDSprites", "as dsprites", "737,280", "drawn"),
    Entry("scream-dsprites", "dsprites_colour:ScreamDSprites", "as dsprites", "737,280", "drawn"),
    Entry("shapes-xy", "shapes:ShapesXY", "x, y", "endless", "drawn"),
    Entry("shapes-xc", "shapes:ShapesXC", "position, colour", "endless", "drawn"),
    Entry("room", "room:Room", "floor, wall, object hue, scale, shape, orientation", "480,000", "drawn"),
    Entry(
        "rendered-object", "rendered:RenderedObject", "pose in SO(3), light in S^2", "endless", "drawn", needs=MESHES
    ),
    Entry("turntable", "turning:Turntable", "yaw, light", "endless", "drawn", needs=MESHES),
    Entry("turning-patch", "turning:TurningPatch", "angle, x, y", "endless", "drawn"),
    Entry("isometric", "isometric:Isometric", "d uniform coordinates", "endless", "drawn"),
    Entry("product-manifold", "product:ProductManifold", "spheres and rotations", "endless", "drawn"),
    Entry("gin-mixture", "conditional:GINMixture", "2 informative of 10", "endless", "drawn"),
    Entry("nonstationary", "conditional:Nonstationary", "5 sources, 40 segments", "endless", "drawn"),
    Entry("shapes3d", "loaded:shapes3d", "floor, wall, object hue, scale, shape, orientation", "480,000", "file"),
    Entry("cars3d", "loaded:cars3d", "elevation, azimuth, object", "17,568", "file"),
    Entry("smallnorb", "loaded:smallnorb", "category, instance, elevation, azimuth, lighting", "48,600", "file"),
    *(
        Entry(f"mpi3d-{kind}", "loaded:mpi3d", "colour, shape, size, camera, background, 2 axes", size, "file", fixed)
        for kind, size in (
            ("toy", "1,036,800"),
            ("realistic", "1,036,800"),
            ("real", "1,036,800"),
            ("complex", "460,800"),
        )
        for fixed in ((("kind", kind),),)
    ),
    Entry("mnist", "labelled:mnist", "class (10)", "60,000 + 10,000", "file"),
    *(
        Entry(f"emnist-{subset}", "labelled:emnist", f"class ({classes})", size, "file", (("subset", subset),))
        for subset, classes, size in (
            ("digits", 10, "240,000 + 40,000"),
            ("letters", 26, "124,800 + 20,800"),
            ("balanced", 47, "112,800 + 18,800"),
            ("byclass", 62, "697,932 + 116,323"),
            ("bymerge", 47, "697,932 + 116,323"),
            ("mnist", 10, "60,000 + 10,000"),
        )
    ),
    Entry("celeba", "labelled:celeba", "40 attributes", "202,599", "file"),
)
GROUP = "unbraid.datasets"  # entry points of other distributions
ELSEWHERE = {"gan-manifold": "unbraid-papers"}  # data sets of ours in a distribution of their own


_NORB = "https://cs.nyu.edu/~ylclab/data/norb-v1.0-small/"
_NORB_TRAIN, _NORB_TEST = (
    f"smallnorb-5x{toys}x9x18x6x2x96x96-{part}" for toys, part in (("46789", "training"), ("01235", "testing"))
)
_MPI3D = "https://storage.googleapis.com/disentanglement_dataset/Final_Dataset/"
_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"
_EMNIST = Remote(
    "gzip.zip",
    "58c8d27c78d21e728a6bc7b3cc06412e",
    "https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip",
)


def _file(base: str, name: str, md5: str) -> Remote:
    return Remote(name, md5, base + name)


REMOTE: dict[str, tuple[Remote, ...]] = {
    "dsprites": (
        _file(
            "https://raw.githubusercontent.com/google-deepmind/dsprites-dataset/master/",
            "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.hdf5",
            "b331c4447a651c44bf5e8ae09022e230",
        ),
    ),
    "shapes3d": (
        _file("https://storage.googleapis.com/3d-shapes/", "3dshapes.h5", "099a2078d58cec4daad0702c55d06868"),
    ),
    "cars3d": (
        _file("http://www.scottreed.info/files/", "nips2015-analogy-data.tar.gz", "4e866a7919c1beedf53964e6f7a23686"),
    ),
    "smallnorb": (
        _file(_NORB, f"{_NORB_TRAIN}-dat.mat.gz", "66054832f9accfe74a0f4c36a75bc0a2"),
        _file(_NORB, f"{_NORB_TRAIN}-cat.mat.gz", "23c8b86101fbf0904a000b43d3ed2fd9"),
        _file(_NORB, f"{_NORB_TRAIN}-info.mat.gz", "51dee1210a742582ff607dfd94e332e3"),
        _file(_NORB, f"{_NORB_TEST}-dat.mat.gz", "e4ad715691ed5a3a5f138751a4ceb071"),
        _file(_NORB, f"{_NORB_TEST}-cat.mat.gz", "5aa791cd7e6016cf957ce9bdb93b8603"),
        _file(_NORB, f"{_NORB_TEST}-info.mat.gz", "a9454f3864d7fd4bb3ea7fc3eb84924e"),
    ),
    "mpi3d-toy": (_file(_MPI3D, "mpi3d_toy.npz", "55889cb7c7dfc655d6e0277beee88868"),),
    "mpi3d-realistic": (_file(_MPI3D, "mpi3d_realistic.npz", "59a6225b88b635365f70c91b3e52f70f"),),
    "mpi3d-real": (_file(_MPI3D, "mpi3d_real.npz", "0f33f609918fb5c97996692f91129802"),),
    "mpi3d-complex": (
        Remote("real3d_complicated_shapes_ordered.npz", page="https://github.com/rr-learning/disentanglement_dataset"),
    ),
    "mnist": (
        _file(_MNIST, "train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        _file(_MNIST, "train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
        _file(_MNIST, "t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
        _file(_MNIST, "t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"),
    ),
    **{f"emnist-{k}": (_EMNIST,) for k in ("digits", "letters", "balanced", "byclass", "bymerge", "mnist")},
    "celeba": (
        Remote("img_align_celeba", page="https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html"),
        Remote("list_attr_celeba.txt", page="https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html"),
    ),
}


def names_of(dataset: str) -> Sequence[str]:
    """File names of a data set that is one file."""
    extra = ("mpi3d_real_complex.npz",) if dataset == "mpi3d-complex" else ()
    return (*(remote.name for remote in REMOTE[dataset]), *extra)


def places(dataset: str) -> list[Sequence[str]]:
    """What must lie in the data folder: for each part, the names under which it may."""
    if dataset == "cars3d":
        return [("data/cars", "cars")]
    if dataset.startswith("emnist"):
        return [("gzip.zip", f"{dataset}-train-images-idx3-ubyte.gz", f"{dataset}-train-images-idx3-ubyte")]
    if dataset == "mpi3d-complex":
        return [names_of(dataset)]
    return [(remote.name, remote.name.removesuffix(".gz")) for remote in REMOTE[dataset]]


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
            f"the data set {name!r} is in a distribution of its own, which is not installed. "
            f"`pip install {ELSEWHERE[name]}` brings it."
        )
    raise ValueError(f"there is no data set {name!r}. Valid names: {', '.join(names())}.")


def load(name: str, **options: Any) -> Dataset:
    """A data set by name.

    Parameters
    ----------
    name : str
        One of :func:`unbraid.datasets.names`.
    **options
        Of that data set; a wrong one is answered with those it takes.

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
    """Download the original files of a data set; what is there and whole is left alone.

    Parameters
    ----------
    name : str
        A loaded data set: shapes3d, mnist, ...
    folder : path, optional
        Default: the data folder (``UNBRAID_DATA``, or the user's cache).

    Returns
    -------
    list of paths
    """
    if name not in REMOTE:
        raise ValueError(f"{name!r} needs no download or is unknown. Available: {', '.join(REMOTE)}.")
    root = data_folder() if folder is None else Path(folder)
    paths = []
    for remote in REMOTE[name]:
        path = root / remote.name
        if not remote.url and not path.exists():
            raise FileNotFoundError(
                f"{remote.name} of {name} cannot be fetched by a program. Get it from {remote.page} and put it into "
                f"{root}."
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
