"""Every loss term against a closed form, an exact sum, or a numerical integral; one test for each known trap."""

import math

import numpy as np
import pytest
import torch
from torch import nn

import unbraid as ub
from unbraid.autoencoders import likelihood
from unbraid.autoencoders.annealed_vae import capacity_at
from unbraid.autoencoders.decomposition import decompose, gaussian_kl, log_density, log_weights
from unbraid.autoencoders.dip_vae import code_covariance, dip_penalty
from unbraid.autoencoders.factor_vae import discriminator_loss, frozen, permute_dimensions
from unbraid.training.batches import Batch
from unbraid.training.trainer import Schedule

SCHEDULE = Schedule(max_steps=300, batch_size=8)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def random_posterior(n=8, d=3, seed=0):
    g = generator(seed)
    mean, log_variance = torch.randn(n, d, generator=g), torch.randn(n, d, generator=g) - 1
    return mean, log_variance, mean + (0.5 * log_variance).exp() * torch.randn(n, d, generator=g)


def make_batch(x, step=0, log=False, seed=0):
    g = generator(seed)
    return Batch(
        x=x, values=x.numpy(), rows=np.arange(len(x)), step=step, log=log,
        noise=lambda *shape: torch.randn(len(x), *shape, generator=g),
        permutations=lambda k: torch.stack([torch.randperm(len(x), generator=g) for _ in range(k)]),
        another=lambda: make_batch(x.flip(0), step, log, seed + 1),
    )  # fmt: skip


class LinearEncoder(nn.Linear):
    """A one-layer encoder, so that losses can be written out by hand."""


def networks(n_features=4, d=2, seed=0, extra=None):
    g = generator(seed)
    made = nn.ModuleDict(
        {"encoder": LinearEncoder(n_features, 2 * d), "decoder": nn.Linear(d, n_features),
         "likelihood": likelihood.Gaussian()}
    )  # fmt: skip
    for p in made.parameters():
        nn.init.normal_(p, std=0.3, generator=g)
    return made | extra if extra else made


class Data:
    n = 50


def loss_of(model, seed=0, step=0, log=True):
    """The model's first loss on eight fixed vectors, with the networks and the terms."""
    model.likelihood_ = "gaussian"
    nets = networks()
    x = torch.randn(8, 4, generator=generator(5))
    loss = next(iter(model._objective(make_batch(x, step, log, seed), nets, Data, SCHEDULE)))
    mean, log_variance = nets["encoder"](x).chunk(2, dim=1)
    z = mean + (0.5 * log_variance).exp() * torch.randn(8, 2, generator=generator(seed))
    reconstruction = 0.5 * ((nets["decoder"](z) - x) ** 2).sum() / 8
    kl = gaussian_kl(mean, log_variance).sum() / 8
    return loss, reconstruction, kl, (z, mean, log_variance)


def test_kl_equals_the_numerical_integral():
    mean, log_variance = torch.tensor([[0.7]], dtype=torch.float64), torch.tensor([[-0.9]], dtype=torch.float64)
    z = torch.linspace(-12, 12, 200_001, dtype=torch.float64)[:, None]
    q, p = log_density(z, mean, log_variance), log_density(z, *torch.zeros(2, 1, dtype=torch.float64))
    integral = torch.trapezoid((q.exp() * (q - p)).squeeze(), z.squeeze())
    assert gaussian_kl(mean, log_variance).item() == pytest.approx(integral.item(), rel=1e-9)


def test_kl_agrees_with_torch():
    mean, log_variance, _ = random_posterior()
    q = torch.distributions.Normal(mean, (0.5 * log_variance).exp())
    expected = torch.distributions.kl_divergence(q, torch.distributions.Normal(0.0, 1.0))
    torch.testing.assert_close(gaussian_kl(mean, log_variance), expected)


