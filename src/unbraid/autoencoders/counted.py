r"""Likelihoods of counts, whose rates are :math:`\log \mu = \log m + a\, \hat y` of the decoder's output.

m is the mean of the column. The encoder sees :math:`\log(1 + x)` (:mod:`unbraid.networks.seen`); a turns a step in its
unit into the same step of :math:`\log \mu`, at the mean, so that decoder and encoder have one unit. Where rows were
counted to different depths, :math:`\mu` is multiplied by the row's total over what its columns count on average.
"""

import math

import torch
from torch import Tensor, nn

from unbraid.autoencoders.likelihood import Likelihood
from unbraid.networks.prior import FASTER
from unbraid.networks.seen import Logs, log_depth

STEEPEST = 30.0  # logarithm of a rate, so that its exponential fits into float32
START_R = 10.0
LARGEST_R = 1000.0  # beyond, a negative binomial is a Poisson count, and its terms cancel in float32


class Poisson(Likelihood):
    r""":math:`\mu - x \log \mu + \log x!`"""

    log_mean: Tensor
    slope: Tensor

    def __init__(self, shape: tuple[int, ...], depth: bool = False):
        super().__init__()
        self.depth = depth
        self.register_buffer("log_mean", torch.zeros(shape))
        self.register_buffer("slope", torch.ones(shape))

    def start(self, logs: Logs) -> None:
        """Rates around the means of columns, in the unit in which the encoder sees them."""
        self.log_mean.copy_(logs.means.log())
        self.slope.copy_(logs.scale * (1 + 1 / logs.means))

    def log_rate(self, output: Tensor) -> Tensor:
        return (self.log_mean + self.slope * output).clamp(-STEEPEST, STEEPEST)

    def mean(self, output: Tensor) -> Tensor:
        return self.log_rate(output).exp()

    def of_rows(self, output: Tensor, x: Tensor) -> Tensor:
        log_rate = self.log_rate(output)
        return log_rate + log_depth(x, self.log_mean.exp()) if self.depth else log_rate

    def cells(self, output: Tensor, x: Tensor) -> Tensor:
        return output.exp() - x * output + torch.lgamma(x + 1)


class NegativeBinomial(Poisson):
    r"""Counts of variance :math:`\mu + \mu^2 / r`, with a learned r for each column.

    :math:`(x + r) \log(r + \mu) - r \log r - x \log \mu - \log \Gamma(x + r) + \log \Gamma(r) + \log x!`
    """

    def __init__(self, shape: tuple[int, ...], depth: bool = False):
        super().__init__(shape, depth)
        self.log_r = nn.Parameter(torch.full(shape, math.log(START_R) / FASTER))

    @property
    def r(self) -> Tensor:
        """At most 1,000, which is approached without a kink."""
        most = math.log(LARGEST_R)
        return (most - torch.nn.functional.softplus(most - FASTER * self.log_r)).exp()

    def cells(self, output: Tensor, x: Tensor) -> Tensor:
        r = self.r
        log_r = r.log()
        spread = (x + r) * torch.logaddexp(log_r, output) - r * log_r - x * output
        return spread - torch.lgamma(x + r) + torch.lgamma(r) + torch.lgamma(x + 1)
