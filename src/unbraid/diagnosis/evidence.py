"""Whether what is known about the rows (time, pairs, conditions, some labels) determines the codes of an embedding."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data.labels import read_labels
from unbraid.data.observations import Observations
from unbraid.diagnosis.findings import Diagnosis, Finding, finding, measured
from unbraid.diagnosis.survey import MOST_ROWS
from unbraid.estimator.summary import counted
from unbraid.manifold.neighbors import Floats
from unbraid.spectral.evidence import BY, identical, rotation_for
from unbraid.spectral.evidence_figures import autocorrelation, coherence, effective_share, evidence_turn
from unbraid.spectral.ica import whitening
from unbraid.trust import support
from unbraid.trust.table import FIGURES

FEWEST_PAIRS = 30  # that are worth comparing
ORDER = ("pairs", "time", "labels")  # of the pieces of evidence, the first that serves rotates the codes

TESTED = {  # the findings on each piece of evidence, those that decide first
    "pairs": ("pair_sparsity", "evidence_turn"),
    "time": ("autocorrelation", "evidence_turn", "coherence"),
    "labels": ("labelled_rows", "conditional_dependence", "evidence_turn", "class_information", "conditions"),
}

CodesOf = Callable[[NDArray[np.intp]], Floats]  # from row numbers, in increasing order, to codes


@dataclass(frozen=True)
class Turned:
    """One piece of evidence, held against an embedding.

    Attributes
    ----------
    rotation : str
        "pairs", "time", "condition" or "labels".
    findings : list of Finding
    turn : callable or None
        From codes of the first fit to codes rotated by the evidence; None if it cannot rotate them.
    effective : float
        How many independent rows one row counts for; below 1 if rows that follow each other are alike.
    """

    rotation: str
    findings: list[Finding]
    turn: Callable[[Floats], Floats] | None
    effective: float = 1.0

    @property
    def serves(self) -> bool:
        """Whether it can rotate the codes, and nothing speaks against it."""
        return self.turn is not None and all(found.holds is not False for found in self.findings)


def turned_by(known: Observations, codes_of: CodesOf, rng: np.random.RandomState) -> list[Turned]:
    """Every piece of evidence that is given and could rotate the codes."""
    about = {"pairs": _by_pairs, "time": _by_time, "labels": _by_labels}
    return [about[name](known, codes_of, rng) for name in ORDER if name in known.evidence]


def why_unused(name: str, found: Diagnosis) -> str:
    """What speaks against a piece of evidence, in words; empty if nothing does, or if the codes do without it.

    Evidence that fails the first test of its kind, or is too little for one, looks like a mistake: that is told even
    where the codes do without it.
    """
    about = [f for f in found.findings if f.key in TESTED.get(name, ()) and f.holds is not True]
    if found.verdict == "yes":
        about = [f for f in about if f.figure is None or (f.holds is False and f.key == TESTED[name][0])]
    about.sort(key=lambda f: TESTED[name].index(f.key))
    return about[0].words if about else ""


def _by_time(known: Observations, codes_of: CodesOf, rng: np.random.RandomState) -> Turned:
    order = np.argsort(known.time, kind="stable")
    middle = order[max(0, (len(order) - MOST_ROWS) // 2) :][:MOST_ROWS]
    rows = np.sort(middle)
    codes, time = codes_of(rows), known.time[rows]
    Z = whitening(codes)(codes)
    figure = autocorrelation(Z, time)
    words = (
        f"Rows that follow each other are more alike than shuffled ones by {figure:.3g} standard deviations."
        if FIGURES["autocorrelation"].holds(figure)
        else f"Rows that follow each other are no more alike than shuffled ones ({figure:.2g} standard deviations)."
    )
    shared = coherence(Z, time)
    depend = f"Codes rotated by time depend on each other over time {shared:.1f} times as much as by chance."
    found = _turned("time", codes, time, [measured("autocorrelation", figure, words)])
    clear = found.findings[-1].holds is True  # else it may be chance
    apart = measured("coherence", shared, depend, otherwise=False if clear else None)
    return replace(found, findings=[*found.findings, apart], effective=effective_share(Z, time))


def _by_pairs(known: Observations, codes_of: CodesOf, rng: np.random.RandomState) -> Turned:
    some = known.pairs[np.sort(rng.permutation(len(known.pairs))[: MOST_ROWS // 2])]
    rows, place = np.unique(some, return_inverse=True)
    if len(rows) < FEWEST_PAIRS:
        return Turned("pairs", [_too_few(len(some))], None)
    codes, pairs = codes_of(rows), place.reshape(-1, 2)
    found = _turned("pairs", codes, pairs, [])
    if found.turn is None:
        return found
    return Turned("pairs", [pair_finding(pairs, found.turn(codes), rng), *found.findings], found.turn)


def _by_labels(known: Observations, codes_of: CodesOf, rng: np.random.RandomState) -> Turned:
    labels = known.labels
    if rotation_for(known.only("labels")) == "condition":
        some = np.sort(rng.permutation(len(labels))[:MOST_ROWS])
        classes = read_labels(labels, len(labels))
        codes = codes_of(some)
        if classes.kind != "classes":
            words = (
                "Numbers that every row has are a condition, which cannot rotate codes. If they are a factor, "
                "rotation='labels' can."
            )
            return Turned("condition", [finding("labelled_rows", None, None, words, decides=False)], None)
        return _by_condition(codes, classes.values[some])
    values = labels.reshape(len(labels), -1).astype(np.float64)
    d = codes_of(np.arange(min(2, len(labels)))).shape[1]
    needed, has = 2 * d + 1, np.isfinite(values)
    counts = has.sum(axis=0)
    told = int((counts >= needed).sum())
    words = (
        f"Labels of {counted(len(counts), 'factor')} are known in {', '.join(map(str, counts))} rows; "
        f"{counted(d, 'factor')} need {needed} rows each."
    )
    enough = bool(told) and len(counts) <= d
    count = finding("labelled_rows", enough, float(counts.max()), words, threshold=float(needed))
    if not enough:
        return Turned("labels", [count], None)
    rows = np.flatnonzero(has.any(axis=1))[:MOST_ROWS]
    if told < d:  # the others are found by all rows
        rows = np.sort(np.r_[rows, rng.permutation(np.flatnonzero(~has.any(axis=1)))[: MOST_ROWS - len(rows)]])
    codes = codes_of(rows)
    found = _turned("labels", codes, values[rows], [count])
    if found.turn is None:
        return found
    return replace(found, findings=_with_unlabelled(found.findings, found.turn(codes), told))


def _with_unlabelled(findings: list[Finding], codes: Floats, told: int) -> list[Finding]:
    """Factors without labels follow by independence: what the labels show is open where that does not hold."""
    d = codes.shape[1]
    words = f"{told} of {counted(d, 'factor')} {'is' if told == 1 else 'are'} known in enough rows."
    if told < d:
        nats = max(support.dependence(codes), 0.0)
        words += f" The others are found by independence; the mutual information of two codes is {nats:.3f} nats."
        unclear = told < d - 1 and not FIGURES["separability"].holds(support.separability(codes), "clear")
        if unclear or not FIGURES["dependence"].holds(nats):
            findings = [replace(f, holds=f.holds and None) if f.key == "evidence_turn" else f for f in findings]
    every = finding("labelled_factors", True if told == d else None, float(told), words, threshold=float(d))
    return [*findings, every]


def _by_condition(codes: Floats, classes: NDArray[np.intp]) -> Turned:
    kept = classes >= 0
    codes, classes = codes[kept], classes[kept]
    found = _turned("condition", codes, classes, [])
    if found.turn is None or codes.shape[1] == 1:
        return found
    turned = found.turn(codes)
    for name in np.unique(classes):
        part = turned[classes == name]
        turned[classes == name] = (part - part.mean(axis=0)) / np.maximum(part.std(axis=0), 1e-300)
    nats = support.dependence(turned)
    words = f"Within a condition the mutual information of two codes is {max(nats, 0):.3f} nats."
    return Turned("condition", [*found.findings, measured("conditional_dependence", nats, words)], found.turn)


def _turned(rotation: str, codes: Floats, given: Any, before: list[Finding]) -> Turned:
    """With the finding on whether halves of the evidence agree."""
    white = whitening(codes)
    Z = white(codes)
    try:
        matrix = BY[rotation](Z, given)
    except ValueError as error:
        words = f"Not checked: {error}"
        return Turned(rotation, [*before, finding("evidence_turn", None, None, words)], None)
    figure = evidence_turn(rotation, Z, given)
    if np.isnan(figure):
        words = f"There is too little of {rotation} to compare the codes that its halves find."
        agree = finding("evidence_turn", None, None, words)
    else:
        what = {"time": "the times", "pairs": "the pairs", "condition": "the rows", "labels": "the labelled rows"}
        words = f"Two halves of {what[rotation]} find codes that are {figure:.1f} degrees apart."
        agree = measured("evidence_turn", figure, words)
    return Turned(rotation, [*before, agree], lambda other: white(other) @ matrix.T)


def pair_finding(pairs: NDArray[np.intp], codes: Floats, rng: np.random.RandomState) -> Finding:
    """Whether the two rows of a pair differ along few codes: 1 if along one, 0 if like any two rows."""
    same = identical(codes, pairs)
    seen = pairs[~same]
    if len(seen) < FEWEST_PAIRS or codes.shape[1] < 2:
        return _too_few(len(seen), codes.shape[1])
    scaled = codes / np.maximum(codes.std(axis=0), 1e-300)
    chance = rng.randint(len(codes), size=(max(1000, len(seen)), 2))
    figure = 1 - _spread_over(scaled, seen) / max(_spread_over(scaled, chance[chance[:, 0] != chance[:, 1]]), 1e-300)
    words = (
        f"Pairs differ along a single code to {100 * max(figure, 0):.0f} % (0: like any two rows; 100: one code only)."
    ) + (f" {same.sum()} of {len(pairs)} pairs join rows that are the same point." if same.any() else "")
    return measured("pair_sparsity", figure, words)


def _too_few(pairs: int, codes: int = 0) -> Finding:
    of = f" and {counted(codes, 'code')}" if codes else ""
    return finding("pair_sparsity", None, None, f"{pairs} pairs of rows that differ{of}: too few to compare.")


def _spread_over(codes: Floats, pairs: NDArray[np.intp]) -> float:
    """Median share of a difference that is not along its largest code."""
    moves = np.square(codes[pairs[:, 0]] - codes[pairs[:, 1]])
    total = np.maximum(moves.sum(axis=1), 1e-300)
    return float(np.median(1 - moves.max(axis=1) / total))
