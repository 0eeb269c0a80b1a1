"""What the data must be like before any method is tried: structure, pieces, dimension, edges, noise."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.contract.inputs import Rows
from unbraid.diagnosis.findings import Finding
from unbraid.diagnosis.structure import APART, NOISY, SIGMAS, apart, off_tangent, structure
from unbraid.manifold.dimension import CLEAR_GAP, DimensionEstimate, estimate_dimension
from unbraid.manifold.distinct import distinct_rows
from unbraid.manifold.edges import CLOSED, EDGE, MEETS, edge_ratio, end_distance, torus
from unbraid.spectral.base import FINEST
from unbraid.spectral.reduction import Reduction, fit_reduction

Floats = NDArray[np.float64]

MOST_ROWS = 2000  # that are looked at
FEWEST_ROWS = 30
MOST_FACTORS = 6  # beyond, local Hessians need more neighbours than any data of these sizes have
LINEAR = 0.002  # share of the variance that d principal components may leave out for the data to be flat
DRAWS = 10
LOCAL_COMPONENTS = 20  # in which tangents are looked for: twice the dimension and one more is enough (Whitney)


@dataclass(frozen=True)
class Ground:
    """The rows that are looked at, in principal components."""

    X: NDArray
    rows: NDArray[np.intp]
    n: int
    points: Floats
    reduction: Reduction
    dimension: DimensionEstimate | None
    d: int

    @property
    def flat(self) -> bool:
        """Whether d principal components hold what is above the noise."""
        left = self.reduction.residuals[min(self.d, len(self.reduction.residuals)) - 1]
        return bool(left <= LINEAR or self.reduction.noise_size <= self.d)

    @cached_property
    def noise(self) -> float:
        """Share of the variance of a neighbourhood off its tangent."""
        return off_tangent(self.points[:, :LOCAL_COMPONENTS], self.d)


def survey(X: Any, n_factors: int | str, rng: np.random.RandomState) -> Ground:
    """Read some of the rows, reduce them, and count their dimensions."""
    source = Rows(X)
    n = len(source)
    rows = np.sort(rng.permutation(n)[:MOST_ROWS])
    sample = _rows_of(source, rows)
    first = np.sort(distinct_rows(sample)[0])
    if len(first) < FEWEST_ROWS:
        raise ValueError(
            f"{len(first)} different rows are too few for a diagnosis; {FEWEST_ROWS} are needed. Give more data, "
            "or name a method to try it all the same."
        )
    rows, sample = rows[first], sample[first]
    reduction = fit_reduction(sample.copy(), n_components=None)
    least = 1 if n_factors == "auto" else int(n_factors) + 1
    reduction = reduction.truncated(max(reduction.size_for(FINEST), least))
    points = reduction(sample)
    dimension = estimate_dimension(sample) if n_factors == "auto" else None
    d = max(1, min(int(n_factors) if dimension is None else dimension.dim, points.shape[1]))
    return Ground(sample, rows, n, points, reduction, dimension, d)


def _rows_of(source: Rows, rows: NDArray[np.intp]) -> NDArray:
    parts, start = [], 0
    for block in source.stored():
        here = rows[(rows >= start) & (rows < start + len(block))] - start
        start += len(block)
        if len(here):
            parts.append(source.clean(block[here]).reshape(len(here), -1))
    return np.concatenate(parts)


def ground_findings(ground: Ground, rng: np.random.RandomState) -> list[Finding]:
    """All that can be said before a fit; without structure there is nothing else to ask."""
    first = _structure(ground, rng)
    if not first.holds:
        return [first]
    return [
        first,
        _connected(ground),
        _dimension(ground),
        _loops(ground, rng),
        _noise(ground),
        _linear(ground),
    ]


def _structure(ground: Ground, rng: np.random.RandomState) -> Finding:
    figure = structure(ground.X, rng)
    holds = figure >= SIGMAS
    words = (
        "The columns hang together far beyond chance."
        if holds
        else "The columns cannot be told from independent ones: there is nothing behind them to find, or each of them "
        "is a factor already."
    )
    remedy = "Check that the right columns were given; noise has no factors."
    return Finding("structure", holds, figure, SIGMAS, words, remedy=remedy, families=("spectral", "geometry"))


def _connected(ground: Ground) -> Finding:
    share, pieces = apart(ground.points)
    holds = share <= APART
    words = (
        "The points hang together."
        if holds
        else f"The points fall into {pieces} pieces; {100 * share:.0f} % of them lie outside of the largest."
    )
    remedy = "Fit each group by itself, or collect what lies between the groups."
    return Finding("connected", holds, share, APART, words, remedy=remedy, families=("spectral", "geometry"))


def _dimension(ground: Ground) -> Finding:
    name, estimate, d = "intrinsic dimension", ground.dimension, ground.d
    remedy = f"Give n_factors if you know it; with more than {MOST_FACTORS} factors, fix some of them while collecting."
    if estimate is None:
        holds = True if d <= MOST_FACTORS else None
        return Finding(name, holds, float(d), None, f"{d} factor(s), as given.", remedy=remedy)
    if not estimate.clear:
        words = f"The local spectra show no gap; the nearest guess is {d} factor(s)."
        return Finding(name, None, float(estimate.gap), CLEAR_GAP, words, remedy=remedy)
    few = d <= MOST_FACTORS
    words = f"{d} factor(s): the local spectra fall by {min(estimate.gap, 1e9):.3g} after them."
    more = "" if few else f" More than {MOST_FACTORS} cannot be unrolled from {len(ground.points)} points."
    holds = True if few or ground.flat else None
    return Finding(name, holds, float(estimate.gap), CLEAR_GAP, words + more, remedy=remedy)


def _loops(ground: Ground, rng: np.random.RandomState) -> Finding:
    name, d, points = "no closed loops", ground.d, ground.points[:, :LOCAL_COMPONENTS]
    remedy = (
        "A factor that wraps around (an angle, a position on a ring) needs a method for loops, such as "
        "product-manifold; or keep only part of the loop."
    )
    if d not in EDGE:
        words = f"Edges are looked for with one to three factors; here are {d}."
        return Finding(name, None, None, None, words, decides=False, remedy=remedy)
    ratio = edge_ratio(points, d, rng)
    ends = end_distance(points, rng) if d == 1 else np.inf
    closed = ratio < CLOSED[d] or ends < MEETS
    what = "the ends of the curve meet" if d == 1 else "part of it or all of it closes in itself"
    words = (
        f"The points have {100 * ratio:.0f} % of the edge of a box: {what}."
        if closed
        else f"The points have the edge that a box has ({100 * ratio:.0f} %)."
    )
    drawn = [edge_ratio(torus(len(points), d, rng), d, rng) < CLOSED[d] for _ in range(3)]
    return Finding(
        name, not closed, ratio, CLOSED[d], words, power=float(np.mean(drawn)), remedy=remedy,
        violation="a circle" if d == 1 else "a torus",
    )  # fmt: skip


def _noise(ground: Ground) -> Finding:
    figure = ground.noise
    holds = True if figure <= NOISY else None
    words = f"{100 * figure:.0f} % of the variance of a small neighbourhood lies off its tangent (noise, curvature)."
    remedy = "Average repeated measurements, or take more points: neighbourhoods must be wider than the noise."
    return Finding("low noise", holds, figure, NOISY, words, remedy=remedy, decides=False)


def _linear(ground: Ground) -> Finding:
    left = float(ground.reduction.residuals[min(ground.d, len(ground.reduction.residuals)) - 1])
    words = (
        f"{ground.d} principal component(s) hold all but {100 * left:.2g} % of the variance, "
        + ("the rest is noise: the data are flat, and a linear method is exact."
           if ground.flat else "so the data are curved: a linear method is not enough.")
    )  # fmt: skip
    return Finding("linear", ground.flat, left, LINEAR, words, decides=False, families=("pca-ica",))
