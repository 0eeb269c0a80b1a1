"""A flow as two torch modules that take and give rows, for export."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

EXAMPLES = 16


class EncoderGraph(nn.Module):
    """Rows to codes, the most important latent first."""

    theta: Tensor
    order: Tensor
    places: Tensor

    def __init__(self, model: Any):
        super().__init__()
        self.flow, self.family, self.is_picture = model._flow, model._family, model.is_picture_
        self.row_shape, self.is_image = tuple(model.row_shape_), len(model._network_shape) == 3
        self.register_buffer("theta", torch.from_numpy(np.asarray(model.theta_, np.float32))[None])
        self.register_buffer("order", torch.from_numpy(np.asarray(model.order_, np.int64)))
        self.register_buffer("places", torch.from_numpy(np.argsort(model.order_).astype(np.int64)))

    def forward(self, rows: Tensor) -> Tensor:
        if self.is_image:
            x = rows.reshape(-1, *self.row_shape[:2], self.row_shape[2] if len(self.row_shape) == 3 else 1)
            x = x.permute(3, 0, 1, 2)
        else:
            x = rows.flatten(1).transpose(0, 1)
        r, _ = self.flow.forward(self.theta, x.contiguous()[None])
        return self.family.link(r[0].transpose(0, 1)[:, self.order])


class DecoderGraph(EncoderGraph):
    """Codes, one per latent, to rows as ``inverse_transform`` gives them."""

    def forward(self, codes: Tensor) -> Tensor:
        r = self.family.unlink(codes)[:, self.places]
        x = self.flow.inverse(self.theta, r.transpose(0, 1).contiguous()[None])[0]
        x = x.permute(1, 2, 3, 0) if self.is_image else x.transpose(0, 1)
        x = x.reshape(-1, *self.row_shape)
        return x.clamp(0, 1) if self.is_picture else x


def example_rows(model: Any) -> np.ndarray:
    """Rows near the middle of what the flow knows: its latents there, moved a little, and decoded."""
    rng = np.random.default_rng(0)
    middle = np.asarray(model.middle_, np.float64)
    codes = middle * (1 + 0.05 * rng.normal(size=(EXAMPLES, len(middle))))
    return model.inverse_transform(codes).astype(np.float32)
