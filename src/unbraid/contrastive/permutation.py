"""Permutation-contrastive learning (PCL): are these two rows consecutive, or were they put together at random?"""

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from unbraid.networks.contrastive import Marginal
from unbraid.networks.manhattan import manhattan


class Permutation(nn.Module):
    r"""Logistic regression of real pairs against permuted ones, by a function that is a sum over the codes.

    .. math:: r(c, c') = b - \sum_i |\alpha_i c'_i - \beta_i c_i| + g(c') + h(c)

    with :math:`\alpha, \beta > 0` and g, h sums of learned functions of single codes. The loss is the mean of
    :math:`\log(1 + e^{-r})` over the pairs and of :math:`\log(1 + e^{r})` over all permuted pairs of the batch, in
    equal parts. At its minimum r is :math:`\log p(c' | c) - \log p(c')`.

    Parameters
    ----------
    n_codes : int
    generator : torch.Generator

    References
    ----------
    Hyvarinen, Morioka (2017), Nonlinear ICA of temporally dependent stationary sources, Eq. 8 to 10.
    """

    def __init__(self, n_codes: int, generator: Generator):
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(2, n_codes))
        self.bias = nn.Parameter(torch.zeros(1))
        self.marginals = nn.ModuleList(Marginal(n_codes, generator) for _ in range(2))

    @property
    def decay(self) -> Tensor:
        """How much of each code is left after a step, beta / alpha."""
        return (self.log_scale[1] - self.log_scale[0]).exp()

    def logits(self, codes: Tensor, positives: Tensor) -> Tensor:
        """(batch, batch): of each row with the positive of each."""
        alpha, beta = self.log_scale.exp()
        apart = manhattan(beta * codes, alpha * positives)
        g, h = self.marginals[0](positives), self.marginals[1](codes)
        return self.bias - apart + g + h[:, None]

    def forward(self, codes: Tensor, positives: Tensor) -> dict[str, Tensor]:
        """The loss, log 2 where nothing is told apart, and the share of real pairs that are told from permuted ones."""
        logits, n = self.logits(codes, positives), len(codes)
        real = logits.diagonal()
        permuted = (F.softplus(logits).sum() - F.softplus(real).sum()) / max(n * (n - 1), 1)
        loss = 0.5 * (F.softplus(-real).mean() + permuted)
        return {"loss": loss, "accuracy": (real.detach() > 0).float().mean()}
