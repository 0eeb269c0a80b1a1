"""What a worker does with a task: draw the data, fit, encode the pinned pool, score it, draw a strip."""

import platform
import socket
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from unbraid import datasets
from unbraid.data.observations import Observations
from unbraid.data.rows import Rows
from unbraid.datasets.conditional import Conditional
from unbraid.evaluation import PROTOCOLS, draw_sample
from unbraid.evaluation.registry import select
from unbraid.methods import Method, is_own, method_of
from unbraid.metrics import Metric
from unbraid.runtime.determinism import one_thread
from unbraid.study.artefacts import pack_array, pack_codes, unpack_codes
from unbraid.study.evidence import observed
from unbraid.study.spec import DataSpec, parameters_of
from unbraid.study.store import Result
from unbraid.study.tasks import address_of, data_config

TRAINING_SEED = 1  # for training rows that are drawn once; the pool has its seed in the spec
BLOCK = 4096  # observations drawn at a time


@dataclass(frozen=True)
class Order:
    """An order to a worker: the task's address and config, how to score it, and where to resume."""

    run: str
    config: dict[str, Any]
    files: dict[str, str]
    metrics: dict[str, list[str]]
    protocol: str
    checkpoint: str | None
    checkpoint_every: int
    deadline: float | None

    @property
    def key(self) -> str:
        return self.run

    @property
    def mark(self) -> float | None:
        """When the checkpoint was written."""
        path = Path(self.checkpoint) if self.checkpoint else None
        return path.stat().st_mtime if path and path.exists() else None


@dataclass(frozen=True)
class Paused:
    """A task stopped by the deadline, after its checkpoint was written."""

    run: str


