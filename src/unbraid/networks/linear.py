"""Networks that start as a linear map."""

from typing import Any

import torch
from torch import Tensor, nn


def vanish(layer: nn.Linear) -> None:
    """Set the weights and biases of a layer to 0."""
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)


def last_linear(network: nn.Module) -> nn.Linear:
    """The last linear layer of a network."""
    return [layer for layer in network.modules() if isinstance(layer, nn.Linear)][-1]


class AroundLinear(nn.Module):
    """A linear map plus a network; the map is added to the first outputs.

    Parameters
    ----------
    network : nn.Module
    n_in, n_out : int
        Of the linear map, which is 0 at first.

    Examples
    --------
    >>> AroundLinear(nn.Linear(3, 5), 3, 2)(torch.zeros(4, 3)).shape
    torch.Size([4, 5])
    """

    def __init__(self, network: nn.Module, n_in: int, n_out: int):
        super().__init__()
        self.network = network
        self.linear = nn.Linear(n_in, n_out)
        vanish(self.linear)

    @torch.no_grad()
    def start(self, matrix: Any, shift: Any) -> None:
        """Set the linear map."""
        self.linear.weight.copy_(torch.from_numpy(matrix))
        self.linear.bias.copy_(torch.from_numpy(shift))

    def forward(self, x: Tensor) -> Tensor:
        curved, straight = self.network(x), self.linear(x)
        n = straight.shape[1]
        return torch.cat([curved[:, :n] + straight, curved[:, n:]], dim=1)
