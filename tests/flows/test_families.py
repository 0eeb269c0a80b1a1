"""The six families of Table 1: density against scipy, maximum likelihood, and the relation that the table states."""

import numpy as np
import pytest
import torch
from scipy import stats

from tests.facts import facts
from unbraid.flows.families import FAMILIES, Normal, family

TRUE = {
    "normal": stats.norm(1, 2),
    "lognormal": stats.lognorm(s=0.5, scale=2),
    "inverse-gaussian": stats.invgauss(mu=0.5, scale=3),
    "gamma": stats.gamma(a=2.5, scale=2),
    "inverse-gamma": stats.invgamma(a=3.5, scale=2),
    "beta": stats.beta(2, 5),
}
# what a family identifies: maps w -> z under which it stays itself, so that no likelihood tells z from w
CLOSED = {
    "normal": [lambda w: 3 * w - 1],
    "lognormal": [lambda w: 3 * w**2],
    "inverse-gaussian": [lambda w: 3 * w],
    "gamma": [lambda w: 3 * w],
    "inverse-gamma": [lambda w: 3 * w],
    "beta": [lambda w: 1 - w],
}
OPEN = {
    "normal": lambda w: np.exp(w / 2),
    "lognormal": lambda w: w + 1,
    "inverse-gaussian": lambda w: w**2,
    "gamma": lambda w: w**2,
    "inverse-gamma": lambda w: w**2,
    "beta": lambda w: w**2,
}


def draw(name, n=100_000):
    return TRUE[name].rvs(n, random_state=1)


@pytest.mark.parametrize("name", FAMILIES)
def test_density_is_scipys(name):
    f, z = family(name), draw(name, 500)
    r = torch.from_numpy(f.unlink(z)).requires_grad_()
    p = f.fit(r)
    density = f.distribution(tuple(q.numpy() for q in p)).logpdf(z)
    slope = torch.autograd.grad(f.link(r).sum(), r)[0].numpy()
    np.testing.assert_allclose(-f.nll(r, p).detach().numpy(), density + np.log(slope), atol=1e-10)


@pytest.mark.parametrize("name", FAMILIES)
def test_fit_finds_the_truth(name):
    f = family(name)
    fitted = f.distribution(tuple(q.numpy() for q in f.fit(torch.from_numpy(f.unlink(draw(name))))))
    for q in (0.05, 0.5, 0.95):
        np.testing.assert_allclose(fitted.ppf(q), TRUE[name].ppf(q), atol=0.02 * TRUE[name].std())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
def test_fit_is_the_maximum(name, weighted):
    """No parameters nearby have a higher likelihood; so the loss needs no gradient through them."""
    f = family(name)
    r = torch.from_numpy(f.unlink(draw(name, 2000)))
    w = torch.rand(2000, generator=torch.Generator().manual_seed(0)) if weighted else torch.ones(2000)
    p = [q.requires_grad_() for q in f.fit(r, w if weighted else None)]
    (f.nll(r, tuple(p)) * w).mean().backward()
    for q in p:
        assert abs(q.grad * q) < 1e-6


@pytest.mark.parametrize("name", FAMILIES)
def test_narrow_latents_look_normal(name):
    """A noise dimension of std 0.01 costs any family what it costs the normal, in float32 too."""
    r = (0.3 + 0.01 * torch.randn(4000, generator=torch.Generator().manual_seed(1))).float().requires_grad_()
    f = family(name)
    loss = f.nll(r, f.fit(r)).mean()
    normal = Normal().nll(r, Normal().fit(r)).mean()
    assert abs(loss - normal) < 0.005
    assert torch.isfinite(torch.autograd.grad(loss, r)[0]).all()


def best_log_likelihood(f, z):
    """Mean log density of z at the maximum-likelihood parameters."""
    p = tuple(q.numpy() for q in f.fit(torch.from_numpy(f.unlink(z))))
    return f.distribution(p).logpdf(z).mean()


def log_slope(change, w):
    step = 1e-6 * np.maximum(np.abs(w), 1e-2)
    return np.log(np.abs((change(w + step) - change(w - step)) / (2 * step))).mean()


@pytest.mark.parametrize("name", FAMILIES)
def test_relation_of_table_1(name):
    """The stated relation leaves the likelihood as it was (after the change of variables); another map lowers it."""
    f, w = family(name), draw(name)
    if name == "normal":
        w = w[w > -6]
    before = best_log_likelihood(f, w)
    for change in CLOSED[name]:
        assert abs(best_log_likelihood(f, change(w)) + log_slope(change, w) - before) < 1e-6
    other = OPEN[name](w)
    if name == "normal":
        after = stats.norm(other.mean(), other.std()).logpdf(other).mean()
    else:
        after = best_log_likelihood(f, other)
    assert after + log_slope(OPEN[name], w) < before - 0.002


def test_unknown_family_lists_the_known():
    with pytest.raises(ValueError, match=facts("latent", "'cauchy'", "inverse-gaussian")):
        family("cauchy")
