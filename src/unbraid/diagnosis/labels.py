"""Whether labels are suited as the condition of a flow."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data.labels import Labels, read_labels
from unbraid.diagnosis.findings import Finding, finding, measured
from unbraid.estimator.summary import counted
from unbraid.manifold.neighbors import Floats, nearest

STATISTICS = 2  # of a Gaussian factor under one condition: mean and variance
NEIGHBORS = 10


def label_findings(labels: Any, rows: NDArray[np.intp], points: Floats, n: int, d: int) -> list[Finding]:
    """What the theory of GIN requires of labels: enough conditions, large classes, overlap, and information."""
    known = read_labels(labels, n)
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
        f"{counted(count, 'condition')}; the proof for {counted(d, 'Gaussian factor')} with a mean and a variance each "
        f"requires {d} x {STATISTICS} + 1 = {needed}."
    )
    return finding("conditions", count >= needed, float(count), words, threshold=float(needed))


def _sizes(known: Labels) -> Finding:
    least = int(np.bincount(known.values[known.values >= 0]).min())
    single = f", besides {len(known.single)} of one member, which are left out" if known.single else ""
    return measured("class_size", float(least), f"The smallest class has {least} members{single}.")


def _neighbors(classes: NDArray[np.intp], points: Floats) -> list[Finding]:
    _, near = nearest(points, min(NEIGHBORS, len(points) - 1))
    same = classes[near] == classes[:, None]
    mixed = float(np.mean(~same.all(axis=1)))
    shares = np.bincount(classes) / len(classes)
    excess = float(same.mean() - np.sum(shares**2))
    overlap = f"{100 * mixed:.0f} % of the points have a neighbour in another class."
    shared = f"Neighbours share a class {100 * excess:.0f} percentage points more often than by chance."
    return [measured("class_overlap", mixed, overlap), measured("class_information", excess, shared, otherwise=None)]
