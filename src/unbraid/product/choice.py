"""Which it is: a ring of few samples, a recording of one angle, or a product; and what speaks against it."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unbraid.manifold.dimension import DimensionEstimate, estimate_dimension
from unbraid.manifold.surroundings import end_distance
from unbraid.product.checks import FactorCheck, check, check_factor
from unbraid.product.curve import ClosedCurve, closed_curve
from unbraid.product.diffusion import Diffusion, Floats, ProductMaps, diffuse, even_steps
from unbraid.product.groups import Group, find_groups, indices_of, maps_of
from unbraid.product.recording import noisy_ring
from unbraid.product.ring import FEWEST, LONGEST, Ring, circle_checks, ring_of
from unbraid.runtime.progress import bar
from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import format_warning

REBUILT = 1000  # samples that are reconstructed from their factors
STEPS = 5  # a kernel of even steps is one step wide, and what rebuilds a sample takes in more
OPEN = 3.0  # distance between the ends of a curve, in longest steps, from which it has ends
# checks that have warnings of their own: of all factors together, and of the turn that an angle counts
APART = {"complete", "connected", "faithful", FIGURES["ring_turn"].name}


@dataclass(frozen=True)
class ProductDiagnostics:
    """Figures of a fit.

    Attributes
    ----------
    dimension : DimensionEstimate
        Of the data; the factors' dimensions should add up to it.
    eigenvalues : array
        Of the Laplacian, smallest first.
    n_pieces : int
        Connected parts of the samples.
    expected_mcc : None
        Not predicted for this method: ``verified_`` says which factors to trust.
    concerns : list of str
        The checks that failed; each was a warning of ``fit``.
    """

    dimension: DimensionEstimate
    eigenvalues: NDArray
    n_pieces: int
    expected_mcc: None = None
    concerns: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Found:
    """Factors with their kinds.

    Attributes
    ----------
    kinds : list of str
    maps : ProductMaps or ClosedCurve
    places : array (n, columns)
        Of the points on the factors.
    groups : list of arrays of int
        Eigenfunctions that make up most of each factor.
    checks : list of lists of FactorCheck
    diagnostics : ProductDiagnostics
    rounds : list of int
        How often the rows, in the order in which they came, go around each factor by small steps.
    chosen : dict of str
        What was chosen, in words.
    """

    kinds: list[str]
    maps: ProductMaps | ClosedCurve
    places: Floats
    groups: list[NDArray[np.intp]]
    checks: list[list[FactorCheck]]
    diagnostics: ProductDiagnostics
    rounds: list[int]
    chosen: dict[str, str]

    @property
    def verified(self) -> NDArray[np.bool_]:
        """Whether each factor passed all checks."""
        return np.array([turns < 2 and all(c.holds for c in own) for turns, own in zip(self.rounds, self.checks)])

    def doubts(self, names: list[str]) -> list[str]:
        """Warnings about single factors, which have these names."""
        concerns = []
        for kind, name, checks, turns in zip(self.kinds, names, self.checks, self.rounds):
            if turns > 1:
                concerns.append(format_warning("UB237", codes=name, turns=turns))
            failed = [c for c in checks if not c.holds and c.name not in APART]
            if failed:
                which = "; ".join(f"{c.name} is {c.figure:.2g} against {c.threshold:.2g}" for c in failed)
                concerns.append(format_warning("UB235", codes=name, kind=kind, failed=which))
            hides = [c.figure for c in checks if not c.holds and c.name == FIGURES["ring_turn"].name]
            if hides and turns < 2:
                concerns.append(format_warning("UB238", codes=name, hidden=hides[0]))
        return concerns


def find(
    points: Floats,
    order: NDArray[np.intp],
    rng: np.random.RandomState,
    *,
    declared: bool,
    n_factors: int | None,
    dimension: DimensionEstimate | None,
    progress: bool | None,
) -> Found:
    """The factors of distinct points.

    Parameters
    ----------
    points : array (n, features)
    order : array of int
        The position among them of every row, as the rows came.
    rng : numpy.random.RandomState
    declared : bool
        Whether they are known to be one circle.
    n_factors : int or None
    dimension : DimensionEstimate or None
    progress : bool or None

    Returns
    -------
    Found
    """
    with bar("fit", total=3, show=progress) as advance:
        dimension = dimension or estimate_dimension(points, random_state=0)
        if declared and len(order) > LONGEST:
            return _recording(points, order, dimension)
        ring = _ring(points, order, declared, n_factors)
        if ring is not None and (declared or ring.holds(dimension.clear and dimension.dim > 1)):
            return _few(ring, points, order, dimension)
        steps = even_steps(points)
        dim = 1 if steps else dimension.dim
        advance()
        walk = diffuse(points, rng, dim)
        advance()
        groups = find_groups(walk, n_factors, dim)
        advance()
    return _product(walk, groups, points, order, dimension, steps, n_factors)


def _ring(points: Floats, order: NDArray[np.intp], declared: bool, n_factors: int | None) -> Ring | None:
    """The order of the samples if they may follow one another around a ring; None for a curve with ends."""
    few = FEWEST <= len(points) <= LONGEST and n_factors in (None, 1)
    closed = declared or (few and end_distance(points, np.random.RandomState(0)) < OPEN)
    return ring_of(points, order) if few and closed else None


def _recording(points: Floats, order: NDArray[np.intp], dimension: DimensionEstimate) -> Found:
    """The rows are one ring with noise: the closed curve through them."""
    rows = points[order]
    curve, places, together = noisy_ring(rows)
    angle = np.arctan2(places[:, 1], places[:, 0])
    left = curve.noise * rows.shape[1] / max(float(rows.var(axis=0).sum()), 1e-300)
    checks = [check("ring_left", left), check("factor_hole", _gap(angle)), *circle_checks(rows, angle, 0)]
    chosen = {"time": "rows follow one another" if together else "rows are in no order"}
    return _circle(curve, places, checks, ProductDiagnostics(dimension, np.empty(0), 1), [0], chosen)


def _few(ring: Ring, points: Floats, order: NDArray[np.intp], dimension: DimensionEstimate) -> Found:
    """The samples are one ring: its angle is the only factor."""
    curve = closed_curve(points, ring.angle, (ring.span + 1) * np.pi / len(points))
    places = curve.forward(points)
    rounds = _rounds(curve, places[order])
    checks = [
        check("ring_left", ring.left),
        *circle_checks(points, ring.angle, rounds[0]),
        check("factor_hole", _gap(ring.angle)),
    ]
    margins = [c.figure for c in checks if c.name == FIGURES["ring_margin"].name and not c.holds]
    concerns = [format_warning("UB213", margin=margin) for margin in margins]
    chosen = {"n_dimensions": "1, as the samples follow one another around a closed curve"}
    return _circle(curve, places, checks, ProductDiagnostics(dimension, np.empty(0), 1, None, concerns), rounds, chosen)


def _circle(
    curve: ClosedCurve,
    places: Floats,
    checks: list[FactorCheck],
    diagnostics: ProductDiagnostics,
    rounds: list[int],
    chosen: dict[str, str],
) -> Found:
    return Found(["circle"], curve, places, [np.empty(0, np.intp)], [checks], diagnostics, rounds, chosen)


def _product(
    walk: Diffusion,
    groups: list[Group],
    points: Floats,
    order: NDArray[np.intp],
    dimension: DimensionEstimate,
    steps: bool,
    n_factors: int | None,
) -> Found:
    """The factors of a walk, with all checks; ``steps`` if the samples follow one another in even steps."""
    maps, kinds = maps_of(walk, points, groups), [group.kind for group in groups]
    places = maps.forward(points)
    found = sum(group.dim for group in groups)
    filled = found == points.shape[1]  # there is no room for another
    clear = steps or dimension.clear or filled
    dim = 1 if steps else points.shape[1] if filled else dimension.dim
    unlike = _unlike(maps, places, points) / (walk.scale * (STEPS if steps else 1))
    checks = [check_factor(walk, groups, i, dim, clear, unlike) for i in range(len(groups))]
    rounds = _rounds(maps, places[order])
    if kinds == ["circle"] and dim == 1 and len(points) >= FEWEST:
        checks[0] += circle_checks(points, np.arctan2(places[:, 1], places[:, 0]), rounds[0])
    concerns = []
    if n_factors is not None and len(groups) < n_factors:
        concerns.append(format_warning("UB231", found=len(groups), wanted=n_factors))
    if walk.n_pieces > 1:
        concerns.append(format_warning("UB232", pieces=walk.n_pieces))
    if not clear:
        concerns.append(format_warning("UB233", estimate=dimension))
    elif found != dim:
        means = "a short factor may be missing" if found < dim else "one of them may be noise"
        concerns.append(format_warning("UB234", found=found, dimension=dim, means=means))
    elif not FIGURES["factor_faithful"].holds(unlike):
        concerns.append(format_warning("UB236"))
    diagnostics = ProductDiagnostics(dimension, walk.eigenvalues, walk.n_pieces, None, concerns)
    chosen = {"n_dimensions": "1, as the samples follow one another in even steps"} if steps else {}
    return Found(kinds, maps, places, [indices_of(group) for group in groups], checks, diagnostics, rounds, chosen)


def _unlike(maps: ProductMaps, places: Floats, points: Floats) -> float:
    """Mean squared distance between samples and their reconstructions from the factors."""
    some = slice(None, None, -(-len(points) // REBUILT))
    return float(np.square(maps.backward(places[some], places) - points[some]).sum(axis=1).mean())


def _rounds(maps: ProductMaps | ClosedCurve, places: Floats) -> list[int]:
    """How often rows go around each factor, if they follow one another by small steps."""
    rounds = []
    for part in maps.parts(places):
        place = part[:, 0] + 1j * part[:, -1]
        steps = np.angle(place[1:] * place[:-1].conj())
        near = part.shape[1] == 2 and np.quantile(np.abs(steps), 0.9) < np.pi / 4
        rounds.append(round(abs(float(steps.sum())) / (2 * np.pi)) if near else 0)
    return rounds


def _gap(angle: Floats) -> float:
    """The largest part of the circle without a sample."""
    return float(np.diff(np.sort(angle), append=angle.min() + 2 * np.pi).max())
