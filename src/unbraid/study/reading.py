"""From a TOML file to a checked spec; an error says file, line, key, what was received and what is valid."""

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from unbraid.datasets import registry
from unbraid.methods import method_of, methods_using
from unbraid.study.evidence import known_of
from unbraid.study.files import spec_file
from unbraid.study.places import line_of
from unbraid.study.spec import DataSpec, MethodSpec, StudySpec, parameters_of

# Parameters that do not identify a run, or that the engine sets.
OWN = ("random_state", "checkpoint", "max_seconds", "progress", "log", "tensorboard", "device", "accelerate")


class SpecError(ValueError):
    """What is wrong with a spec: file, line, key, what was received and what is allowed."""


def read_spec(path: str | os.PathLike[str]) -> StudySpec:
    """A checked spec from a TOML file, or a built-in one by its name.

    Parameters
    ----------
    path : path, or "smoke", "laptop" or "paper"

    Returns
    -------
    StudySpec

    Raises
    ------
    SpecError
        With file, line, key, and the valid names.
    """
    file = spec_file(path)
    return parse_spec(file.read_text(encoding="utf-8"), str(file))


def parse_spec(text: str, file: str = "spec") -> StudySpec:
    """A checked spec from TOML text.

    Parameters
    ----------
    text : str
    file : str
        Its name in errors.

    Returns
    -------
    StudySpec
    """
    try:
        spec = StudySpec.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{file} is not TOML: {error}.") from error
    except ValidationError as error:
        raise SpecError("\n".join(_words(problem, text, file) for problem in error.errors())) from error
    _check_names(spec, text, file)
    return spec


def _words(problem: Mapping[str, Any], text: str, file: str) -> str:
    """One line: where, which key, and what is wrong with it."""
    key = tuple(part for part in problem["loc"] if not _is_branch(part))
    where = f"{file}, line {line_of(text, key)}, {_dotted(key)}"
    if problem["type"] == "extra_forbidden":
        return f"{where}: unknown key. Valid keys: {', '.join(_keys_beside(key))}."
    if problem["type"] == "missing":
        return f"{where}: this key is required."
    received = "" if isinstance(problem["input"], dict | list) and len(str(problem["input"])) > 60 else problem["input"]
    shown = f" (received {received!r})" if received != "" else ""
    return f"{where}: {problem['msg'].removeprefix('Value error, ')}{shown}"


def _is_branch(part: Any) -> bool:
    """Names that pydantic gives to the members of a union."""
    return isinstance(part, str) and ("[" in part or part in ("int", "constrained-int"))


def _keys_beside(key: Sequence[Any]) -> list[str]:
    models: dict[Any, type[BaseModel]] = {"datasets": DataSpec, "methods": MethodSpec}
    return list(models.get(key[0] if len(key) > 1 else None, StudySpec).model_fields)


def _dotted(key: Sequence[Any]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key).lstrip(".") or "top level"


Fail = Callable[[Sequence[Any], str], None]


def _check_names(spec: StudySpec, text: str, file: str) -> None:
    """Options and parameters against the data sets and methods themselves, before anything runs."""

    def fail(key: Sequence[Any], words: str) -> None:
        raise SpecError(f"{file}, line {line_of(text, key)}, {_dotted(key)}: {words}")

    titles = [data.title for data in spec.datasets]
    for kind, names in (("datasets", titles), ("methods", [method.title for method in spec.methods])):
        for i, name in enumerate(names):
            if name in names[:i]:
                fail((kind, i, "name"), f"{name!r} appears twice; give one of them a different label.")
    for i, data in enumerate(spec.datasets):
        allowed = registry.entry(data.name).options()
        for name in data.options:
            if name not in allowed:
                words = f"{data.name} has no option {name!r}. Valid: {', '.join(allowed) or 'none'}."
                fail(("datasets", i, "options", name), words)
    if unknown := sorted(set(spec.defaults) - {p for method in spec.methods for p in _settable(method)}):
        fail(("defaults", unknown[0]), f"no method of this study has a parameter {unknown[0]!r}.")
    for i, method in enumerate(spec.methods):
        for name in method.datasets or []:
            if name not in titles:
                fail(("methods", i, "datasets"), f"this study has no data set {name!r}. Valid: {', '.join(titles)}.")
        _check_method(method, i, fail)
        for data in filter(method.joins, spec.datasets):
            _check_data(data, method, i, fail)
        _check_values(spec, method, i, fail)
    _check_evidence(spec, fail)


