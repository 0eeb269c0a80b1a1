"""Factor grids and manifolds, drawn or loaded; all follow the contract of :class:`Dataset`.

The names load on first use: opening a file of your own does not load the data sets.
"""

from importlib import import_module
from typing import Any

from unbraid.data.files import Source, open

_MODULES = {
    "Affine": "augment",
    "AffineSets": "augment",
    "Dataset": "base",
    "Subset": "finite",
    "get": "registry",
    "load": "registry",
    "names": "registry",
}
__all__ = ["Source", "open", *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"unbraid.datasets.{_MODULES[name]}"), name)
    raise AttributeError(f"unbraid.datasets has no {name!r}. Available: {', '.join(__all__)}")
