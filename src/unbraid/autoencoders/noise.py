"""Likelihoods of numbers whose noise is learned column by column: normal, or with heavy tails."""

import math

import torch
from torch import Tensor, nn

from unbraid.autoencoders.likelihood import Likelihood
from unbraid.networks.prior import FASTER

LEAST = 0.01  # noise, in the networks' unit: without a bound, the likelihood of a column without noise is infinite
START = 0.1  # under more noise at the start, codes are switched off and stay so
START_DF = 4.0


class Normal(Likelihood):
    r""":math:`\frac12 ((x - \hat x) / s)^2 + \log s + \frac12 \log 2\pi`, with a learned noise s for each column.

    >>> round(Normal((1,))(torch.zeros(1, 1), torch.full((1, 1), 0.2)).item(), 4)  # s is 0.11 at the start
    0.3646
    """

    def __init__(self, shape: tuple[int, ...]):
        super().__init__()
        self.log_scale = nn.Parameter(torch.full(shape, math.log(START) / FASTER))

    @property
    def scale(self) -> Tensor:
        return LEAST + (FASTER * self.log_scale).exp()

    def cells(self, output: Tensor, x: Tensor) -> Tensor:
        s = self.scale
        return 0.5 * ((x - output) / s).square() + s.log() + 0.5 * math.log(2 * math.pi)


class Student(Normal):
    r"""Student's t around :math:`\hat x`, with a scale s and degrees of freedom :math:`\nu` that each column learns.

    :math:`\frac{\nu + 1}{2} \log(1 + \frac{(x - \hat x)^2}{\nu s^2}) + \log s + \frac12 \log \nu\pi
    + \log \Gamma(\frac{\nu}{2}) - \log \Gamma(\frac{\nu + 1}{2})`. A value far off costs little more than one less far
    off, so that strays do not bend the codes. :math:`\nu > 1`, so that there is a mean.
    """

    def __init__(self, shape: tuple[int, ...]):
        super().__init__(shape)
        self.log_df = nn.Parameter(torch.full(shape, math.log(START_DF - 1) / FASTER))

    @property
    def df(self) -> Tensor:
        return 1 + (FASTER * self.log_df).clamp(max=math.log(1000.0)).exp()

    def cells(self, output: Tensor, x: Tensor) -> Tensor:
        s, df = self.scale, self.df
        tail = 0.5 * (df + 1) * torch.log1p(((x - output) / s).square() / df)
        return tail + s.log() + 0.5 * (df * math.pi).log() + torch.lgamma(df / 2) - torch.lgamma((df + 1) / 2)
