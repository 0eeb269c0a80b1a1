"""Rows as users give them, in the networks' layout and back."""

import torch
from torch import Tensor

from unbraid.networks.autoencoder import STRIDE


def as_images(x: Tensor, row_shape: tuple[int, ...]) -> Tensor:
    """Rows to the networks' layout: (n, c, h, w), channels last in memory; vectors stay as they are.

    >>> import torch
    >>> as_images(torch.zeros(5, 8, 6, 3), (8, 6, 3)).shape
    torch.Size([5, 3, 8, 6])
    """
    if len(row_shape) == 1:
        return x
    return x.unsqueeze(-1).permute(0, 3, 1, 2) if len(row_shape) == 2 else x.permute(0, 3, 1, 2)


def joined(x: Tensor, beside: Tensor) -> Tensor:
    """Rows with more numbers (n, q) beside them: further columns, or channels that are constant over an image.

    >>> import torch
    >>> joined(torch.zeros(5, 3, 8, 6), torch.zeros(5, 2)).shape
    torch.Size([5, 5, 8, 6])
    """
    return torch.cat([x, beside.reshape(*beside.shape, *(1,) * (x.ndim - 2)).expand(-1, -1, *x.shape[2:])], dim=1)


def parted(x: Tensor, n_data: int) -> tuple[Tensor, Tensor]:
    """The reverse: rows of ``n_data`` columns or channels, and what stood beside them."""
    return x[:, :n_data], x[:, n_data:].flatten(2)[..., 0] if x.ndim > 2 else x[:, n_data:]


def as_rows(x: Tensor, row_shape: tuple[int, ...]) -> Tensor:
    """The networks' layout back to rows as they were given."""
    return (x.permute(0, 2, 3, 1) if x.ndim == 4 else x).reshape(-1, *row_shape)


def shape_of(row_shape: tuple[int, ...]) -> tuple[int, ...]:
    """The networks' shape of a point; sides of images must be divisible by 16."""
    if len(row_shape) == 1:
        return row_shape
    if len(row_shape) > 3:
        raise ValueError(
            f"X has rows of shape {row_shape}; it must be (n, features), (n, height, width) or (n, height, width, "
            "channels). Flatten the rows: X.reshape(len(X), -1)."
        )
    height, width = row_shape[:2]
    if height % STRIDE or width % STRIDE:
        up = tuple(-(-side // STRIDE) * STRIDE for side in (height, width))
        raise ValueError(
            f"images are {height} x {width}, and both sides must be divisible by {STRIDE}. Pad or resize them to "
            f"{up[0]} x {up[1]}, or flatten them: X.reshape(len(X), -1)."
        )
    return (row_shape[2] if len(row_shape) == 3 else 1, height, width)
