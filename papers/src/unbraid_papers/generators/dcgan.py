"""The DCGAN generator (Radford, Metz, Chintala 2016), in the layout of PyTorch's own example."""

import torch
from torch import nn


class DCGANGenerator(nn.Module):
    """Transposed convolutions from a latent vector to an image in [-1, 1].

    A 4 x 4 map of ``8 * width`` channels, then strides of 2 with half the channels each, down to ``width``; the last
    layer gives the image. Batch normalisation and ReLU between them.

    Parameters
    ----------
    latent_size : int
    width : int
        Channels before the last layer.
    channels : int
        Of the image.
    image_size : int
        A power of two, 16 or more.

    Examples
    --------
    >>> DCGANGenerator(width=4, image_size=32)(torch.zeros(2, 100)).shape
    torch.Size([2, 3, 32, 32])
    """

    def __init__(self, latent_size: int = 100, width: int = 64, channels: int = 3, image_size: int = 64):
        super().__init__()
        doublings = image_size.bit_length() - 3
        if image_size != 4 << doublings or doublings < 2:
            raise ValueError(f"image_size={image_size!r} must be a power of two, at least 16.")
        self.latent_size = latent_size
        layers: list[nn.Module] = []
        before = latent_size
        for step in range(doublings):
            after = width << (doublings - 1 - step)
            stride, padding = (1, 0) if step == 0 else (2, 1)
            layers += [
                nn.ConvTranspose2d(before, after, 4, stride, padding, bias=False),
                nn.BatchNorm2d(after),
                nn.ReLU(),
            ]
            before = after
        self.main = nn.Sequential(*layers, nn.ConvTranspose2d(before, channels, 4, 2, 1, bias=False), nn.Tanh())

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.main(z.reshape(len(z), self.latent_size, 1, 1))

    @classmethod
    def from_state(cls, state: dict[str, torch.Tensor]) -> "DCGANGenerator":
        """The network that fits a state dict ``main.0.weight``, ``main.1.weight``, ...; the weights loaded."""
        kernels = [v for k, v in state.items() if k.endswith(".weight") and v.ndim == 4]
        if not kernels or "main.0.weight" not in state:
            raise ValueError(
                f"these are not the weights of a DCGAN generator: main.0.weight is missing; keys start with "
                f"{', '.join(list(state)[:4])}."
            )
        network = cls(
            latent_size=kernels[0].shape[0],
            width=kernels[-1].shape[0],
            channels=kernels[-1].shape[1],
            image_size=4 << (len(kernels) - 1),
        )
        network.load_state_dict(state)
        return network.eval()
