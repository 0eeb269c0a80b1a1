"""The impossibility theorem: same marginals, same likelihood, an inverse, and no zero in the Jacobian."""

import numpy as np
import pytest
from scipy import stats

import unbraid as ub
from tests.facts import facts
from unbraid.theory import Entangle, entangle, mixing_matrix

MIXTURE = stats.Mixture([stats.Normal(mu=-2.0, sigma=0.5), stats.Normal(mu=1.0, sigma=1.0)], weights=[0.4, 0.6])
LAWS = {
    "uniform": [stats.uniform()] * 2,
    "gaussian": [stats.norm(3, 2)] * 3,
    "laplace": [stats.laplace()] * 4,
    "mixed": [stats.uniform(-1, 2), stats.expon(), MIXTURE],
}


def draw(laws, n, seed=0):
    uniform = np.random.default_rng(seed).uniform(size=(n, len(laws)))
    return np.column_stack([law.icdf(u) if law is MIXTURE else law.ppf(u) for law, u in zip(laws, uniform.T)])


@pytest.mark.parametrize("name", LAWS)
def test_marginals_stay_at_100_000_points(name):
    laws = LAWS[name]
    found = Entangle(laws)(draw(laws, 100_000))
    critical = stats.kstwobign.ppf(0.99) / np.sqrt(100_000)
    assert max(stats.kstest(column, law.cdf).statistic for column, law in zip(found.T, laws)) < critical


@pytest.mark.parametrize("turn", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("name", LAWS)
def test_inverse_likelihood_and_jacobian(name, turn):
    laws = LAWS[name]
    z, f = draw(laws, 500), Entangle(laws, turn)
    u, jacobian = f(z), f.jacobian(z)
    np.testing.assert_allclose(f.inverse(u), z, atol=1e-8)
    np.testing.assert_allclose(f(f.inverse(z)), z, atol=1e-8)
    np.testing.assert_allclose(np.linalg.slogdet(jacobian)[1], f.log_determinant(z), atol=1e-10)
    np.testing.assert_allclose(f.log_determinant(z) + f.log_density(u), f.log_density(z), atol=1e-10)
    assert np.abs(jacobian).min() > 0
    np.testing.assert_allclose(f.log_density(z), sum(law.logpdf(c) for law, c in zip(laws, z.T)), atol=1e-12)


@pytest.mark.parametrize("estimated", [False, True])
def test_jacobian_is_the_limit_of_differences(estimated):
    laws = LAWS["mixed"]
    f = Entangle.estimated(draw(laws, 4000, 1)) if estimated else Entangle(laws)
    z, step = draw(laws, 200), 1e-6
    moved = np.stack([(f(z + step * e) - f(z - step * e)) / (2 * step) for e in np.eye(3)], axis=-1)
    wrong = np.abs(moved / f.jacobian(z) - 1).max(axis=(1, 2))
    assert np.mean(wrong < 1e-4) > (0.98 if estimated else 0.995)  # a few rows lie at a knot, or at an end


def test_gaussian_factors_are_rotated():
    z = np.random.default_rng(0).normal(size=(50, 4))
    np.testing.assert_allclose(entangle(z, stats.norm()), z @ mixing_matrix(4).T, atol=1e-10)


def test_two_uniform_factors_in_closed_form():
    """f_1 = Phi((Phi^-1(u_1) - Phi^-1(u_2)) / sqrt 2) at the middle."""
    z = np.random.default_rng(0).uniform(size=(50, 2))
    g = stats.norm.ppf(z)
    expected = stats.norm.cdf(np.column_stack([g[:, 0] - g[:, 1], g[:, 0] + g[:, 1]]) / np.sqrt(2))
    np.testing.assert_allclose(entangle(z, stats.uniform()), expected, atol=1e-12)


@pytest.mark.parametrize("name", LAWS)
def test_estimated_marginals(name):
    z = draw(LAWS[name], 20_000)
    f = Entangle.estimated(z)
    u = f(z)
    critical = stats.kstwobign.ppf(0.99) * np.sqrt(2 / len(z))
    assert max(stats.ks_2samp(a, b).statistic for a, b in zip(u.T, z.T)) < critical
    np.testing.assert_allclose(f.inverse(u), z, atol=1e-8)
    np.testing.assert_allclose(f.log_determinant(z) + f.log_density(u), f.log_density(z), atol=1e-10)
    assert np.abs(f.jacobian(z)).min() > 0
    np.testing.assert_array_equal(entangle(z), u)


def test_estimated_density_integrates_to_one_and_is_near_the_true_one():
    f = Entangle.estimated(draw([stats.norm()] * 2, 50_000))
    grid = np.linspace(-6, 6, 20_001)
    density = np.exp(f.marginals[0].log_density(grid))
    assert np.trapezoid(density, grid) == pytest.approx(1, abs=1e-3)
    assert np.trapezoid(np.abs(density - stats.norm.pdf(grid)), grid) < 0.1


def test_ends_of_the_range():
    z = draw(LAWS["laplace"], 20)
    np.testing.assert_allclose(entangle(z, stats.laplace(), turn=0), z, atol=1e-12)
    whole = mixing_matrix(4, 1.0)
    np.testing.assert_allclose(np.sort(np.abs(whole), axis=1), np.tile([0, 0, 0, 1], (4, 1)), atol=1e-12)


@pytest.mark.parametrize("d", range(2, 14))
def test_mixing_is_a_rotation_without_zeros(d):
    for turn in (0.2, 0.5):
        matrix = mixing_matrix(d, turn)
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(d), atol=1e-12)
        assert np.linalg.det(matrix) == pytest.approx(1)
        assert np.abs(matrix).min() > 1e-3
    np.testing.assert_allclose(mixing_matrix(d, 0.2) @ mixing_matrix(d, 0.3), mixing_matrix(d, 0.5), atol=1e-12)


