"""Optional dependencies: load one, or say which ``pip install`` brings it."""

from importlib import import_module
from types import ModuleType


def require(module: str, extra: str) -> ModuleType:
    """Import an optional dependency.

    >>> require("math", "plots").pi
    3.141592653589793
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        top = module.partition(".")[0]
        if error.name != top:
            raise
        raise ModuleNotFoundError(
            f"{top} is not installed, and this needs it. `pip install 'unbraid[{extra}]'` brings it.",
            name=top,
        ) from None
