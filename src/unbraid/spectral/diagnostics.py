"""Figures of a fitted embedding, and the warnings that follow from them."""

from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data.covariates import Adjustment
from unbraid.estimator.summary import codes_in_words, counted
from unbraid.manifold.neighbors import Floats, distinct_rows, isometry, neighbor_pairs, neighborhoods
from unbraid.manifold.reduction import WIDE_ROWS, Look
from unbraid.manifold.surroundings import apart, is_closed, left_over, thin_part
from unbraid.runtime.determinism import one_blas_thread
from unbraid.spectral.extension import LocalMaps
from unbraid.spectral.figures import (
    LOCAL_COMPONENTS,
    SUPPORT_POINTS,
    Fitted,
    Later,
    TurnUncertainty,
    code_uncertainty,
    figures_of,
)
from unbraid.spectral.ica import FASTICA, Rotation, excess_kurtosis
from unbraid.spectral.landmarks import Embedded
from unbraid.spectral.trial import EDGE_NEIGHBORS, EDGE_POINTS
from unbraid.trust.expected import ExpectedMCC, guess_of, not_simulated
from unbraid.trust.support import dependence, near_gaussian, unfilled
from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import emit, format_warning

SHOWN = 10  # rows or columns that a message lists
MOST_IN_PARTS = 5000  # points among which parts of another dimension are looked for
FEWEST_SHAPED, FEWEST_BOXED = 50, 100  # points that show a loop, and codes that show an empty corner

if TYPE_CHECKING:  # refits are imported where they are asked for
    from unbraid.spectral.refits import Reliability


@dataclass(frozen=True)
class Diagnostics(Later):
    """Figures of a fit, and the concerns they raise.

    Figures with a threshold are explained in :mod:`unbraid.trust.table`, under the same names. The expected MCC and its
    inputs are computed when they are first read.

    Attributes
    ----------
    n_graph_components : int
        Connected pieces of the neighbour graph.
    n_orphans : int
        Points that no other point lists as a neighbour.
    n_duplicates : int
        Points equal to an earlier one, whose code they share.
    participation : array (d,)
        Share of the points on which each eigenvector is concentrated.
    eigenvalues : array (d + 1,)
        Smallest non-trivial eigenvalues of the alignment matrix, and the first one left out.
    eigengap : float
        Ratio of the last two eigenvalues.
    n_redundant : int
        Eigenvectors skipped because they are functions of others: one factor is much shorter than another.
    ica_stability : float
        Mean correlation between the codes and those that ICA finds without density weights.
    ica_converged : float
        Share of the starts that converged.
    local_isometry : float
        Correlation of distances in X and in the codes over neighbour-graph edges.
    kurtosis : array (d,)
        Excess kurtosis of each factor; ICA cannot separate two factors that are near 0.
    gaussian : array (d,) of bool
        Factors that cannot be distinguished from a Gaussian.
    extension_error : float
        Median error estimate of the local maps on points that were not used, in standard deviations of a code.
    pca_residual : float
        Share of the variance that the PCA left out.
    concerns : list of str
        The checks that failed, each with a remedy; empty if all passed.
    rotation_uncertainty : array (d,)
        Degrees by which each code may be rotated; empty if the codes were not rotated by independence.
    rotation_doubt : float
        One figure for all codes, in degrees.
    dependence : float
        Mutual information (nats) of the two most dependent codes, minus what chance alone produces; 0 if the codes were
        not rotated by independence.
    left_over : float
        Share of the variance that follows none of the codes, along one direction and at every scale.
    expected_mcc : ExpectedMCC or None
        MCC with the true factors in similar simulated data sets; None if there is no prediction.
    unguessed : str
        Why there is no prediction; empty if there is one.
    figures : dict
        The inputs of the prediction, by the names of :data:`unbraid.trust.expected.NAMES`.
    reliability : Reliability or None
        How well each code was reproduced, with ``trust="full"``.
    """

    n_graph_components: int
    n_orphans: int
    n_duplicates: int
    participation: Floats
    eigenvalues: Floats
    eigengap: float
    n_redundant: int
    ica_stability: float
    ica_converged: float
    local_isometry: float
    kurtosis: Floats
    gaussian: NDArray[np.bool_]
    extension_error: float
    pca_residual: float
    concerns: list[str] = field(default_factory=list)
    rotation_uncertainty: Floats = field(default_factory=lambda: np.empty(0))
    rotation_doubt: float = 0.0
    dependence: float = 0.0
    left_over: float = 0.0
    expected_mcc: ExpectedMCC | None = field(default_factory=lambda: None)
    unguessed: str = field(default_factory=lambda: "it was not computed")
    figures: dict[str, float] = field(default_factory=dict)
    reliability: "Reliability | None" = None

    def __str__(self) -> str:
        lines = [
            f"local isometry    {self.local_isometry:.3f}",
            f"eigengap          {self.eigengap:.3g} ({counted(self.n_redundant, 'redundant eigenvector')} skipped)",
            f"participation     {', '.join(f'{p:.2f}' for p in self.participation)}",
            f"ICA stability     {self.ica_stability:.3f} with and without density weights "
            f"({100 * self.ica_converged:.0f} % of starts converged)",
            f"excess kurtosis   {', '.join(f'{k:+.2f}' for k in self.kurtosis)}",
            f"extension error   {self.extension_error:.3g} standard deviations",
            f"neighbour graph   {counted(self.n_graph_components, 'piece')}, {counted(self.n_orphans, 'orphan')}, "
            f"{counted(self.n_duplicates, 'duplicate')}",
            f"PCA residual      {100 * self.pca_residual:.2f} % of the variance",
        ]
        if len(self.rotation_uncertainty):
            degrees = ", ".join(f"{u:.0f}" for u in self.rotation_uncertainty)
            lines.append(f"rotation          codes may be rotated by up to {degrees} degrees")
            lines.append(f"dependence        {self.dependence:.3f} nats between the two most dependent codes")
        lines.append(f"expected MCC      {self.expected_mcc or 'not available: ' + self.unguessed}")
        if self.reliability is not None:
            lines.append(f"reproducibility   {self.reliability}")
        lines += [f"! {concern}" for concern in self.concerns] or ["all checks passed"]
        return "\n".join(lines)


