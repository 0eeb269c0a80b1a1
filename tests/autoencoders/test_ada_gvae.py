"""Ada-GVAE: its loss written out by hand for one pair, and factors that only pairs make identifiable."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

import unbraid as ub
from tests.autoencoders.test_objectives import SCHEDULE, Data, make_batch
from tests.facts import facts
from unbraid.autoencoders.ada_gvae import group, shared_codes
from unbraid.autoencoders.likelihood import FittedGaussian
from unbraid.metrics import mcc


class Fixed(nn.Module):
    """An encoder that gives the same posteriors whatever it sees: means and variances, a row per image."""

    def __init__(self, means, variances):
        super().__init__()
        self.out = nn.Parameter(torch.cat([torch.tensor(means), torch.tensor(variances).log()], 1))

    def forward(self, x):
        return self.out


@pytest.mark.parametrize(("grouping", "mean", "variance"), [("mean", 0.2, 1.25), ("product", 0.32, 0.8)])
def test_the_loss_of_one_pair_by_hand(grouping, mean, variance):
    # In code 0, KL(N(0.4, 0.5), N(0, 2)) = (0.25 + 0.08 - 1 + log 4) / 2 = .358; in code 1, KL(N(0, 1), N(3, 1)) = 4.5.
    # The threshold is 2.43: code 0 is shared, code 1 is not.
    encoder = Fixed([[0.4, 0.0], [0.0, 3.0]], [[0.5, 1.0], [2.0, 1.0]])
    networks = nn.ModuleDict({"encoder": encoder, "decoder": nn.Identity(), "likelihood": FittedGaussian(1.0)})
    x, partner = torch.tensor([[1.0, -1.0]]), torch.tensor([[0.0, 2.0]])
    batch = replace(make_batch(x), partner=partner, noise=lambda d: torch.ones(1, d))
    model = ub.AdaGVAE(2, grouping=grouping, beta=3, noise=1.0)
    model.likelihood_ = "gaussian"
    loss = next(iter(model._objective(batch, networks, Data, SCHEDULE)))
    code = mean + math.sqrt(variance)  # the noise is 1
    reconstruction = ((code - 1) ** 2 + (0 + 1 + 1) ** 2) / 2, ((code - 0) ** 2 + (3 + 1 - 2) ** 2) / 2
    common = (mean**2 + variance - 1 - math.log(variance)) / 2
    kl = common + 0, common + 3**2 / 2
    assert loss.terms["shared"].item() == 0.5
    assert loss.terms["kl"].item() == pytest.approx(np.mean(kl), rel=1e-5)
    assert loss.terms["reconstruction"].item() == pytest.approx(np.mean(reconstruction), rel=1e-5)
    assert loss.value.item() == pytest.approx(np.mean(reconstruction) + 3 * np.mean(kl), rel=1e-5)
    loss.value.backward()
    assert torch.all(encoder.out.grad[:, 0] != 0), "gradients pass through the average"


def test_the_threshold_is_that_of_each_pair():
    mean = torch.tensor([[[0.0, 0.0]] * 2, [[0.1, 0.2], [10.0, 20.0]]])
    assert shared_codes(mean, torch.zeros_like(mean)).tolist() == [[True, False]] * 2


@pytest.mark.parametrize(("threshold", "shared"), [("mean", [False, True, True]), ("log", [False, False, True])])
def test_a_small_change_beside_a_large_one(threshold, shared):
    mean = torch.tensor([[[0.0, 0.0, 0.0]], [[10.0, 4.0, 3.0]]])  # KLs of 50, 8 and 4.5; half-way 27.25 or 15.7
    assert shared_codes(mean, torch.zeros_like(mean), threshold).tolist() == [[False, True, True]]
    mean[1, 0, 2] = 0.0  # and of 0: half-way 25 or 6.1
    assert shared_codes(mean, torch.zeros_like(mean), threshold).tolist() == [shared]


def test_the_kl_is_that_of_torch():
    generator = torch.Generator().manual_seed(0)
    mean, log_variance = torch.randn(2, 2, 50, 6, generator=generator)
    q, p = (torch.distributions.Normal(mean[i], (0.5 * log_variance[i]).exp()) for i in range(2))
    kl = torch.distributions.kl_divergence(q, p)
    threshold = (kl.max(1, keepdim=True).values + kl.min(1, keepdim=True).values) / 2
    assert torch.equal(shared_codes(mean, log_variance), kl < threshold)


@pytest.mark.parametrize("grouping", ["mean", "product"])
def test_equal_posteriors_are_left_as_they_are(grouping):
    mean, log_variance = torch.tensor([[[0.3, -2.0]]] * 2), torch.tensor([[[0.7, -1.0]]] * 2)
    for found, known in zip(group(mean, log_variance, grouping), (mean[0], log_variance[0])):
        torch.testing.assert_close(found, known)


def world(n=1000, d=3, seed=0):
    """Rows, their factors, and pairs that differ in one factor."""
    rng = np.random.default_rng(seed)
    first = rng.uniform(-1, 1, (n, d))
    second = first.copy()
    second[np.arange(n), rng.integers(0, d, n)] = rng.uniform(-1, 1, n)
    factors = np.concatenate([first, second])
    X = np.sin(factors @ rng.normal(size=(d, 30)) + rng.uniform(0, 2 * np.pi, 30))
    return X, factors, np.arange(2 * n).reshape(2, n).T


QUICK = {"max_steps": 300, "learning_rate": 2e-3, "random_state": 0}


@pytest.mark.parametrize("grouping", ["mean", "product"])
def test_it_learns_the_factors_from_pairs(grouping):
    X, factors, pairs = world()
    model = ub.AdaGVAE(3, grouping=grouping, **QUICK)
    untrained = ub.AdaGVAE(3, max_steps=1, learning_rate=1e-12, random_state=0).fit(X, pairs=pairs).transform(X)
    learned = mcc(factors, model.fit(X, pairs=pairs).transform(X))
    assert learned > 0.98
    assert learned > mcc(factors, untrained) + 0.3
    assert model.history_[-1]["shared"] == pytest.approx(2 / 3, abs=0.02), "one factor of three changes in each pair"


def test_a_threshold_on_the_log_takes_more_codes_as_changed():
    X, factors, pairs = world()
    shared = {}
    for threshold in ("mean", "log"):
        model = ub.AdaGVAE(3, threshold=threshold, null="off", **QUICK).fit(X, pairs=pairs)
        assert mcc(factors, model.transform(X)) > 0.95
        shared[threshold] = model.history_[-1]["shared"]
    assert shared["log"] < shared["mean"]


def test_factors_of_few_features_are_worth_coding():
    rng = np.random.default_rng(0)
    z, pairs = world(3000)[1:]
    X = np.tanh(z @ np.linalg.qr(rng.normal(size=(3, 3)))[0])
    settings = {"max_steps": 300, "batch_size": 64, "learning_rate": 4e-3, "random_state": 0, "null": "off"}
    learned, loud = (mcc(z, ub.AdaGVAE(3, noise=s, **settings).fit(X, pairs=pairs).transform(X)) for s in (0.02, 1.0))
    assert learned > 0.9 > loud + 0.1


def test_other_pairs_do_not_resume_a_run(tmp_path):
    X, _, pairs = world(40)
    model = ub.AdaGVAE(3, max_steps=3, random_state=0, checkpoint=tmp_path / "run").fit(X, pairs=pairs)
    codes = model.transform(X)
    np.testing.assert_array_equal(model.fit(ub.Observations(X, pairs=pairs)).transform(X), codes)
    with pytest.raises(ValueError, match=facts("pairs")):
        model.fit(X, pairs=pairs[::-1])


@pytest.mark.parametrize("pairs", [np.zeros((0, 2), int), np.arange(20)])
def test_without_a_pair_there_is_nothing_to_learn_from(pairs):
    with pytest.raises(ValueError, match=facts("pairs", 20, "(m, 2)")):
        ub.AdaGVAE(3, max_steps=3).fit(world(10)[0], pairs=pairs)


def test_a_wrong_grouping_is_refused():
    X, _, pairs = world(10)
    with pytest.raises(ValueError, match=facts("grouping", "sum", "mean", "product")):
        ub.AdaGVAE(3, grouping="sum").fit(X, pairs=pairs)
    with pytest.raises(ValueError, match=facts("threshold", "median", "mean", "log")):
        ub.AdaGVAE(3, threshold="median").fit(X, pairs=pairs)
