r"""The KL term and its parts: index-code mutual information, total correlation, dimension-wise KL.

.. math:: E_n KL(q(z|n) \| p(z)) = I(z; n) + KL(q(z) \| \prod_j q(z_j)) + \sum_j KL(q(z_j) \| p(z_j))

(Chen et al. 2018, Eq. 2). The aggregate posterior q(z) is estimated from a batch of M of N points.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

ESTIMATORS = ("weighted", "stratified")
LOG_2PI = math.log(2 * math.pi)


def gaussian_kl(mean: Tensor, log_variance: Tensor) -> Tensor:
    r"""KL of N(mean, variance) from N(0, 1), by point and dimension: :math:`(\mu^2 + \sigma^2 - 1 - \log \sigma^2)/2`.

    >>> gaussian_kl(torch.tensor([[1.0]]), torch.tensor([[0.0]])).item()
    0.5
    """
    return 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance)


def log_density(z: Tensor, mean: Tensor, log_variance: Tensor) -> Tensor:
    """Of N(mean, variance) at z, each dimension for itself."""
    return -0.5 * (LOG_2PI + log_variance + (z - mean).square() * (-log_variance).exp())


def log_weights(batch: int, n_points: int, estimator: str) -> Tensor:
    r"""Weights (batch, batch) of :math:`\log q(z_i) \approx \mathrm{logsumexp}_j (\log q(z_i | n_j) + w_{ij})`.

    "weighted" sampling has 1 / M everywhere: Eq. S3 without its factor 1 / N, a constant that has no gradient but would
    raise the total correlation of D codes by (D - 1) log N. "stratified" sampling has 1 / N for the point that z was
    drawn from and (N - 1) / (N (M - 1)) for the others, so that the sum is unbiased (Eq. S6). With all N points in the
    batch both are the exact mixture.

    >>> log_weights(3, 10, "stratified").exp().sum(1)
    tensor([1.0000, 1.0000, 1.0000])
    """
    if estimator == "weighted":
        return torch.full((batch, batch), -math.log(batch))
    if batch == 1:
        return torch.zeros(1, 1)
    weights = torch.full((batch, batch), math.log((n_points - 1) / (n_points * (batch - 1))))
    return weights.fill_diagonal_(-math.log(n_points))


@dataclass(frozen=True)
class Parts:
    """Averages over a batch, in nats; they add up to a one-sample estimate of the KL."""

    index_code_mi: Tensor
    total_correlation: Tensor
    dimension_wise_kl: Tensor


def decompose(z: Tensor, mean: Tensor, log_variance: Tensor, n_points: int, estimator: str) -> Parts:
    """The three parts for codes z drawn from N(mean, variance), all (batch, n_factors).

    >>> parts = decompose(torch.zeros(4, 2), torch.zeros(4, 2), torch.zeros(4, 2), 4, "stratified")
    >>> abs(parts.total_correlation.item()) < 1e-6
    True
    """
    pairs = log_density(z[:, None], mean[None], log_variance[None])
    weights = log_weights(len(z), n_points, estimator).to(z)
    log_qz = torch.logsumexp(pairs.sum(2) + weights, dim=1)
    log_marginals = torch.logsumexp(pairs + weights[:, :, None], dim=1).sum(1)
    log_conditional = torch.diagonal(pairs).sum(0)
    log_prior = -0.5 * (LOG_2PI + z.square()).sum(1)
    return Parts(
        index_code_mi=(log_conditional - log_qz).mean(),
        total_correlation=(log_qz - log_marginals).mean(),
        dimension_wise_kl=(log_marginals - log_prior).mean(),
    )
