"""Shared by spectral methods, geometry and metrics: neighbours, dimension, distinct rows, pairs, angles."""

from unbraid.manifold.angles import largest_angles
from unbraid.manifold.dimension import DimensionEstimate, estimate_dimension
from unbraid.manifold.neighbors import (
    NeighborSearch,
    closest_pairs,
    distinct_rows,
    nearest,
    neighbor_pairs,
    neighborhoods,
)

__all__ = [
    "DimensionEstimate",
    "NeighborSearch",
    "closest_pairs",
    "distinct_rows",
    "estimate_dimension",
    "largest_angles",
    "nearest",
    "neighbor_pairs",
    "neighborhoods",
]
