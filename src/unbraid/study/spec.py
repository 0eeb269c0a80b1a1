"""A study as one TOML file: data sets, methods with sweeps, seeds, representations, metrics and protocol."""

import hashlib
import json
from collections.abc import Callable
from functools import cache, partial
from inspect import signature
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from unbraid.datasets import registry
from unbraid.evaluation.protocol import find_protocol
from unbraid.evaluation.registry import select
from unbraid.methods import EVIDENCE, method_of
from unbraid.study.sweeps import expand

Representation = Literal["mean", "sampled"]
Seeds = Annotated[int, Field(ge=1)] | Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)]


def _accepted_by(check: Callable[[Any], Any]) -> AfterValidator:
    """The condition that ``check`` raises no ValueError; the value itself is kept."""

    def same(value: Any) -> Any:
        check(value)
        return value

    return AfterValidator(same)


_of_metrics = _accepted_by(partial(select, observations=True))


@cache
def parameters_of(method: str) -> tuple[str, ...]:
    """Names of the parameters of a method."""
    cls = method_of(method).load()
    return tuple(cls._get_param_names()) if hasattr(cls, "_get_param_names") else tuple(signature(cls).parameters)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DataSpec(_Part):
    """A data set of the study.

    Attributes
    ----------
    name : str
        As in :func:`unbraid.datasets.load`.
    label : str, optional
        Its name in tables; by default ``name``.
    options : dict
        Of the data set.
    shrink : int
        Images are reduced by this factor, averaging squares of pixels. Rows that are drawn once, and the pool, are
        stored with 8 bits per value.
    rows : int, optional
        Draw this many observations once, and train on them; by default training draws from the data set.
    labels, pairs, time, sets, covariates : str, optional
        Files (``.npy``, ``.npz`` with one array, ``.csv``) with what is known about these ``rows``
        (:func:`unbraid.study.training_rows` draws them), see :class:`unbraid.Observations`; paths are relative to the
        working directory. Each method receives what it uses with its parameters, and its fingerprint is part of a
        run's address. Labels with empty cells are the factors of some rows.
    condition : str, optional
        The same as ``labels``: a file with the condition of each row.
    seeds : int or list of int, optional
        Overrides the study's.
    """

    name: Annotated[str, _accepted_by(registry.entry)]
    label: str | None = None
    options: dict[str, Any] = {}
    shrink: Annotated[int, Field(ge=1)] = 1
    rows: Annotated[int, Field(ge=2)] | None = None
    labels: str | None = None
    pairs: str | None = None
    time: str | None = None
    sets: str | None = None
    covariates: str | None = None
    condition: str | None = None
    seeds: Seeds | None = None

    @property
    def evidence(self) -> dict[str, str]:
        """The file of each piece of evidence."""
        found = {name: getattr(self, name) for name in EVIDENCE if getattr(self, name) is not None}
        return found if self.condition is None else found | {"labels": self.condition}

    @property
    def title(self) -> str:
        return self.label or self.name


class MethodSpec(_Part):
    """A method of the study, with what is swept.

    Attributes
    ----------
    name : str
        Of :data:`unbraid.methods.METHODS`, ``module:Class`` for a class of your own, or the name of an entry point of
        the group ``unbraid.methods``.
    label : str, optional
        Its name in tables; by default ``name``. Two variants of one method need different labels.
    parameters : dict
        Fixed in every run.
    sweep : dict
        See :func:`unbraid.study.sweeps.expand`.
    strength : str, optional
        The parameter that is the strength of the regularisation; by default the swept one, if there is only one.
    rows : int, optional
        Fit on this many observations, drawn with the run's seed; for methods that are not trained step by step.
    seeds : int or list of int, optional
        Overrides the study's and the data set's.
    datasets : list of str, optional
        Labels of the data sets it runs on; by default all.
    """

    name: Annotated[str, _accepted_by(method_of)]
    label: str | None = None
    parameters: dict[str, Any] = {}
    sweep: Annotated[dict[str, Any], _accepted_by(expand)] = {}
    strength: str | None = None
    rows: Annotated[int, Field(ge=10)] | None = None
    seeds: Seeds | None = None
    datasets: list[str] | None = None

    @property
    def title(self) -> str:
        return self.label or self.name

    @property
    def settings(self) -> list[dict[str, Any]]:
        """Swept values, one dict per config."""
        return expand(self.sweep)

    @property
    def swept(self) -> set[str]:
        """Names of the parameters that are swept."""
        return {name for setting in self.settings for name in setting}

    def joins(self, data: DataSpec) -> bool:
        """Whether it runs on a data set."""
        return self.datasets is None or data.title in self.datasets

    @property
    def strength_name(self) -> str | None:
        """The parameter whose value is a run's strength."""
        return self.strength or (next(iter(self.swept)) if len(self.swept) == 1 else None)


