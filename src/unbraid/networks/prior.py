"""The distribution of codes given a condition, or given those of the row before."""

import math

import torch
from torch import Generator, Tensor, nn

from unbraid.networks.autoencoder import initialise

HIDDEN = 32
FASTER = 5.0  # Adam moves every weight by its learning rate; the few of a prior should move faster than a network's


class ConditionalPrior(nn.Module):
    r"""Mean and log-variance of Gaussian codes, :math:`\mu(u)` and :math:`\log \sigma^2(u)`, 0 before training.

    A table with a row per class (of class weights, the weighted mean of rows), or a network with one hidden layer where
    the condition is continuous.

    Parameters
    ----------
    n_conditions : int
        Classes, or numbers that make up a continuous condition.
    n_codes : int
    continuous : bool
    generator : Generator

    Examples
    --------
    >>> prior = ConditionalPrior(3, 2, False, torch.Generator())
    >>> [part.shape for part in prior(torch.tensor([0, 2, 2, 1]))]
    [torch.Size([4, 2]), torch.Size([4, 2])]
    """

    def __init__(self, n_conditions: int, n_codes: int, continuous: bool, generator: Generator):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(HIDDEN if continuous else n_conditions, 2 * n_codes))
        self.hidden = nn.Linear(n_conditions, HIDDEN) if continuous else None
        initialise(self, "torch", generator)

    def forward(self, u: Tensor) -> tuple[Tensor, Tensor]:
        if self.hidden is not None:
            u = self.hidden(u).tanh()
        rows = u @ self.table if u.is_floating_point() else self.table[u]
        mean, log_variance = (FASTER * rows).chunk(2, dim=-1)
        return mean, log_variance


class LaplaceSteps(nn.Module):
    """Rate of each code's Laplace steps, and the share of the code that stays from one row to the next; both learned.

    Parameters
    ----------
    n_codes : int
    rate, share : float
        At the start.

    Examples
    --------
    >>> [[round(x, 4) for x in part.tolist()] for part in LaplaceSteps(2, 6.0)()]
    [[6.0, 6.0], [0.9, 0.9]]
    """

    def __init__(self, n_codes: int, rate: float = 2.0, share: float = 0.9):
        super().__init__()
        self.log_rate = nn.Parameter(torch.full((n_codes,), math.log(rate) / FASTER))
        self.logit_share = nn.Parameter(torch.full((n_codes,), math.log(share / (1 - share)) / FASTER))

    def forward(self) -> tuple[Tensor, Tensor]:
        return (FASTER * self.log_rate).exp(), (FASTER * self.logit_share).sigmoid()
