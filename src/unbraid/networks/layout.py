"""Rows as users give them, in the networks' layout and back."""

from torch import Tensor


def as_images(x: Tensor, row_shape: tuple[int, ...]) -> Tensor:
    """Rows to the networks' layout: (n, c, h, w), channels last in memory; vectors stay as they are.

    >>> import torch
    >>> as_images(torch.zeros(5, 8, 6, 3), (8, 6, 3)).shape
    torch.Size([5, 3, 8, 6])
    """
    if len(row_shape) == 1:
        return x
    return x.unsqueeze(-1).permute(0, 3, 1, 2) if len(row_shape) == 2 else x.permute(0, 3, 1, 2)


def as_rows(x: Tensor, row_shape: tuple[int, ...]) -> Tensor:
    """The networks' layout back to rows as they were given."""
    return (x.permute(0, 2, 3, 1) if x.ndim == 4 else x).reshape(-1, *row_shape)
