"""Choosing the neighbourhood (and the PCA size) without labels, and the record of how it was done."""

import math
from dataclasses import dataclass, field

import numpy as np

from unbraid.estimator.parameters import COUNT_OR_AUTO, check_parameter
from unbraid.manifold.dimension import DimensionEstimate, dimension_of
from unbraid.manifold.reduction import RESIDUALS, Look, Reduction
from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import format_warning

RULES = ("combined", "edges", "closest")
MOST_ESTIMATED = 21  # principal components that the number of factors is estimated from


@dataclass(frozen=True)
class Candidate:
    """One setting that was tried, with its figures.

    Attributes
    ----------
    n_neighbors, pca_components : int
        Size of the neighbourhoods and of the PCA.
    contrast : str
        ICA contrast that rotated the embedding ("" without ICA).
    edges, closest : float
        Local isometry over the edges of the 15-neighbour graph, and over the closest 5 % of pairs (the paper's score;
        NaN if it was not requested).
    dependence : float
        Mean mutual information between the codes, in nats (0 without ICA).
    participation : float
        Smallest share of the points on which an eigenvector is concentrated, in (0, 1].
    eigengap : float
        First eigenvalue left out divided by the last one kept.
    stability : float
        Mean correlation between the codes and those of ICA without density weights.
    pieces : int
        Connected components of the neighbour graph.
    excluded : str
        Why it was excluded or not tried; empty otherwise.
    evened : bool
        Whether distances were those of pictures brought to one brightness and one contrast.
    """

    n_neighbors: int
    pca_components: int
    contrast: str = ""
    edges: float = math.nan
    closest: float = math.nan
    dependence: float = math.nan
    participation: float = math.nan
    eigengap: float = math.nan
    stability: float = math.nan
    pieces: int = 1
    excluded: str = ""
    evened: bool = False


@dataclass(frozen=True)
class Selection:
    """The chosen setting, the rule, and every candidate with its figures.

    Attributes
    ----------
    rule : str
        "combined", "edges", "closest", or "given" if nothing was left to choose.
    chosen : Candidate
    candidates : list of Candidate
    dimension : str
        How the number of factors was found.
    landmarks : list of dict
        Tried numbers of landmarks with their error on held-out points; empty for a direct solve.
    """

    rule: str
    chosen: Candidate
    candidates: list[Candidate] = field(default_factory=list)
    dimension: str = "given"
    landmarks: list[dict] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"rule: {self.rule}; factors: {self.dimension}"]
        lines.append("    k   PCA  contrast   edges  closest  depend.  particip.  eigengap  stability  pieces")
        for c in self.candidates:
            mark = "*" if c == self.chosen else " "
            lines.append(
                f"{mark}{c.n_neighbors:4d} {c.pca_components:5d}  {c.contrast:9s} {c.edges:6.3f} {c.closest:8.3f} "
                f"{c.dependence:8.3f} {c.participation:9.3f} {c.eigengap:10.3g} {c.stability:9.3f} ".replace(
                    "nan", "  -"
                )
                + f"{c.pieces:7d}  {'evened  ' * c.evened}{c.excluded}"
            )
        return "\n".join(lines)


def given_factors(n_factors: int | str) -> int | None:
    """The requested number of factors; None for "auto"."""
    check_parameter("n_factors", n_factors, COUNT_OR_AUTO)
    return None if n_factors == "auto" else int(n_factors)


@dataclass(frozen=True)
class Number:
    """A number of factors, how it was found, and why it is in doubt (empty if it is clear or given)."""

    value: int
    origin: str = "given"
    doubt: str = ""


def number_of_factors(n_factors: int | str, look: Look, n_features: int) -> Number:
    """The requested number of factors, or an estimate; ``n_features`` are those of X."""
    d = given_factors(n_factors)
    if d is None:
        estimate = look.dimension or estimated_dimension(look)
        return Number(max(1, estimate.dim), str(estimate), _unsure(estimate))
    most = look.points.shape[1]
    if d > most:
        raise ValueError(
            f"n_factors={d}, but X with n_features = {n_features} (n_samples = {look.n}) varies in only "
            f"{most} direction(s), as if it had 1 feature(s). Ask for at most {most}."
        )
    return Number(d)


def estimated_dimension(look: Look) -> DimensionEstimate:
    """The dimension of the examined points."""
    reduction, P = look.reduction, look.points
    left_out = float(reduction.variances[MOST_ESTIMATED]) if P.shape[1] > MOST_ESTIMATED else reduction.left_out
    return dimension_of(P[:5000, :MOST_ESTIMATED], reduction.floor, left_out, look.structured)


def _unsure(estimate: DimensionEstimate) -> str:
    if estimate.clear:
        return ""
    if estimate.verdict == "no structure":
        return format_warning("UB209", reason=estimate.reason)
    low, high = estimate.interval
    return format_warning("UB210", reason=estimate.reason, taken=estimate.dim, low=low, high=high)


def pca_candidates(reduction: Reduction, d: int, *, given: int | str | None, several: bool) -> tuple[int, ...]:
    """Numbers of principal components to try, from small to large; the largest alone unless ``several``."""
    whole = len(reduction.components)
    if given not in ("auto", None):
        return (whole,)
    sizes = sorted({min(max(d + 1, reduction.size_for(r)), whole) for r in RESIDUALS})
    if not several:
        return (sizes[-1],)
    kept = sizes[:1]
    for size in sizes[1:]:  # sizes closer than a fifth do not differ enough to be worth a trial
        if size >= 1.2 * kept[-1] or size == sizes[-1]:
            kept.append(size)
    return tuple(kept)


def neighbor_candidates(n: int, smallest: int) -> list[int]:
    """Five sizes to try: geometric from just above the smallest that works to 80 (or four times it, or n / 3)."""
    first = min(smallest + 2, n)
    last = max(first, min(max(80, 4 * smallest), n // 3))
    return [int(k) for k in np.unique(np.geomspace(first, last, 5).round().astype(int))]


def score(rule: str, candidate: Candidate) -> float:
    """What the rule maximises.

    "edges" and "closest" are the two local isometry scores. "combined" rewards both assumptions of
    the method: the mean of the two scores, minus half the mutual information between the codes.
    """
    if rule == "edges":
        return candidate.edges
    if rule == "closest":
        return candidate.closest
    return (candidate.edges + candidate.closest) / 2 - candidate.dependence / 2


def exclusion(participation: float, pieces: int, stable: bool) -> str:
    """Why a candidate cannot be chosen; empty when it can."""
    if pieces > 1:
        return f"the neighbour graph falls into {pieces} pieces"
    if not FIGURES["participation"].holds(participation):
        return f"an eigenvector has collapsed onto {100 * participation:.1f} % of the points"
    if not stable:
        return "ICA did not converge"
    return ""
