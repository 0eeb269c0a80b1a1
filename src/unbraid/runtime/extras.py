"""Optional dependencies: import one, or raise an error with the ``pip install`` that provides it."""

from importlib import import_module
from types import ModuleType


def require(module: str, extra: str) -> ModuleType:
    """Import an optional dependency.

    >>> require("math", "torch").pi
    3.141592653589793
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        top = module.partition(".")[0]
        if error.name != top:
            raise
        raise ModuleNotFoundError(
            f"this needs {top}, which is not installed. Install it with `pip install 'unbraid[{extra}]'`.",
            name=top,
        ) from None
