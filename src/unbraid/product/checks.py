"""Checks of each factor of a product, which a wrong factor fails."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats.contingency import crosstab

from unbraid.product.diffusion import Diffusion, Floats
from unbraid.product.groups import Group, along, roundness, shape_of
from unbraid.trust.table import FIGURES

CELL = 16  # samples expected in a cell of two factors, on average


@dataclass(frozen=True)
class FactorCheck:
    """One check of one factor.

    Attributes
    ----------
    name : str
    holds : bool
    figure : float
        What was measured.
    threshold : float
        What it was compared with.
    words : str
        What it means.
    """

    name: str
    holds: bool
    figure: float
    threshold: float
    words: str


def check_factor(
    walk: Diffusion, groups: list[Group], own: int, dim: int, clear: bool, unlike: float
) -> list[FactorCheck]:
    """All checks of one of the factors.

    ``dim`` is the dimension of the data, and ``unlike`` the mean squared distance between samples and their
    reconstructions from the factors, in squared widths of the kernel.
    """
    group, others = groups[own], groups[:own] + groups[own + 1 :]
    dims = sum(g.dim for g in groups)
    checks = [
        check("factor_shape", shape_of(walk, group)),
        check("factor_harmonic", _second_harmonic(walk, group)),
        _coverage(group),
        check("factor_apart", _shared(walk, group, others)),
        check("factor_sum", _sum(walk, group, others)),
        check("factor_constant", _unevenness(walk, group, others)),
        check("factor_full", _emptiness(group, others)),
        FactorCheck("complete", clear and dims == dim, float(dims), float(dim), FIGURES["factor_complete"].meaning),
        check("factor_faithful", unlike),
        check("factor_connected", float(walk.n_pieces)),
    ]
    if group.kind != "interval":
        functions = walk.functions @ group.coefficients
        values = np.linalg.eigvalsh(group.coefficients.T @ (walk.eigenvalues[:, None] * group.coefficients))
        checks += [
            check("factor_round", roundness(walk, functions), group.kind),
            check("factor_even", float(values[-1] / max(values[0], 1e-300))),
        ]
    return checks


def check(key: str, value: float, kind: str = "") -> FactorCheck:
    """The check that a figure of the table of trust makes."""
    line = FIGURES[key]
    return FactorCheck(line.name, line.holds(value, kind), float(value), line.limit(kind), line.meaning)


def _coverage(group: Group) -> FactorCheck:
    """An interval has two ends, a circle no gap, a sphere no empty half."""
    if group.kind == "interval":
        low, high = np.quantile(group.place, [0.01, 0.99])
        return check("factor_reach", min(-low, high))
    if group.kind == "circle":
        angles = np.sort(np.arctan2(group.place[:, 1], group.place[:, 0]))
        return check("factor_hole", np.diff(np.append(angles, angles[0] + 2 * np.pi)).max())
    nearest = (_directions() @ group.place.T).max(axis=1)
    return check("factor_hole", float(np.arccos(np.clip(nearest.min(), -1, 1))))


def _directions() -> Floats:
    """The 26 directions to the corners, edges and faces of a cube."""
    grid = np.stack(np.meshgrid(*[[-1, 0, 1]] * 3), axis=-1).reshape(-1, 3)
    grid = grid[np.abs(grid).sum(axis=1) > 0]
    return grid / np.linalg.norm(grid, axis=1, keepdims=True)


def _second_harmonic(walk: Diffusion, group: Group) -> float:
    """Share of the square of its functions whose eigenvalues are near four times theirs (.6 to 1.6 of it).

    On an interval and a circle the square of a first harmonic is a second one, of four times the eigenvalue; on a
    sphere, of three times.
    """
    i, j = np.triu_indices(group.place.shape[1])
    shares = _shares(walk, group.place[:, i] * group.place[:, j])
    ratio = walk.eigenvalues / max(_eigenvalue(walk, group), 1e-300) / (3 if group.kind == "sphere" else 4)
    return float(shares[(ratio > 0.6) & (ratio < 1.6)].sum() / max(shares.sum(), 1e-300))


def _shares(walk: Diffusion, values: Floats) -> Floats:
    """Share of each eigenfunction in some functions, after their means are removed."""
    centred = values - walk.mean(values)
    return np.square(walk.functions.T @ (centred * walk.weights[:, None])).sum(axis=1)


def _sum(walk: Diffusion, group: Group, others: list[Group]) -> float:
    r"""How far eigenvalues of products with another factor's functions are from the sum, as a ratio of at least 1.

    On a product, :math:`f g` has the eigenvalue :math:`\lambda_f + \lambda_g`. On a disk its first two functions have
    the ratio 1.38.
    """
    worst = 1.0
    for other in others:
        shares = _shares(walk, (group.place[:, :, None] * other.place[:, None, :]).reshape(len(other.place), -1))
        expected = _eigenvalue(walk, group) + _eigenvalue(walk, other)
        ratio = float(shares @ walk.eigenvalues / max(shares.sum() * expected, 1e-300))
        worst = max(worst, ratio, 1 / max(ratio, 1e-300))
    return worst


def _eigenvalue(walk: Diffusion, group: Group) -> float:
    """Mean eigenvalue of a factor's functions."""
    return float(np.square(group.coefficients).sum(axis=1) @ walk.eigenvalues) / group.coefficients.shape[1]


