"""Write the stubs in which editors and type checkers find names that load on first use: ``python scripts/stubs.py``."""

import inspect
from importlib import import_module
from pathlib import Path
from types import ModuleType

SOURCE = Path(__file__).resolve().parents[1] / "src"
ROOMS = ("autoencoders", "contrastive", "flows", "geometry", "metrics", "product", "report", "spectral")
LAZY = ("unbraid", *(f"unbraid.{room}" for room in ROOMS))  # each of datasets.load's sets has attributes of its own
HEAD = "# Written by scripts/stubs.py.\n__all__: list[str]\n"


def stub(package: str) -> str:
    """Each public name with the place where it is defined."""
    room = import_module(package)
    return HEAD + "".join(f"{line(package, name, getattr(room, name))}\n" for name in sorted(room.__all__))


def line(package: str, name: str, what: object) -> str:
    """How a stub says where one name is from."""
    if isinstance(what, ModuleType):
        above, _, own = what.__name__.rpartition(".")
        return f"from {above} import {own} as {name}"
    if inspect.isclass(what) or inspect.isfunction(what):
        return f"from {what.__module__} import {what.__name__} as {name}"
    if isinstance(what, tuple):
        return f"{name}: tuple[{type(what[0]).__name__}, ...]"
    return f"{name}: {type(what).__name__}"


def place(package: str) -> Path:
    return SOURCE.joinpath(*package.split(".")) / "__init__.pyi"


if __name__ == "__main__":
    for package in LAZY:
        place(package).write_text(stub(package), encoding="utf-8")