def diagnose(
    found: Embedded,
    wide: Floats,
    maps: LocalMaps,
    rotation: Rotation | None,
    codes: Floats,
    rng: np.random.RandomState,
    *,
    n_features: int,
    pca_residual: float,
    kind: str,
    concerns: tuple[list[str], list[str]],
    unsure: str = "",
) -> Diagnostics:
    """Measure a fit from its embedding, its final maps, its rotation and the codes of the points that ICA used.

    ``wide`` are some rows in all principal components; ``concerns`` about the data and the evidence come before and
    after those of the figures.
    """
    turn = code_uncertainty(codes, rotation, rng) if rotation else TurnUncertainty(np.empty(0), 0.0)
    choice, tried, spectrum = found.choice, found.tried, found.choice.spectrum
    kurtosis = excess_kurtosis(codes)
    figures: dict[str, Any] = {
        "participation": spectrum.participation,
        "eigengap": spectrum.eigengap,
        "n_redundant": spectrum.n_redundant,
        "ica_stability": rotation.stability if rotation else 1.0,
        # Scale, order and sign do not change it: a direct solve has it already.
        "local_isometry": isometry(maps.codes, choice.edges) if tried else choice.candidate.edges,
        "kurtosis": kurtosis,
        "rotation_uncertainty": turn.per_code,
        "rotation_doubt": turn.doubt,
        "dependence": dependence(codes) if rotation else 0.0,
        "gaussian": near_gaussian(kurtosis, len(codes)),
        "extension_error": min(t["held_out_error"] for t in tried) if tried else choice.held_out_error(maps),
    }
    left = left_over(wide, maps(wide[:, : choice.points.shape[1]]), n_features)
    figures["left_over"] = left[1]
    known: dict[str, Any] = {
        "n_graph_components": choice.graph.n_components,
        "n_orphans": choice.graph.n_orphans,
        "n_duplicates": choice.n_merged,
        "eigenvalues": spectrum.values,
        "ica_converged": rotation.converged if rotation else 1.0,
        "pca_residual": pca_residual,
        "concerns": concerns[0]
        + [unsure] * bool(unsure)
        + choice.concerns()
        + concerns_of(figures, with_ica=rotation is not None, kind=kind)
        + concerns[1],
        "reliability": None,
    }
    searched = rotation is not None and rotation.contrast != FASTICA
    unguessed = not_simulated(kind, *maps.codes.shape, independent=searched, unsure=unsure)
    if unguessed:
        return Diagnostics(**known | figures | _no_guess(unguessed))
    n = len(choice.points) + choice.n_merged + choice.n_outside
    shares = choice.n_merged / n, choice.n_outside / n
    fit = Fitted(kind, choice.points, maps.codes, choice.near, choice.edges, *shares)
    rest = partial(_guessed, fit, turn, figures | {"left": left}, deepcopy(rng))
    return Diagnostics.partly(known | figures, rest)


