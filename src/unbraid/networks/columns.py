"""Columns of a table that do not vary, left out on the way to a network and filled in on the way back."""

import numpy as np
import torch
from torch import Tensor, nn


class Columns(nn.Module):
    """Picks the columns that vary, and fills up rows with the constant ones; both by looking up, as any export can.

    Parameters
    ----------
    varying : array of int or None
        Columns that vary; None if all do.
    constants : array (n_features,) or None
        A row with the constants.

    Examples
    --------
    >>> columns = Columns(np.array([0, 2]), np.array([0.0, 7.0, 0.0]))
    >>> columns.pick(torch.tensor([[1.0, 7.0, 2.0]])).tolist()
    [[1.0, 2.0]]
    >>> columns.fill(torch.tensor([[1.0, 2.0]])).tolist()
    [[1.0, 7.0, 2.0]]
    """

    varying: Tensor
    constants: Tensor
    places: Tensor

    def __init__(self, varying: np.ndarray | None, constants: np.ndarray | None):
        super().__init__()
        self.all_vary = varying is None or constants is None
        if varying is None or constants is None:
            return
        places = len(varying) + np.arange(len(constants))  # among the varying columns and a whole row behind them
        places[varying] = np.arange(len(varying))
        self.register_buffer("varying", torch.from_numpy(np.asarray(varying, np.int64)))
        self.register_buffer("constants", torch.from_numpy(np.asarray(constants, np.float32))[None])
        self.register_buffer("places", torch.from_numpy(places.astype(np.int64)))

    def pick(self, rows: Tensor) -> Tensor:
        """The columns that vary."""
        return rows if self.all_vary else rows[:, self.varying]

    def fill(self, rows: Tensor) -> Tensor:
        """Whole rows."""
        if self.all_vary:
            return rows
        return torch.cat((rows, self.constants.expand(rows.shape[0], -1)), 1)[:, self.places]
