"""Sweeps as data: product, zip and chain of parameter values, and tables of them."""

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

WORDS = ("product", "zip", "chain")


def expand(sweep: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every setting of a sweep, in order.

    ``product`` takes every combination of its lists, ``zip`` pairs them up, ``chain`` concatenates sweeps. Plain
    names are lists too: ``{beta = [1, 4]}`` is ``{product = {beta = [1, 4]}}``.
    Parts given together are combined.

    Parameters
    ----------
    sweep : mapping

    Returns
    -------
    list of dict

    Examples
    --------
    >>> expand({"beta": [1, 4], "zip": {"a": [1, 2], "b": [3, 4]}})[:2]
    [{'beta': 1, 'a': 1, 'b': 3}, {'beta': 1, 'a': 2, 'b': 4}]
    >>> expand({"chain": [{"beta": [1, 2]}, {"gamma": [5]}]})
    [{'beta': 1}, {'beta': 2}, {'gamma': 5}]
    """
    plain = {name: values for name, values in sweep.items() if name not in WORDS}
    parts = [_settings(plain, product)]
    for word, join in (("product", product), ("zip", zip)):
        if word in sweep:
            parts.append(_settings(_table(sweep[word], word), join))
    if "chain" in sweep:
        if not isinstance(sweep["chain"], list):
            raise ValueError("chain is a list of sweeps, as in chain = [{beta = [1, 2]}, {beta = [10]}].")
        parts.append([setting for part in sweep["chain"] for setting in expand(_table(part, "chain"))])
    settings: list[dict[str, Any]] = [{}]
    for part in parts:
        names = {name for setting in part for name in setting}
        twice = names & {name for setting in settings for name in setting}
        if twice:
            raise ValueError(f"{', '.join(sorted(twice))} is swept twice; name each parameter once.")
        settings = [{**a, **b} for a in settings for b in part]
    return settings


def _table(value: Any, word: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{word} is a table of lists, as in {word} = {{beta = [1, 4]}}; received {value!r}.")
    return value


def _settings(lists: Mapping[str, Any], join: Callable[..., Iterable[tuple]]) -> list[dict[str, Any]]:
    for name, values in lists.items():
        if not isinstance(values, list) or not values:
            raise ValueError(f"{name} = {values!r} is swept, so it must be a list with at least one value.")
    if join is zip and len({len(values) for values in lists.values()}) > 1:
        lengths_shown = ", ".join(f"{name} has {len(values)}" for name, values in lists.items())
        raise ValueError(f"zip needs lists of equal length: {lengths_shown}.")
    return [dict(zip(lists, values)) for values in join(*lists.values())]