def _guessed(
    fit: Fitted, turn: TurnUncertainty, measured: dict[str, Any], rng: np.random.RandomState
) -> dict[str, Any]:
    """The fields about the expected MCC."""
    with one_blas_thread():
        figures = figures_of(fit, turn, measured, rng)
    return dict(zip(("expected_mcc", "unguessed"), guess_of(figures))) | {"figures": figures}


def _no_guess(why: str) -> dict[str, Any]:
    return {"expected_mcc": None, "unguessed": why, "figures": {}}


@dataclass(frozen=True)
class LinearDiagnostics(Later):
    """Figures of PCA+ICA, computed when they are first read; names as in :class:`Diagnostics`.

    Attributes
    ----------
    rotation_uncertainty : array (d,)
    rotation_doubt, left_over : float
    expected_mcc : ExpectedMCC or None
    unguessed : str
    figures : dict
    concerns : list of str
    """

    rotation_uncertainty: Floats
    rotation_doubt: float
    left_over: float
    expected_mcc: ExpectedMCC | None = field(default_factory=lambda: None)
    unguessed: str = field(default_factory=str)
    figures: dict[str, float] = field(default_factory=dict)
    concerns: list[str] = field(default_factory=list)


def diagnose_linear(
    P: Floats,
    codes: Floats,
    rotation: Rotation | None,
    rng: np.random.RandomState,
    n_features: int,
    unsure: str,
) -> dict[str, Any]:
    """All figures of a fit of PCA+ICA, from some rows in principal components and their codes."""
    turn = code_uncertainty(codes, rotation, rng) if rotation else TurnUncertainty(np.empty(0), 0.0)
    first = distinct_rows(P)[0]
    repeated = 1 - len(first) / len(P)
    some = first[np.sort(rng.permutation(len(first))[:SUPPORT_POINTS])]
    points, codes = P[some], codes[some]
    left = left_over(points[:WIDE_ROWS], codes[:WIDE_ROWS], n_features)
    told = {"rotation_uncertainty": turn.per_code, "rotation_doubt": turn.doubt, "left_over": left[1]}
    searched = rotation is not None and rotation.contrast != FASTICA
    unguessed = not_simulated("pca", *codes.shape, independent=searched, unsure=unsure)
    if unguessed:
        return told | _no_guess(unguessed)
    near = neighborhoods(points[:, :LOCAL_COMPONENTS], min(EDGE_NEIGHBORS, len(points) - 1) + 1)[1]
    edges = neighbor_pairs(points, EDGE_NEIGHBORS, EDGE_POINTS)
    measured = {"local_isometry": isometry(codes, edges), "kurtosis": excess_kurtosis(codes), "left": left}
    fit = Fitted("pca", points, codes, near, edges, repeated, apart(points)[0])
    return told | _guessed(fit, turn, measured, rng)


def concerns_of(figures: dict[str, Any], *, with_ica: bool, kind: str) -> list[str]:
    """The messages of the figures beyond their thresholds."""
    found = []

    def fails(key: str) -> bool:
        return not FIGURES[key].holds(np.min(figures[key]), kind)

    if fails("participation"):
        found.append(format_warning("UB201", share=100 * figures["participation"].min()))
    if fails("local_isometry"):
        found.append(format_warning("UB202", isometry=figures["local_isometry"]))
    if kind != "laplacian" and fails("eigengap") and not figures["n_redundant"]:
        found.append(format_warning("UB203", gap=figures["eigengap"]))
    if with_ica and fails("rotation_doubt"):
        degrees = ", ".join(f"{u:.0f}" for u in figures["rotation_uncertainty"])
        usual = FIGURES["rotation_doubt"].limit()
        found.append(format_warning("UB204", doubt=figures["rotation_doubt"], usual=usual, degrees=degrees))
    if with_ica and kind != "laplacian" and fails("dependence"):  # cosines of few points are always dependent
        found.append(format_warning("UB211", nats=figures["dependence"], usual=FIGURES["dependence"].limit()))
    if with_ica and int(figures["gaussian"].sum()) > 1:
        kurtosis = ", ".join(f"{k:+.2f}" for k in figures["kurtosis"][figures["gaussian"]])
        found.append(
            format_warning("UB205", codes=codes_in_words(np.flatnonzero(figures["gaussian"])), kurtosis=kurtosis)
        )
    if fails("extension_error"):
        found.append(format_warning("UB206", error=figures["extension_error"]))
    if fails("left_over"):
        found.append(format_warning("UB306", share=100 * figures["left_over"]))
    return found