def test_bernoulli_is_summed_over_pixels_and_channels():
    g = generator()
    x, logits = torch.rand(5, 3, 4, 4, generator=g), torch.randn(5, 3, 4, 4, generator=g)
    p = 1 / (1 + np.exp(-logits.double().numpy()))
    expected = -(x.numpy() * np.log(p) + (1 - x.numpy()) * np.log(1 - p)).sum(axis=(1, 2, 3))
    np.testing.assert_allclose(likelihood.Bernoulli()(logits, x), expected, rtol=1e-5)


@pytest.mark.parametrize("estimator", ["weighted", "stratified"])
def test_log_densities_equal_a_loop_over_pairs(estimator):
    """Each log-sum written out: weights inside the sum, once a dimension, own point on the diagonal."""
    mean, log_variance, z = random_posterior(n=6, d=3)
    parts = decompose(z, mean, log_variance, 100, estimator)
    m, s, z = mean.double().numpy(), np.exp(0.5 * log_variance.double().numpy()), z.double().numpy()
    n, d = z.shape
    joint, marginals, own = np.zeros(n), np.zeros((n, d)), np.zeros(n)
    for i in range(n):
        for j in range(n):
            weight = 1 / 6 if estimator == "weighted" else (1 / 100 if i == j else 99 / 100 / 5)
            density = np.exp(-0.5 * ((z[i] - m[j]) / s[j]) ** 2) / (s[j] * np.sqrt(2 * np.pi))
            joint[i] += weight * density.prod()
            marginals[i] += weight * density
            own[i] = np.log(density.prod()) if i == j else own[i]
    prior = (-0.5 * z**2 - 0.5 * np.log(2 * np.pi)).sum(1)
    assert parts.index_code_mi.item() == pytest.approx((own - np.log(joint)).mean(), rel=1e-4)
    assert parts.total_correlation.item() == pytest.approx((np.log(joint) - np.log(marginals).sum(1)).mean(), rel=1e-4)
    assert parts.dimension_wise_kl.item() == pytest.approx((np.log(marginals).sum(1) - prior).mean(), rel=1e-4)


@pytest.mark.parametrize("estimator", ["weighted", "stratified"])
def test_the_three_parts_add_up_to_the_kl(estimator):
    """Exactly, sample by sample, to log q(z|x) - log p(z), whose mean over draws is the KL."""
    mean, log_variance, z = random_posterior(n=16, d=4)
    parts = decompose(z, mean, log_variance, 1000, estimator)
    total = parts.index_code_mi + parts.total_correlation + parts.dimension_wise_kl
    zero = torch.zeros_like(z)
    one_sample = (log_density(z, mean, log_variance) - log_density(z, zero, zero)).sum(1).mean()
    assert total.item() == pytest.approx(one_sample.item(), rel=1e-5)

    g = generator(1)
    draws = mean + (0.5 * log_variance).exp() * torch.randn(20_000, 16, 4, generator=g)
    sampled = (log_density(draws, mean, log_variance) - log_density(draws, torch.zeros(4), torch.zeros(4))).sum(2)
    assert sampled.mean().item() == pytest.approx(gaussian_kl(mean, log_variance).sum(1).mean().item(), rel=0.01)


def known_gaussian(n, rho=0.8, noise=0.5, seed=0):
    """Posteriors whose aggregate is a Gaussian of correlation rho' = rho / (1 + noise^2), and its exact TC."""
    g = generator(seed)
    chol = torch.linalg.cholesky(torch.tensor([[1.0, rho], [rho, 1.0]]))
    mean = torch.randn(n, 2, generator=g) @ chol.T
    log_variance = torch.full((n, 2), 2 * math.log(noise))
    z = mean + noise * torch.randn(n, 2, generator=g)
    r = rho / (1 + noise**2)
    return z, mean, log_variance, -0.5 * math.log(1 - r**2)


@pytest.mark.parametrize("estimator", ["weighted", "stratified"])
def test_total_correlation_of_a_known_gaussian(estimator):
    z, mean, log_variance, exact = known_gaussian(2000)
    parts = decompose(z, mean, log_variance, 2000, estimator)
    assert exact == pytest.approx(0.2633, abs=1e-3)
    assert parts.total_correlation.item() == pytest.approx(exact, abs=0.03)


