"""Whether labels and pairs are suited to identify the factors."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data.labels import Labels, parse_labels
from unbraid.diagnosis.findings import Finding, finding, measured
from unbraid.manifold.neighbors import Floats, nearest

STATISTICS = 2  # of a Gaussian factor under one condition: mean and variance
NEIGHBORS = 10
FEWEST_PAIRS = 30  # that are worth comparing


def label_findings(labels: Any, rows: NDArray[np.intp], points: Floats, n: int, d: int) -> list[Finding]:
    """What the theory of GIN requires of labels: enough conditions, large classes, overlap, and information."""
    known = parse_labels(labels, n)
    found = [_conditions(known, d)]
    if known.kind != "classes":
        return found
    classes = known.values[rows]
    kept = classes >= 0
    return [*found, _sizes(known), *_neighbors(classes[kept], points[kept])]


def _conditions(known: Labels, d: int) -> Finding:
    needed = d * STATISTICS + 1
    if known.kind == "continuous":
        words = "The condition is continuous: there are as many conditions as rows."
        return finding("conditions", True, None, words, threshold=float(needed))
    count = len(known.classes)
    words = (
        f"{count} conditions; the proof for {d} Gaussian factors with a mean and a variance each requires "
        f"{d} x {STATISTICS} + 1 = {needed}."
    )
    return finding("conditions", count >= needed, float(count), words, threshold=float(needed))


def _sizes(known: Labels) -> Finding:
    least = int(np.bincount(known.values[known.values >= 0]).min())
    return measured("class_size", float(least), f"The smallest class has {least} members.")


def _neighbors(classes: NDArray[np.intp], points: Floats) -> list[Finding]:
    _, near = nearest(points, min(NEIGHBORS, len(points) - 1))
    same = classes[near] == classes[:, None]
    mixed = float(np.mean(~same.all(axis=1)))
    shares = np.bincount(classes) / len(classes)
    excess = float(same.mean() - np.sum(shares**2))
    overlap = f"{100 * mixed:.0f} % of the points have a neighbour in another class."
    shared = f"Neighbours share a class {100 * excess:.0f} percentage points more often than by chance."
    return [measured("class_overlap", mixed, overlap), measured("class_information", excess, shared, otherwise=None)]


def pair_finding(pairs: NDArray[np.intp], place: dict[int, int], codes: Floats, rng: np.random.RandomState) -> Finding:
    """Whether the two rows of a pair differ along few codes: 1 if along one, 0 if like any two rows."""
    seen = np.array([(place[i], place[j]) for i, j in pairs.tolist() if i in place and j in place], dtype=np.intp)
    if len(seen) < FEWEST_PAIRS or codes.shape[1] < 2:
        words = f"{len(seen)} pairs among the examined rows and {codes.shape[1]} code(s): too few to compare."
        return finding("pair_sparsity", None, None, words)
    scaled = codes / np.maximum(codes.std(axis=0), 1e-300)
    chance = rng.randint(len(codes), size=(max(1000, len(seen)), 2))
    figure = 1 - _spread_over(scaled, seen) / max(_spread_over(scaled, chance[chance[:, 0] != chance[:, 1]]), 1e-300)
    words = (
        f"Pairs differ along a single code to {100 * max(figure, 0):.0f} % (0: like any two rows; 100: one code only)."
    )
    return measured("pair_sparsity", figure, words)


def _spread_over(codes: Floats, pairs: NDArray[np.intp]) -> float:
    """Median share of a difference that is not along its largest code."""
    steps = np.square(codes[pairs[:, 0]] - codes[pairs[:, 1]])
    total = np.maximum(steps.sum(axis=1), 1e-300)
    return float(np.median(1 - steps.max(axis=1) / total))
