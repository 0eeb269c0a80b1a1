"""Every metric of a representation from one pool of codes, with its error, its chance level and its ceiling."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unbraid.evaluation.interval import interval, replicate
from unbraid.evaluation.pool import encode_pool
from unbraid.evaluation.protocol import PROTOCOLS, Protocol, find_protocol
from unbraid.evaluation.registry import REGISTRY, register, select
from unbraid.evaluation.sample import Sample, ceiling_codes, draw_sample
from unbraid.evaluation.table import Evaluation, Score
from unbraid.metrics import Metric
from unbraid.metrics.arrays import known_order
from unbraid.runtime.progress import bar
from unbraid.runtime.tracking import Track
from unbraid.trust.warnings import warn

__all__ = [
    "PROTOCOLS",
    "REGISTRY",
    "Evaluation",
    "Metric",
    "Protocol",
    "Sample",
    "Score",
    "ceiling_codes",
    "draw_sample",
    "evaluate",
    "interval",
    "register",
]


def evaluate(
    factors: Any,
    codes: Any,
    metrics: str | Iterable[str] = "all",
    *,
    protocol: str | Protocol = "fast",
    kinds: Sequence[str] | None = None,
    code_kinds: Sequence[str] | None = None,
    progress: bool | None = None,
) -> Evaluation:
    """Score a representation: each metric with its 95 % interval, chance level and ceiling.

    One pool of samples is encoded once, and every metric is computed from it. The interval comes from random halves of
    the sample (:func:`unbraid.evaluation.interval`). Chance is the score of the same codes paired with other samples;
    the ceiling is that of codes that determine the factors (:func:`unbraid.evaluation.ceiling_codes`), as many as the
    given ones, of the same size, binning and marginals. A score is meaningful only relative to these two.

    A model that was fitted with the factors of some rows (``rotation="labels"``) is not scored on these rows, wherever
    they stand in the data.

    Parameters
    ----------
    factors : array (n_samples, n_factors), or data to encode
        A data set, its name, a pair (X, factors), or :class:`~unbraid.Observations` with factors.
        Integers are classes, floats are continuous. A data set has ``sample(n, random_state) -> X, factors``. X is
        anything that the model's ``fit`` takes: arrays, memory maps, files, frames, tensors, Dask arrays. Of Dask
        arrays as many rows are drawn as the protocol needs, where the blocks are.
    codes : array (n_samples, n_codes), estimator with ``transform``, or function of X
        A model or function encodes the data. A model is recognised by its type, so ``evaluate(model, dataset)`` means
        the same as ``evaluate(dataset, model)``; arrays come in the order of every metric.
    metrics : "all", a name, or names
        Names of metrics or of rows of the table.
    protocol : {"fast", "dlib-v1"} or Protocol
        "dlib-v1" has the sample sizes and settings of the study: minutes per metric where trees are trained. "fast" has
        the same estimands with smaller samples, and DCI by the compiled backend.
    kinds, code_kinds : sequences of str, optional
        What the factors and the codes are, as :func:`unbraid.metrics.mcc` takes it: ``mcc`` and ``mcc_spearman`` then
        compare angles as angles. All other metrics, and their ceilings, treat an angle as a number.
    progress : bool, optional
        Show a progress bar; by default on a terminal.

    Returns
    -------
    Evaluation
        One row per score; ``print`` shows the table, ``evaluation["mig"].value`` is a number.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.integers(0, 5, size=(500, 2))
    >>> result = evaluate(factors, factors + 0.3 * rng.normal(size=(500, 2)), metrics=["mcc", "mig"])
    >>> result["mcc"].low < result["mcc"].value < result["mcc"].high
    True
    """
    rules = find_protocol(protocol)
    with known_order(), bar("evaluate", total=None, show=progress) as advance:
        factors, codes, observations, seen = encode_pool(
            factors, codes, rules.pool, rules.random_state, lambda n: advance(n, metric="encode")
        )
        chosen = select(metrics, observations=observations is not None)
        sample = draw_sample(factors, codes, observations, without=seen, **rules.sizes)
        if kinds is not None or code_kinds is not None:
            sample = replace(sample, kinds={"kinds": kinds, "code_kinds": code_kinds})
        ideals = sample.ideals(rules.ceiling_marginal, rules.random_state)
    n_factors, n_codes = sample.pool_factors.shape[1], sample.pool_codes.shape[1]
    if n_codes < n_factors and observations is None:  # a model is recognised by its type
        warn("UB107", n_factors=n_factors, n_codes=n_codes)
    scores: list[Score] = []
    n_steps = sum(_steps(x, rules) + len(ideals) for x in chosen)
    with known_order(), bar("score", total=n_steps, show=progress) as advance:
        for metric in chosen:
            scores += _rows(metric, sample, ideals, rules, advance)
    from unbraid import __version__

    found = Evaluation(
        scores=tuple(scores),
        protocol=rules,
        n_samples=len(sample.rows),
        n_train=len(sample.train),
        n_test=len(sample.test),
        n_codes=n_codes,
        n_factors=n_factors,
        version=__version__,
        n_left_out=0 if seen is None else int(seen.sum()),
        kinds=tuple(kinds or ()),
    )
    _track(found)
    return found


def _track(found: Evaluation) -> None:
    """Send the scores to the active tracker."""
    about = {name: getattr(found, name) for name in ("n_samples", "n_codes", "n_factors", "version")}
    track = Track("evaluation", {"protocol": found.protocol.name, **about})
    figures: dict[str, float] = {}
    for score in found:
        figures[score.name] = score.value
        figures |= {f"{score.name}_{part}": getattr(score, part) for part in ("low", "high", "chance", "ceiling")}
    track(figures, 0)


def _steps(metric: Metric, rules: Protocol) -> int:
    """Value, chance and replicates."""
    chance = rules.chance_draws[metric.cost] if metric.supervised else 0
    return 1 + chance + rules.replicates[metric.cost]


def _rows(metric: Metric, sample: Sample, ideals: list[Sample], rules: Protocol, advance: Any) -> list[Score]:
    """Value, interval, chance and ceiling of every row of one metric."""
    seed = rules.random_state

    def compute(of: Sample, seed: int) -> tuple[float, ...]:
        found = metric.compute(of, rules, seed)
        advance(1, metric=metric.name)
        return found

    began = time.perf_counter()
    value = np.array(compute(sample, seed))
    seconds = time.perf_counter() - began
    halves = replicate(lambda rng: compute(sample.half(rng), _draw(rng)), rules.replicates[metric.cost], seed + 1)
    low, high = interval(value, halves, metric.bounds)
    chance = np.full(len(value), np.nan)
    if metric.supervised:
        drawn = replicate(
            lambda rng: compute(sample.independent(rng), _draw(rng)), rules.chance_draws[metric.cost], seed + 2
        )
        chance = drawn.mean(axis=0)
    best = np.max if metric.better == "high" else np.min
    ceiling = best([compute(ideal, seed) for ideal in ideals], axis=0)
    numbers = np.column_stack([value, low, high, chance, ceiling]).tolist()
    return [
        Score(name, v, a, b, c, top, seconds, metric.better) for name, (v, a, b, c, top) in zip(metric.rows, numbers)
    ]


def _draw(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))
