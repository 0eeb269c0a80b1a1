"""How many latents stand out of the noise: known spectra, a closed form, and a warning where the answer is weak."""

import warnings

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.flows.spectrum import count_above_noise, found_again, warn_of_disagreement, warn_of_uncertain_count
from unbraid.trust.warnings import TrustWarning


@pytest.mark.parametrize("own_noise", [1.0, 4.0])
@pytest.mark.parametrize("n", [1, 2, 6, 9, 10])
def test_count_of_a_clear_spectrum(n, own_noise):
    """Also where the data have noise of their own, four times what was added."""
    rng = np.random.default_rng(n)
    informative = 10 * own_noise * np.exp(rng.uniform(0, 1, n))
    noise = own_noise * np.exp(rng.uniform(0, 0.1, 10 - n))
    count = count_above_noise(rng.permutation(np.concatenate((informative, noise))))
    assert (count.n, count.low, count.high) == (n, n, n)
    floor = noise.max() if n < 10 else 1.0
    assert count.drop == pytest.approx(informative.min() / floor)
    assert count.clear


@pytest.mark.parametrize(
    ("ratios", "interval"),
    [
        (np.ones(6), (1, 6)),  # noise alone
        (np.geomspace(4, 1, 10), None),  # a slope without a drop
        (np.array([90, 80, 9, 8, 1.0, 1, 1, 1]), (2, 4)),  # two shelves
    ],
)
def test_weak_counts_are_said_to_be(ratios, interval):
    count = count_above_noise(ratios)
    assert not count.clear
    assert interval is None or (count.low, count.high) == interval
    with pytest.warns(
        TrustWarning,
        match=facts("UB221", f"{count.n} of {len(ratios)}", f"{count.low} to {count.high}", "above_noise_"),
    ):
        warn_of_uncertain_count(count, len(ratios), 0.1)


@pytest.mark.parametrize(("cls", "n_factors"), [(ub.GIN, 1), (ub.GIN, 9), (ub.RealNVP, 6), (ub.NICE, 6)])
def test_spread_over_noise_of_an_untrained_flow(cls, n_factors):
    """A flow starts as a permutation: the spreads are sqrt(std^2 + noise^2), and those of the noise are the noise."""
    rng = np.random.default_rng(0)
    stds = np.where(np.arange(10) < n_factors, np.geomspace(2, 1, 10), 0.001)
    labels = np.arange(4000) % 21
    X = rng.normal(size=(4000, 10)) * stds
    model = cls(max_steps=1, learning_rate=1e-9, n_init=1, noise=0.1, engine="torch", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrustWarning)
        model.fit(X, labels)
    np.testing.assert_allclose(np.sort(model.above_noise_)[::-1], np.hypot(stds, 0.1) / 0.1, rtol=0.12)
    assert model.n_informative_ == n_factors
    assert model.n_informative_interval_ == (n_factors, n_factors)


def test_stretched_data_have_the_same_count():
    """Latents of very different units: the noise is small beside the smallest factor."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 6)) * [30, 10, 3, 1, 0.001, 0.001]
    model = ub.NICE(max_steps=1, learning_rate=1e-9, n_init=1, noise=0.01, engine="torch", random_state=0).fit(X)
    assert model.n_informative_ == 4


def test_noise_alone_is_warned_of():
    X = np.random.default_rng(0).normal(size=(2000, 5))
    with pytest.warns(TrustWarning, match=facts("UB221", "noise")):
        ub.NICE(max_steps=1, learning_rate=1e-9, n_init=1, noise=3.0, engine="torch", random_state=0).fit(X)


def shelves(seed, *groups):
    """Ratios of groups (how many, lowest, highest), uniform on the log scale, and 400 latents of noise."""
    rng = np.random.default_rng(seed)
    parts = [np.exp(rng.uniform(np.log(low), np.log(high), n)) for n, low, high in groups]
    return rng.permutation(np.concatenate([*parts, np.exp(rng.uniform(0, 0.3, 400))]))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [5, 12])
def test_a_shelf_of_fine_structure_is_not_counted(n, seed):
    count = count_above_noise(shelves(seed, (n, 20, 90), (60, 2.5, 3)))
    assert (count.n, count.low, count.high) == (n, n, n)
    assert count.above == pytest.approx(60 + n, abs=2)
    assert count.clear


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [12, 40])
def test_many_factors_are_no_shelf(n, seed):
    count = count_above_noise(shelves(seed, (n, 8, 40)))
    assert (count.n, count.low, count.high) == (n, n, n)


def test_a_shelf_that_slopes_into_the_factors_gives_an_interval():
    """Ten factors over a normal shelf: the lowest of them lie where the shelf's largest may lie too."""
    rng = np.random.default_rng(0)
    shelf = np.exp(rng.normal(0.8, 0.2, 240))
    factors = np.exp(np.linspace(2.3, 1.35, 10))
    count = count_above_noise(np.concatenate((factors, shelf, np.exp(rng.uniform(0, 0.1, 500)))))
    assert 6 <= count.n <= 10
    assert count.low < count.n <= count.high <= 12
    assert not count.clear


def test_normal_levels_are_taken_for_a_shelf_in_one_case_of_a_hundred():
    rng = np.random.default_rng(0)
    spectra = [np.exp(np.append(rng.normal(4, 0.5, 30), rng.uniform(0, 0.1, 30))) for _ in range(200)]
    wrong = sum(count_above_noise(ratios).n < 25 for ratios in spectra)
    assert wrong <= 7  # 2 are expected; more than 7 come with a chance of 0.1 %


def test_codes_that_other_starts_lack_are_warned_of():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(2000, 3))
    starts = np.stack([z, z[:, [1, 0, 2]] * [2, -1, 1], z + [0, 0, 1] * rng.normal(size=z.shape)])
    found = found_again(starts, 0)
    assert found == pytest.approx([1, 1, (1 + np.sqrt(0.5)) / 2], abs=0.02)
    with pytest.warns(TrustWarning, match=facts("UB222", "code 3", 0.85, "found_again_")):
        warn_of_disagreement(found, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_disagreement(found, 2)
        warn_of_disagreement(found_again(starts[:1], 0), 3)  # one start has none to compare with
