"""Reconstruction losses: -log p(x | z) summed over the features of a point, in nats."""

import torch.nn.functional as F
from torch import Tensor

LIKELIHOODS = ("auto", "bernoulli", "gaussian")
LARGEST = 0.1  # noise that is fitted, in standard deviations of the data


def bernoulli(output: Tensor, x: Tensor) -> Tensor:
    r"""Cross entropy of pixels in [0, 1] and logits, :math:`-\sum_p x_p \log s_p + (1 - x_p) \log (1 - s_p)`.

    Summed over the pixels and channels, one number a point. It is 0 at best for black and white images only: grey
    pixels have an entropy of their own. A mean over pixels instead of the sum would change the meaning of every
    strength (beta, gamma, lambda).

    >>> import torch
    >>> bernoulli(torch.zeros(1, 1, 2, 2), torch.ones(1, 1, 2, 2)).item()
    2.7726
    """
    return F.binary_cross_entropy_with_logits(output, x, reduction="none").flatten(1).sum(1)


def gaussian(output: Tensor, x: Tensor) -> Tensor:
    r""":math:`\frac12 \|x - \hat x\|^2`, the Gaussian likelihood of variance 1 without its constant.

    >>> import torch
    >>> gaussian(torch.zeros(1, 3), torch.ones(1, 3)).item()
    1.5
    """
    return 0.5 * (output - x).square().flatten(1).sum(1)


def fitted_gaussian(output: Tensor, x: Tensor, least: float) -> Tensor:
    r""":math:`\sum_p \frac{(x_p - \hat x_p)^2}{2 s^2} + \log s`, the Gaussian likelihood of the noise s that fits best.

    s is the root mean square error of the batch, which maximises its likelihood (Rybkin et al. 2021, the optimal
    sigma-VAE), but at least ``least``. It is at most 0.1: under a larger noise, which early errors would suggest, codes
    are switched off and stay so. Gradients through s vanish at the optimum; it counts as a constant.

    >>> import torch
    >>> fitted_gaussian(torch.zeros(1, 2), torch.full((1, 2), 0.05), 0.01).item()  # 2 (1/2 + log 0.05)
    -4.9914...
    """
    errors = (output - x).square().flatten(1)
    s = errors.detach().mean().sqrt().clamp(least, max(least, LARGEST))
    return (0.5 * errors / s.square() + s.log()).sum(1)
