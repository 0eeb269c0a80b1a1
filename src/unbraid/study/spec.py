"""A study as one TOML file: data sets, methods with sweeps, seeds, representations, metrics and protocol."""

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from unbraid.datasets import registry
from unbraid.evaluation.protocol import PROTOCOLS
from unbraid.evaluation.registry import select
from unbraid.methods import EVIDENCE, method_of
from unbraid.study.sweeps import expand

Representation = Literal["mean", "sampled"]
Seeds = Annotated[int, Field(ge=1)] | Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)]


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
        ``.npy`` files with what is known about these ``rows`` (:func:`unbraid.study.training_rows` draws them), see
        :class:`unbraid.Observations`; paths are relative to the working directory. Each method receives what it uses
        with its parameters, and its fingerprint is part of a run's address.
    seeds : int or list of int, optional
        Overrides the study's.
    """

    name: str
    label: str | None = None
    options: dict[str, Any] = {}
    shrink: Annotated[int, Field(ge=1)] = 1
    rows: Annotated[int, Field(ge=2)] | None = None
    labels: str | None = None
    pairs: str | None = None
    time: str | None = None
    sets: str | None = None
    covariates: str | None = None
    seeds: Seeds | None = None

    @property
    def evidence(self) -> dict[str, str]:
        """The file of each piece of evidence."""
        return {name: getattr(self, name) for name in EVIDENCE if getattr(self, name) is not None}

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
        """Swept values, one dict per config."""
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
            raise ValueError(f"unknown protocol {name!r}. Valid protocols: {', '.join(PROTOCOLS)}.")
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
        """Fingerprint of what is set in the spec, apart from its description; defaults added later do not change it."""
        given = self.model_dump_json(exclude={"about"}, exclude_defaults=True)
        return hashlib.sha256(json.dumps(json.loads(given), sort_keys=True).encode()).hexdigest()[:16]

    def metrics_of(self, representation: str) -> list[str]:
        """Names of the metrics to compute for a representation."""
        names: list[str] = dict(self.leave_out).get(representation, [])  # type: ignore[call-overload]
        left = {x.name for x in select(names, observations=True)} if names else set()
        return [x.name for x in select(self.metrics, observations=True) if x.name not in left]
