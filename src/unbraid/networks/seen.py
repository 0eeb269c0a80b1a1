"""What an encoder sees of rows: counts as logarithms, gaps as 0 and a mark, and the covariates beside."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

FEWEST = 0.5  # counts of a row that has none


class Logs(NamedTuple):
    r"""How counts are seen: :math:`\log(1 + x)` minus ``center``, divided by ``scale``; ``means`` are their own."""

    means: Tensor
    center: Tensor
    scale: Tensor


def log_depth(x: Tensor, means: Tensor) -> Tensor:
    """Logarithm (n, 1) of the total of each row over what the columns that it has count on average; 0 if it has none.

    >>> log_depth(torch.tensor([[2.0, 4.0], [torch.nan, 2.0]]), torch.tensor([1.0, 2.0])).exp().tolist()
    [[2.0], [1.0]]
    """
    usual = torch.where(x.isnan(), 0.0, means).sum(1, keepdim=True)
    return (x.nan_to_num().sum(1, keepdim=True).clamp_min(FEWEST) / usual).log().nan_to_num(posinf=0.0)


class Seen(nn.Module):
    """An encoder with its view of the rows.

    Parameters
    ----------
    network : nn.Module
    n_data : int
        Columns, or channels, of a row; those that follow are its covariates.
    marks : bool
        Whether rows have gaps, and the network takes marks of what is there beside the values.
    counts : bool
        Whether columns are counts.
    depth : bool
        Whether their rows are brought to one total.

    Examples
    --------
    >>> seen = Seen(nn.Identity(), 2, marks=True, counts=False, depth=False)
    >>> seen(torch.tensor([[3.0, torch.nan, 7.0]])).tolist()
    [[3.0, 0.0, 1.0, 0.0, 7.0]]
    """

    counted: Tensor
    numbers: Tensor

    def __init__(self, network: nn.Module, n_data: int, *, marks: bool, counts: bool, depth: bool):
        super().__init__()
        self.network, self.n_data, self.marks, self.counts, self.depth = network, n_data, marks, counts, depth
        if counts:
            self.register_buffer("counted", torch.zeros(n_data, dtype=torch.bool))
            self.register_buffer("numbers", torch.ones(3, n_data))  # means, centre, scale

    @property
    def logs(self) -> Logs:
        """Of all columns."""
        return Logs(*self.numbers)

    def start(self, counted: NDArray[np.bool_], sample: NDArray) -> None:
        """Measure rows with NaN for gaps, given which columns are counts; a column may hold no value in these rows."""
        x = torch.from_numpy(sample).double()
        self.counted.copy_(torch.from_numpy(counted))
        self.numbers[0] = x.nanmean(0).nan_to_num().clamp_min(FEWEST / len(x))
        self.numbers[1] = 0.0
        self.numbers[1] = self._logs_of(x).nanmean(0).nan_to_num()
        spread = self._logs_of(x)[:, self.counted].square().nanmean().sqrt()
        self.numbers[2] = torch.where(spread > 0, spread, 1.0)

    def _logs_of(self, x: Tensor) -> Tensor:
        means, center, scale = self.numbers
        if self.depth:
            x = x / log_depth(torch.where(self.counted, x, torch.nan), means).exp()
        return (x.clamp_min(0).log1p() - center) / scale

    def view(self, x: Tensor) -> Tensor:
        """What the network takes."""
        data, known = x[:, : self.n_data], x[:, self.n_data :]
        if self.counts:
            data = torch.where(self.counted, self._logs_of(data), data)
        there = [(~data.isnan()).to(data.dtype)] if self.marks else []
        return torch.cat([data.nan_to_num(), *there, known], dim=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.network(self.view(x))
