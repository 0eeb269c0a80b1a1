"""A decoder as a torch module that gives rows, for export."""

import copy
from typing import Any

from torch import Tensor, nn

from unbraid.networks.layout import as_rows
from unbraid.training.graphs import EncoderGraph


class DecoderGraph(EncoderGraph):
    """Codes to rows as ``inverse_transform`` gives them."""

    def __init__(self, model: Any, network: nn.Module, likelihood: Any, code_mean: Any, code_std: Any):
        super().__init__(model, network, code_mean, code_std)
        self.likelihood, self.is_picture = copy.deepcopy(likelihood), model.is_picture_

    def forward(self, codes: Tensor) -> Tensor:
        x = self.likelihood.mean(self.network((codes - self.code_mean) / self.code_std))
        x = self.columns.fill(as_rows(x, self.row_shape) * self.scale + self.center)
        return x.clamp(0, 1) if self.is_picture else x
