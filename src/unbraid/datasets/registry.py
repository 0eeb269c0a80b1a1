"""The names of the data sets, and what makes each one."""

import inspect
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from unbraid.contract.extras import require
from unbraid.datasets.base import Dataset
from unbraid.datasets.remote import places
from unbraid.datasets.storage import locate


@dataclass(frozen=True)
class Entry:
    """One line of ``unbraid datasets list``.

    ``maker`` is ``module:callable`` below :mod:`unbraid.datasets`; ``fixed`` are options that the name implies;
    ``needs`` are packages beyond the core, each with the extra that brings it.
    """

    name: str
    maker: str
    factors: str
    size: str
    origin: str
    fixed: tuple[tuple[str, Any], ...] = ()
    needs: tuple[tuple[str, str], ...] = ()

    def make(self) -> Any:
        for package, extra in self.needs:
            require(package, extra)
        module, _, attribute = self.maker.partition(":")
        return getattr(import_module(f"unbraid.datasets.{module}"), attribute)

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


TORCH = (("torch", "torch"),)
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
    Entry("gan-manifold", "gan:GANManifold", "principal components", "endless", "your generator", needs=TORCH),
)


def names() -> list[str]:
    """Names that :func:`load` knows.

    >>> "shapes-xy" in names()
    True
    """
    return [entry.name for entry in ENTRIES]


def entry(name: str) -> Entry:
    """The entry of one name."""
    for candidate in ENTRIES:
        if candidate.name == name:
            return candidate
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
