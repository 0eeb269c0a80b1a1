"""SlowVAE: the KL of its steps against quadrature, its loss by hand, and factors that only sparse steps tell apart."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

import unbraid as ub
from tests.autoencoders.test_ivae import Fixed
from tests.autoencoders.test_objectives import SCHEDULE, Data, make_batch
from tests.facts import facts
from unbraid.autoencoders.likelihood import FittedGaussian
from unbraid.autoencoders.slow_vae import mean_absolute, transition_kl
from unbraid.metrics import mcc
from unbraid.trust.warnings import AssumptionWarning


@pytest.mark.parametrize(("mean", "variance"), [(0.0, 1.0), (0.7, 0.3), (-2.0, 0.01), (3.0, 4.0)])
def test_the_folded_normal_against_quadrature(mean, variance):
    m, v = torch.tensor(mean, dtype=torch.float64), torch.tensor(variance, dtype=torch.float64)
    z = torch.linspace(mean - 12 * math.sqrt(variance), mean + 12 * math.sqrt(variance), 200_001, dtype=torch.float64)
    density = torch.distributions.Normal(m, v.sqrt()).log_prob(z).exp()
    integral = torch.trapezoid(density * z.abs(), z)
    assert mean_absolute(m, v).item() == pytest.approx(integral.item(), rel=1e-7)


def test_the_kl_of_a_step_against_quadrature():
    mean = torch.tensor([[[0.3]], [[-0.2]]], dtype=torch.float64)
    log_variance = torch.tensor([[[-1.0]], [[-2.0]]], dtype=torch.float64)
    before, after = (
        torch.distributions.Normal(m, (0.5 * v).exp()) for m, v in zip(mean.flatten(), log_variance.flatten())
    )
    z = torch.linspace(-6, 6, 2401, dtype=torch.float64)
    laplace = torch.distributions.Laplace(z[:, None], 1 / 6).log_prob(z)  # of the later code given each earlier one
    inner = torch.trapezoid(after.log_prob(z).exp() * (after.log_prob(z) - laplace), z)
    known = torch.trapezoid(before.log_prob(z).exp() * inner, z).item()
    found = transition_kl(mean, log_variance.exp(), log_variance, torch.tensor(6.0))
    assert found.item() == pytest.approx(known, rel=1e-4)


def test_the_loss_of_one_step_by_hand():
    encoder = Fixed([[0.5, 0.0], [1.0, 0.0]])  # one code: means and log-variances of the earlier and the later row
    networks = nn.ModuleDict({"encoder": encoder, "decoder": nn.Identity(), "likelihood": FittedGaussian(0.1)})
    x, partner = torch.tensor([[1.5]]), torch.tensor([[2.5]])
    batch = replace(make_batch(x), partner=partner, noise=lambda d: torch.ones(1, d))
    model = ub.SlowVAE(1, rate=2.0, gamma=3.0, noise=0.1)
    model.likelihood_ = "gaussian"
    loss = next(iter(model._objective(batch, networks, Data, SCHEDULE)))
    errors = [0, 0.5**2, 2**2, 2.5**2]  # of codes 1.5 and 2, and of the opposite ones, -.5 and 0
    reconstruction = np.mean(errors) / (2 * 0.1**2) + math.log(0.1)  # the noise is at most .1
    kl = 0.5 * 0.5**2
    distance = math.sqrt(4 / math.pi) * math.exp(-(0.5**2) / 4) + 0.5 * math.erf(0.5 / 2)  # of N(0.5, 2)
    transition = 2 * distance - math.log(2 / 2) - 0.5 * math.log(2 * math.pi * math.e)
    assert loss.terms["transition"].item() == pytest.approx(transition, rel=1e-5)
    assert loss.value.item() == pytest.approx(2 * reconstruction + kl + 3 * transition, rel=1e-4)


def world(n=4000, d=2, seed=0, laplace=True):
    """Sources that move by Laplace or Gaussian steps, observed through a bent mixture."""
    rng = np.random.default_rng(seed)
    z = np.zeros((n, d))
    steps = rng.laplace(size=(n, d)) if laplace else rng.normal(size=(n, d))
    for t in range(1, n):
        z[t] = 0.9 * z[t - 1] + steps[t]
    z /= z.std(0)
    angle = 0.6
    mixed = z @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return np.column_stack([mixed, np.sin(mixed), np.tanh(mixed @ [1, -1])]), z


QUICK = {"max_steps": 500, "batch_size": 128, "learning_rate": 2e-3, "random_state": 0}


def test_it_learns_more_than_untrained_and_linear_codes():
    X, factors = world()
    time = np.arange(len(X))
    model = ub.SlowVAE(2, rate=2.0, gamma=1.0, **QUICK).fit(X, time=time)
    learned = mcc(factors, model.transform(X))
    untrained = mcc(factors, ub.VAE(2, max_steps=1, random_state=0).fit(X).transform(X))
    linear = mcc(factors, ub.PCAICA(2, random_state=0).fit_transform(X))
    assert learned > 0.97
    assert learned > max(untrained, linear) + 0.02
    np.testing.assert_allclose(model.autocorrelation_, 0.9, atol=0.05)
    assert (model.step_kurtosis_ > 1).all()


def test_steps_that_are_not_sparse_and_codes_without_memory_are_told():
    X, _ = world(1000, laplace=False)
    quick = QUICK | {"max_steps": 50}
    with pytest.warns(AssumptionWarning, match=facts("UB122", "codes")):
        model = ub.SlowVAE(2, **quick).fit(X, time=np.arange(1000))
    assert {"kurtosis of steps", "memory of codes"} <= {fact.name for fact in model.summary().facts}
    X, _ = world(1000)
    shuffled = np.random.default_rng(0).permutation(1000)
    with pytest.warns(AssumptionWarning) as found:
        ub.SlowVAE(2, **quick).fit(X, time=shuffled)
    assert "UB125" in str(found[0].message)


def test_rows_may_come_in_any_order_and_recordings_as_a_list():
    X, _ = world(300)
    quick = QUICK | {"max_steps": 5}
    whole = ub.SlowVAE(2, **quick).fit(ub.Observations.recordings([X[:100], X[100:]]))
    parts = ub.SlowVAE(2, **quick).fit(X, time=np.r_[np.arange(100), 500 + np.arange(200)])
    np.testing.assert_array_equal(whole.transform(X), parts.transform(X))
    with pytest.raises(ValueError, match=facts("time", 151, "rows 0 and 1")):
        ub.SlowVAE(2).fit(X, time=np.arange(300) // 2)
    with pytest.raises(ValueError, match=facts("SlowVAE", "time")):
        ub.SlowVAE(2).fit(X)
