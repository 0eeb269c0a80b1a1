"""Mean correlation coefficient against closed forms."""

import numpy as np
import pytest

from tests.facts import facts
from unbraid.metrics import match, mcc

RNG = np.random.default_rng(0)
FACTORS = RNG.uniform(size=(4000, 3))


def test_rotation_by_an_angle():
    """Two independent factors of equal variance, rotated: |corr| is the cosine (or, past 45 degrees, the sine)."""
    z = RNG.normal(size=(200_000, 2))
    for degrees in (10, 30, 45, 80):
        a = np.radians(degrees)
        rotated = z @ np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
        assert mcc(z, rotated) == pytest.approx(max(np.cos(a), np.sin(a)), abs=0.01)


def test_order_sign_and_scale_do_not_matter():
    codes = FACTORS[:, [2, 0, 1]] * [-3, 1e-6, 1e6] + 5
    assert mcc(FACTORS, codes) == pytest.approx(1, abs=1e-12)
    assert list(match(FACTORS, codes).code) == [1, 2, 0]
    assert match(FACTORS, codes).correlation[2] == pytest.approx(-1)


def test_spearman_forgives_monotone_maps():
    codes = np.exp(5 * FACTORS)
    assert mcc(FACTORS, codes, kind="spearman") == pytest.approx(1, abs=1e-12)
    assert mcc(FACTORS, codes) < 0.95


def test_weak_forgives_linear_maps():
    codes = FACTORS @ RNG.normal(size=(3, 5))
    assert mcc(FACTORS, codes, weak=True) == pytest.approx(1, abs=1e-9)
    assert mcc(FACTORS, codes, weak=True, test_size=0.5) == pytest.approx(1, abs=1e-9)


def test_weak_equals_the_mean_canonical_correlation():
    """One shared direction with correlation rho, the other independent: canonical correlations rho and 0."""
    rho, n = 0.6, 400_000
    z = RNG.normal(size=(n, 4))
    codes = np.column_stack([rho * z[:, 0] + np.sqrt(1 - rho**2) * z[:, 2], z[:, 3]])
    assert mcc(z[:, :2], codes, weak=True) == pytest.approx(rho / 2, abs=0.01)


def test_out_of_sample_does_not_overfit():
    """Weak MCC in sample of 20 codes that say nothing is sqrt(20/40); out of sample it is that of chance."""
    v, z = RNG.normal(size=(41, 1)), RNG.normal(size=(41, 20))
    v_test, z_test = RNG.normal(size=(5000, 1)), RNG.normal(size=(5000, 20))
    assert mcc(v, z, weak=True) > 0.5
    assert mcc(v, z, v_test, z_test, weak=True) < 0.05


@pytest.mark.filterwarnings("ignore:UB107")
def test_a_factor_without_a_code_counts_zero():
    assert mcc(FACTORS, FACTORS[:, :2]) == pytest.approx(2 / 3, abs=1e-9)
    assert mcc(FACTORS, FACTORS[:, :2], weak=True) == pytest.approx(2 / 3, abs=0.03)
    assert mcc(FACTORS, np.full((4000, 2), 0.1)) == 0
    assert mcc(FACTORS, np.full((4000, 2), 0.1), weak=True) == 0


def test_errors_say_what_to_do():
    with pytest.raises(ValueError, match=facts("kind", "'kendall'", "'pearson', 'spearman'")):
        mcc(FACTORS, FACTORS, kind="kendall")
    with pytest.raises(ValueError, match=facts("factors", 4000, "codes", 10)):
        mcc(FACTORS, FACTORS[:10])
    with pytest.raises(ValueError, match=facts("factors_test", "codes_test")):
        mcc(FACTORS, FACTORS, FACTORS)
    with pytest.raises(ValueError, match=facts("test_size", 5000, 4000, 3998)):
        mcc(FACTORS, FACTORS, test_size=5000)
