# Written by scripts/stubs.py.
__all__: list[str]
from unbraid.product.estimator import ProductManifold as ProductManifold
