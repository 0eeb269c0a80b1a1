"""The names of the data sets, and what makes each one."""

import inspect
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from unbraid.datasets.base import Dataset


@dataclass(frozen=True)
class Entry:
    """One line of ``unbraid datasets list``.

    ``maker`` is ``module:callable`` below :mod:`unbraid.datasets`; ``fixed`` are options that the name implies.
    """

    name: str
    maker: str
    factors: str
    size: str
    origin: str
    fixed: tuple[tuple[str, Any], ...] = ()

    def make(self) -> Any:
        module, _, attribute = self.maker.partition(":")
        return getattr(import_module(f"unbraid.datasets.{module}"), attribute)

    def options(self) -> list[str]:
        """Names of the options that :func:`load` takes for it."""
        return [p for p in inspect.signature(self.make()).parameters if p not in dict(self.fixed)]


ENTRIES = (
    Entry("dsprites", "dsprites:DSprites", "shape, scale, orientation, x, y", "737,280", "drawn"),
    Entry("color-dsprites", "dsprites_colour:ColorDSprites", "as dsprites", "737,280", "drawn"),
    Entry("noisy-dsprites", "dsprites_colour:NoisyDSprites", "as dsprites", "737,280", "drawn"),
    Entry("scream-dsprites", "dsprites_colour:ScreamDSprites", "as dsprites", "737,280", "drawn"),
    Entry("shapes-xy", "shapes:ShapesXY", "x, y", "endless", "drawn"),
    Entry("shapes-xc", "shapes:ShapesXC", "position, colour", "endless", "drawn"),
    Entry("room", "room:Room", "floor, wall, object hue, scale, shape, orientation", "480,000", "drawn"),
    Entry("rendered-object", "rendered:RenderedObject", "pose in SO(3), light in S^2", "endless", "drawn"),
    Entry("isometric", "isometric:Isometric", "d uniform coordinates", "endless", "drawn"),
    Entry("product-manifold", "product:ProductManifold", "spheres and rotations", "endless", "drawn"),
    Entry("gin-mixture", "conditional:GINMixture", "2 informative of 10", "endless", "drawn"),
    Entry("nonstationary", "conditional:Nonstationary", "5 sources, 40 segments", "endless", "drawn"),
    Entry("gan-manifold", "gan:GANManifold", "principal components", "endless", "a generator's weights, yours"),
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