@pytest.mark.parametrize("n_points", [2000, 737_280])
def test_weighted_total_correlation_of_independent_codes_is_near_zero_whatever_the_data_set(n_points):
    """Ten independent codes; the data set's size would add 9 log N, 68 and 122 nats, as a constant."""
    g = generator(3)
    mean = torch.randn(800, 10, generator=g)
    z = mean + 2 * torch.randn(800, 10, generator=g)
    tc = decompose(z, mean, torch.full_like(mean, math.log(4)), n_points, "weighted").total_correlation
    assert abs(tc.item()) < 0.5


def test_weighted_constants_have_no_gradient():
    """The gradient is that of Eq. S3 with its 1 / (N M)."""
    mean, log_variance, z = random_posterior(n=8, d=3)
    z.requires_grad_()
    (found,) = torch.autograd.grad(decompose(z, mean, log_variance, 500, "weighted").total_correlation, z)
    pairs = log_density(z[:, None], mean[None], log_variance[None]) - math.log(500 * 8) / 3
    joint = torch.logsumexp(pairs.sum(2), 1)
    marginals = torch.logsumexp(pairs - math.log(500 * 8) * 2 / 3, 1).sum(1)
    (expected,) = torch.autograd.grad((joint - marginals).mean(), z)
    torch.testing.assert_close(found, expected)


def test_stratified_weights_are_unbiased_for_every_point_of_a_small_data_set():
    """Mean of the estimate of q(z) over all batches that contain the own point = the exact mixture."""
    from itertools import combinations

    mean, log_variance, z = random_posterior(n=6, d=2)
    density = log_density(z[0], mean, log_variance).sum(1).exp()
    weights = log_weights(3, 6, "stratified").exp()[0]
    estimates = [(weights * density[[0, *others]]).sum().item() for others in combinations(range(1, 6), 2)]
    assert np.mean(estimates) == pytest.approx(density.mean().item(), rel=1e-5)


def test_vae_loss_written_out():
    loss, reconstruction, kl, _ = loss_of(ub.VAE(n_factors=2))
    assert loss.value.item() == pytest.approx((reconstruction + kl).item(), rel=1e-5)


def test_beta_vae_loss_written_out():
    loss, reconstruction, kl, _ = loss_of(ub.BetaVAE(n_factors=2, beta=4))
    assert loss.value.item() == pytest.approx((reconstruction + 4 * kl).item(), rel=1e-5)


def test_beta_tcvae_weights_the_total_correlation_by_beta_less_one_and_the_kl_by_one():
    loss, reconstruction, kl, (z, mean, log_variance) = loss_of(ub.BetaTCVAE(n_factors=2, beta=6))
    tc = decompose(z, mean, log_variance, Data.n, "stratified").total_correlation
    assert loss.value.item() == pytest.approx((reconstruction + kl + 5 * tc).item(), rel=1e-5)


def test_beta_tcvae_at_beta_one_is_the_vae():
    tc, vae = loss_of(ub.BetaTCVAE(n_factors=2, beta=1))[0], loss_of(ub.VAE(n_factors=2))[0]
    assert tc.value.item() == pytest.approx(vae.value.item(), rel=1e-6)


def test_annealed_vae_takes_the_mean_before_the_absolute_value():
    model = ub.AnnealedVAE(n_factors=2, c_max=30, gamma=10)
    step = 7  # capacity 30 * 7 / 100, between the points' own KLs
    loss, reconstruction, kl, (_, mean, log_variance) = loss_of(model, step=step)
    each = gaussian_kl(mean, log_variance).sum(1)
    capacity = 30 * step / 100
    assert each.min() < capacity < each.max(), "the case must tell the two orders apart"
    assert loss.value.item() == pytest.approx((reconstruction + 10 * abs(kl - capacity)).item(), rel=1e-5)
    assert loss.value.item() != pytest.approx((reconstruction + 10 * (each - capacity).abs().mean()).item(), rel=1e-3)
    assert loss.terms["capacity"].item() == pytest.approx(capacity)


