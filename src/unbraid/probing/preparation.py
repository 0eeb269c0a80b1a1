"""From rows of a data set to the input of an image encoder: layout, channels, size and scale."""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True)
class Preparation:
    """How a batch of rows in [0, 1] is prepared for an encoder.

    Attributes
    ----------
    channels : int, optional
        Channels that the encoder takes. Grey images are repeated, colour ones become grey; None leaves them unchanged.
    size : int or (height, width), optional
        Images are resized to this (bilinear, antialiased); None leaves them unchanged.
    mean, std : float or tuple of floats
        ``(x - mean) / std``, one number or one per channel.

    Examples
    --------
    >>> Preparation(channels=3, size=8)(np.zeros((2, 16, 16), np.float32)).shape
    torch.Size([2, 3, 8, 8])
    >>> Preparation()(np.zeros((2, 5), np.float32)).shape
    torch.Size([2, 5])
    """

    channels: int | None = None
    size: int | tuple[int, int] | None = None
    mean: float | tuple[float, ...] = 0.0
    std: float | tuple[float, ...] = 1.0

    def __call__(self, rows: np.ndarray) -> Tensor:
        """Rows (n, ...) as float32: vectors unchanged, images as (n, channels, height, width)."""
        x = torch.from_numpy(np.array(rows, dtype=np.float32, order="C"))
        if x.ndim > 2:
            x = self._pictures(x)
        return self._scaled(x)

    def _pictures(self, x: Tensor) -> Tensor:
        if x.ndim > 4:
            raise ValueError(
                f"rows have shape {tuple(x.shape[1:])}; an image encoder takes (height, width) or "
                "(height, width, channels). Give a function that prepares them."
            )
        x = x.unsqueeze(1) if x.ndim == 3 else x.permute(0, 3, 1, 2)
        if self.channels is not None and x.shape[1] != self.channels:
            if x.shape[1] != 1 and self.channels != 1:
                raise ValueError(
                    f"images have {x.shape[1]} channels and the encoder takes {self.channels}; only grey and "
                    "colour can be converted into each other. Give a function that encodes the rows."
                )
            x = x.mean(1, keepdim=True) if self.channels == 1 else x.expand(-1, self.channels, -1, -1)
        size = (self.size, self.size) if isinstance(self.size, int) else self.size
        if size is not None and tuple(x.shape[2:]) != tuple(size):
            x = F.interpolate(x, size=tuple(size), mode="bilinear", antialias=True)
        return x.contiguous()

    def _scaled(self, x: Tensor) -> Tensor:
        if self.mean == 0 and self.std == 1:
            return x
        shape = (-1, *[1] * (x.ndim - 2))
        return (x - torch.tensor(self.mean).reshape(shape)) / torch.tensor(self.std).reshape(shape)


def flat_codes(output: object, name: str) -> np.ndarray:
    """The encoder's output as codes (n, n_codes): feature maps are averaged over positions.

    >>> flat_codes(torch.ones(2, 8, 3, 3), "encoder").shape
    (2, 8)
    """
    if isinstance(output, Tensor):
        output = output.detach().cpu().float().numpy()
    if isinstance(output, list | tuple | dict):
        raise TypeError(
            f"{name} gives a {type(output).__name__} of {len(output)} items; codes must be one array (n, n_codes). "
            "Give a function that picks one: probe(lambda X: encode(X)[0], dataset)."
        )
    codes = np.asarray(output)
    if codes.ndim == 4:
        codes = codes.mean((2, 3))
    if codes.ndim == 1:
        codes = codes[:, None]
    if codes.ndim != 2 or codes.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} gives an array of shape {codes.shape} and type {codes.dtype}; codes are numbers of shape (n, "
            "n_codes), or feature maps (n, n_codes, height, width)."
        )
    return codes