def _check_method(method: MethodSpec, i: int, fail: Fail) -> None:
    """Check that it has the parameters that are set or swept."""
    known = _settable(method)
    for where, given in (("parameters", set(method.parameters)), ("sweep", method.swept)):
        for name in sorted(given.difference(known)):
            words = f"{method.name} has no parameter {name!r}. Valid: {', '.join(known)}."
            fail(("methods", i, where, name), words)
    if method.strength is not None and method.strength not in {*method.swept, *method.parameters}:
        names = ", ".join(sorted(method.swept)) or "nothing"
        fail(("methods", i, "strength"), f"{method.strength!r} is not swept. Swept: {names}.")


def _settable(method: MethodSpec) -> list[str]:
    return [name for name in parameters_of(method.name) if name not in OWN]


def _check_data(data: DataSpec, method: MethodSpec, i: int, fail: Fail) -> None:
    """Check that the data set has the labels that a method needs, and rows that it can be fitted on."""
    from unbraid.datasets.conditional import Conditional

    about = method_of(method.name)
    needs_labels = "labels" in about.needs
    if needs_labels and data.labels is None:
        made = registry.entry(data.name).make()
        if not (isinstance(made, type) and issubclass(made, Conditional)):
            words = f"{method.name} needs labels, and {data.title} has none. List the data sets it should run on: "
            fail(("methods", i, "name"), words + 'datasets = ["gin-mixture"].')
    # Only methods trained step by step, without labels, on images that are not shrunk, can draw from the data set.
    draws = about.trained and not needs_labels and data.shrink == 1
    if method.rows is None and data.rows is None and not draws:
        words = f"{method.title} on {data.title} needs a number of rows: set rows here, or in the data set's table."
        fail(("methods", i, "name"), words)


def _check_evidence(spec: StudySpec, fail: Fail) -> None:
    """Check that each file belongs to rows that are drawn once, and that some method uses it."""
    for i, data in enumerate(spec.datasets):
        if not data.evidence:
            continue
        key_of = {"labels": "condition"} if data.condition is not None else {}
        first = next(key_of.get(name, name) for name in data.evidence)
        if data.labels is not None and data.condition is not None:
            fail(("datasets", i, "condition"), "labels and condition are both given; a row has one. Remove one.")
        if data.rows is None:
            fail(("datasets", i, first), "this needs rows that are drawn once. Set rows here.")
        try:
            known_of(data)
        except ValueError as error:
            fail(("datasets", i, first), str(error))
        uses = {
            m.title: {name for setting in m.settings for name in spec.uses(m, setting)}
            for m in spec.methods
            if m.joins(data)
        }
        for name in sorted(set(data.evidence).difference(*uses.values())):
            users = ", ".join(methods_using(name)) or "none"
            fail(
                ("datasets", i, key_of.get(name, name)),
                f"no method here uses {name} with its parameters. Methods that can: {users}.",
            )
        for m in spec.methods:
            if m.rows is not None and uses.get(m.title, set()) & set(data.evidence):
                fail(("datasets", i, first), f"{m.title} draws its own rows. Remove its rows.")


def _check_values(spec: StudySpec, method: MethodSpec, i: int, fail: Fail) -> None:
    """Reject now what an estimator would reject when it is fitted."""
    if not method_of(method.name).trained:  # these check their parameters together with the data
        return
    for setting in method.settings:
        try:
            spec.estimator(method, setting)._check_parameters()
        except (ValueError, TypeError) as error:
            where = next((k for k in setting if f"{k}=" in str(error)), None)
            key = ("methods", i, "sweep", where) if where else ("methods", i, "parameters")
            fail(key, str(error))