def test_capacity_grows_linearly_and_stays():
    assert [capacity_at(s, 25, 100_000) for s in (0, 50_000, 100_000, 300_000)] == [0, 12.5, 25, 25]


def test_dip_covariances_are_matrices_and_means_of_diagonals():
    mean, log_variance, _ = random_posterior(n=200, d=3)
    m, variance = mean.double().numpy(), np.exp(log_variance.double().numpy())
    first = np.cov(m.T, bias=True)
    np.testing.assert_allclose(code_covariance(mean, log_variance, "I"), first, atol=1e-5)
    second = first + np.mean([np.diag(v) for v in variance], axis=0)
    np.testing.assert_allclose(code_covariance(mean, log_variance, "II"), second, atol=1e-5)


@pytest.mark.parametrize(("kind", "ratio"), [("I", 10), ("II", 1)])
def test_dip_vae_loss_written_out(kind, ratio):
    loss, reconstruction, kl, (_, mean, log_variance) = loss_of(ub.DIPVAE(n_factors=2, kind=kind, lambda_od=3))
    c = code_covariance(mean, log_variance, kind)
    penalty = 3 * 2 * c[0, 1] ** 2 + 3 * ratio * ((c[0, 0] - 1) ** 2 + (c[1, 1] - 1) ** 2)
    assert loss.value.item() == pytest.approx((reconstruction + kl + penalty).item(), rel=1e-4)
    assert dip_penalty(c, 3, 3 * ratio).item() == pytest.approx(penalty.item(), rel=1e-5)


def factor_losses(**parameters):
    model = ub.FactorVAE(n_factors=2, gamma=7, **parameters)
    model.likelihood_ = "gaussian"
    judge = nn.Sequential(nn.Linear(2, 5), nn.LeakyReLU(0.2), nn.Linear(5, 2))
    for p in judge.parameters():
        nn.init.normal_(p, generator=generator(9))
    nets = networks()
    nets["discriminator"] = judge
    x = torch.randn(8, 4, generator=generator(5))
    return nets, model._objective(make_batch(x), nets, Data, SCHEDULE), x


def test_factor_vae_loss_is_the_log_density_ratio():
    nets, losses, x = factor_losses()
    loss = next(iter(losses))
    mean, log_variance = nets["encoder"](x).chunk(2, dim=1)
    z = mean + (0.5 * log_variance).exp() * torch.randn(8, 2, generator=generator(0))
    probability = torch.softmax(nets["discriminator"](z), dim=1)
    tc = (probability[:, 0].log() - probability[:, 1].log()).mean()
    expected = (
        likelihood.Gaussian()(nets["decoder"](z), x).mean() + gaussian_kl(mean, log_variance).sum(1).mean() + 7 * tc
    )
    assert loss.value.item() == pytest.approx(expected.item(), rel=1e-4)


@pytest.mark.parametrize("second_batch", [False, True])
def test_factor_vae_halves_do_not_leak_gradients(second_batch):
    nets, losses, _ = factor_losses(second_batch=second_batch)
    first = next(losses)
    first.value.backward()
    assert all(p.grad is None for p in nets["discriminator"].parameters())
    assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in nets["encoder"].parameters())
    for p in nets.parameters():
        p.grad = None
    second = next(losses)
    second.value.backward()
    assert second.group == "discriminator"
    assert all(p.grad is None for name in ("encoder", "decoder") for p in nets[name].parameters())
    assert all(p.grad is not None for p in nets["discriminator"].parameters())


