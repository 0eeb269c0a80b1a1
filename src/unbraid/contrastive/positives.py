"""What is known about the rows as pairs that belong together, or as segments."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from unbraid.data.labels import parse_labels
from unbraid.data.observations import Observations
from unbraid.data.order import ordered, steps

PARTNERS = 8  # of a row, where more rows belong together


def the_evidence(known: Observations, allowed: Sequence[str], asker: str) -> str:
    """The one piece of evidence that is given, by its name."""
    ways = " or ".join("labels as y" if name == "labels" else f"{name}=" for name in allowed)
    if not known.evidence:
        raise ValueError(
            f"{asker} learns from rows that belong together and requires y to be passed, but the target y is None, "
            f"and so is all other evidence. Give {ways} to fit."
        )
    if len(known.evidence) > 1:
        raise ValueError(
            f"{' and '.join(known.evidence)} were given, and positives come from one of them. Leave out the others: "
            f"Observations.only({known.evidence[0]!r}), or give it alone to fit."
        )
    if known.evidence[0] not in allowed:
        raise ValueError(f"{known.evidence[0]} were given, and {asker} takes no such evidence. Give {ways} to fit.")
    return known.evidence[0]


def pairs_of(known: Observations, offset: int) -> NDArray[np.intp]:
    """Rows (m, 2) that belong together: given pairs, steps in time, rows of one set or class, or of near labels."""
    if known.pairs is not None:
        return np.asarray(known.pairs)
    if known.time is not None:
        return steps(known.time, offset)
    if known.sets is not None:
        numbers = np.unique(known.sets, return_inverse=True)[1]
        pairs = together(numbers)
        if not len(pairs):
            raise ValueError(
                f"each of the {len(known)} rows is a set of its own, so that no rows belong together. Give two or more "
                "rows to each set."
            )
        return pairs
    labels = parse_labels(known.labels, len(known))
    if labels.kind != "classes":
        return nearest(labels.values)
    if len(labels.classes) < 2:
        raise ValueError(
            f"labels contain only one class ({labels.classes.tolist()}), so any two rows would belong together. Give "
            "at least two classes, or other evidence."
        )
    return together(labels.values)


def together(groups: NDArray) -> NDArray[np.intp]:
    """Each row with up to 8 others of its group, drawn once; rows of a negative group have no partner.

    >>> together(np.array([0, 1, 0, -1])).tolist()
    [[0, 2], [2, 0]]
    """
    mixed = np.random.default_rng(0).permutation(np.flatnonzero(groups >= 0))
    order = mixed[np.argsort(groups[mixed], kind="stable")]
    sizes = np.unique(groups[order], return_counts=True)[1]
    size, start = np.repeat(sizes, sizes), np.repeat(np.cumsum(sizes) - sizes, sizes)
    place = np.arange(len(order)) - start
    partners = {shift: order[start + (place + shift) % size] for shift in range(1, PARTNERS + 1)}
    pairs = np.concatenate([np.column_stack([order, by])[size > shift] for shift, by in partners.items()])
    return pairs[np.lexsort(pairs.T[::-1])]


def nearest(values: NDArray) -> NDArray[np.intp]:
    """Each row with the 8 rows of nearest labels (n, q).

    >>> nearest(np.array([[0.0], [0.1], [5.0]])).tolist()
    [[0, 1], [0, 2], [1, 0], [1, 2], [2, 1], [2, 0]]
    """
    k = min(PARTNERS, len(values) - 1)
    near = NearestNeighbors(n_neighbors=k).fit(values).kneighbors(return_distance=False)
    return np.column_stack([np.repeat(np.arange(len(values)), k), near.ravel()]).astype(np.intp)


def segments_of(known: Observations, n_segments: int) -> NDArray[np.int64]:
    """The segment (n,) of each row: its class, -1 for a class of one row; or its part of the time."""
    n = len(known)
    if known.time is not None:
        if n < 2 * n_segments:
            raise ValueError(f"{n} rows make no n_segments={n_segments} segments of two rows or more. Give fewer.")
        place = np.empty(n, np.int64)
        place[ordered(known.time)] = np.arange(n)
        return place * n_segments // n
    labels = parse_labels(known.labels, n)
    if labels.kind != "classes":
        raise ValueError(
            f"objective='segments' needs the segment of each row, one of a few classes; labels are {labels.kind}. Cut "
            "them into classes, such as by np.digitize, or use objective='infonce'."
        )
    if len(labels.classes) < 2:
        raise ValueError(
            f"labels contain only one segment ({labels.classes.tolist()}), so there is nothing to tell apart. Give at "
            "least two, or time= and n_segments=."
        )
    return labels.values.astype(np.int64)
