"""The papers' artificial data: a Gaussian mixture (two-dimensional) and eight noise dimensions, mixed by a RealNVP."""

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment

from unbraid.flows.families import family
from unbraid.networks.coupling import Affine
from unbraid.networks.flow import dense_flow


def mcc(factors, codes):
    """Mean absolute Pearson correlation of factors and codes, matched one to one."""
    n = factors.shape[1]
    correlation = np.abs(np.corrcoef(factors.T, codes.T)[:n, n:])
    return correlation[linear_sum_assignment(-correlation)].mean()


def mixing(seed, n_features=10):
    """The authors' mixing: eight random RealNVP blocks with the clamp 2 * 0.636 atan(s / 2)."""
    rng = np.random.default_rng([77, seed])
    flow = dense_flow(n_features, rng, affine=Affine("realnvp", "atan"))
    theta = flow.initial(rng, identity=False).double()
    return lambda z: flow.encode(theta, torch.from_numpy(z))[0][0].numpy()


def mixture(seed, n=10_000, n_classes=5, n_noise=8, apart=False, n_factors=2):
    """X, factors and labels; ``apart`` puts the classes in two groups far apart along the second factor."""
    rng = np.random.default_rng([5, seed])
    means, stds = rng.uniform(-5, 5, (n_classes, n_factors)), rng.uniform(0.5, 3, (n_classes, n_factors))
    if apart:
        stds[:, 1] = 0.5
        means[:, 1] = np.where(np.arange(n_classes) % 2, 8.0, -8.0)
    labels = np.arange(n) % n_classes
    factors = means[labels] + stds[labels] * rng.normal(size=(n, n_factors))
    z = np.concatenate((factors, 0.01 * rng.normal(size=(n, n_noise))), 1)
    return mixing(seed, n_factors + n_noise)(z), factors, labels


def augmented(seed, n_augmented, n=10_000, n_members=10):
    """Points, factors and sets (n, M, 10): a standard normal added along the first ``n_augmented`` factors."""
    rng = np.random.default_rng([9, seed])
    _, factors, _ = mixture(seed, n)
    z = np.concatenate((factors, 0.01 * rng.normal(size=(n, 8))), 1)
    sets = np.repeat(z[:, None], n_members, 1)
    sets[:, :, :n_augmented] += rng.normal(size=(n, n_members, n_augmented))
    mix = mixing(seed)
    return mix(z), factors, mix(sets.reshape(-1, 10)).reshape(n, n_members, 10)


def family_mixture(name, seed, n=10_000, n_classes=5):
    """X, the two factors on the real line (before the family's link) and labels; the factors follow family ``name``."""
    rng = np.random.default_rng([21, seed])
    labels, latent, factors = np.arange(n) % n_classes, family(name), np.empty((n, 2))
    for c in range(n_classes):
        for i in range(2):
            middle, shape = rng.uniform(-1.5, 1.5), np.exp(rng.uniform(np.log(0.7), np.log(8)))
            p = (middle, 1 / np.sqrt(shape) if name == "lognormal" else shape)
            if name == "beta":
                p = tuple(np.exp(rng.uniform(np.log(0.7), np.log(8), 2)))
            distribution = latent.distribution(tuple(np.array(v) for v in p))
            factors[labels == c, i] = distribution.rvs(size=(labels == c).sum(), random_state=rng)
    real = latent.unlink(factors)
    return mixing(seed)(np.concatenate((real, 0.01 * rng.normal(size=(n, 8))), 1)), real, labels