def test_known_even_matrices():
    """Hadamard's of orders 2, 4, 8, and the almost Hadamard ones of 3, 5 (2/d - identity) and 7 (the Fano plane)."""
    for d in (2, 4, 8):
        np.testing.assert_allclose(np.abs(mixing_matrix(d)), d**-0.5)
    for d in (3, 5):
        expected = [*([2 / d] * (d - 1)), abs(1 - 2 / d)]
        np.testing.assert_allclose(np.sort(np.abs(mixing_matrix(d)[0])), np.sort(expected), atol=1e-5)
    b = (3 * (2 - 2**0.5) ** 2 + 4) ** -0.5
    np.testing.assert_allclose(np.sort(np.abs(mixing_matrix(7)[0])), [(2 - 2**0.5) * b] * 3 + [b] * 4, atol=1e-5)


@pytest.mark.parametrize("d", [2, 4])
def test_supervised_scores_fall_to_chance_and_the_codes_look_alike(d):
    z = np.random.default_rng(0).uniform(size=(5000, d))
    u = entangle(z, stats.uniform())
    for score in ub.evaluate(z, u, ["mig", "sap", "modularity"], progress=False):
        assert score.value < score.chance + 0.05, score
    assert ub.metrics.mig(z, z) > 0.8
    assert ub.metrics.total_correlation(u) == pytest.approx(ub.metrics.total_correlation(z), abs=2e-3)


POINTS = np.random.default_rng(0).uniform(size=(50, 3))
BAD = {
    "integers": (np.arange(40).reshape(20, 2), None, TypeError, ("factor 0", "int64")),
    "levels": (np.arange(400.0).reshape(200, 2) % 8, None, ValueError, ("factor 0", "value 0", "25.0 %")),
    "few": (POINTS[:5, :2], None, ValueError, ("factor 0", 5, 20, "marginals")),
    "one": (POINTS[:, :1], None, ValueError, ("n_factors", 1, 2)),
    "flat": (POINTS[:, 0], None, ValueError, ("z", (50,))),
    "nan": (np.full((50, 2), np.nan), None, ValueError, ("factor 0", "NaN", 50)),
    "poisson": (POINTS[:, :2], stats.poisson(3), TypeError, ("marginals[0]", "rv_discrete_frozen")),
    "name": (POINTS[:, :2], "uniform", TypeError, ("marginals[0]", "'uniform'")),
    "outside": (np.full((50, 2), 1.5), stats.uniform(), ValueError, ("z[0, 0]", 1.5)),
    "columns": (POINTS[:, :3], [stats.uniform()] * 2, ValueError, ("3 columns", "2 marginals")),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_has_no_density_is_refused(name):
    z, marginals, kind, words = BAD[name]
    with pytest.raises(kind, match=facts(*words)):
        entangle(z, marginals)


def test_turn_outside_of_its_range():
    with pytest.raises(ValueError, match=facts("turn", 2, 0, 1)):
        entangle(POINTS, turn=2)
