"""Whether the evidence can identify factors: the figures, and the warnings that give them."""

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import f_classif

from unbraid.training.batches import Points
from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import format_warning

LOOKED_AT = 5000  # pairs or rows from which the figures are taken
DIRECTIONS = 50  # columns that are looked at; of more features, as many random directions


def closeness(points: Points, pairs: NDArray, rng: np.random.Generator) -> float:
    """Share of the pairs whose rows are closer than the first of them is to the second of another; .5 by chance."""
    some = pairs[rng.choice(len(pairs), min(LOOKED_AT, len(pairs)), replace=False)]
    first, second = (_values(points, some[:, i]) for i in (0, 1))
    real = np.square(first - second).sum(1)
    other = np.square(first - np.roll(second, 1, axis=0)).sum(1)
    return float(np.mean(real < other) + np.mean(real == other) / 2)


def closeness_concern(share: float, n_pairs: int) -> list[str]:
    """The share must lie above chance by two standard errors at least."""
    limit = max(FIGURES["positive_closeness"].limit(), 0.5 + 1 / np.sqrt(n_pairs))
    return [] if share >= limit else [format_warning("UB121", share=share, n_pairs=n_pairs)]


def sparsity_concern(kurtosis: NDArray, n_pairs: int) -> list[str]:
    """At most one code may have steps as light-tailed as a Gaussian."""
    limit = max(FIGURES["step_kurtosis"].limit(), 2 * np.sqrt(24 / n_pairs))
    flat = np.flatnonzero(kurtosis < limit)
    return [] if len(flat) < 2 else [format_warning("UB122", count=len(flat), of=len(kurtosis), limit=limit)]


def segment_chance(points: Points, segments: NDArray, rng: np.random.Generator) -> float:
    """How likely equal segments would differ as these do, in the mean or the mean square of any direction.

    The lowest p of the F-tests, times their number.
    """
    rows = np.flatnonzero(segments >= 0)
    rows = rng.choice(rows, min(LOOKED_AT, len(rows)), replace=False)
    values = _values(points, rows)
    if values.shape[1] > DIRECTIONS:
        values = values @ rng.normal(size=(values.shape[1], DIRECTIONS)) / np.sqrt(values.shape[1])
    both = np.concatenate([values, np.square(values)], axis=1)
    both = both[:, both.std(0) > 1e-9]
    if not both.shape[1]:
        return 1.0
    p = f_classif(both, segments[rows])[1]
    return float(min(1.0, np.nanmin(p) * len(p)))


def segment_concerns(chance: float, n_segments: int, n_codes: int) -> list[str]:
    """Segments must differ, and be more than the codes: features show what tells segments apart."""
    found = [] if FIGURES["segment_chance"].holds(chance) else [format_warning("UB123", chance=chance)]
    if n_segments < n_codes + 1:
        few = format_warning("UB104", conditions=n_segments, latents=n_codes, needed=n_codes + 1, statistics=1)
        found.append(few)
    return found


def _values(points: Points, rows: NDArray) -> NDArray[np.float64]:
    return points.to_tensor(points.stored(rows)).flatten(1).double().numpy()
