"""GIN on mixings that are nonlinear by measure: its score beside those of simple methods and of no training."""

import warnings

import numpy as np
import pytest
import torch

import unbraid as ub
from tests.facts import facts
from unbraid.flows.leftover import leftover, warn_of_leftover
from unbraid.metrics import mcc
from unbraid.trust.warnings import TrustWarning

ONE_START = {"n_init": 1, "null": "off", "random_state": 3}


def drawn(n, seed=3, **settings):
    data = ub.datasets.load("gin-mixture", random_state=seed, **settings)
    return data, *data.sample_conditional(n, random_state=1000 + seed)


@pytest.mark.filterwarnings("ignore:UB104", "ignore:UB221", "ignore:UB252")  # of the flow that is not trained
def test_gin_unmixes_what_linear_methods_cannot():
    data, X, factors, labels = drawn(7000, mixing="volume-preserving", n_features=4)
    train, held = slice(6000), slice(6000, None)
    simple = data.difficulty
    model = ub.GIN(**ONE_START).fit(X[train], labels[train])
    untrained = ub.GIN(**ONE_START, max_steps=1).fit(X[train][:1000], labels[train][:1000])
    found, before = (mcc(factors[held], m.transform(X[held])[:, :2]) for m in (model, untrained))
    assert found >= 0.97
    assert before <= 0.8
    assert simple.linear <= 0.85
    assert max(simple.raw, simple.pca_ica) <= 0.75
    assert simple.neighbors >= 0.95
    assert model.n_informative_ == 2
    assert model.leftover_ < 0.02 < untrained.leftover_


@pytest.mark.filterwarnings("ignore:UB104", "ignore:UB22", "ignore:UB252")  # of the baselines
def test_unfolding_unmixes_what_the_plain_flow_does_not():
    """Ten features, of which eight carry noise."""
    data, X, factors, labels = drawn(7000, seed=6, mixing="volume-preserving")
    train, held = slice(6000), slice(6000, None)
    unfolding = ONE_START | {"architecture": "unfolding", "batch_size": 500}
    model = ub.GIN(**unfolding).fit(X[train], labels[train])
    plain = ub.GIN(**ONE_START).fit(X[train], labels[train])
    untrained = ub.GIN(**unfolding | {"max_steps": 1}).fit(X[train][:1000], labels[train][:1000])
    found, flat, before = (mcc(factors[held], m.transform(X[held])[:, :2]) for m in (model, plain, untrained))
    assert data.difficulty.is_nonlinear
    assert (model.n_informative_, model.n_unfolded_) == (2, 2)
    assert found >= 0.97
    assert max(flat, before) <= 0.85


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:UB102", "ignore:UB221")
def test_a_mixing_that_changes_the_volume_is_warned_of():
    """Two features: no noise dimension can take up the change of volume, so GIN cannot undo it."""
    _, X, factors, labels = drawn(7000, mixing="volume-changing", n_features=2)
    with pytest.warns(TrustWarning, match=facts("UB252")):
        model = ub.GIN(**ONE_START, hidden=32, batch_size=500).fit(X[:6000], labels[:6000])
    assert mcc(factors[6000:], model.transform(X[6000:])) < 0.95


@pytest.mark.slow
def test_no_fit_fails_in_silence():
    """Five clusters, ten features, all defaults: the factors are found, or a warning says that they may not be."""
    for seed in range(100, 104):
        _, X, factors, labels = drawn(12_000, seed, mixing="volume-preserving")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = ub.GIN(null="off", random_state=seed).fit(X[:10_000], labels[:10_000])
        score = mcc(factors[10_000:], model.transform(X[10_000:])[:, :2])
        print(seed, round(score, 3), model.leftover_, model.found_again_[:2])
        assert score >= 0.95 or any(str(w.message)[:5] in ("UB222", "UB252") for w in caught)


def normal_codes(n=6000, d=2, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    return rng.normal(size=(n, d)) * rng.uniform(0.1, 4, (3, d))[labels] + rng.uniform(-5, 5, (3, d))[labels], labels


@pytest.mark.parametrize("d", [1, 2, 4])
def test_right_codes_leave_nothing(d):
    left = [leftover(*normal_codes(d=d, seed=seed)) for seed in range(5)]
    assert np.abs(left).max() < 0.01


def test_leftover_is_that_of_a_known_density():
    """Of a normal pair with a small correlation, whose mutual information is known."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(200_000, 2))
    rho = 0.2
    codes = np.column_stack([z[:, 0], rho * z[:, 0] + np.sqrt(1 - rho**2) * z[:, 1]])
    exact = -0.25 * np.log(1 - rho**2)  # per code
    assert leftover(codes, np.zeros(len(z), int)) == pytest.approx(exact, rel=0.1)


def test_bent_codes_are_warned_of():
    codes, labels = normal_codes()
    within = codes - np.array([codes[labels == c].mean(0) for c in range(3)])[labels]
    bent = codes + np.column_stack([np.zeros(len(codes)), 3 * np.sin(within[:, 0])])
    left = leftover(bent, labels)
    with pytest.warns(TrustWarning, match=facts("UB252", f"{left:.3f}", "unfolding", "hidden=64", "RealNVP")):
        warn_of_leftover(left)
    warn_of_leftover(leftover(codes, labels))
    warn_of_leftover(leftover(codes[:150], labels[:150]))  # too few to say


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_of_equally_likely_starts_the_one_that_agrees_most_is_kept():
    """Three starts that are the identity in another order, and one that is turned; the turned one is as likely."""
    _, X, _, labels = drawn(400)
    model = ub.GIN(n_init=4, max_steps=3, null="off", random_state=0).fit(X, labels)

    class Starts:
        n_features = 10
        turn = np.linalg.qr(np.random.default_rng(0).normal(size=(10, 10)))[0]

        def select(self, *kept):
            return Starts.of([[X @ self.turn, X, -X[:, ::-1], 2 * X][k] for k in kept])

        @staticmethod
        def of(codes):
            chosen = Starts()
            chosen.codes = torch.from_numpy(np.stack(codes))
            return chosen

        def encode(self, theta, rows, batch_size):
            return self.codes, None

    choose = model._chooser(torch.zeros(400, 10))
    assert choose(np.array([1.0, 1.02, 1.01, 1.03]), torch.zeros(4, 1), Starts()) in (1, 2, 3)
    assert model.found_again_.max() < 0.999  # the turned start is among those that it is compared with
    assert choose(np.array([1.0, 1.52, 1.51, 1.53]), torch.zeros(4, 1), Starts()) == 0  # the others are less likely
    assert np.isnan(model.found_again_).all()
