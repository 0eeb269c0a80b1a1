"""iVAE: its loss by hand, factors that only a condition makes identifiable, and conditions of every kind."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

import unbraid as ub
from tests.autoencoders.test_objectives import SCHEDULE, Data, make_batch
from tests.facts import facts
from unbraid.autoencoders.correlated import kl_terms, triangle
from unbraid.autoencoders.likelihood import FittedGaussian
from unbraid.metrics import mcc
from unbraid.networks.prior import ConditionalPrior
from unbraid.training.devices import Device
from unbraid.training.trainer import Group, Trainer
from unbraid.trust.warnings import AssumptionWarning


class Fixed(nn.Module):
    """An encoder that gives the same posteriors whatever it sees."""

    def __init__(self, out):
        super().__init__()
        self.out = nn.Parameter(torch.tensor(out))

    def forward(self, x):
        return self.out


def table(rows):
    prior = ConditionalPrior(len(rows), 2, False, torch.Generator())
    prior.table.data = torch.tensor(rows) / 5  # FASTER
    return prior


def test_the_loss_of_two_rows_by_hand():
    # means, 2 log L_ii, and L_21 / L_22 of two posteriors: L = [[1, 0], [1, 2]] and [[1, 0], [0, 1]]
    log4 = float(np.log(4.0))
    encoder = Fixed([[0.5, 0.0, 0.0, log4, 0.5], [1.0, -1.0, 0.0, 0.0, 0.0]])
    networks = nn.ModuleDict(
        {
            "encoder": encoder,
            "decoder": nn.Identity(),
            "likelihood": FittedGaussian(0.2),
            "prior": table([[0.0, 0, 0, 0], [1.0, 0, 0, log4]]),
        }
    )
    x = torch.tensor([[1.51, 3.0], [2.0, 0.0]])
    batch = replace(make_batch(x), known={"labels": np.array([0, 1])}, noise=lambda d: torch.ones(2, d))
    model = ub.IVAE(2, noise=0.2)
    model.likelihood_ = "gaussian"
    loss = next(iter(model._objective(batch, networks, Data, SCHEDULE)))
    # codes m + L 1 are (1.5, 3) and (2, 0), codes m - L 1 are (-.5, -3) and (0, -2); the noise is at least .2
    errors = [0.01**2, 0.0, 2.01**2 + 6**2, 2**2 + 2**2]
    reconstruction = np.mean(errors) / (2 * 0.2**2) + 2 * np.log(0.2)
    first = 0.5 * (1 + 0.5**2 - 1) + 0.5 * (5 - 1 - log4)  # marginal variances 1 and 5, from N(0, 1)
    second = 0.0 + 0.5 * ((1 + 1) / 4 - 1 + log4)  # from N(1, 1) and N(0, 4)
    assert loss.terms["reconstruction"].item() == pytest.approx(reconstruction, rel=1e-4)
    assert loss.terms["kl"].item() == pytest.approx((first + second) / 2, rel=1e-5)
    assert loss.value.item() == pytest.approx(reconstruction + (first + second) / 2, rel=1e-4)


def test_the_kl_of_correlated_gaussians_is_that_of_torch():
    generator = torch.Generator().manual_seed(0)
    mean, log_variance, prior_mean, prior_log_variance = torch.randn(4, 7, 3, generator=generator)
    L = triangle(log_variance, torch.randn(7, 3, generator=generator))
    q = torch.distributions.MultivariateNormal(mean, scale_tril=L)
    p = torch.distributions.MultivariateNormal(prior_mean, torch.diag_embed(prior_log_variance.exp()))
    found = kl_terms(mean, L.square().sum(2), log_variance, (prior_mean, prior_log_variance)).sum(1)
    torch.testing.assert_close(found, torch.distributions.kl_divergence(q, p), rtol=1e-4, atol=1e-4)


def test_the_fitted_noise_maximises_the_likelihood():
    x = 0.05 * torch.randn(50, 4, generator=torch.Generator().manual_seed(0))
    losses = [
        -torch.distributions.Normal(0.0, s).log_prob(x).sum(1).mean() - 2 * np.log(2 * np.pi)
        for s in np.linspace(0.03, 0.08, 501)
    ]
    assert FittedGaussian(0.01)(torch.zeros(50, 4), x).mean().item() == pytest.approx(min(losses).item(), abs=1e-3)


@pytest.mark.parametrize(("share", "rate"), [(0.0, 0.1), (1 / 3, 0.075), (0.5, 0.05), (1.0, 0.0)])
def test_the_learning_rate_falls_along_half_a_cosine(share, rate):
    networks = nn.ModuleDict({"a": nn.Linear(1, 1), "b": nn.Linear(1, 1)})
    groups = {"slow": Group(("a",), 0.1), "fast": Group(("b",), 0.2)}
    trainer = Trainer(networks, groups, iter, None, SCHEDULE, Device("cpu"))
    trainer._decay(share)
    rates = [trainer.optimizers[name].param_groups[0]["lr"] for name in groups]
    assert rates == pytest.approx([rate, 2 * rate])


def world(n=4000, seed=0):
    data = ub.datasets.load("nonstationary", n_factors=2, n_segments=10, n_layers=2, random_state=seed)
    return data.sample_conditional(n, random_state=seed)


QUICK = {"max_steps": 600, "batch_size": 128, "learning_rate": 3e-3, "random_state": 0}


@pytest.fixture(scope="module")
def fitted():
    X, factors, labels = world()
    return ub.IVAE(2, **QUICK).fit(X, labels), X, factors, labels


def test_it_learns_more_than_untrained_and_linear_codes(fitted):
    model, X, factors, labels = fitted
    with pytest.warns(AssumptionWarning, match="UB124"):  # nothing is learned of the prior either
        start = ub.IVAE(2, max_steps=1, learning_rate=1e-12, random_state=0).fit(X, labels).transform(X)
    linear = ub.PCAICA(2, random_state=0).fit_transform(X)
    learned = mcc(factors, model.transform(X))
    assert learned > 0.95
    assert learned > max(mcc(factors, start), mcc(factors, linear)) + 0.02


def test_the_prior_is_that_of_the_sources(fitted):
    model, X, factors, labels = fitted
    known = np.stack([factors[labels == c].std(0) for c in model.classes_])
    assert mcc(known, np.sqrt(model.prior_variance_)) > 0.97
    assert model.condition_effect_ > 0.3
    assert model.prior_shares_.sum() == pytest.approx(1)
    np.testing.assert_allclose(model.sample(4000, random_state=0).std(0), X.std(0), rtol=0.2)


def test_covariances_are_those_of_the_draws(fitted):
    model, X, _, _ = fitted
    mean, covariance = model.encode_correlated(X[:1])
    drawn = model.sample_codes(np.repeat(X[:1], 4000, axis=0), random_state=0)
    np.testing.assert_allclose(np.cov(drawn.T), covariance[0], rtol=0.15)
    np.testing.assert_allclose(model.encode(X[:1])[1], np.log(np.diagonal(covariance, axis1=1, axis2=2)), rtol=1e-5)
    np.testing.assert_allclose(model.transform(X[:1]), mean)


@pytest.mark.parametrize("kind", ["soft", "continuous"])
def test_soft_and_continuous_conditions(kind):
    rng = np.random.default_rng(0)
    u = rng.uniform(-1, 1, size=2000)
    weights = np.eye(6)[rng.integers(6, size=2000)] * 0.9 + 0.1 / 6
    spread = (
        np.exp(np.column_stack([1.5 * u, 2 * u**2]))
        if kind == "continuous"
        else 0.3 + weights @ rng.uniform(0, 3, (6, 2))
    )
    X = np.tanh(spread * rng.normal(size=(2000, 2)) @ [[1, 0.5], [-0.3, 1]])
    model = ub.IVAE(2, **QUICK | {"max_steps": 300}).fit(X, u if kind == "continuous" else weights)
    assert model.condition_ == kind
    assert model.prior_mean_.shape == (1000, 2)
    if kind == "continuous":  # the log-variance of one factor rises with u
        rising = np.corrcoef(np.log(model.prior_variance_).T, u[:1000])[2, :2]
        assert np.abs(rising).max() > 0.9


def test_conditions_that_say_nothing_are_told_from_those_that_do():
    X, _, _ = world(1000)
    labels = np.random.default_rng(0).integers(6, size=1000)
    with pytest.warns(AssumptionWarning, match=facts("UB124")):
        model = ub.IVAE(2, **QUICK | {"max_steps": 60, "learning_rate": 1e-3}).fit(X, labels)
    assert "effect of the condition" in [fact.name for fact in model.summary().facts]


@pytest.mark.filterwarnings("ignore:UB124")  # three mixtures of segments differ little
def test_few_and_missing_conditions_are_told():
    X, _, labels = world(400)
    with pytest.warns(AssumptionWarning, match=facts("UB104", 3, 2, 5)):
        ub.IVAE(2, max_steps=30, learning_rate=0.03, random_state=0).fit(X, labels % 3)
    with pytest.raises(ValueError, match=facts("IVAE", "requires y")):
        ub.IVAE(2).fit(X)
    with pytest.raises(ValueError, match=facts("class", [0])):
        ub.IVAE(2).fit(X, np.zeros(400, int))
