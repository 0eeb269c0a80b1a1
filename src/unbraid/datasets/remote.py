"""Where the original files are on the network, and how to fetch them: checked, resumed, whole or not at all."""

import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from unbraid.contract.progress import bar
from unbraid.datasets.storage import data_folder

BLOCK = 1 << 20


@dataclass(frozen=True)
class Remote:
    """One file: its name, its md5, where to fetch it, or the page to get it from by hand."""

    name: str
    md5: str = ""
    url: str = ""
    page: str = ""


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
        raise ValueError(f"{name!r} needs no download or is unknown. To be had: {', '.join(REMOTE)}.")
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
    import tarfile

    if not (archive.parent / "data" / "cars").is_dir():
        with tarfile.open(archive) as tar:
            members = [m for m in tar if m.name.startswith("data/cars/")]
            tar.extractall(archive.parent, members=members, filter="data")


def md5_of(path: Path) -> str:
    """The md5 of a file, read in blocks."""
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def download(url: str, path: Path, md5: str = "") -> None:
    """Fetch a file: beside its place first, resumed where a broken download ended, moved only when it is right."""
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
        if error.code != 416:  # the part is whole already
            raise ConnectionError(
                f"{url} answers {error.code} ({error.reason}). Put {path.name} into {path.parent} by hand."
            ) from error
        total = have
    except (urllib.error.URLError, OSError) as error:
        raise ConnectionError(
            f"{url} cannot be reached ({error}). Without a network, put {path.name} into {path.parent}, or set "
            "UNBRAID_DATA to the folder that has it. What was fetched is kept and resumed."
        ) from error
    size = part.stat().st_size
    if total is not None and size < total:
        raise ConnectionError(
            f"the download of {path.name} broke off at {size} of {total} bytes. Run it again: it resumes."
        )
    if md5 and md5_of(part) != md5:
        received = md5_of(part)
        part.unlink()
        raise ValueError(
            f"{path.name} from {url} has the wrong checksum: md5 {received}, expected {md5}. It was thrown away and "
            f"nothing at {path} was touched. Try again, or get it elsewhere."
        )
    os.replace(part, path)
