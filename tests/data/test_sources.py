"""Product manifolds, GIN's mixture and non-stationary sources against their definitions."""

import numpy as np
import pytest

from tests.facts import facts
from unbraid import datasets


@pytest.mark.parametrize(("manifolds", "size"), [(["S2", "S2"], 6), (["S1", "SO3", "S3"], 15), (["SO4"], 16)])
def test_tangents_are_orthonormal_and_tangent(manifolds, size):
    data = datasets.load("product-manifold", manifolds=manifolds, n_features=size + 3)
    X, factors = data.sample(30, random_state=0)
    tangents = np.concatenate(data.tangents(factors), axis=2)
    assert tangents.shape == (30, size + 3, sum(data.dims))
    gram = tangents.transpose(0, 2, 1) @ tangents
    assert gram == pytest.approx(np.broadcast_to(np.eye(sum(data.dims)), gram.shape), abs=1e-10)
    # all parts have constant norm, so a tangent is orthogonal to the point; and small steps stay within second order
    assert np.einsum("nf,nfd->nd", X, tangents) == pytest.approx(0, abs=1e-10)
    near = data.sample_factors(30, 1)
    cloud = data._render(near, np.random.default_rng(0))
    assert np.linalg.norm(cloud, axis=1) == pytest.approx(np.linalg.norm(X, axis=1)[0])


def test_rotation_tangents_match_finite_differences():
    data = datasets.load("product-manifold", manifolds=["SO3"], rotate=False)
    R = data.sample_factors(1, 0).reshape(3, 3)
    angle = 1e-6
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    step = (R @ turn - R).ravel() / angle
    tangent = data.tangents(R.reshape(1, -1))[0][0]
    assert np.linalg.norm(step - tangent @ (tangent.T @ step)) < 1e-5


def test_spheres_and_rotations_are_uniform():
    factors = datasets.load("product-manifold", manifolds=["S2", "SO3"]).sample_factors(20_000, 0)
    assert factors.mean(axis=0) == pytest.approx(0, abs=0.03)
    assert (factors**2).mean(axis=0) == pytest.approx(1 / 3, abs=0.01)


def test_what_is_no_manifold():
    with pytest.raises(ValueError, match=facts("'T2'", "S1", "SO2")):
        datasets.load("product-manifold", manifolds=["T2"])
    with pytest.raises(ValueError, match=facts("S2_0", 0.13)):
        datasets.load("product-manifold").observe(np.full((1, 6), 0.5))
    with pytest.raises(ValueError, match=facts("n_features >= 6", "n_features=4")):
        datasets.load("product-manifold", n_features=4)


def test_mixture_has_its_clusters_and_an_invertible_mixing():
    data = datasets.load("gin-mixture")
    X, factors, labels = data.sample_conditional(10_000, random_state=0)
    for cluster in range(5):
        part = factors[labels == cluster]
        assert part.mean(axis=0) == pytest.approx(data.means[cluster], abs=0.15)
        assert part.std(axis=0) == pytest.approx(data.stds[cluster], rel=0.05)
    latents = data.mixing.inverse(X)
    assert latents[:, :2] == pytest.approx(factors, abs=1e-6)
    assert latents[:, 2:].std(axis=0) == pytest.approx(0.01, rel=0.05)
    assert np.array_equal(X, data.sample(10_000, random_state=0)[0])


@pytest.mark.parametrize("clamp", ["atan", "steep-atan", "tanh"])
def test_each_clamp_bounds_the_scale(clamp):
    from unbraid.datasets.mixing import CLAMPS

    s = np.array([-1e9, 0, 1e-6, 1e9])
    limit = 2 if clamp == "tanh" else 2 * 0.636 * np.pi / 2
    slope = {"atan": 0.636, "steep-atan": 2 * 0.636, "tanh": 2}[clamp]
    assert CLAMPS[clamp](s) == pytest.approx([-limit, 0, slope * 1e-6, limit])
    assert datasets.load("gin-mixture", clamp=clamp).sample(3, random_state=0)[0].shape == (3, 10)


def test_clamps_are_those_of_the_flows():
    torch = pytest.importorskip("torch")
    from unbraid.datasets import mixing
    from unbraid.networks import coupling

    s = np.linspace(-9, 9, 37)
    assert list(mixing.CLAMPS) == list(coupling.CLAMPS)
    for name, clamp in coupling.CLAMPS.items():
        assert mixing.CLAMPS[name](s) == pytest.approx(clamp(torch.from_numpy(s), 2.0).numpy())


def test_unknown_clamp_lists_the_known():
    with pytest.raises(ValueError, match=facts("clamp", "'none'", "atan, steep-atan, tanh")):
        datasets.load("gin-mixture", clamp="none")


def test_augmented_sets_move_only_the_chosen_dimensions():
    data = datasets.load("gin-mixture", n_clusters=3)
    X, factors, sets = data.sample_augmented(500, dimensions=(0,), data_noise=0, random_state=0)
    assert sets.shape == (500, 10, 10)
    moved = data.mixing.inverse(sets.reshape(5000, 10)).reshape(sets.shape) - data.mixing.inverse(X)[:, None]
    assert moved[:, :, 1:] == pytest.approx(0, abs=1e-6)
    assert moved[:, :, 0].std() == pytest.approx(1, rel=0.05)


@pytest.mark.parametrize("sources", ["gauss", "laplace"])
def test_segments_have_their_spread(sources):
    data = datasets.load("nonstationary", sources=sources, moving_means=True, n_segments=4)
    X, factors, segments = data.sample_conditional(40_000, random_state=0)
    assert np.bincount(segments).tolist() == [10_000] * 4
    for segment in range(4):
        assert factors[segments == segment].std(axis=0) == pytest.approx(data.stds[segment], rel=0.05)
        assert factors[segments == segment].mean(axis=0) == pytest.approx(data.means[segment], abs=0.15)


def test_mixing_network_is_injective():
    data = datasets.load("nonstationary", n_factors=3, n_features=6)
    z = data.sample_factors(500, 0)
    x = data.observe(z)
    for matrix in reversed(data.mixing.matrices[1:]):
        x = x @ np.linalg.inv(matrix)
        x = np.where(x > 0, x, x / 0.2)
    assert x @ data.mixing.matrices[0].T == pytest.approx(z)
