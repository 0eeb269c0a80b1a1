"""A study as one TOML file: data sets, methods with sweeps, seeds, representations, metrics and protocol."""

import hashlib
import json
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from unbraid.datasets import registry
from unbraid.evaluation.protocol import PROTOCOLS
from unbraid.evaluation.registry import select
from unbraid.methods import METHODS, method_of
from unbraid.study.places import line_of
from unbraid.study.sweeps import expand

Representation = Literal["mean", "sampled"]
Seeds = Annotated[int, Field(ge=1)] | Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)]
# Parameters that a run is not known by, or that the engine sets.
OWN = ("random_state", "checkpoint", "max_seconds", "progress", "log", "tensorboard", "device", "accelerate")


class SpecError(ValueError):
    """What is wrong with a spec: file, line, key, what was received and what is allowed."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DataSpec(_Part):
    """A data set of the study.

    Attributes
    ----------
    name : str
        As in :func:`unbraid.datasets.load`.
    label : str, optional
        How tables call it; by default its name.
    options : dict
        Of the data set.
    shrink : int
        Pictures are made smaller by this number, by the mean of squares of pixels.
    rows : int, optional
        Draw this many observations once, and train on them; by default training draws from the data set.
    seeds : int or list of int, optional
        In place of the study's.
    """

    name: str
    label: str | None = None
    options: dict[str, Any] = {}
    shrink: Annotated[int, Field(ge=1)] = 1
    rows: Annotated[int, Field(ge=2)] | None = None
    seeds: Seeds | None = None

    @field_validator("name")
    @classmethod
    def _is_known(cls, name: str) -> str:
        registry.entry(name)
        return name

    @property
    def title(self) -> str:
        return self.label or self.name


class MethodSpec(_Part):
    """A method of the study, with what is swept.

    Attributes
    ----------
    name : str
        Of :data:`unbraid.methods.METHODS`.
    label : str, optional
        How tables call it; by default its name. Two kinds of one method need two labels.
    parameters : dict
        The same in every run.
    sweep : dict
        See :func:`unbraid.study.sweeps.expand`.
    strength : str, optional
        The parameter that is the strength of the regularisation; by default the swept one, if it is only one.
    rows : int, optional
        Fit on this many observations, drawn by the run's seed; for methods that are not trained step by step.
    seeds : int or list of int, optional
        In place of the study's and the data set's.
    datasets : list of str, optional
        Labels of the data sets it joins; by default all.
    """

    name: str
    label: str | None = None
    parameters: dict[str, Any] = {}
    sweep: dict[str, Any] = {}
    strength: str | None = None
    rows: Annotated[int, Field(ge=10)] | None = None
    seeds: Seeds | None = None
    datasets: list[str] | None = None

    @field_validator("name")
    @classmethod
    def _is_known(cls, name: str) -> str:
        method_of(name)
        return name

    @field_validator("sweep")
    @classmethod
    def _expands(cls, sweep: dict[str, Any]) -> dict[str, Any]:
        expand(sweep)
        return sweep

    @property
    def title(self) -> str:
        return self.label or self.name

    @property
    def settings(self) -> list[dict[str, Any]]:
        """What is swept, one dict per config."""
        return expand(self.sweep)

    @property
    def strength_name(self) -> str | None:
        """The parameter whose value is a run's strength."""
        swept = {name for setting in self.settings for name in setting}
        return self.strength or (next(iter(swept)) if len(swept) == 1 else None)