def test_factor_vae_shuffles_each_dimension_across_the_batch():
    codes = torch.randn(200, 5, generator=generator())
    orders = make_batch(codes).permutations(5)
    shuffled = permute_dimensions(codes, orders)
    for j in range(5):
        assert sorted(shuffled[:, j].tolist()) == sorted(codes[:, j].tolist()), "a column keeps its values"
    assert not torch.equal(shuffled[:, 0], codes[:, 0])
    same_row = (shuffled[:, None, :] == codes[None]).sum(2).max(1).values
    assert (same_row == 5).sum() == 0, "no row survives whole: the columns have orders of their own"


def test_discriminator_loss_of_a_known_table():
    real, fake = torch.tensor([[2.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    expected = 0.5 * (math.log(1 + math.exp(-2)) + math.log(1 + math.exp(-1)))
    assert discriminator_loss(real, fake).item() == pytest.approx(expected, rel=1e-6)


def test_frozen_gives_the_same_values_and_input_gradients():
    net = nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(0.2), nn.Linear(4, 2))
    x = torch.randn(5, 3, generator=generator(), requires_grad=True)
    (direct,) = torch.autograd.grad(net(x).sum(), x)
    (kept,) = torch.autograd.grad(frozen(net)(x).sum(), x)
    torch.testing.assert_close(kept, direct)


def test_hae_loss_is_equation_one():
    model = ub.HessianAutoencoder(n_factors=2)
    model.likelihood_ = "gaussian"
    nets = nn.ModuleDict({"encoder": nn.Linear(4, 2), "decoder": nn.Linear(2, 4), "likelihood": likelihood.Gaussian()})
    x, model._codes = torch.randn(8, 4, generator=generator(1)), np.random.default_rng(0).normal(size=(8, 2))
    model.code_mean_, model.code_std_ = np.array([1.0, -2.0]), np.array([3.0, 0.5])
    data = type("Data", (), {"endless": False})
    loss = next(iter(model._objective(make_batch(x), nets, data, SCHEDULE)))
    y = torch.from_numpy((model._codes - [1.0, -2.0]) / [3.0, 0.5]).float()
    codes, decoded = ((nets["encoder"](x) - y) ** 2).sum() / 8, ((nets["decoder"](y) - x) ** 2).sum() / 8
    assert loss.terms["codes"].item() == pytest.approx(codes.item(), rel=1e-5)
    assert loss.terms["reconstruction"].item() == pytest.approx(0.5 * decoded.item(), rel=1e-5)


def test_paper_preset_is_the_protocol():
    from unbraid.autoencoders.presets import PRESETS

    p = PRESETS["paper"]
    estimator = ub.FactorVAE(preset="paper")
    assert (estimator._schedule(p).batch_size, p.max_steps, p.discriminator) == (64, 300_000, (1000,) * 6)
    adams = estimator._groups(p)
    assert adams["model"][1:] == (1e-4, (0.9, 0.999))
    assert adams["discriminator"][1:] == (1e-4, (0.5, 0.9))
    assert p.initialisation == "glorot"
    counts = [
        sum(w.numel() for w in net.parameters()) for net in (p.encoder((3, 64, 64), 10, 10), p.decoder((3, 64, 64), 10))
    ]
    conv = 3 * 32 * 16 + 32 + 32 * 32 * 16 + 32 + 32 * 64 * 4 + 64 + 64 * 64 * 4 + 64
    dense = 1024 * 256 + 256 + 2 * (256 * 10 + 10)
    back = (
        10 * 256 + 256 + 256 * 1024 + 1024 + 64 * 64 * 16 + 64 + 64 * 32 * 16 + 32 + 32 * 32 * 16 + 32 + 32 * 3 * 16 + 3
    )
    assert counts == [conv + dense, back]


def test_paper_factor_vae_counts_its_steps_twice():
    from unbraid.autoencoders.presets import PRESETS

    assert ub.FactorVAE(preset="paper")._schedule(PRESETS["paper"]).max_steps == 150_000
    assert ub.FactorVAE(preset="paper", count_twice=False)._schedule(PRESETS["paper"]).max_steps == 300_000
    assert ub.FactorVAE()._schedule(PRESETS["small"]).max_steps == 10_000
