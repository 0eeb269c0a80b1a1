"""Which eigenfunctions belong to which factor of a product manifold."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unbraid.manifold.reduction import inverse_root
from unbraid.product.diffusion import Diffusion, Floats, ProductMaps

KINDS = ("interval", "circle", "sphere")
WEIGHT = 100.0  # of change along factors that are known, when others are looked for
SAME_LENGTH = 1.8  # eigenvalues below this multiple of the lowest are first harmonics: products begin at 2
# A group is whole if the energy between its parts (.5 for a circle, .15 for a sphere, less when blurred) is above CROSS
# times the square of its roundness over OVAL: two intervals have roundness .5, a circle beside an interval .24.
CROSS = 0.09
OVAL = {2: 0.4, 3: 0.27}
OLD = 0.1  # share of the energy along known factors above which a function is of no new one; a new one has .01
LIKELY = 0.6  # shape below which a function is noise; the shortest factors have .7, noise .2 to .5
CERTAIN, FRESH = 0.85, 0.03  # LIKELY and OLD once the factors found have the dimension of the data
MOST_FACTORS = 8
LARGEST_GROUP = 12


@dataclass(frozen=True)
class Group:
    r"""The functions of one factor.

    Attributes
    ----------
    kind : str
        "interval", "circle" or "sphere": one, two or three functions.
    coefficients : array (m, size)
        Of the eigenfunctions.
    place : array (n, size)
        The factor itself: a cosine of the length on an interval, a unit vector otherwise.
    rate : float
        :math:`1 / r^2`, so that :math:`|\nabla c|^2 = (1 - c^2) / r^2`; an interval is :math:`\pi r` long.
    """

    kind: str
    coefficients: Floats
    place: Floats
    rate: float

    @property
    def dim(self) -> int:
        return 2 if self.kind == "sphere" else 1

    @property
    def radius(self) -> float:
        return float(1 / np.sqrt(self.rate))


def find_groups(walk: Diffusion, n_factors: int | None, dim: int) -> list[Group]:
    """The factors, longest first: those of the slowest functions, then those that change along none of these.

    ``dim`` is the estimated dimension of the data; factors beyond it must be clear. If the factors have more
    dimensions, a circle or a sphere may have been split: the search is repeated with wider rules, which are kept if
    they agree.
    """
    first = _found(walk, n_factors, dim, CROSS)
    for cross in (CROSS / 2, CROSS / 4) if n_factors is None and _dim(first) > dim else ():
        again = _found(walk, n_factors, dim, cross)
        if _dim(again) == dim:
            return again
    return first


def _dim(groups: list[Group]) -> int:
    return sum(group.dim for group in groups)


def _found(walk: Diffusion, n_factors: int | None, dim: int, cross: float) -> list[Group]:
    """The factors, where a group is not split if the energy between its parts is above ``cross``."""
    groups: list[Group] = []
    while len(groups) < (n_factors or MOST_FACTORS):
        least, most = (LIKELY, OLD) if _dim(groups) < dim else (CERTAIN, FRESH)
        vectors = _next_functions(walk, groups, most)
        if vectors is None:
            break
        found = [group_of(walk, part) for part in split(walk, vectors, cross)]
        likely = [group for group in found if not groups or shape_of(walk, group) > least]
        groups += likely
        if not likely:
            break
    groups = groups[: n_factors or MOST_FACTORS]
    return sorted((_refined(walk, groups, i) for i in range(len(groups))), key=lambda g: g.rate)


def along(walk: Diffusion, group: Group) -> Floats:
    r"""Matrix (m, m) of the energy of eigenfunctions along a factor.

    The gradient of :math:`f` along a circle or a sphere has the square :math:`r^2 \sum_a \langle \nabla f, \nabla c_a
    \rangle^2`; along an interval, :math:`r^2 \langle \nabla f, \nabla c \rangle^2 / (1 - c^2)`, whose poles at the ends
    are rounded off.
    """
    total = np.zeros((walk.functions.shape[1],) * 2)
    for a in range(group.place.shape[1]):
        c = group.place[:, [a]]
        change = walk.gamma(walk.functions, c)
        weight = walk.weights / (1.03 - np.square(c[:, 0])) if group.kind == "interval" else walk.weights
        total += change.T @ (change * weight[:, None])
    return total / group.rate


def _penalised(walk: Diffusion, groups: list[Group]) -> tuple[Floats, Floats, Floats]:
    """Functions that change little along the groups: eigenvalues, coefficients, share of energy along the groups."""
    known = sum((along(walk, group) for group in groups), np.zeros((walk.functions.shape[1],) * 2))
    values, vectors = np.linalg.eigh(np.diag(walk.energies) + WEIGHT * known)
    energy = np.square(vectors).T @ walk.energies
    return values, vectors, np.einsum("ia,ij,ja->a", vectors, known, vectors) / energy


def _next_functions(walk: Diffusion, groups: list[Group], largest: float) -> Floats | None:
    """First harmonics of the longest unknown factors; None if all change lies along known ones.

    ``largest`` is the share of its energy that a new function may have along known factors.
    """
    values, vectors, share = _penalised(walk, groups)
    if share[0] > largest:
        return None
    most = int(np.argmin(np.append((values < SAME_LENGTH * values[0]) & (share < largest), False)))
    most = min(most, len(values) - 1, LARGEST_GROUP)
    count = 1 + int(np.argmax(values[1 : most + 1] / values[:most]))
    return vectors[:, :count]


def split(walk: Diffusion, vectors: Floats, cross: float = CROSS) -> list[Floats]:
    """Parts of a space of functions whose gradients are orthogonal everywhere."""
    g = vectors.shape[1]
    if g == 1:
        return [vectors]
    gram = walk.gram(walk.functions @ vectors)
    rotation = _commuting(walk, gram)
    turned = rotation.T @ gram @ rotation
    energies = walk.mean(np.einsum("naa->na", turned))
    between = [float(walk.mean(np.square(turned[:, :cut, cut:]).sum(axis=(1, 2)))) for cut in range(1, g)]
    ratios = [b / (energies[:cut].sum() * energies[cut:].sum()) for cut, b in enumerate(between, start=1)]
    cut = 1 + int(np.argmin(ratios))
    oval = roundness(walk, walk.functions @ vectors)
    if g <= 3 and min(ratios) > cross * (oval / OVAL[g]) ** 2:
        return [vectors]
    parts = vectors @ rotation
    return split(walk, parts[:, :cut], cross) + split(walk, parts[:, cut:], cross)


def _commuting(walk: Diffusion, gram: Floats) -> Floats:
    """Eigenvectors of the symmetric matrix that most nearly commutes with all of ``gram``."""
    g = gram.shape[1]
    i, j = np.triu_indices(g)
    basis = np.zeros((len(i), g, g))
    basis[np.arange(len(i)), i, j] = basis[np.arange(len(i)), j, i] = np.where(i == j, 1, np.sqrt(0.5))
    commutators = np.einsum("sab,nbc->snac", basis, gram) - np.einsum("nab,sbc->snac", gram, basis)
    flat = (commutators * np.sqrt(walk.weights)[:, None, None]).reshape(len(i), -1)
    identity = (i == j) / np.sqrt(g)
    form = flat @ flat.T
    form += (np.trace(form) + 1) * np.outer(identity, identity)  # it commutes with all, and carries no information
    best = np.linalg.eigh(form)[1][:, 0]
    return np.linalg.eigh(np.tensordot(best, basis, axes=1))[1]


def roundness(walk: Diffusion, functions: Floats) -> float:
    """Variation of the squared radius of some functions: standard deviation over mean; 0 on a circle or a sphere."""
    squares = np.square(_white(walk, functions)).sum(axis=1)
    mean = float(walk.mean(squares))
    return float(np.sqrt(walk.mean(np.square(squares - mean)))) / max(mean, 1e-300)


def _white(walk: Diffusion, functions: Floats) -> Floats:
    centred = functions - walk.mean(functions)
    covariance = centred.T @ (centred * walk.weights[:, None])
    values, vectors = np.linalg.eigh(covariance)
    return centred @ (vectors / np.sqrt(np.maximum(values, 1e-300))) @ vectors.T


def group_of(walk: Diffusion, vectors: Floats) -> Group:
    """One to three functions as coordinates of an interval, a circle or a sphere."""
    size = vectors.shape[1]
    functions = walk.functions @ vectors
    if size == 1:
        place = np.clip(functions / np.sqrt(2), -1, 1)
    else:
        place = _white(walk, functions)
        place = place / np.maximum(np.linalg.norm(place, axis=1, keepdims=True), 1e-300)
    eigenvalue = float(np.mean(np.square(vectors).T @ walk.energies))
    return Group(KINDS[size - 1], vectors, place, eigenvalue / max(1, size - 1))


def shape_of(walk: Diffusion, group: Group) -> float:
    r"""How well the gradients are those of the kind, at most 1.

    It is the cosine between :math:`\langle\nabla c_a, \nabla c_b\rangle`, as measured, and
    :math:`\delta_{ab} - c_a c_b`, which it is to scale on an interval, a circle and a sphere.
    """
    size = group.place.shape[1]
    measured = walk.gram(group.place)
    expected = np.eye(size) - group.place[:, :, None] * group.place[:, None, :]
    dot, a, b = (
        float(walk.mean((x * y).sum(axis=(1, 2))))
        for x, y in ((measured, expected), (measured, measured), (expected, expected))
    )
    return dot / max(np.sqrt(a * b), 1e-300)


def _refined(walk: Diffusion, groups: list[Group], own: int) -> Group:
    """The group again, now that the others are known: the slowest functions that change along none of them."""
    others = groups[:own] + groups[own + 1 :]
    if not others:
        return groups[own]
    size = groups[own].place.shape[1]
    vectors = _penalised(walk, others)[1][:, :size]
    same = np.square(groups[own].coefficients.T @ vectors).sum() / size
    return group_of(walk, vectors) if same > 0.5 else groups[own]


def indices_of(group: Group) -> NDArray[np.intp]:
    """Eigenfunctions that a group is made of, the largest parts first: as many as make up nine tenths."""
    shares = np.square(group.coefficients).sum(axis=1) / group.coefficients.shape[1]
    order = np.argsort(-shares)
    return order[: 1 + int(np.searchsorted(np.cumsum(shares[order]), 0.9))]


def maps_of(walk: Diffusion, points: Floats, groups: list[Group]) -> ProductMaps:
    """The maps of some groups of functions on these points."""
    coefficients = np.concatenate([group.coefficients for group in groups], axis=1)
    functions = walk.functions @ coefficients
    lost = (1 - walk.decay) * np.square(walk.rho)[:, None]
    targets = (walk.functions / np.maximum(1 - lost, 0.05)) @ coefficients
    sizes = [group.place.shape[1] for group in groups]
    centre, whiten = np.zeros(sum(sizes)), np.eye(sum(sizes)) / np.sqrt(2)
    for size, stop in zip(sizes, np.cumsum(sizes)):
        own = slice(stop - size, stop)
        if size > 1:
            centre[own] = walk.mean(functions[:, own])
            centred = functions[:, own] - centre[own]
            whiten[own, own] = inverse_root(centred.T @ (centred * walk.weights[:, None]), 1e-300)
    radii = [group.radius for group in groups]
    return ProductMaps(
        points, walk.density, targets, centre, whiten, walk.scale, walk.rho, walk.core, walk.width, sizes, radii
    )
