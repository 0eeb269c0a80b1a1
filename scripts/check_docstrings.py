"""Hold the docstrings of all public names to numpydoc's rules.

Which rules, and why, is in pyproject.toml under ``tool.numpydoc_validation``. Unlike numpydoc's own command, which
reads files, this looks at the names as users meet them: docstrings and parameters that a class inherits count.
"""

import dataclasses
import inspect
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numpydoc.validate import Validator, get_doc_object, validate

import unbraid
import unbraid_papers

ROOT = Path(__file__).resolve().parents[1]
RULES = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CHECKS = set(RULES["tool"]["numpydoc_validation"]["checks"])
PACKAGES = (unbraid, unbraid_papers)
OURS = tuple(f"{package.__name__}." for package in PACKAGES)
INHERITED = "settings"  # ``**settings`` stands for the parameters that a parent class describes


def public_names() -> Iterator[str]:
    """Functions, classes and methods that users can reach, by their full name."""
    everything = ((package, name) for package in PACKAGES for name in package.__all__)
    for owner, name in everything:
        full = f"{owner.__name__}.{name}"
        thing = getattr(owner, name)
        members = getattr(thing, "__all__", ()) if inspect.ismodule(thing) else None
        for place in [full] if members is None else [f"{full}.{member}" for member in members]:
            thing = Validator._load_obj(place)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                yield place
            if inspect.isclass(thing):
                yield from (f"{place}.{method}" for method in public_methods(thing))


def public_methods(cls: type) -> list[str]:
    """Names of the methods that this package gives to a class."""
    return [
        name
        for name, thing in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_") and thing.__module__.startswith(OURS)
    ]


def described_by(cls: type) -> set[str]:
    """Names of the parameters in a class's own docstring."""
    return {name.lstrip("*") for name in Validator(get_doc_object(cls)).doc_all_parameters}


def described_for(cls: type) -> set[str]:
    """The same, and those in the docstring of the class to which ``**settings`` points."""
    shown = Validator(get_doc_object(cls)).doc_all_parameters
    names = described_by(cls)
    pointer = re.search(r"See :class:`~(unbraid\.[\w.]+)`", " ".join(shown.get("**settings", ("", ""))[1]))
    return names | (described_for(Validator._load_obj(pointer[1])) if pointer else set())


def class_faults(cls: type) -> Iterator[tuple[str, str]]:
    """PR01 and PR02 of a class, to which the docstrings of its parents belong."""
    if issubclass(cls, Exception) or getattr(cls, "_is_protocol", False):
        return  # it takes what every exception takes, or is never called
    actual = set(inspect.signature(cls).parameters)
    own = described_by(cls)
    described = own.union(*(described_for(parent) for parent in cls.__mro__ if parent.__module__.startswith(OURS)))
    if actual - described and not dataclasses.is_dataclass(cls):  # a dataclass describes its attributes
        yield "PR01", f"{cls.__name__} does not describe {', '.join(sorted(actual - described))}"
    if own - actual - {INHERITED}:
        yield "PR02", f"{cls.__name__} describes what it does not take: {', '.join(sorted(own - actual - {INHERITED}))}"


def faults(name: str, thing: Any) -> Iterator[tuple[str, str]]:
    """Codes and messages of what is wrong with one docstring."""
    exempt = set()
    if inspect.isclass(thing):
        yield from class_faults(thing)
        exempt = {"PR01", "PR02", "PR03"} if INHERITED in described_by(thing) else {"PR01", "PR02"}
    elif inspect.isclass(Validator._load_obj(name.rpartition(".")[0])):
        exempt = {"PR01"}  # methods may be short
    if inspect.getdoc(thing):
        exempt.add("GL08")
    yield from (fault for fault in validate(name)["errors"] if fault[0] not in exempt)


def main() -> int:
    found: dict[str, None] = {}
    for name in public_names():
        thing = Validator._load_obj(name)
        place = Path(inspect.getfile(inspect.unwrap(thing))).relative_to(ROOT)
        for code, message in faults(name, thing):
            if code in CHECKS:
                found[f"{place}:{inspect.getsourcelines(thing)[1]}: {code} {message}"] = None
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