class StudySpec(_Part):
    """A whole study.

    Parameters
    ----------
    name : str
    about : str
    seeds : int or list of int
        A number n stands for 0 to n - 1.
    representations : list of "mean" and "sampled"
        What is scored; methods without a posterior have only "mean", their codes.
    metrics : "all", or list of str
        What is computed of every representation.
    leave_out : dict of representation to list of str
        Metrics that are not computed of it; ``rescore`` computes them later.
    protocol : str
        Of :data:`unbraid.evaluation.PROTOCOLS`.
    pool : int
        Observations whose codes are kept and scored.
    pool_seed : int
        Draws them; the training data are drawn by another.
    checkpoint_every : int
        Steps.
    defaults : dict
        Parameters for every method that has them.
    datasets : list of DataSpec
    methods : list of MethodSpec
    """

    name: str
    about: str = ""
    seeds: Seeds = 5
    representations: Annotated[list[Representation], Field(min_length=1)] = ["mean", "sampled"]
    metrics: Literal["all"] | Annotated[list[str], Field(min_length=1)] = "all"
    leave_out: dict[Representation, list[str]] = {}
    protocol: str = "fast"
    pool: Annotated[int, Field(ge=50)] = 10_000
    pool_seed: Annotated[int, Field(ge=0)] = 0
    checkpoint_every: Annotated[int, Field(ge=1)] = 1000
    defaults: dict[str, Any] = {}
    datasets: Annotated[list[DataSpec], Field(min_length=1)]
    methods: Annotated[list[MethodSpec], Field(min_length=1)]

    @field_validator("protocol")
    @classmethod
    def _is_a_protocol(cls, name: str) -> str:
        if name not in PROTOCOLS:
            raise ValueError(f"there is no protocol {name!r}. Valid protocols: {', '.join(PROTOCOLS)}.")
        return name

    @field_validator("metrics")
    @classmethod
    def _are_metrics(cls, names: str | list[str]) -> str | list[str]:
        select(names, observations=True)
        return names

    @field_validator("leave_out")
    @classmethod
    def _are_metrics_too(cls, names: dict[str, list[str]]) -> dict[str, list[str]]:
        for left in names.values():
            select(left, observations=True)
        return names

    @property
    def identity(self) -> str:
        """What a store belongs to: all that is said of the study but its words; what is not said may gain a default."""
        said = self.model_dump_json(exclude={"about"}, exclude_defaults=True)
        return hashlib.sha256(json.dumps(json.loads(said), sort_keys=True).encode()).hexdigest()[:16]

    def metrics_of(self, representation: str) -> list[str]:
        """Names of the metrics to compute of a representation."""
        names: list[str] = dict(self.leave_out).get(representation, [])  # type: ignore[call-overload]
        left = {x.name for x in select(names, observations=True)} if names else set()
        return [x.name for x in select(self.metrics, observations=True) if x.name not in left]


def read_spec(path: str | os.PathLike[str]) -> StudySpec:
    """A checked spec of a TOML file, or of the name of one that is shipped.

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
    file = _file_of(path)
    return parse_spec(file.read_text(encoding="utf-8"), str(file))


def _file_of(path: str | os.PathLike[str]) -> Path:
    file = Path(path)
    if file.is_file():
        return file
    shipped = {found.stem: found for found in sorted((Path(__file__).parent / "specs").glob("*.toml"))}
    if str(path) in shipped:
        return shipped[str(path)]
    raise FileNotFoundError(f"{path} is neither a file nor a spec that is shipped: {', '.join(shipped)}.")


def parse_spec(text: str, file: str = "spec") -> StudySpec:
    """A checked spec of a TOML text.

    Parameters
    ----------
    text : str
    file : str
        What errors call it.

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
        return f"{where}: there is no such key. Valid keys: {', '.join(_keys_beside(key))}."
    if problem["type"] == "missing":
        return f"{where}: it is missing. Add it."
    received = "" if isinstance(problem["input"], dict | list) and len(str(problem["input"])) > 60 else problem["input"]
    told = f" (received {received!r})" if received != "" else ""
    return f"{where}: {problem['msg'].removeprefix('Value error, ')}{told}"


def _is_branch(part: Any) -> bool:
    """Names that pydantic gives the sides of a union."""
    return isinstance(part, str) and ("[" in part or part in ("int", "constrained-int"))


def _keys_beside(key: Sequence[Any]) -> list[str]:
    model: type[BaseModel] = StudySpec
    if key[0] == "datasets":
        model = DataSpec
    elif key[0] == "methods":
        model = MethodSpec
    return list((model if len(key) > 1 else StudySpec).model_fields)


