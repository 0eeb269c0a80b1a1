"""HLLE+ICA on pictures: faces of a real generator, and squares with hard edges."""

import numpy as np
import pytest

import unbraid as ub

GENERATOR = "data/generators/digiface_dcgan64.pt"


def faces(shared, components, n):
    """Faces that vary in two principal components of a DCGAN; drawn squares where its weights are not at hand."""
    weights = shared.path(GENERATOR)
    if weights is None:
        return ub.datasets.load("shapes-xy").sample(n, random_state=0)
    return ub.datasets.load("gan-manifold", weights=weights, components=components).sample(n, random_state=0)


@pytest.mark.slow
def test_faces(shared):
    X, factors = faces(shared, (2, 3), 400)
    model = ub.HessianICA(n_factors=2, n_neighbors=15, random_state=0).fit(X[:340])
    assert ub.metrics.mcc(factors[340:], model.transform(X[340:])) > 0.95
    assert model.inverse_transform(model.embedding_[:3]).shape == (3, *X.shape[1:])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:UB211")  # codes of the first manifold depend on each other by 0.21 nats
@pytest.mark.filterwarnings("ignore:UB117")  # nor do they fill a box (1.41): they are bent
@pytest.mark.parametrize("components", [(0, 1), (2, 3), (4, 5)])
def test_faces_automatic(shared, components):
    X, factors = faces(shared, components, 3000)
    assert ub.metrics.mcc(factors, ub.HessianICA(n_factors=2, random_state=0).fit_transform(X)) > 0.95


@pytest.mark.slow
def test_hard_edges_and_factors_of_very_different_length():
    """A square of eight-pixel half-side moves 44 pixels along the diagonal; its colour moves the picture far less."""
    factors = np.random.default_rng(0).uniform(size=(3000, 2))
    pixel, centre = np.arange(64), 10 + 44 * factors[:, :1]
    side = np.clip(np.minimum(pixel + 1, centre + 8) - np.maximum(pixel, centre - 8), 0, 1)
    colour = np.stack([factors[:, 1], 1 - factors[:, 1], np.full(3000, 0.5)], axis=1)
    X = (side[:, :, None] * side[:, None, :])[..., None] * colour[:, None, None, :]
    model = ub.HessianICA(n_factors=2, random_state=0)
    assert ub.metrics.mcc(factors, model.fit_transform(X.astype(np.float32))) > 0.99
    assert model.diagnostics_.n_redundant > 0