class StudySpec(_Part):
    """A whole study.

    Parameters
    ----------
    name : str
    about : str
    seeds : int or list of int
        A number n stands for 0 to n - 1.
    representations : list of "mean" and "sampled"
        Which codes are scored; methods without a posterior have only "mean".
    metrics : "all", or list of str
        Computed for every representation.
    leave_out : dict of representation to list of str
        Metrics that are not computed for it; ``rescore`` can compute them later.
    protocol : str
        Of :data:`unbraid.evaluation.PROTOCOLS`.
    pool : int
        Number of observations whose codes are stored and scored.
    pool_seed : int
        Seed of the pool; training data are drawn with another.
    checkpoint_every : int
        Steps.
    defaults : dict
        Parameters for every method that takes them.
    datasets : list of DataSpec
    methods : list of MethodSpec
    """

    name: str
    about: str = ""
    seeds: Seeds = 5
    representations: Annotated[list[Representation], Field(min_length=1)] = ["mean", "sampled"]
    metrics: Annotated[Literal["all"] | Annotated[list[str], Field(min_length=1)], _of_metrics] = "all"
    leave_out: dict[Representation, Annotated[list[str], _of_metrics]] = {}
    protocol: Annotated[str, _accepted_by(find_protocol)] = "fast"
    pool: Annotated[int, Field(ge=50)] = 10_000
    pool_seed: Annotated[int, Field(ge=0)] = 0
    checkpoint_every: Annotated[int, Field(ge=1)] = 1000
    defaults: dict[str, Any] = {}
    datasets: Annotated[list[DataSpec], Field(min_length=1)]
    methods: Annotated[list[MethodSpec], Field(min_length=1)]

    @property
    def identity(self) -> str:
        """Fingerprint of what is set in the spec, apart from its description; defaults added later do not change it."""
        given = self.model_dump_json(exclude={"about"}, exclude_defaults=True)
        return hashlib.sha256(json.dumps(json.loads(given), sort_keys=True).encode()).hexdigest()[:16]

    def parameters(self, method: MethodSpec, setting: dict[str, Any]) -> dict[str, Any]:
        """Parameters of a method with one of its settings."""
        known = parameters_of(method.name)
        return {k: v for k, v in self.defaults.items() if k in known} | method.parameters | setting

    def estimator(self, method: MethodSpec, setting: dict[str, Any]) -> Any:
        """The method with these parameters, not fitted."""
        return method_of(method.name).load()(**self.parameters(method, setting))

    def uses(self, method: MethodSpec, setting: dict[str, Any]) -> tuple[str, ...]:
        """The evidence that a method uses with one of its settings."""
        return getattr(self.estimator(method, setting), "uses", method_of(method.name).uses)

    def metrics_of(self, representation: str) -> list[str]:
        """Names of the metrics to compute for a representation."""
        names: list[str] = dict(self.leave_out).get(representation, [])  # type: ignore[call-overload]
        left = {x.name for x in select(names, observations=True)} if names else set()
        return [x.name for x in select(self.metrics, observations=True) if x.name not in left]
