"""Factors with their kind: intervals, circles and spheres whose product the data's manifold is."""

from unbraid.product.estimator import ProductManifold

__all__ = ["ProductManifold"]
