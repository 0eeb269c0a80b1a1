"""A flow as two torch modules that take and give rows, for export."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unbraid.networks.columns import Columns
from unbraid.networks.layout import as_images, as_rows

EXAMPLES = 16


class EncoderGraph(nn.Module):
    """Rows to codes, the most important latent first."""

    theta: Tensor
    order: Tensor
    places: Tensor

    def __init__(self, model: Any):
        super().__init__()
        self.flow, self.family, self.is_picture = model._network, model._family, model.is_picture_
        self.row_shape, self.is_image = model._seen_shape, len(model._network_shape) == 3
        self.columns = Columns(model.varying_, model.constants_)
        self.register_buffer("theta", torch.from_numpy(np.asarray(model.theta_, np.float32))[None])
        self.register_buffer("order", torch.from_numpy(np.asarray(model.order_, np.int64)))
        self.register_buffer("places", torch.from_numpy(np.argsort(model.order_).astype(np.int64)))

    def forward(self, rows: Tensor) -> Tensor:
        x = as_images(rows, self.row_shape) if self.is_image else self.columns.pick(rows.flatten(1))
        r, _ = self.flow.forward(self.theta, self.flow.lay_out(x))
        return self.family.link(r[0].transpose(0, 1)[:, self.order])


class DecoderGraph(EncoderGraph):
    """Codes, one per latent, to rows as ``inverse_transform`` gives them."""

    def forward(self, codes: Tensor) -> Tensor:
        r = self.family.unlink(codes)[:, self.places]
        x = self.flow.inverse(self.theta, r.transpose(0, 1).contiguous()[None])[0].transpose(0, 1)
        x = self.columns.fill(as_rows(x, self.row_shape))
        return x.clamp(0, 1) if self.is_picture else x


def example_rows(model: Any) -> np.ndarray:
    """Rows near the middle of what the flow knows: its latents there, moved a little, and decoded."""
    rng = np.random.default_rng(0)
    middle = np.asarray(model.middle_, np.float64)
    codes = middle * (1 + 0.05 * rng.normal(size=(EXAMPLES, len(middle))))
    return model.inverse_transform(codes).astype(np.float32)
