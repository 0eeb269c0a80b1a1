"""Which metrics :func:`unbraid.evaluate` knows: those of the table, and those that users add."""

from collections.abc import Iterable

from unbraid.metrics import METRICS, Metric

REGISTRY = {metric.name: metric for metric in METRICS if metric.score is not None}


def register(metric: Metric) -> None:
    """Add a metric of your own to :func:`unbraid.evaluate`; a name or row that is taken is an error.

    Parameters
    ----------
    metric : Metric
        Its name, and its value as a function of a sample, a protocol and a seed; for more, see
        :class:`unbraid.metrics.Metric`.

    Examples
    --------
    >>> import unbraid as ub
    >>> spread = ub.metrics.Metric("spread", lambda sample, protocol, seed: sample.codes.std(), needs=())
    >>> ub.evaluation.register(spread)
    >>> ub.evaluate([0, 1, 0, 1], [[0.0], [1.0], [0.0], [1.0]], metrics="spread")["spread"].value
    0.5
    >>> del ub.evaluation.REGISTRY["spread"]
    """
    taken = {name for known in REGISTRY.values() for name in (known.name, *known.rows)}
    clash = taken & {metric.name, *metric.rows}
    if clash:
        raise ValueError(f"the metric name(s) {', '.join(sorted(clash))} are already in use. Choose another name.")
    if metric.score is None:
        raise ValueError(f"{metric.name} has no score, a function of (sample, protocol, seed). Give one.")
    REGISTRY[metric.name] = metric


def select(names: str | Iterable[str], *, observations: bool) -> list[Metric]:
    """The metrics that give the named rows; "all" is every one that the data allow."""
    if isinstance(names, str) and names == "all":
        return [x for x in REGISTRY.values() if observations or "observations" not in x.needs]
    wanted = [names] if isinstance(names, str) else list(names)
    owner = {row: x for x in REGISTRY.values() for row in (x.name, *x.rows)}
    unknown = [n for n in wanted if n not in owner]
    if unknown or not wanted:
        raise ValueError(
            f"unknown metric(s): {', '.join(unknown) or '(none given)'}. Available: all, {', '.join(REGISTRY)}."
        )
    chosen = {owner[n].name: owner[n] for n in wanted}
    missing = [x.name for x in chosen.values() if "observations" in x.needs and not observations]
    if missing:
        raise ValueError(
            f"{', '.join(missing)} need the observations: evaluate a model on a data set or on (X, factors)."
        )
    return list(chosen.values())
