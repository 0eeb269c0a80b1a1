"""What starts agree on: the geometric median, codes that are averaged, and the steps that follow it."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

import unbraid as ub
from unbraid.flows.consensus import Consensus, geometric_median

from .artificial import augmented

QUICK = {"max_steps": 24, "n_init": 3, "n_augmentations": 4, "engine": "torch", "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


class Shift:
    """Moves the first column only."""

    def __call__(self, X, rng):
        return X + rng.normal(size=(len(X), 1)) * np.eye(X.shape[1])[0]


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).normal(size=(200, 4)) * [2, 1, 0.01, 0.01] @ np.linalg.qr(np.vander(range(1, 5)))[0]


@pytest.fixture(scope="module")
def fitted(points):
    return ub.SelfSupervisedGIN(Shift(), **QUICK).fit(points)


def test_the_median_has_the_least_sum_of_distances():
    rng = np.random.default_rng(0)
    for _ in range(5):
        x = rng.normal(size=(6, 3)) * [3, 1, 1]
        found = geometric_median(x @ x.T) @ x
        best = minimize(lambda c, x=x: np.linalg.norm(x - c, axis=1).sum(), x.mean(0), method="Nelder-Mead", tol=1e-9).x
        np.testing.assert_allclose(found, best, atol=1e-2)


def test_what_each_start_adds_in_its_own_way_is_averaged_out():
    """Codes a(z2) z1 + h(z2), which the loss does not tell apart, in any order, scale and sign."""
    rng = np.random.default_rng(1)
    z1, z2 = rng.normal(size=(2, 4000))
    starts = []
    for k in range(8):
        h = 0.7 * (np.sin(z2 + k * np.pi / 4) - np.sin(k * np.pi / 4))
        codes = np.stack([(1 + 0.1 * rng.normal() * z2) * z1 + h, z2, 0.01 * rng.normal(size=4000)], 1)
        starts.append(codes[:, rng.permutation(3)] * rng.choice([-2, 1], 3))
    starts = np.stack(starts)
    alone = [np.abs(np.corrcoef(codes.T, z1)[-1, :-1]).max() for codes in starts]
    consensus = Consensus(starts, 0)(torch.from_numpy(starts.transpose(0, 2, 1))).numpy()
    assert np.abs(np.corrcoef(consensus, z1)[-1, :-1]).max() > 0.99 > 0.97 > max(alone)


def test_the_distance_counts_neither_scale_nor_shift_nor_small_codes():
    z = np.random.default_rng(0).normal(size=(3, 500, 2)) * [1, 0.001]
    consensus, code = Consensus(z, 0), torch.from_numpy(z[0].T)
    assert consensus.distance(3 * code + 1, code).item() == pytest.approx(0, abs=1e-9)
    assert consensus.distance(code.flip(0), code).item() == pytest.approx(1, abs=0.2)
    assert consensus.distance(torch.stack((code[0], code[0])), code).item() < 1e-5


@pytest.mark.slow
def test_the_kept_start_comes_nearer_to_the_others():
    _, _, sets = augmented(1, 1, n=1000)
    settings = {"max_steps": 240, "n_init": 4, "batch_size": 100, "random_state": 0}
    before, after = (ub.SelfSupervisedGIN(consensus=c, **settings).fit(sets) for c in (False, True))
    assert (before.follows_consensus_, after.follows_consensus_) == (False, True)
    np.testing.assert_array_equal(after.init_scores_, before.init_scores_)
    assert after.found_again_[:2].min() > before.found_again_[:2].min()


def test_steps_that_cost_likelihood_are_taken_back(points, monkeypatch):
    monkeypatch.setattr("unbraid.flows.selfsupervised.follow", lambda c, t, s, theta, kept, *f: 5 * theta[kept] + 1)
    spoiled = ub.SelfSupervisedGIN(Shift(), **QUICK).fit(points)
    kept = ub.SelfSupervisedGIN(Shift(), consensus=False, **QUICK).fit(points)
    assert not spoiled.follows_consensus_
    np.testing.assert_array_equal(spoiled.theta_, kept.theta_)


@pytest.mark.parametrize("settings", [{"n_init": 2}, {"max_seconds": 0}])
def test_two_starts_or_a_run_out_of_time_have_no_consensus(points, settings):
    assert not ub.SelfSupervisedGIN(Shift(), **QUICK | settings).fit(points).follows_consensus_


@pytest.mark.parametrize("where", ["training", "consensus"])
def test_a_run_that_was_stopped_ends_in_the_same_bytes(points, fitted, tmp_path, monkeypatch, where):
    model = ub.SelfSupervisedGIN(Shift(), checkpoint=tmp_path / "run", checkpoint_every=7, **QUICK)
    if where == "training":
        model.set_params(max_seconds=0).fit(points)
    else:

        def interrupted(*given):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("unbraid.flows.selfsupervised.follow", interrupted)
            with pytest.raises(KeyboardInterrupt):
                model.fit(points)
    model.set_params(max_seconds=None).fit(points)
    np.testing.assert_array_equal(model.theta_, fitted.theta_)
    np.testing.assert_array_equal(model.found_again_, fitted.found_again_)


def test_images():
    images = np.random.default_rng(0).uniform(size=(12, 8, 8))
    quick = {
        "max_steps": 8,
        "n_init": 3,
        "batch_size": 4,
        "hidden": (4, 4, 8),
        "n_blocks": (1, 1, 1),
        "random_state": 0,
    }
    quick |= {"tol": 1.0}
    model = ub.SelfSupervisedGIN("affine", **quick).fit(images)
    assert model.follows_consensus_
    np.testing.assert_allclose(model.inverse_transform(model.transform(images)), images, atol=1e-4)
