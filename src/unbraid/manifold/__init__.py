"""Ground shared by spectral methods, geometry and metrics: neighbours, dimension, distinct rows, pairs, angles."""

from unbraid.manifold.dimension import DimensionEstimate, estimate_dimension

__all__ = ["DimensionEstimate", "estimate_dimension"]
