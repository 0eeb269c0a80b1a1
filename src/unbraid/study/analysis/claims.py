"""The claims of Locatello et al. (2019) about their study, which any study can be compared with."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unbraid.evaluation.claims import Claim, Part
from unbraid.evaluation.interval import interval
from unbraid.study.analysis.paper import FIGURES, variance_range


def _claim(name: str, line: dict[str, Any]) -> Claim:
    """A claim of ``paper.toml``; the ends of its tolerance are outside: "more than", not "at least"."""
    if "range" in line:
        least, mean, most = variance_range(line["range"])
        paper = f"{100 * mean:.0f} % on average ({100 * least:.0f} to {100 * most:.0f} %)"
        line = {k: v for k, v in line.items() if k != "range"} | {"paper": paper, "least": least, "most": most}
    return Claim(name, exclusive=True, **line)


CLAIMS = {name: _claim(name, line) for name, line in FIGURES["claims"].items()}


def judged(claim: str, value: ArrayLike, low: ArrayLike, high: ArrayLike, *, parts: Sequence[str] = ("",)) -> Claim:
    """The claim of this id with figures of a study, each with its 95 % interval over seeds (NaN with too few seeds)."""
    numbers = np.column_stack([np.ravel(x) for x in (value, low, high)])
    found = {name: Part(*map(float, row)) for name, row in zip(parts, numbers, strict=True)}
    needed = ("An interval needs three seeds or more of each setting.",) * bool(np.isnan(numbers).any())
    return CLAIMS[claim].judge(found, *needed)


def estimated(
    claim: str, value: ArrayLike, drawn: ArrayLike, limits: tuple[float, float], *, parts: Sequence[str] = ("",)
) -> Claim:
    """:func:`judged` by a figure and its resamples; ``limits`` are the least and largest value that it can have."""
    low, high = interval(np.asarray(value), np.asarray(drawn), limits)
    return judged(claim, value, low, high, parts=parts)
