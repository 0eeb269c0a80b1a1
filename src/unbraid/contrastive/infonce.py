"""InfoNCE: which of the rows of a batch is the positive?"""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from unbraid.networks.contrastive import Marginal
from unbraid.networks.manhattan import manhattan


def l2(a: Tensor, b: Tensor) -> Tensor:
    """Squared Euclidean distances, (n, m)."""
    return a.square().sum(1)[:, None] + b.square().sum(1) - 2 * a @ b.T


def cosine(a: Tensor, b: Tensor) -> Tensor:
    """1 less the cosine of the angle between codes of length 1, (n, m)."""
    return 1 - a @ b.T


DISTANCES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"l1": manhattan, "l2": l2, "cosine": cosine}


class InfoNCE(nn.Module):
    r"""The cross-entropy of finding the positive of each row among those of the whole batch.

    .. math::

        \ell_{ij} = -\tau\, d(\rho \circ c_i, c^+_j) + g(c^+_j), \qquad
        L = -\frac1B \sum_i \log \frac{e^{\ell_{ii}}}{\sum_j e^{\ell_{ij}}}

    At its minimum :math:`\ell_{ij}` is :math:`\log p(c^+_j | c_i) - \log p(c^+_j)`, up to what depends on i alone. So
    :math:`\tau d` is the shape of a step, :math:`\rho \in (0, 1)^n`, learned for positives in time, how far each factor
    returns to its mean in one, and g the logarithm of the marginal. All three are learned with the encoder.

    Parameters
    ----------
    n_codes : int
    distance : "l1", "l2" or "cosine"
        Cosine distances have no g, as all directions of a sphere are alike.
    decays : bool
        Whether :math:`\rho` is learned; it is 1 otherwise.
    generator : torch.Generator

    References
    ----------
    Zimmermann et al. (2021), Contrastive learning inverts the data generating process, Eq. 1; the marginal
    and the decay are those of Hyvarinen, Sasaki, Turner (2019), Eq. 4, for autoregressive sources.
    """

    def __init__(self, n_codes: int, distance: str, decays: bool, generator: Generator):
        super().__init__()
        self.distance = DISTANCES[distance]
        self.log_scale = nn.Parameter(torch.zeros(1))
        self.logit_decay = nn.Parameter(torch.full((n_codes,), 2.0)) if decays else None
        self.marginal = None if distance == "cosine" else Marginal(n_codes, generator)

    @property
    def decay(self) -> Tensor | float:
        """How much of each code is left after a step."""
        return 1.0 if self.logit_decay is None else self.logit_decay.sigmoid()

    def logits(self, codes: Tensor, positives: Tensor) -> Tensor:
        """(batch, batch): of each row with the positive of each."""
        found = -self.log_scale.exp() * self.distance(codes * self.decay, positives)
        return found if self.marginal is None else found + self.marginal(positives)

    def forward(self, codes: Tensor, positives: Tensor) -> dict[str, Tensor]:
        """The loss, and the information that a row has about its positive, in nats (at most the log of the batch)."""
        loss = F.cross_entropy(self.logits(codes, positives), torch.arange(len(codes), device=codes.device))
        return {"loss": loss, "information": math.log(len(codes)) - loss}
