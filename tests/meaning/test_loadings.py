import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.meaning import loadings


def bent(n, seed, d=2, noise=0.0):
    """x = sin(z A) + z B with its Jacobian at each row, and the mean Jacobian of the whole square."""
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(2, d, 20))

    def jacobian(z):
        return np.cos(z @ A)[:, None, :] * A + B

    z = rng.uniform(size=(n, d))
    clean = np.sin(z @ A) + z @ B
    X = clean + noise * clean.std() * rng.normal(size=clean.shape)
    return z, X, jacobian(z), jacobian(np.random.default_rng(0).uniform(size=(50_000, d))).mean(axis=0)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_slopes_are_the_jacobian(d):
    z, X, jacobian, mean = bent(1000, 1, d, noise=0.05)
    found = loadings(z, X)
    unit = z.std(axis=0)[:, None]
    assert np.corrcoef(found.mean.ravel(), (mean * unit).ravel())[0, 1] > 0.99
    assert np.corrcoef(found.slopes.ravel(), (jacobian[found.rows] * unit).ravel())[0, 1] > 0.98
    shuffled = loadings(np.random.default_rng(2).permutation(z), X)  # chance
    assert np.linalg.norm(shuffled.mean) < 0.3 * np.linalg.norm(found.mean)


def test_the_intervals_hold_the_mean_slope():
    held = []
    for seed in range(8):
        z, X, _, mean = bent(500, seed, noise=0.2)
        found, truth = loadings(z, X), mean / 12**0.5
        held.append((found.low <= truth) & (truth <= found.high))
    assert 0.9 <= np.mean(held) <= 0.99


def test_a_linear_map_has_the_same_slopes_everywhere():
    z = np.random.default_rng(0).normal(size=(60, 2))
    A = np.array([[1.0, 0.0, -2.0], [0.5, 3.0, 0.0]])
    found = loadings(z, z @ A)
    assert np.allclose(found.slopes, A * z.std(axis=0)[:, None], atol=1e-5)
    assert np.allclose(found.size, np.abs(found.mean))
    assert [name for name, *_ in found.strongest(0)] == ["feature 3", "feature 1"]


def test_a_feature_that_rises_and_falls_has_a_size():
    z = np.random.default_rng(0).uniform(-1, 1, size=(2000, 1))
    found = loadings(z, np.c_[z**2, z])
    assert found.low[0, 0] < 0 < found.high[0, 0]
    assert found.size[0, 0] > found.size[0, 1]


def test_angles_wrap_and_have_tuning_curves():
    angle = np.random.default_rng(0).uniform(-np.pi, np.pi, 1500)
    found = loadings(angle[:, None], np.c_[np.cos(angle), np.sin(angle)], kinds=["circle"])
    there = angle[found.rows]
    assert np.abs(found.slopes[:, 0] - np.c_[-np.sin(there), np.cos(there)]).max() < 0.1
    course = found.courses[0]
    assert np.allclose(course.mean, np.c_[np.cos(course.at), np.sin(course.at)], atol=0.02)


def test_loadings_of_a_model_are_named_and_shaped_as_its_data():
    pandas = pytest.importorskip("pandas")
    z = np.random.default_rng(0).uniform(size=(300, 2))
    frame = pandas.DataFrame(z @ [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]], columns=["a", "b", "c"])
    model = ub.PCAICA(2, random_state=0).fit(frame)
    found = model.loadings(frame)
    led = {found.strongest(code)[0][0]: [name for name, *_ in found.strongest(code)] for code in (0, 1)}
    assert set(led) == {"b", "c"}
    assert led["c"][1] == "a"
    X = np.random.default_rng(0).uniform(size=(60, 4, 5))
    assert ub.PCAICA(2, random_state=0).fit(X).loadings(X).maps.shape == (2, 4, 5)


@pytest.mark.parametrize(
    ("codes", "X", "message"),
    [
        (np.zeros((30, 2)), np.zeros((29, 3)), facts(30, 29)),
        (np.zeros((11, 2)), np.zeros((11, 3)), facts(12, 11)),
    ],
)
def test_bad_input_is_refused(codes, X, message):
    with pytest.raises(ValueError, match=message):
        loadings(codes, X)