def perform(order: Order) -> Result | Paused:
    """Run a task, from its checkpoint if there is one; with one thread, so that results do not depend on the number of
    cores."""
    began, cpu = time.monotonic(), time.process_time()
    config, method = order.config, method_of(order.config["method"])
    model = method.load()(**_parameters(order, method))
    with one_thread(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _fit(model, _training_data(order, method), method)
        if method.trained and model.stopped_.startswith("max_seconds"):
            return Paused(order.run)
        X, factors, about = pool_of(config)
        codes = {"mean": np.asarray(model.transform(_plain(X) if is_own(method) else X))}
        if config["sampled"] and is_variational(method):
            codes["sampled"] = np.asarray(model.sample_codes(X, random_state=config["seed"]))
        packed = {name: pack_codes(z) for name, z in codes.items()}
        scores = []
        for name, data in packed.items():
            metrics = select(order.metrics[name], observations=True)
            scores += [(name, *row) for row in score(factors, unpack_codes(data), metrics, order.protocol, X)]
        strip = strip_of(model, method, codes["mean"])
    history = model.history_ if method.trained else []
    artefacts = {f"codes/{name}": data for name, data in packed.items()}
    return Result(
        run=order.run,
        seconds=time.monotonic() - began,
        steps=model.n_steps_ if method.trained else None,
        pool=address_of(about),
        pool_about=about,
        factors=pack_array(factors),
        artefacts=artefacts if strip is None else artefacts | {"strip": pack_array(strip)},
        scores=scores,
        protocol=order.protocol,
        losses=_losses(model, method, history),
        curves=[{k: v for k, v in record.items() if k != "seconds"} for record in history],
        provenance=_provenance(config, about, time.process_time() - cpu, caught),
    )


def _fit(model: Any, data: Any, method: Method) -> None:
    """Fit a model; a class of the user's own gets a plain matrix, and what is known by keywords."""
    if not is_own(method):
        model.fit(data)
        return
    known = data if isinstance(data, Observations) else Observations(data)
    evidence = {name: getattr(known, name) for name in known.evidence}
    labels = evidence.pop("labels", None)
    model.fit(_plain(known.X), **evidence if labels is None else evidence | {"y": labels})


def _plain(X: Any) -> np.ndarray:
    """Rows as a matrix of floats, pictures in [0, 1]."""
    rows = Rows(X).array()
    return rows.reshape(len(rows), -1)


def _parameters(order: Order, method: Method) -> dict[str, Any]:
    given = dict(order.config["parameters"])
    known = parameters_of(order.config["method"])
    if "random_state" in known:
        given["random_state"] = order.config["seed"]
    if "null" in known:
        given.setdefault("null", "off")  # a study compares its runs with the truth
    if method.trained:
        given |= {"progress": False, "checkpoint": order.checkpoint, "checkpoint_every": order.checkpoint_every}
        if order.deadline is not None:
            given["max_seconds"] = max(order.deadline - time.time(), 0.0)
    return given


def is_variational(method: Method) -> bool:
    """Whether a method has a posterior from which codes can be sampled."""
    return hasattr(method.load(), "sample_codes")


def training_rows(data: DataSpec) -> tuple[np.ndarray, np.ndarray]:
    """The observations that a study draws once of a data set with ``rows``, and their factors.

    Parameters
    ----------
    data : DataSpec

    Returns
    -------
    X : array (rows, ...)
    factors : array (rows, number of factors)
    """
    about = data_config(data)
    return _drawn(_key(about), about["rows"], TRAINING_SEED)


def _training_data(order: Order, method: Method) -> Any:
    config = order.config
    about, rows = config["dataset"], config["rows"]
    if order.files:
        return observed(_rows_once(_key(about), about["rows"], TRAINING_SEED)[0], order.files, config["evidence"])
    data, own = _dataset(_key(about)), np.random.default_rng([TRAINING_SEED, config["seed"]])
    if "labels" in method.needs:
        if not isinstance(data, Conditional):
            raise ValueError(f"{method.title} needs labels, and {data.name} has none.")
        once = np.random.default_rng(TRAINING_SEED)
        X, _, labels = data.sample_conditional(rows or about["rows"], random_state=once if rows is None else own)
        return Observations(X, labels=labels)
    if rows is not None:
        return _shrunk(data.sample(rows, random_state=own)[0], about["shrink"])
    return data if about["rows"] is None else _rows_once(_key(about), about["rows"], TRAINING_SEED)[0]


def _key(about: dict[str, Any]) -> tuple[Any, ...]:
    options = tuple(sorted((k, tuple(v) if isinstance(v, list) else v) for k, v in about["options"].items()))
    return about["name"], options, about["shrink"], about["rows"]


@lru_cache(maxsize=2)
def _dataset(key: tuple[Any, ...]) -> Any:
    return datasets.load(key[0], **dict(key[1]))


def _drawn(key: tuple[Any, ...], n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Observations and factors, drawn in blocks so that large images are shrunk before all of them are in memory."""
    data = _dataset(key)
    blocks = []
    for start in range(0, n, BLOCK):
        X, factors = data.sample(min(BLOCK, n - start), random_state=[seed, start])
        blocks.append((_shrunk(X, key[2]), factors))
    pictures, truth = map(np.concatenate, zip(*blocks))
    return pictures, truth


# Kept for the worker's next task.
_rows_once = lru_cache(maxsize=2)(_drawn)
_pool_once = lru_cache(maxsize=2)(_drawn)


def _shrunk(X: np.ndarray, by: int) -> np.ndarray:
    """Images averaged over squares of ``by`` x ``by`` pixels, as uint8; other data unchanged."""
    if X.ndim < 3:
        if by > 1:
            raise ValueError(f"shrink={by} needs images; these observations have shape {X.shape[1:]}.")
        return X
    if X.shape[1] % by or X.shape[2] % by:
        raise ValueError(
            f"shrink={by} does not divide images of {X.shape[1]} x {X.shape[2]} pixels. Choose a divisor of both."
        )
    unit = 1.0 if X.dtype == np.uint8 else 255.0
    if by == 1:
        return X if X.dtype == np.uint8 else np.round(X * unit).astype(np.uint8)
    n, height, width = X.shape[0], X.shape[1] // by, X.shape[2] // by
    squares = X.reshape(n, height, by, width, by, *X.shape[3:])
    return np.round(squares.mean(axis=(2, 4), dtype=np.float32) * unit).astype(np.uint8)


def pool_of(config: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Observations and factors of the pinned pool, and its description."""
    key, pool = _key(config["dataset"]), config["pool"]
    X, factors = _pool_once(key, pool["n"], pool["seed"])
    about = {
        "dataset": config["dataset"],
        **pool,
        "factor_names": list(_dataset(key).factor_names),
        "shape": list(X.shape[1:]),
        "fingerprint": Observations(X).fingerprint(),
    }
    return X, factors, about


def score(
    factors: np.ndarray, codes: np.ndarray, metrics: Sequence[Metric], protocol: str, X: np.ndarray | None = None
) -> list[tuple[str, float]]:
    """Scores of stored codes, with one thread: rounding depends on how many threads share a sum."""
    rules = PROTOCOLS[protocol]
    rows = None if X is None else Rows(X)
    found: list[tuple[str, float]] = []
    with one_thread():
        sample = draw_sample(factors, codes, rows, **rules.sizes)
        for metric in metrics:
            found += zip(metric.rows, metric.compute(sample, rules, rules.random_state))
    return found


def strip_of(model: Any, method: Method, codes: np.ndarray) -> np.ndarray | None:
    """A uint8 image with one row per code and seven steps along it; None if the model does not decode to images."""
    from unbraid.report.drawing import as_pictures, is_pictures, tiled
    from unbraid.report.traversal import traversals

    if not method.decodes or is_own(method):
        return None
    rows = traversals(model.inverse_transform, codes, n_steps=7, span="quantiles")
    if not is_pictures(rows.shape[2:]):
        return None
    return np.round(tiled(as_pictures(rows, 2)) * 255).astype(np.uint8)


def _losses(model: Any, method: Method, history: list[dict[str, Any]]) -> dict[str, float]:
    """The last training record, and the KL divergence of each code."""
    last = history[-1] if history else {}
    found = {k: float(v) for k, v in last.items() if isinstance(v, int | float) and k not in ("step", "seconds")}
    if is_variational(method):
        found["elbo"] = -(found["reconstruction"] + found["kl"])
        found |= {f"kl.{i}": float(value) for i, value in enumerate(model.kl_)}
    return found


def _provenance(config: dict[str, Any], pool: dict[str, Any], cpu: float, caught: Sequence[Any]) -> dict[str, Any]:
    return {
        "versions": _versions(),
        "python": platform.python_version(),
        "machine": socket.gethostname(),
        "system": platform.platform(),
        "seed": config["seed"],
        "cpu_seconds": cpu,
        "data": pool["fingerprint"],
        "finished": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "warnings": sorted({f"{w.category.__name__}: {w.message}" for w in caught}),
    }


@cache
def _versions() -> dict[str, str]:
    """Versions of this package and of those that affect results; "none" if one is not installed."""
    from unbraid import __version__

    found = {"unbraid": __version__}
    for name in ("numpy", "scipy", "scikit-learn", "torch"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found


def checkpoint_of(folder: Path, run: str) -> Path:
    """Path of a run's checkpoint."""
    return folder / "checkpoints" / f"{run}.safetensors"
