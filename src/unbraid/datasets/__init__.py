"""Factor grids and manifolds, drawn or loaded; every one keeps the contract of :class:`Dataset`."""

from unbraid.datasets.base import Dataset
from unbraid.datasets.files import Source, open
from unbraid.datasets.finite import Subset
from unbraid.datasets.registry import load, names
from unbraid.datasets.remote import get

__all__ = ["Dataset", "Source", "Subset", "get", "load", "names", "open"]
