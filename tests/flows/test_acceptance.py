"""The papers' experiments, with the figures that this library promises; minutes each."""

import warnings

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.flows.families import family
from unbraid.trust.warnings import AssumptionWarning, TrustWarning

from .artificial import augmented, family_mixture, mcc, mixture

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning")]


@pytest.mark.parametrize(("n", "n_classes"), [(10_000, 5), (100_000, 5), (10_000, 3)])
def test_gin_on_artificial_data(n, n_classes):
    scores, counts = [], []
    for seed in range(8):
        X, factors, labels = mixture(seed, n=n, n_classes=n_classes)
        model = ub.GIN(null="off", random_state=seed).fit(X, labels)
        assert model.n_steps_ <= 800
        scores.append(mcc(factors, model.transform(X)[:, :2]))
        counts.append(model.n_informative_)
    print(n, n_classes, np.round(scores, 4), counts)
    assert min(scores) >= 0.985
    assert np.median(scores) >= 0.995
    assert counts.count(2) >= 7


@pytest.mark.parametrize("n_factors", [1, 6, 9])
def test_count_of_factors_out_of_ten(n_factors):
    """A wrong count, as of a fit that failed, never goes without a warning."""
    right = 0
    for seed in range(4):
        X, _, labels = mixture(seed, n_classes=2 * n_factors + 3, n_factors=n_factors, n_noise=10 - n_factors)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = ub.GIN(null="off", random_state=seed).fit(X, labels)
        warned = any(issubclass(w.category, TrustWarning) for w in caught)
        print(n_factors, seed, model.n_informative_, model.n_informative_interval_, np.round(model.above_noise_, 2))
        assert model.n_informative_ == n_factors or warned
        right += model.n_informative_ == n_factors
    assert right >= 3


# docs/flows.rst, seeds 0 to 9: worst .990 and median .996 of two dimensions, .895 and .993 of one; seed 8 of one
# dimension, the worst, has .874 on another processor. One dimension is not reliable: what is promised is the warning.
@pytest.mark.parametrize(("n_augmented", "worst", "median"), [(2, 0.975, 0.993), (1, 0.95, 0.985)])
def test_self_supervised_trials(n_augmented, worst, median):
    scores, silent = [], []
    for seed in range(10):
        X, factors, sets = augmented(seed, n_augmented)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = ub.SelfSupervisedGIN(random_state=seed).fit(sets)
        scores.append(mcc(factors, model.transform(X)[:, :2]))
        if n_augmented > 1 or not any("UB222" in str(w.message) for w in caught):
            silent.append(scores[-1])
    print(n_augmented, np.round(scores, 4))
    assert min(silent) >= worst
    assert np.median(scores) >= median


def test_disjoint_clusters_fail_and_are_warned_of():
    X, _, labels = mixture(1, apart=True)
    with pytest.warns(AssumptionWarning, match=facts("UB102")):
        ub.GIN(n_init=1, null="off", random_state=0).fit(X, labels)


@pytest.mark.parametrize("latent", ["lognormal", "inverse-gaussian", "gamma", "inverse-gamma", "beta"])
def test_other_families_from_mixed_data(latent):
    for seed in range(2):
        X, real, labels = family_mixture(latent, seed)
        model = ub.GIN(latent=latent, n_init=2, null="off", random_state=seed).fit(X, labels)
        codes = family(latent).unlink(model.transform(X)[:, :2])
        assert mcc(real, codes) >= 0.985
        assert model.n_informative_ == 2
