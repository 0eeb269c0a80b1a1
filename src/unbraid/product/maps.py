"""From rows to factors and back: Nystroem's formula forward, a local linear fit backward."""

from dataclasses import dataclass

import numpy as np

from unbraid.manifold.neighbors import NeighborSearch
from unbraid.manifold.reduction import inverse_root
from unbraid.product.diffusion import Diffusion, Floats
from unbraid.product.groups import Group

BLOCK = 4096
NEAR = 24  # samples of a local fit


@dataclass(frozen=True)
class ProductMaps:
    r"""Factors at any point, by the walk on the samples.

    An eigenfunction is known everywhere, :math:`f(x) = \frac1\mu \sum_y p(x, y) f(y)`, and so is every factor made of
    some. The way back weighs the samples whose factors are near, and corrects their mean by a linear fit.

    Attributes
    ----------
    points : array (n, features)
    density : array (n,)
        By which the kernel is divided.
    targets : array (n, columns)
        The functions of all factors side by side, each part divided by its decay.
    centre, whiten : arrays (columns,), (columns, columns)
        What makes the functions of a circle or a sphere a unit vector.
    scale : float
        Squared width of the kernel.
    rho : array (n,)
        Width at each sample against the median one.
    core, width : int
        Neighbours that make the width, and those in the kernel.
    sizes : list of int
        Functions of each factor.
    radii : list of float
    """

    points: Floats
    density: Floats
    targets: Floats
    centre: Floats
    whiten: Floats
    scale: float
    rho: Floats
    core: int
    width: int
    sizes: list[int]
    radii: list[float]

    def forward(self, points: Floats) -> Floats:
        """Places (n, columns): a cosine for an interval, a unit vector for a circle or a sphere."""
        search = NeighborSearch(self.points)
        parts = [self._places(search, points[i : i + BLOCK]) for i in range(0, len(points), BLOCK)]
        return np.concatenate(parts) if parts else np.empty((0, sum(self.sizes)))

    def _places(self, search: NeighborSearch, points: Floats) -> Floats:
        distances, near = search.query(points, self.width)
        squares = np.square(distances)
        own = np.exp(np.log(self.rho)[near[:, : self.core + 1]].mean(axis=1, keepdims=True))
        squares = squares / (self.scale * own * self.rho[near])
        # far from all samples the nearest one decides, where all weights would vanish
        weights = np.exp(squares[:, :1] - squares) / self.density[near]
        functions = np.einsum("nk,nkc->nc", weights / weights.sum(axis=1, keepdims=True), self.targets[near])
        return self._on_factors((functions - self.centre) @ self.whiten)

    def _on_factors(self, functions: Floats) -> Floats:
        start = 0
        for size in self.sizes:
            part = functions[:, start : start + size]
            if size == 1:
                np.clip(part, -1, 1, out=part)
            else:
                part /= np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1e-300)
            start += size
        return functions

    def backward(self, places: Floats, known: Floats) -> Floats:
        """Points whose factors are ``places``; ``known`` are the places of the samples."""
        table = self._stretched(known)
        search = NeighborSearch(table)
        parts = [
            self._fitted(search, table, self._stretched(places[i : i + BLOCK])) for i in range(0, len(places), BLOCK)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self.points.shape[1]))

    def _stretched(self, places: Floats) -> Floats:
        """Places as lengths: an interval in units of the data, a circle or a sphere of its radius."""
        columns, start = [], 0
        for size, radius in zip(self.sizes, self.radii):
            part = places[:, start : start + size]
            columns.append(radius * (np.arccos(np.clip(part, -1, 1)) if size == 1 else part))
            start += size
        return np.concatenate(columns, axis=1)

    def _fitted(self, search: NeighborSearch, table: Floats, queries: Floats) -> Floats:
        distances, near = search.query(queries, min(NEAR, len(table)))
        width = np.maximum(np.median(distances, axis=1, keepdims=True), 1e-9 * table.std() + 1e-300)
        weights = np.exp(-np.square(distances / width))
        weights /= weights.sum(axis=1, keepdims=True)
        steps = table[near] - queries[:, None]
        mean_step = np.einsum("nk,nkc->nc", weights, steps)
        values = self.points[near]
        mean_value = np.einsum("nk,nkf->nf", weights, values)
        centred = steps - mean_step[:, None]
        weighted = centred * weights[:, :, None]
        gram = np.einsum("nkc,nkd->ncd", weighted, centred)
        # a circle's two columns have one direction: the ridge keeps the other still
        ridge = 1e-2 * np.trace(gram, axis1=1, axis2=2) + 1e-12 * table.var() + 1e-300
        cross = np.einsum("nkc,nkf->ncf", weighted, values - mean_value[:, None])
        slopes = np.linalg.solve(gram + ridge[:, None, None] * np.eye(gram.shape[1]), cross)
        return mean_value - np.einsum("nc,ncf->nf", mean_step, slopes)


def maps_of(walk: Diffusion, points: Floats, groups: list[Group]) -> ProductMaps:
    """The maps of some groups of functions on these points."""
    coefficients = np.concatenate([group.coefficients for group in groups], axis=1)
    functions = walk.functions @ coefficients
    lost = (1 - walk.decay) * np.square(walk.rho)[:, None]
    targets = (walk.functions / np.maximum(1 - lost, 0.05)) @ coefficients
    sizes = [group.place.shape[1] for group in groups]
    centre, whiten = np.zeros(len(coefficients[0])), np.eye(len(coefficients[0]))
    start = 0
    for size in sizes:
        own = slice(start, start + size)
        if size == 1:
            whiten[own, own] = 1 / np.sqrt(2)
        else:
            centre[own] = walk.mean(functions[:, own])
            centred = functions[:, own] - centre[own]
            whiten[own, own] = inverse_root(centred.T @ (centred * walk.weights[:, None]), 1e-300)
        start += size
    radii = [group.radius for group in groups]
    return ProductMaps(
        points, walk.density, targets, centre, whiten, walk.scale, walk.rho, walk.core, walk.width, sizes, radii
    )