def _dotted(key: Sequence[Any]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key).lstrip(".") or "the whole"


Fail = Callable[[Sequence[Any], str], None]


def _check_names(spec: StudySpec, text: str, file: str) -> None:
    """Options and parameters against the data sets and methods themselves, before anything runs."""

    def fail(key: Sequence[Any], words: str) -> None:
        raise SpecError(f"{file}, line {line_of(text, key)}, {_dotted(key)}: {words}")

    titles = [data.title for data in spec.datasets]
    for kind, names in (("datasets", titles), ("methods", [method.title for method in spec.methods])):
        for i, name in enumerate(names):
            if name in names[:i]:
                fail((kind, i, "name"), f"{name!r} is there twice; give one of them a label of its own.")
    for i, data in enumerate(spec.datasets):
        allowed = registry.entry(data.name).options()
        for name in data.options:
            if name not in allowed:
                words = f"{data.name} has no option {name!r}. Valid: {', '.join(allowed) or 'none'}."
                fail(("datasets", i, "options", name), words)
    if unknown := sorted(set(spec.defaults) - _all_parameters(spec)):
        fail(("defaults", unknown[0]), f"no method of this study has a parameter {unknown[0]!r}.")
    for i, method in enumerate(spec.methods):
        for name in method.datasets or []:
            if name not in titles:
                fail(("methods", i, "datasets"), f"there is no data set {name!r} here. Valid: {', '.join(titles)}.")
        _check_method(method, i, fail)
        _check_labels(spec, method, i, fail)
        _check_values(spec, method, i, fail)


def _check_method(method: MethodSpec, i: int, fail: Fail) -> None:
    """That it has the parameters that are given or swept."""
    known = _parameters(method.name)
    for where, given in (("parameters", [method.parameters]), ("sweep", method.settings)):
        for name in sorted({name for setting in given for name in setting}):
            if name not in known or name in OWN:
                valid = ", ".join(p for p in known if p not in OWN)
                fail(("methods", i, where, name), f"{method.name} takes no {name!r}. Valid: {valid}.")
    swept = {name for setting in method.settings for name in setting}
    if method.strength is not None and method.strength not in {*swept, *method.parameters}:
        told = ", ".join(sorted(swept)) or "nothing"
        fail(("methods", i, "strength"), f"{method.strength!r} is not swept. Swept: {told}.")


def _parameters(name: str) -> list[str]:
    return list(METHODS[name].load()().get_params(deep=False))


def _all_parameters(spec: StudySpec) -> set[str]:
    return {p for method in spec.methods for p in _parameters(method.name) if p not in OWN}


def _check_labels(spec: StudySpec, method: MethodSpec, i: int, fail: Fail) -> None:
    if "labels" not in METHODS[method.name].needs:
        return
    from unbraid.datasets.conditional import Conditional

    for data in spec.datasets:
        joins = method.datasets is None or data.title in method.datasets
        if joins and not issubclass(_maker(data.name), Conditional):
            fail(
                ("methods", i, "name"),
                f"{method.name} needs labels, and {data.title} has none. Name the data sets it joins: "
                'datasets = ["gin-mixture"].',
            )


def _maker(name: str) -> type:
    made = registry.entry(name).make()
    return made if isinstance(made, type) else object


def _check_values(spec: StudySpec, method: MethodSpec, i: int, fail: Fail) -> None:
    """What an estimator refuses when it is fitted is refused now."""
    cls, known = METHODS[method.name].load(), _parameters(method.name)
    if not METHODS[method.name].trained:  # these look at their parameters beside the data
        return
    for setting in method.settings:
        given = {k: v for k, v in spec.defaults.items() if k in known} | method.parameters | setting
        try:
            cls(**given)._check_parameters()
        except (ValueError, TypeError) as error:
            where = next((k for k in setting if f"{k}=" in str(error)), None)
            key = ("methods", i, "sweep", where) if where else ("methods", i, "parameters")
            fail(key, str(error))
