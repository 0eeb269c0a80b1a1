"""A study as an indexed list of tasks, each identified by a hash of its resolved config."""

import hashlib
import inspect
import json
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from unbraid.methods import OwnMethod, method_of
from unbraid.study.evidence import marks_of
from unbraid.study.spec import DataSpec, MethodSpec, StudySpec

REVISION = 1  # of what a task does; a change that changes codes raises it


@dataclass(frozen=True)
class Task:
    """One model to train and score.

    Attributes
    ----------
    index : int
        Its place in the study's list.
    run : str
        Its address: 16 hexadecimal digits of the SHA-256 of ``config`` and of the code that it depends on.
    config : dict
        Everything that its codes depend on: data set, method, parameters, seed, pool, marks of the evidence.
    files : dict of str to str
        Files of the evidence that it uses.
    dataset, method : str
        Their names in tables.
    strength : float or None
        The swept regularisation.
    seed : int
    priority : int
        Place among the seeds of its config: 0 comes first.
    """

    index: int
    run: str
    config: dict[str, Any]
    files: dict[str, str]
    dataset: str
    method: str
    strength: float | None
    seed: int
    priority: int


def tasks_of(spec: StudySpec) -> list[Task]:
    """Every task of a study, in the order of data sets, methods, settings and seeds.

    Parameters
    ----------
    spec : StudySpec

    Returns
    -------
    list of Task
        ``tasks[i].index == i``, so that a slice of it can be run anywhere.
    """
    tasks: list[Task] = []
    known: dict[str, int] = {}
    for data in spec.datasets:
        for method in spec.methods:
            if not method.joins(data):
                continue
            for setting in method.settings:
                for place, seed in enumerate(_seeds(spec, data, method)):
                    task = _task(spec, data, method, setting, seed, place, len(tasks))
                    if task.run in known:
                        raise ValueError(
                            f"tasks {known[task.run]} and {task.index} of {spec.name} are the same: {task.method} on "
                            f"{task.dataset}, seed {seed}. Remove the repetition from the sweep or the seeds."
                        )
                    known[task.run] = task.index
                    tasks.append(task)
    return tasks


def _seeds(spec: StudySpec, data: DataSpec, method: MethodSpec) -> list[int]:
    """Of the method, else of the data set, else of the study."""
    chosen = next(seeds for seeds in (method.seeds, data.seeds, spec.seeds) if seeds is not None)
    return list(range(chosen)) if isinstance(chosen, int) else list(chosen)


def _task(
    spec: StudySpec, data: DataSpec, method: MethodSpec, setting: dict[str, Any], seed: int, place: int, index: int
) -> Task:
    parameters = spec.parameters(method, setting)
    config = {
        "dataset": data_config(data),
        "method": method.name,
        "parameters": parameters,
        "rows": method.rows,
        "seed": seed,
        "pool": {"n": spec.pool, "seed": spec.pool_seed},
        "sampled": "sampled" in spec.representations,
    }
    marks = marks_of(data, spec.uses(method, setting)) if data.evidence else {}
    if marks:
        config["evidence"] = marks
    value = parameters.get(method.strength_name or "")
    strength = float(value) if isinstance(value, int | float) else None
    run = address_of({"config": config, "code": _code(method.name)})
    files = {name: data.evidence[name] for name in marks}
    return Task(index, run, config, files, data.title, method.title, strength, seed, place)


def data_config(data: DataSpec) -> dict[str, Any]:
    """Everything that the drawn rows of a data set depend on."""
    return {"name": data.name, "options": data.options, "shrink": data.shrink, "rows": data.rows}


@cache
def _code(method: str) -> dict[str, Any]:
    """Versions that affect results: of this package, to the minor number, of torch, and of a user's own file."""
    from unbraid import __version__

    about = method_of(method)
    found = {"unbraid": __version__} | ({"torch": version("torch")} if "torch" in about.needs else {})
    code = {"revision": REVISION} | {name: ".".join(number.split(".")[:2]) for name, number in found.items()}
    return code | ({"source": _source(about)} if isinstance(about, OwnMethod) else {})


def _source(method: OwnMethod) -> str:
    """A fingerprint of the file of a user's own class: other code, other runs."""
    file = inspect.getsourcefile(method.load())
    return hashlib.sha256(Path(file).read_bytes() if file else b"").hexdigest()[:16]


def address_of(content: Any) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of JSON content, whatever the order of its keys.

    >>> address_of({"a": 1, "b": 2}) == address_of({"b": 2, "a": 1})
    True
    """
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
