"""Time-contrastive learning (TCL): to which segment of a recording does a row belong?"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unbraid.networks.contrastive import Squares
from unbraid.networks.linear import vanish
from unbraid.spectral.ica import best_rotation, whitening


class Segments(nn.Module):
    r"""Multinomial logistic regression of the segment on features of a row.

    .. math:: L = -\log \frac{e^{w_u \cdot h(x) + b_u}}{\sum_v e^{w_v \cdot h(x) + b_v}}

    If the factors are independent within a segment, with densities :math:`\propto e^{\lambda_{iu} q_i(z_i)}` whose
    :math:`\lambda` change with the segment u enough, the features are :math:`h = A q(z) + d` at the minimum, and a
    linear ICA of them gives each :math:`q_i(z_i)`: the square of a factor whose variance changes.

    Parameters
    ----------
    n_codes, n_segments : int

    References
    ----------
    Hyvarinen, Morioka (2016), Unsupervised feature extraction by time-contrastive learning and nonlinear ICA, Eq. 4.
    """

    def __init__(self, n_codes: int, n_segments: int):
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            self.linear = nn.Linear(n_codes, n_segments)
        vanish(self.linear)

    def forward(self, codes: Tensor, segments: Tensor) -> dict[str, Tensor]:
        """The loss, and the share of the rows whose segment is found; a negative segment is none."""
        logits = self.linear(codes)
        loss = F.cross_entropy(logits, segments, ignore_index=-1)
        return {"loss": loss, "accuracy": (logits.detach().argmax(1) == segments).float().mean()}


def features(encoder: nn.Module, n_codes: int) -> nn.Sequential:
    """An encoder of features: linear combinations of squares, which begin as the squares themselves."""
    with torch.random.fork_rng(devices=[]):
        last = nn.Linear(n_codes, n_codes)
    nn.init.eye_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(encoder, Squares(), last)


def unmix(encoder: nn.Sequential, head: Segments, rows: np.ndarray) -> None:
    """Put the linear ICA of some features (n, n_codes) into the last layer, and its inverse into the regression.

    Each code gets variance 1, and a positive skewness as squares have.
    """
    white = whitening(rows)
    rotation = best_rotation(white(rows), contrast="logcosh", n_init=3, random_state=np.random.RandomState(0))
    matrix = rotation.matrix @ white.matrix
    matrix *= np.where((((rows - white.mean) @ matrix.T) ** 3).mean(0) < 0, -1, 1)[:, None]
    last = encoder[-1]
    assert isinstance(last, nn.Linear)
    with torch.no_grad():
        turn, mean = torch.from_numpy(matrix).float(), torch.from_numpy(white.mean).float()
        head.linear.bias.add_(head.linear.weight @ mean)
        head.linear.weight.copy_(head.linear.weight @ torch.linalg.inv(turn))
        last.bias.copy_(turn @ (last.bias - mean))
        last.weight.copy_(turn @ last.weight)
