"""Does a factor wrap around? Seen in the kinds of factors that a product of manifolds has, or in a missing edge."""

import numpy as np

from unbraid.diagnosis.findings import LOOPS, Finding
from unbraid.diagnosis.ground import LOCAL_COMPONENTS, Ground, quietly
from unbraid.manifold.edges import CLOSED, EDGE, MEETS, edge_ratio, end_distance, torus
from unbraid.product.estimator import ProductManifold

OF_THE_REST = ("full", "complete")  # checks of what a factor forms with the others, not of its own shape
REMEDY = (
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
        return Finding(LOOPS, holds, None, None, words, decides=False, remedy=REMEDY)
    if ground.d not in EDGE:
        return Finding(LOOPS, False, None, None, _wraps(round_), remedy=REMEDY)
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
        LOOPS, holds, ratio, CLOSED[d], words, power=float(np.mean(drawn)), remedy=REMEDY,
        violation="a circle" if d == 1 else "a torus",
    )  # fmt: skip


def _wraps(kinds: list[str]) -> str:
    what = " and ".join(f"a {kind}" for kind in kinds)
    return f"The points run around {what}, verified by its harmonics."
