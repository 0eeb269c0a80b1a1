"""DCI-ES: explicitness and size against closed forms."""

import numpy as np
import pytest

from tests.facts import facts
from unbraid import metrics as m
from unbraid.metrics.capacity import curve_explicitness

RNG = np.random.default_rng(0)
NUMBERS = RNG.uniform(-1, 1, size=(1500, 2))
CLASSES = RNG.integers(0, 6, size=(1500, 2))


def wound(turns):
    """Each factor as a point of an arc: a line reads it from a short one, and less and less from a longer one."""
    angle = np.pi * turns * NUMBERS
    return np.hstack([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ([0, 0, 0, 0, 0], 1),
        ([1, 0.75, 0.5, 0.25, 0], 0),
        ([1, 1, 1, 1, 0], 1 - 2 * 3.5 / 4),  # the strongest probe alone: -1 up to the last step
        ([0.5, 0.5, 0.5, 0.5, 0.5], 1),  # half is told, as well by the weakest probe
        ([1, 0.5, 0.5, 0.5, 0.5], 1 - 2 * 0.25 / 4),
    ],
)
def test_the_area_under_a_curve(loss, expected):
    for baseline in (1.0, 3.0):
        found = curve_explicitness(np.arange(5.0), baseline * np.array(loss), baseline)
        assert found == pytest.approx(expected, abs=1e-12)
    uneven = np.array([0.0, 1.0, 4.0])
    assert curve_explicitness(uneven, 1 - uneven / 4, 1.0) == pytest.approx(0)


def test_codes_that_are_a_linear_map_of_the_factors_are_explicit():
    mixed = NUMBERS @ RNG.normal(size=(2, 5))
    found = m.loss_capacity(NUMBERS, mixed)
    np.testing.assert_allclose(found.per_factor, 1, atol=1e-6)
    np.testing.assert_allclose(found.loss, 0, atol=1e-6)
    np.testing.assert_allclose(found.baseline, 1 / 3, atol=0.03)  # the variance of the factors
    assert m.loss_capacity(CLASSES, -3.0 * CLASSES).explicitness == 1


@pytest.mark.filterwarnings("ignore:UB107")
def test_size_is_factors_over_codes():
    spare = np.hstack([NUMBERS, RNG.normal(size=(1500, 3))])
    constant = np.column_stack([NUMBERS, np.ones(1500)])
    assert m.loss_capacity(NUMBERS, spare).size == pytest.approx(2 / 5)
    assert m.loss_capacity(NUMBERS, NUMBERS[:, :1]).size == 2
    assert m.loss_capacity(constant, NUMBERS).size == 1  # a constant factor is none


@pytest.mark.parametrize("factors", [NUMBERS, CLASSES], ids=["numbers", "classes"])
@pytest.mark.parametrize("probe", ["fourier", "trees"])
def test_noise_is_not_explicit(factors, probe):
    """By the bare formula it would be: no probe is better than the weakest."""
    assert m.loss_capacity(factors[:300, :1], RNG.normal(size=(300, 3)), probe=probe).explicitness == 0


def test_a_factor_that_is_not_told_counts_nothing():
    codes = np.column_stack([NUMBERS[:, 0], RNG.normal(size=1500)])
    np.testing.assert_allclose(m.loss_capacity(NUMBERS, codes).per_factor, [1, 0], atol=1e-6)


@pytest.mark.parametrize("probe", ["fourier", pytest.param("trees", marks=pytest.mark.slow)])
def test_explicitness_falls_as_the_map_bends(probe):
    first = NUMBERS[:500, :1]
    scores = [m.loss_capacity(first, wound(t)[:500, ::2], probe=probe).explicitness for t in (0.4, 0.75, 0.9)]
    assert scores[0] > 0.95
    assert scores[0] > scores[1] + 0.015 > scores[2] + 0.03


def test_an_even_function_takes_more_than_a_line():
    """v = z^2: the linear probe has the loss without codes, and few features suffice."""
    z = RNG.normal(size=(1500, 1))
    found = m.loss_capacity(z**2, z)
    assert found.loss[0, 0] == pytest.approx(found.baseline[0], rel=0.05)
    assert found.loss[-1, 0] < 0.1 * found.baseline[0]
    assert found.explicitness == pytest.approx(
        curve_explicitness(found.capacity, found.loss[:, 0], found.baseline[0]), abs=1e-12
    )
    assert found.explicitness < 0.7


def test_the_linear_probes_agree_with_scikit_learn():
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LinearRegression

    train, test = slice(1000), slice(1000, None)
    codes = wound(0.6) + 0.2 * RNG.normal(size=(1500, 4))
    found = m.loss_capacity(NUMBERS[train], codes[train], NUMBERS[test], codes[test])
    peer = LinearRegression().fit(codes[train], NUMBERS[train])
    squared = np.mean((NUMBERS[test] - peer.predict(codes[test])) ** 2, axis=0)
    np.testing.assert_allclose(found.loss[0], squared, rtol=1e-3)
    noisy = CLASSES + RNG.normal(size=(1500, 2))
    found = m.loss_capacity(CLASSES[train], noisy[train], CLASSES[test], noisy[test])
    for k, v in enumerate(CLASSES.T):
        peer = LinearDiscriminantAnalysis().fit(noisy[train], v[train])
        assert found.loss[0, k] == pytest.approx(np.mean(peer.predict(noisy[test]) != v[test]), abs=0.005)


def test_all_five_scores():
    found = m.dci_es(CLASSES, 2.0 * CLASSES, backend="compiled")
    plain = m.dci(CLASSES, 2.0 * CLASSES, backend="compiled")
    assert (found.disentanglement, found.completeness) == (plain.disentanglement, plain.completeness)
    assert found.informativeness == plain.informativeness == 1
    assert (found.explicitness, found.size, float(found)) == (1, 1, 1)
    with pytest.raises(ValueError, match=facts("probe", "'mlp'", "'fourier', 'trees'")):
        m.dci_es(CLASSES, CLASSES, probe="mlp")
