"""What a first fit shows: loops, preserved distances, and whether codes are independent, a product and non-Gaussian."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from unbraid.diagnosis.findings import FOR_LOOPS, Finding, finding, measured
from unbraid.diagnosis.survey import LOCAL_COMPONENTS, MOST_FACTORS, Survey, quietly
from unbraid.manifold.neighbors import Floats
from unbraid.manifold.reduction import WIDE_ROWS
from unbraid.manifold.surroundings import EDGE, edge_ratio, end_distance, left_in_columns, shows_no_edge
from unbraid.product.estimator import ProductManifold
from unbraid.product.recording import could_be_ring, hole
from unbraid.spectral.diagnostics import Diagnostics, LinearDiagnostics
from unbraid.spectral.factors import HessianICA
from unbraid.spectral.pca_ica import PCAICA
from unbraid.trust import support
from unbraid.trust.table import FIGURES

OF_THE_REST = ("full", "complete", "one turn")  # checks on its turn, or together with others, not on its shape
Told = Diagnostics | LinearDiagnostics
Encode = Callable[[Floats], Floats]  # from points in principal components to codes
HIDING = 0.2  # share of a neighbourhood's variance off its tangent: more noise hides edges
NO_BOX = 3.0  # times the edge of a box: boxes, and factors with long tails, have less
FEWEST = 250  # points with which a triangular distribution is distinguished from a Gaussian in most draws


def loops_finding(survey: Survey, rng: np.random.RandomState) -> list[Finding]:
    """Whether all factors have two ends; if not, also whether all factors of the product were verified.

    If the points are verified to form a product of circles, spheres and intervals, that decides. Otherwise the edge of
    the points is compared with that of a box, which misses rings that are short compared with the rest.
    """
    model = ProductManifold(random_state=0)
    survey.starts[FOR_LOOPS] = quietly(lambda: model.start_from(survey.source, survey.look))
    round_ = [
        kind
        for kind, checks in zip(model.kinds_, model.checks_)
        if kind != "interval" and all(check.holds for check in checks if check.name not in OF_THE_REST)
    ]
    whole = bool(model.verified_.all())
    if survey.d not in EDGE and not round_:
        words = f"Edges are checked with one to three factors; there are {survey.d}."
        return [finding("edge", True if whole else None, None, words, decides=False)]
    if survey.d not in EDGE:
        found = finding("edge", False, None, _wraps(round_))
    else:
        found = _by_edge(survey, round_, whole, rng)
    ring = [] if round_ else _noisy_ring(survey)
    if found.holds is False:
        return [found, _verified(model), *ring]
    if ring or model.kinds_ == ["circle"]:
        found = replace(found, holds=None, words="The factors may go around a ring, but that is not verified.")
    return [found, *ring]


def _noisy_ring(survey: Survey) -> list[Finding]:
    """Whether counts could be one ring with much noise, which wide place fields also look like."""
    if survey.counts is None:
        return []
    reduction = survey.look.reduction
    origin = -reduction.components @ reduction.inverse(np.zeros((1, len(reduction.components))))[0]
    if not could_be_ring(survey.look.points, origin):
        return []
    figure = hole(survey.look.points)
    words = "One ring with much noise would explain these counts, as the direction of a head would in neurons."
    if FIGURES["noisy_ring"].holds(figure):
        return [finding("noisy_ring", None, figure, words)]
    return [finding("noisy_ring", False, figure, f"{words} Smoothed over time, its middle is empty.")]


def _verified(model: ProductManifold) -> Finding:
    share = float(np.mean(model.verified_)) if len(model.verified_) else 0.0
    words = (
        f"{int(np.sum(model.verified_))} of {len(model.verified_)} factors of a product pass the checks of their kind."
    )
    return measured("verified", share, words, otherwise=None)


def _by_edge(survey: Survey, round_: list[str], whole: bool, rng: np.random.RandomState) -> Finding:
    d, points, edge = survey.d, survey.points[:, :LOCAL_COMPONENTS], FIGURES["edge"]
    ratio = edge_ratio(points, d)
    ends = end_distance(points, rng) if d == 1 else np.inf
    meet = not FIGURES["end_distance"].holds(ends)
    holds: bool | None = not round_ and (whole or (edge.holds(ratio, d) and not meet))
    if not (holds or round_ or meet) and survey.noise > HIDING and not shows_no_edge(points, d, rng):
        holds = None
        words = (
            f"The points have {100 * ratio:.0f} % of the edge of a box. Noise may hide the rest: whether a factor "
            "wraps around cannot be told."
        )
    elif holds and not whole and survey.noise > HIDING and ratio > NO_BOX:
        holds = None
        words = (
            f"The points have {100 * ratio:.0f} % of the edge of a box, more than any box: noise makes edges too, so "
            "whether a factor wraps around cannot be told."
        )
    elif holds:
        words = f"All factors have ends: the points have {100 * ratio:.0f} % of the edge of a box."
    elif round_:
        words = _wraps(round_)
    elif meet:
        words = f"The ends of the curve meet: their distance is {ends:.2g} times its longest step."
    else:
        words = f"The points have {100 * ratio:.0f} % of the edge of a box: part or all of the shape is closed."
    what = "a circle" if d == 1 else "a torus"
    power = support.power_of("edge", len(points), d)
    return finding("edge", holds, ratio, words, threshold=edge.limit(d), power=power, violation=what)


def _wraps(kinds: list[str]) -> str:
    what = " and ".join(f"a {kind}" for kind in kinds)
    return f"The points go around {what}, verified by its harmonics."


def linear_codes(survey: Survey) -> tuple[Floats, PCAICA]:
    """Codes of PCA+ICA, and the fit."""
    linear = PCAICA(survey.d, random_state=0)
    return quietly(lambda: linear.fit_transform(survey.points)), linear


def first_codes(survey: Survey) -> tuple[Floats | None, Encode, list[Finding], Told | None]:
    """Codes of a quick fit on the examined rows, the function that gives them, findings and figures of the fit.

    The codes are None if a fit makes no sense; the function then gives the leading principal components.
    """
    if survey.flat:
        codes, linear = linear_codes(survey)
        told = linear.diagnostics_
        return codes, linear.transform, [_left(told), _rotation(told)], told
    if survey.d > MOST_FACTORS or len(survey.points) < 3 * (1 + survey.d + survey.d * (survey.d + 1) // 2):
        words = f"Not checked: {len(survey.points)} points are too few for {survey.d} curved factors."
        return (
            None,
            survey.leading,
            [finding("local_isometry", False if survey.d > MOST_FACTORS else None, None, words)],
            None,
        )
    model = HessianICA(survey.d, random_state=0)
    survey.starts["hessian-ica"] = quietly(lambda: model.start_from(survey.source, survey.look))
    whole = len(model.embedding_) == len(survey.points)

    def encode(points: Floats) -> Floats:
        return model.maps_(points[:, : model.pca_components_])

    codes = model.embedding_ if whole else encode(survey.points)
    shown = model.diagnostics_
    found = [_isometry(survey, shown.local_isometry), _density(shown.extension_error), _left(shown), _rotation(shown)]
    return codes, encode, found, shown


def _isometry(survey: Survey, figure: float) -> Finding:
    noisy = not FIGURES["off_tangent"].holds(survey.noise)
    found = "The codes" if FIGURES["local_isometry"].holds(figure) else "No codes were found that"
    words = f"{found} preserve the distances between neighbours (correlation {figure:.2f})."
    return measured("local_isometry", figure, words, otherwise=None if noisy else False)


def _density(error: float) -> Finding:
    words = f"A point is placed from its neighbours with an error of {error:.2g} standard deviations of a code."
    return measured("extension_error", error, words)


def _left(told: Told) -> Finding:
    holds = FIGURES["left_over"].holds(told.left_over)
    words = "What the codes do not explain looks like noise and curvature."
    if not holds:
        share = f"{100 * told.left_over:.2g} %"
        words = f"The codes do not explain {share} of the variance, which is neither noise nor curvature."
    return measured("left_over", told.left_over, words)


def small_columns(survey: Survey, encode: Encode) -> Finding:
    """Whether columns that vary little hold what no code follows."""
    rows = survey.sample[:WIDE_ROWS]
    codes = encode(np.asarray(rows @ survey.look.reduction.within.T, np.float64)[:, : survey.points.shape[1]])
    figure = left_in_columns(rows, codes)
    words = "Columns that vary little hold nothing else."
    if not FIGURES["small_columns"].holds(figure):
        words = (
            f"With each column in units of its own spread, {100 * figure:.0f} % of the variance follows none of the "
            "codes: columns that vary little hold something else."
        )
    return measured("small_columns", figure, words, otherwise=None)


def _rotation(told: Told) -> Finding:
    doubt, degrees = told.rotation_doubt, told.rotation_uncertainty
    if len(degrees) == 1:
        return finding("rotation_doubt", True, None, "One factor: there is nothing to rotate.")
    turned = ", ".join(f"{degree:.0f}" for degree in degrees)
    words = (
        f"Rotations found under different assumptions differ by {doubt:.0f} degrees; the codes may be rotated by up "
        f"to {turned} degrees."
    )
    return measured("rotation_doubt", doubt, words, otherwise=None)


def code_findings(codes: Floats, rng: np.random.RandomState, effective: float = 1.0) -> list[Finding]:
    """Independence, support and distribution of codes; a row counts for ``effective`` independent ones."""
    if codes.shape[1] == 1:
        words = "One factor: there is no other to depend on or to be confused with."
        return [finding(key, True, None, words) for key in ("dependence", "raggedness", "emptiness", "separability")]
    depends, ragged = support.dependence(codes), support.raggedness(codes, rng)
    empty, most = support.mean_emptiness(codes, rng), support.hollow(len(codes))
    return [
        _effect("dependence", depends, codes, f"The mutual information of two codes is {max(depends, 0):.3f} nats"),
        _effect("raggedness", ragged, codes,
                f"Combinations of codes that should occur lie {ragged:.2f} times as far from the data as by chance"),
        _effect("emptiness", empty, codes, f"{max(empty, 0):.1%} of the box around the codes is unexpectedly empty",
                most),
        _gaussian(codes, effective),
    ]  # fmt: skip


def _effect(key: str, value: float, codes: Floats, words: str, limit: float | None = None) -> Finding:
    threshold = FIGURES[key].limit() if limit is None else limit
    holds = value <= threshold
    text = words + (", as expected of a product." if holds else ": not a product.")
    what = "two factors of correlation .6" if key == "dependence" else "a ball"
    power = support.power_of(key, *codes.shape)
    return finding(key, holds, max(value, 0.0), text, threshold=threshold, power=power, violation=what)


def _gaussian(codes: Floats, effective: float) -> Finding:
    law = FIGURES["separability"]
    figure = effective * support.separability(codes)  # it is proportional to the number of rows
    few = effective * len(codes) < FEWEST
    holds = True if law.holds(figure, "clear") else None if law.holds(figure) or few else False
    words = f"Two codes differ from their rotations {figure:.1f} times as much as Gaussian codes would." + (
        f" With {len(codes)} points, non-Gaussian factors may look Gaussian." if holds is None else ""
    )
    power = support.power_of("separability", *codes.shape)
    return finding("separability", holds, figure, words, power=power, violation="Gaussian factors")