def _shared(walk: Diffusion, group: Group, others: list[Group]) -> float:
    """Largest share of the factor's energy that lies along another."""
    c = group.coefficients
    energy = float(np.sum(np.square(c).T @ walk.energies))
    return float(max((np.trace(c.T @ along(walk, other) @ c) / energy for other in others), default=0.0))


def _unevenness(walk: Diffusion, group: Group, others: list[Group]) -> float:
    """How far the factor's length varies with the others: standard deviation of its square as they predict it."""
    if not others:
        return 0.0
    places = [other.place for other in others]
    squares = np.trace(walk.gram(group.place), axis1=1, axis2=2)
    room = 1 - np.square(group.place).sum(axis=1) if group.kind == "interval" else np.ones(len(squares))
    columns = np.concatenate([np.ones((len(squares), 1)), *places, *map(np.square, places)], axis=1)
    design = columns * (room * np.sqrt(walk.weights))[:, None]
    coefficients = np.linalg.lstsq(design, squares * np.sqrt(walk.weights), rcond=1e-6)[0]
    rates = columns @ coefficients
    law = walk.weights * room
    mean = float(law @ rates / law.sum())
    return float(np.sqrt(law @ np.square(rates - mean) / law.sum()) / max(abs(mean), 1e-300))


def _emptiness(group: Group, others: list[Group]) -> float:
    """Largest share of the pairs of values with another factor that do not occur, though each value does.

    In a product all occur, whether the factors are independent or not; in a disk, none in the corners of the square.
    """
    share = 0.0
    n = len(group.place)
    bins = int(np.clip(np.sqrt(n / CELL), 3, 10))
    for other in others:
        counts = crosstab(_cells(group, bins), _cells(other, bins)).count
        expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
        empty = (counts < 0.15 * expected) & (expected > 6)
        share = max(share, float(expected[empty].sum() / n))
    return share


def _cells(group: Group, bins: int) -> NDArray[np.intp]:
    """In which part of the factor each sample lies: of its length, of the turn, or of the six sides of a sphere."""
    if group.kind == "sphere":
        return np.concatenate([group.place, -group.place], axis=1).argmax(axis=1)
    if group.kind == "interval":
        turn = np.arccos(np.clip(group.place[:, 0], -1, 1)) / np.pi
    else:
        turn = np.arctan2(group.place[:, 1], group.place[:, 0]) / (2 * np.pi) + 0.5
    return np.minimum((bins * turn).astype(np.intp), bins - 1)