@dataclass(frozen=True)
class Shape:
    """What the points show before they are embedded.

    Attributes
    ----------
    closed : bool
        Whether they go around a loop.
    thin : tuple of int and array of bool, or None
        A part of fewer dimensions: how many, and which points.
    rows : array of int or None
        The numbers of the points; None if these are all rows that are no outliers.
    """

    closed: bool
    thin: tuple[int, NDArray[np.bool_]] | None
    rows: NDArray[np.intp] | None


def shape_of(look: Look, d: int) -> Shape:
    """Of the examined points, for a fit of d factors."""
    points = np.ascontiguousarray(look.points[:, :LOCAL_COMPONENTS])
    distinct = points[distinct_rows(points)[0]]
    closed = len(distinct) >= FEWEST_SHAPED and is_closed(distinct, d, np.random.RandomState(0))
    thin = thin_part(points) if len(distinct) == len(points) <= MOST_IN_PARTS else None
    return Shape(closed, thin, look.rows)


def shape_concerns(shape: Shape, pieces: dict[int, NDArray[np.intp]], boxed: Floats) -> list[str]:
    """Loops, parts of another dimension, and codes (``boxed``) that do not fill a box though they should."""
    found = []
    if pieces:
        dim, other = sorted(pieces)
        count, others = len(pieces[dim]), len(pieces[other])
        found.append(format_warning("UB115", count=count, dimension=dim, rows=_some(pieces[dim]), others=others))
    if shape.closed:
        found.append(format_warning("UB116"))
    elif len(boxed) >= FEWEST_BOXED:
        figure = unfilled(boxed, np.random.RandomState(0))
        if not FIGURES["unfilled"].holds(figure):
            found.append(format_warning("UB117", figure=figure, usual=FIGURES["unfilled"].limit()))
    return found


def data_concerns(model: Any) -> list[str]:
    """What was found wrong with the data before the fit: outliers, cells, and units of columns."""
    found, scale = [], model.reduction_.scale
    if len(model.outliers_):
        found.append(format_warning("UB111", count=len(model.outliers_), rows=_some(model.outliers_)))
    if len(model.filled_):
        found.append(format_warning("UB112", count=len(model.filled_), rows=_some(model.filled_)))
    if scale is not None and ((scale > 0) & (scale != 1)).any():
        found.append(format_warning("UB113", columns=_some(np.flatnonzero((scale > 0) & (scale != 1)))))
    if scale is not None and (scale == 0).any():
        found.append(format_warning("UB114", columns=_some(np.flatnonzero(scale == 0))))
    return found + adjustment_concerns(model.adjustment_)


def adjustment_concerns(adjustment: Adjustment | None) -> list[str]:
    """Whether covariates change the data in the directions in which factors do."""
    if adjustment is None or not adjustment.overlap_chance < FIGURES["covariate_overlap"].limit():
        return []  # nor with few columns, where it is not known
    return [format_warning("UB118", chance=adjustment.overlap_chance, explained=adjustment.explained)]


def _some(numbers: NDArray[np.intp]) -> str:
    """The first of some row or column numbers."""
    return ", ".join(map(str, numbers[:SHOWN])) + (", ..." if len(numbers) > SHOWN else "")


def warn_of(concerns: list[str], stacklevel: int) -> None:
    """One warning for all concerns of a kind."""
    for kind in dict.fromkeys(concern[:3] for concern in concerns):
        emit(" ".join(concern for concern in concerns if concern[:3] == kind), stacklevel=stacklevel + 1)
