"""Data whose dimension is known by construction."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from tests.facts import facts
from tests.geometry.manifolds import product
from tests.spectral.manifolds import bent_sheets
from unbraid.manifold.dimension import FEWEST, estimate_dimension


def cube(d, noise, curved, seed=0):
    """[0, 1]^d isometrically in R^100: flat, or each side bent to an arc of 3 radians."""
    rng = np.random.default_rng(seed)
    u = rng.uniform(size=(3000, d))
    u = np.hstack([np.cos(3 * u), np.sin(3 * u)]) / 3 if curved else u
    X = u @ np.linalg.qr(rng.normal(size=(100, u.shape[1])))[0].T
    return X + noise * rng.normal(size=X.shape)


def squares(n, d, seed=0):
    """A square in a 64 x 64 image with anti-aliased edges: its place (d = 1, 2) and its size (3)."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(2, 44, size=(2, n))
    side = rng.uniform(6, 18, size=n) if d == 3 else np.full(n, 12.0)
    y = np.full(n, 20.0) if d == 1 else y

    def box(start):
        def covered(edge):
            return np.clip(np.arange(1, 65) - edge[:, None], 0, 1)

        return covered(start) - covered(start + side)

    return np.einsum("ni,nj->nij", box(y), box(x)).astype(np.float32)


SLOW = pytest.mark.slow


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(
    ("noise", "curved"),
    [(0, False), (0.03, True), pytest.param(0.03, False, marks=SLOW), pytest.param(0, True, marks=SLOW)],
)
def test_cubes(d, noise, curved):
    found = estimate_dimension(cube(d, noise, curved))
    assert found.dim == d
    assert found.clear


@pytest.mark.parametrize(
    ("names", "d"),
    [("S2", 2), ("S3", 3), ("S4", 4), ("SO3", 3), ("S2 S2", 4), ("S2 S3", 5), ("S2 SO3", 5), ("S2 S2 S2", 6)],
)
def test_products(names, d):
    assert estimate_dimension(product(names.split(), 2000, ambient=20)[0]).dim == d


@pytest.mark.parametrize(
    ("n", "d"),
    [(300, 1), (300, 2), (300, 3), *(pytest.param(3000, d, marks=SLOW) for d in (1, 2, 3))],
)
def test_images_after_principal_components(d, n):
    X = squares(n, d).reshape(n, -1)
    assert estimate_dimension(PCA(20, svd_solver="randomized", random_state=0).fit_transform(X)).dim == d


@pytest.mark.parametrize("d", [1, 2])
def test_raw_images(d):
    assert estimate_dimension(squares(500, d)).dim == d


def test_full_dimension_and_duplicates():
    X = np.random.default_rng(0).normal(size=(800, 3))
    assert estimate_dimension(X).dim == 3
    assert estimate_dimension(np.repeat(X, 5, axis=0)).dim == 3


@pytest.mark.parametrize("n", [500, pytest.param(2000, marks=SLOW)])
@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("noise", [0, 0.01, 0.05])
def test_noisy_sheets(n, d, noise):
    found = estimate_dimension(bent_sheets(n, d, noise=noise, seed=10 * n + d)[0])
    assert (found.dim, found.verdict, found.interval) == (d, "clear", (d, d))
    assert found.noise == pytest.approx(noise, rel=0.1)


@pytest.mark.parametrize("shape", [(300, 20), (500, 100), (200, 500)])
@pytest.mark.parametrize("seed", range(3))
def test_noise_has_no_dimension(shape, seed):
    found = estimate_dimension(np.random.default_rng(seed).standard_t(10, size=shape))
    assert (found.dim, found.verdict, found.clear) == (0, "no structure", False)


def test_a_filled_space_cannot_be_told_from_noise():
    found = estimate_dimension(np.random.default_rng(0).uniform(size=(1000, 3)))
    assert (found.dim, found.verdict) == (3, "cannot tell")
    assert "3" in found.reason


def test_groups_are_seen():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(40, 30)), 15, axis=0) + 0.001 * rng.normal(size=(600, 30))
    found = estimate_dimension(X)
    assert found.verdict == "cannot tell"


def test_scales_that_contradict_each_other_are_said():
    found = estimate_dimension(product(["S2"] * 3, 2000, ambient=20)[0])
    assert found.verdict == "cannot tell"
    assert found.interval[0] <= 6 <= found.interval[1]


def test_the_counts_agree_on_clean_data():
    found = estimate_dimension(product(["S3"], 4000)[0])
    assert found.methods["levina_bickel"] == pytest.approx(3, abs=0.3)
    assert found.methods["two_nn"] == pytest.approx(3, abs=0.6)
    assert found.interval == (3, 3)
    assert "3" in str(found)


def test_too_few_points():
    with pytest.raises(ValueError, match=facts(4, FEWEST)):
        estimate_dimension(np.eye(4))
