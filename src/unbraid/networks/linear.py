"""Networks that start as a linear map."""

import torch
from torch import Tensor, nn


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
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        curved, straight = self.network(x), self.linear(x)
        n = straight.shape[1]
        return torch.cat([curved[:, :n] + straight, curved[:, n:]], dim=1)
