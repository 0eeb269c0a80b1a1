"""Likelihoods: -log p(x | z) summed over the observed values of a row, in nats; values that are NaN are left out."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

LARGEST = 0.1  # noise that is fitted, in standard deviations of the data


class Likelihood(nn.Module):
    """Of rows in the networks' unit, given the output of the decoder; what it learns is trained with the networks."""

    def cells(self, output: Tensor, x: Tensor) -> Tensor:
        """-log p of each value."""
        raise NotImplementedError

    def mean(self, output: Tensor) -> Tensor:
        """The mean of rows."""
        return output

    def of_rows(self, output: Tensor, x: Tensor) -> Tensor:
        """The decoder's output with what the rows themselves say, such as how long was counted."""
        return output

    def forward(self, output: Tensor, x: Tensor) -> Tensor:
        """One number a row."""
        output, there = self.of_rows(output, x), ~x.isnan()
        if there.all():
            return self.cells(output, x).flatten(1).sum(1)
        return torch.where(there, self.cells(output, x.nan_to_num()), 0.0).flatten(1).sum(1)


class Bernoulli(Likelihood):
    r"""Cross entropy of values in [0, 1] and logits, :math:`-\sum_p x_p \log s_p + (1 - x_p) \log (1 - s_p)`.

    It is 0 at best for black and white images only: grey pixels have an entropy of their own. A mean over pixels
    instead of the sum would change the meaning of every strength (beta, gamma, lambda).

    >>> Bernoulli()(torch.zeros(1, 1, 2, 2), torch.ones(1, 1, 2, 2)).item()
    2.7726
    """

    def cells(self, output: Tensor, x: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(output, x, reduction="none")

    def mean(self, output: Tensor) -> Tensor:
        return output.sigmoid()


class Gaussian(Likelihood):
    r""":math:`\frac12 \|x - \hat x\|^2`, the Gaussian likelihood of variance 1 without its constant.

    >>> Gaussian()(torch.zeros(2, 3), torch.tensor([[1.0, 1.0, 1.0], [1.0, 1.0, torch.nan]])).tolist()
    [1.5, 1.0]
    """

    def cells(self, output: Tensor, x: Tensor) -> Tensor:
        return 0.5 * (output - x).square()


class FittedGaussian(Likelihood):
    r""":math:`\sum_p \frac{(x_p - \hat x_p)^2}{2 s^2} + \log s`, the Gaussian likelihood of the noise s that fits best.

    s is the root mean square error of the batch, which maximises its likelihood (Rybkin et al. 2021, the optimal
    sigma-VAE), but at least ``least``. It is at most 0.1: under a larger noise, which early errors would suggest, codes
    are switched off and stay so. Gradients through s vanish at the optimum; it counts as a constant.

    >>> FittedGaussian(0.01)(torch.zeros(1, 2), torch.full((1, 2), 0.05)).item()  # 2 (1/2 + log 0.05)
    -4.9914...
    """

    def __init__(self, least: float):
        super().__init__()
        self.least = least

    def forward(self, output: Tensor, x: Tensor) -> Tensor:
        there = ~x.isnan()
        errors = torch.where(there, (output - x.nan_to_num()).square(), 0.0).flatten(1)
        s = (errors.detach().sum() / there.sum()).sqrt().clamp(self.least, max(self.least, LARGEST))
        return (0.5 * errors / s.square() + s.log() * there.flatten(1)).sum(1)
