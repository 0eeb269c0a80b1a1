"""A trained encoder as a torch module that takes rows, for export."""

import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unbraid.networks.columns import Columns
from unbraid.networks.layout import as_images

EXAMPLES = 16


class EncoderGraph(nn.Module):
    """Rows in the model's unit to codes: standardise, encode, keep the means, give them the teacher's unit."""

    center: Tensor
    scale: Tensor
    code_mean: Tensor
    code_std: Tensor

    def __init__(self, model: Any, network: nn.Module, code_mean: Any, code_std: Any):
        super().__init__()
        self.network = copy.deepcopy(network).to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]
        self.row_shape, self.n_codes = model._seen_shape, model._n_codes
        self.columns = Columns(model.varying_, model.constants_)
        numbers = {"center": model.center_, "scale": model.scale_, "code_mean": code_mean, "code_std": code_std}
        for name, value in numbers.items():
            self.register_buffer(name, torch.from_numpy(np.asarray(value, np.float32).copy()))

    def forward(self, rows: Tensor) -> Tensor:
        is_table = len(self.row_shape) == 1
        x = (self.columns.pick(rows) - self.center) / self.scale if is_table else as_images(rows, self.row_shape)
        return self.network(x)[:, : self.n_codes] * self.code_std + self.code_mean


def example_rows(model: Any) -> np.ndarray:
    """Rows like those that were fitted: noise in [0, 1] for images, around the mean for vectors."""
    rng = np.random.default_rng(0)
    shape = (EXAMPLES, *model._seen_shape)
    if len(shape) > 2:
        return rng.random(shape, dtype=np.float32)
    return model._decoded(model.center_ + model.scale_ * rng.normal(size=shape)).astype(np.float32)
