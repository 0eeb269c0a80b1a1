"""Manifolds with known factors for the tests of this folder."""

import numpy as np


def bent_sheets(n, d=2, n_features=100, noise=0.0, seed=0):
    """A product of circular arcs, each as long as its factor is wide: locally isometric, rotated into n_features."""
    rng = np.random.default_rng(seed)
    factors = rng.uniform(size=(n, d))
    turn = np.pi / 2 * (1 + np.arange(d) / 4)
    arcs = np.concatenate([np.sin(factors * turn) / turn, np.cos(factors * turn) / turn], axis=1)
    basis = np.linalg.qr(rng.normal(size=(n_features, 2 * d)))[0]
    return arcs @ basis.T + noise * rng.normal(size=(n, n_features)), factors


def linear_fit(Y, factors):
    """R2 of the best linear prediction of the factors from the embedding."""
    A = np.c_[Y, np.ones(len(Y))]
    residual = factors - A @ np.linalg.lstsq(A, factors, rcond=None)[0]
    return 1 - (residual**2).sum() / ((factors - factors.mean(axis=0)) ** 2).sum()
