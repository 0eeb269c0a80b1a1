"""Factor grids and manifolds, drawn or loaded; every one keeps the contract of :class:`Dataset`."""

from importlib import import_module
from typing import Any

from unbraid.data.files import Source, open
from unbraid.datasets.base import Dataset
from unbraid.datasets.finite import Subset
from unbraid.datasets.registry import get, load, names

__all__ = ["Affine", "AffineSets", "Dataset", "Source", "Subset", "get", "load", "names", "open"]


def __getattr__(name: str) -> Any:
    """The augmentations load with their first use: they compile."""
    if name in ("Affine", "AffineSets"):
        return getattr(import_module("unbraid.datasets.augment"), name)
    raise AttributeError(f"unbraid.datasets has no {name!r}; it has: {', '.join(__all__)}")
