"""Factors with their kind: the data as a product of intervals, circles and spheres."""

from unbraid.product.estimator import ProductManifold

__all__ = ["ProductManifold"]
