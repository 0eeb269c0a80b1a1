"""DIP-VAE I and II: the covariance of the codes is driven to the identity."""

from typing import Any

import torch
from torch import Tensor

from unbraid.autoencoders.vae import VAE, Posterior
from unbraid.estimator.parameters import Number
from unbraid.training.trainer import Schedule

KINDS = ("I", "II")


def code_covariance(mean: Tensor, log_variance: Tensor, kind: str) -> Tensor:
    r"""Covariance (d, d) over a batch: :math:`Cov[\mu]` (I), or :math:`Cov[\mu] + E[\mathrm{diag}\,\sigma^2]` (II).

    >>> code_covariance(torch.tensor([[-1.0], [1.0]]), torch.zeros(2, 1), "II").item()
    2.0
    """
    centred = mean - mean.mean(0)
    covariance = centred.T @ centred / len(mean)
    return covariance if kind == "I" else covariance + torch.diag(log_variance.exp().mean(0))


def dip_penalty(covariance: Tensor, lambda_od: float, lambda_d: float) -> Tensor:
    r""":math:`\lambda_{od} \sum_{i \ne j} C_{ij}^2 + \lambda_d \sum_i (C_{ii} - 1)^2`.

    >>> dip_penalty(torch.tensor([[2.0, 0.5], [0.5, 1.0]]), 10.0, 1.0).item()
    6.0
    """
    diagonal = torch.diagonal(covariance)
    off = covariance.square().sum() - diagonal.square().sum()
    return lambda_od * off + lambda_d * (diagonal - 1).square().sum()


class DIPVAE(VAE):
    r"""DIP-VAE: the VAE's loss :math:`+ \lambda_{od} \sum_{i \ne j} C_{ij}^2 + \lambda_d \sum_i (C_{ii} - 1)^2`.

    C is the covariance of the codes over the data, which is the identity if their distribution is the prior: of
    the means alone (kind I), or of the codes, :math:`Cov[\mu] + E[\mathrm{diag}\,\sigma^2]` (kind II).

    Parameters
    ----------
    n_factors : int
    kind : "I" or "II"
    lambda_od : float
        The study tries 1, 2, 5, 10, 20 and 50.
    lambda_d : float, optional
        By default ten times ``lambda_od`` (I) or the same (II), as in the study.
    **settings
        See :class:`~unbraid.autoencoders.base.AutoencoderEstimator`.

    Attributes
    ----------
    As of :class:`VAE`; ``history_`` has ``covariance_penalty`` as well.

    References
    ----------
    Kumar, Sattigeri, Balakrishnan (2018), Variational inference of disentangled latent concepts from unlabeled
    observations, Eqs. 6 and 7.

    Examples
    --------
    >>> import unbraid as ub
    >>> X = ub.datasets.load("shapes-xy", image_size=32).sample(100, random_state=0)[0]
    >>> ub.DIPVAE(n_factors=3, kind="II", max_steps=20, random_state=0).fit_transform(X).shape
    (100, 3)
    """

    _parameter_constraints = {
        "kind": KINDS,
        "lambda_od": (Number(0),),
        "lambda_d": (Number(0), None),
    }

    def __init__(
        self,
        n_factors: int = 10,
        *,
        kind: str = "I",
        lambda_od: float = 10.0,
        lambda_d: float | None = None,
        **settings: Any,
    ):
        super().__init__(n_factors, **settings)
        self.kind = kind
        self.lambda_od = lambda_od
        self.lambda_d = lambda_d

    def _penalty(self, posterior: Posterior, schedule: Schedule) -> Tensor:
        p = posterior
        lambda_d = self.lambda_d if self.lambda_d is not None else self.lambda_od * (10 if self.kind == "I" else 1)
        penalty = dip_penalty(code_covariance(p.mean, p.log_variance, self.kind), self.lambda_od, lambda_d)
        p.terms["covariance_penalty"] = penalty
        return p.kl + penalty
