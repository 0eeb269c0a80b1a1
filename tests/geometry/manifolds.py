"""Sampled products with their true tangent subspaces."""

import unbraid as ub


def product(names, n, seed=0, ambient=None):
    """A product such as ``["S2", "SO3"]``, turned into ``ambient`` dimensions, and its true subspaces."""
    data = ub.datasets.load("product-manifold", manifolds=names, n_features=ambient, random_state=seed)
    X, states = data.sample(n, random_state=seed)
    return X, data.tangents(states)
