"""What a first fit shows: loops, distances that are kept, and codes that are independent, a product, not Gaussian."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from unbraid.diagnosis.findings import LOOPS, Finding
from unbraid.diagnosis.ground import DRAWS, LOCAL_COMPONENTS, MOST_FACTORS, Ground, quietly
from unbraid.manifold.pairs import isometry_of_pairs, neighbor_pairs
from unbraid.manifold.surroundings import CLOSED, EDGE, MEETS, NOISY, edge_ratio, end_distance, torus
from unbraid.product.estimator import ProductManifold
from unbraid.spectral.factors import HessianICA
from unbraid.spectral.pca_ica import PCAICA
from unbraid.spectral.uncertainty import DOUBTFUL, code_uncertainty
from unbraid.trust import support
from unbraid.trust.support import CLEAR, FEWEST, GAUSSIAN, separability

Floats = NDArray[np.float64]

ISOMETRY = 0.5
DENSE = 0.1
REMEDY_PRODUCT = (
    "The factors must be free of each other: every combination of their values must be possible, and none of them may "
    "follow from others. Collect the missing combinations, or cut out a part of the data in which all occur."
)
OF_THE_REST = ("full", "complete")  # checks of what a factor forms with the others, not of its own shape
REMEDY_LOOPS = (
    "A factor that wraps around (an angle, a position on a ring) needs a method for loops, such as product-manifold; "
    "or keep only part of the loop."
)


def loops_finding(ground: Ground, rng: np.random.RandomState) -> Finding:
    """Whether all factors have two ends.

    Where the product of circles, spheres and intervals that the points form is found whole and verified, it says so.
    Else the edge of the points is held against that of a box: it misses rings that are short against the rest.
    """
    model = quietly(lambda: ProductManifold(random_state=0).fit(ground.X))
    round_ = [
        kind
        for kind, checks in zip(model.kinds_, model.checks_)
        if kind != "interval" and all(check.holds for check in checks if check.name not in OF_THE_REST)
    ]
    whole = bool(model.verified_.all())
    if ground.d not in EDGE and not round_:
        words = f"Edges are looked for with one to three factors; here are {ground.d}."
        holds = True if whole else None
        return Finding(LOOPS, holds, None, None, words, decides=False, remedy=REMEDY_LOOPS)
    if ground.d not in EDGE:
        return Finding(LOOPS, False, None, None, _wraps(round_), remedy=REMEDY_LOOPS)
    return _by_edge(ground, round_, whole, rng)


def _by_edge(ground: Ground, round_: list[str], whole: bool, rng: np.random.RandomState) -> Finding:
    d, points = ground.d, ground.points[:, :LOCAL_COMPONENTS]
    ratio = edge_ratio(points, d, rng)
    ends = end_distance(points, rng) if d == 1 else np.inf
    holds = not round_ and (whole or (ratio >= CLOSED[d] and ends >= MEETS))
    if holds:
        words = f"All factors have ends: the points have {100 * ratio:.0f} % of the edge of a box."
    elif round_:
        words = _wraps(round_)
    elif ends < MEETS:
        words = f"The ends of the curve meet: they lie {ends:.2g} times its longest step apart."
    else:
        words = f"The points have {100 * ratio:.0f} % of the edge of a box: part of it or all of it closes in itself."
    drawn = [edge_ratio(torus(len(points), d, rng), d, rng) < CLOSED[d] for _ in range(3)]
    return Finding(
        LOOPS, holds, ratio, CLOSED[d], words, power=float(np.mean(drawn)), remedy=REMEDY_LOOPS,
        violation="a circle" if d == 1 else "a torus",
    )  # fmt: skip


def _wraps(kinds: list[str]) -> str:
    what = " and ".join(f"a {kind}" for kind in kinds)
    return f"The points run around {what}, verified by its harmonics."


def first_codes(ground: Ground) -> tuple[Floats | None, list[Finding]]:
    """Codes of a quick fit on the rows looked at, and how well it kept distances; None where no fit makes sense."""
    if ground.flat:
        linear = PCAICA(ground.d, random_state=0)
        codes = quietly(lambda: linear.fit_transform(ground.points))
        turn = code_uncertainty(codes, linear.rotation_, np.random.RandomState(0))
        return codes, [_rotation(turn.doubt, turn.per_code)]
    if ground.d > MOST_FACTORS or len(ground.points) < 3 * (1 + ground.d + ground.d * (ground.d + 1) // 2):
        words = f"Not tried: {len(ground.points)} points are too few to unroll {ground.d} curved factors."
        holds = False if ground.d > MOST_FACTORS else None
        remedy = "Take more points, or fix some factors while collecting: each needs several times as many points."
        return None, [Finding("local isometry", holds, None, ISOMETRY, words, remedy=remedy)]
    model = HessianICA(ground.d, random_state=0, progress=False)
    codes = quietly(lambda: model.fit_transform(ground.X))
    shown = model.diagnostics_
    turned = _rotation(shown.rotation_doubt, shown.rotation_uncertainty)
    return codes, [_isometry(ground, codes), _density(shown.extension_error), turned]


def _isometry(ground: Ground, codes: Floats) -> Finding:
    i, j, lengths = neighbor_pairs(ground.points, 15)
    figure = isometry_of_pairs(codes[i] - codes[j], lengths)[0]
    holds = True if figure >= ISOMETRY else None if ground.noise > NOISY else False
    words = (
        f"Codes that keep the distances between neighbours were found (correlation {figure:.2f})."
        if holds
        else f"No codes were found that keep the distances between neighbours (correlation {figure:.2f})."
    )
    remedy = "More points, or less noise; data that jump (moving sharp edges) can be blurred first."
    return Finding("local isometry", holds, figure, ISOMETRY, words, remedy=remedy)


def _density(error: float) -> Finding:
    words = f"A point is placed from its neighbours with an error of {error:.2g} standard deviations of a code."
    remedy = "Take more points: the gaps between them are too wide."
    return Finding("sampling density", error <= DENSE, error, DENSE, words, remedy=remedy, decides=False)


def _rotation(doubt: float, degrees: Floats) -> Finding:
    if len(degrees) == 1:
        return Finding("rotation", True, None, DOUBTFUL, "One factor: there is nothing that it could be turned into.")
    turned = ", ".join(f"{degree:.0f}" for degree in degrees)
    holds = True if doubt <= DOUBTFUL else None
    words = (
        f"The axes of the codes are found again to {doubt:.0f} degrees under other assumptions; codes may be turned by "
        f"up to {turned} degrees."
    )
    remedy = (
        "Bring other evidence of which axes are meant (rotation= of HessianICA: a few labels, pairs, the order in "
        "time), or more points."
    )
    return Finding("rotation", holds, doubt, DOUBTFUL, words, remedy=remedy)


def code_findings(codes: Floats, rng: np.random.RandomState) -> list[Finding]:
    """Independence, support and law of codes."""
    d = codes.shape[1]
    if d == 1:
        words = "One factor: there is nothing that it could depend on, or be mixed up with."
        names = ("independent codes", "product support", "filled box", "non-Gaussian")
        return [Finding(name, True, None, None, words) for name in names]
    return [
        _effect("independent codes", support.dependence, support.DEPENDENT, support.dependent, codes, rng,
                "two factors of correlation .6", "Mutual information of two codes is {:.3f} nats"),
        _effect("product support", lambda c: support.raggedness(c, rng), support.RAGGED, support.ball, codes, rng,
                "a ball", "Combinations of codes that should occur lie {:.2f} times as far from the data as chance"),
        _effect("filled box", lambda c: _emptiness(c, rng), support.hollow(len(codes)), support.ball, codes, rng,
                "a ball", "{:.1%} of the box of the codes is empty without a reason"),
        _gaussian(codes, rng),
    ]  # fmt: skip


def _emptiness(codes: Floats, rng: np.random.RandomState) -> float:
    return float(np.mean([support.emptiness(codes, rng) for _ in range(3)]))


def _effect(
    name: str,
    measure: Callable[[Floats], float],
    threshold: float,
    violation: Callable[[int, int, np.random.RandomState], Floats],
    codes: Floats,
    rng: np.random.RandomState,
    what: str,
    words: str,
) -> Finding:
    n, d = codes.shape
    figure = max(measure(codes), 0.0)
    holds = figure <= threshold
    power = float(np.mean([measure(violation(n, d, rng)) > threshold for _ in range(DRAWS)]))
    text = words.format(figure) + (", as of a product." if holds else ": not a product.")
    return Finding(
        name, holds, figure, threshold, text, power=power, violation=what, remedy=REMEDY_PRODUCT,
        families=("spectral", "autoencoders"),
    )  # fmt: skip


def _gaussian(codes: Floats, rng: np.random.RandomState) -> Finding:
    figure = separability(codes)
    drawn = [separability(rng.standard_normal(codes.shape)) < GAUSSIAN for _ in range(DRAWS)]
    holds = True if figure >= CLEAR else None if figure >= GAUSSIAN or len(codes) < FEWEST else False
    words = f"What tells two codes from their rotations is {figure:.1f} times what chance makes of Gaussians." + (
        f" With {len(codes)} points, factors that are not Gaussian may look so too." if holds is None else ""
    )
    remedy = (
        "Gaussian factors cannot be told from their rotations. Use other evidence: labels or batches (gin), pairs, or "
        "the order in time; more points if it cannot be told."
    )
    return Finding(
        "non-Gaussian", holds, figure, GAUSSIAN, words, power=float(np.mean(drawn)), violation="Gaussian factors",
        remedy=remedy,
    )  # fmt: skip
