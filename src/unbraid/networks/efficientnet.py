"""EfficientNet-Lite 0, 1 and 2: small encoders trained on ImageNet, for which weights are at hand."""

import math
from collections.abc import Mapping

import torch.nn.functional as F
from torch import Tensor, nn

# Repeats, kernel, stride, expansion, channels: the stages of EfficientNet-B0, without squeeze and excitation.
STAGES = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
STEM, HEAD = 32, 1280
VARIANTS = {0: (1.0, 1.0), 1: (1.0, 1.1), 2: (1.1, 1.2)}  # factors of channels and of repeats
SIZES = {0: 224, 1: 240, 2: 260}  # of the pictures that each was trained on
MEAN, STD = 127 / 255, 128 / 255  # TensorFlow's (pixel - 127) / 128, for pixels in [0, 1]


class SameConv2d(nn.Conv2d):
    """A convolution padded as TensorFlow does: the output has ceil(side / stride) pixels, odd padding to the right.

    >>> import torch
    >>> SameConv2d(3, 8, 3, stride=2)(torch.zeros(1, 3, 7, 8)).shape
    torch.Size([1, 8, 4, 4])
    """

    def __init__(self, n_in: int, n_out: int, side: int, stride: int = 1, groups: int = 1):
        super().__init__(n_in, n_out, side, stride, groups=groups, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        up, left = (self._missing(x.shape[axis], axis - 2) for axis in (2, 3))
        x = F.pad(x, (left // 2, left - left // 2, up // 2, up - up // 2))
        return super().forward(x)

    def _missing(self, side: int, axis: int) -> int:
        stride, kernel = self.stride[axis], self.kernel_size[axis]
        return max((-(-side // stride) - 1) * stride + kernel - side, 0)


def _norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, eps=1e-3, momentum=0.01)


def _scaled(channels: int, wider: float) -> int:
    """The nearest multiple of 8, but no less than nine tenths.

    >>> [_scaled(channels, 1.1) for channels in (16, 24, 40, 80)]
    [16, 24, 48, 88]
    """
    wanted = channels * wider
    nearest = max(8, int(wanted + 4) // 8 * 8)
    return nearest if nearest >= 0.9 * wanted else nearest + 8


class InvertedBottleneck(nn.Module):
    """Expand, convolve each channel alone, project; the input is added where the shape stays."""

    def __init__(self, n_in: int, n_out: int, side: int, stride: int, expansion: int):
        super().__init__()
        wide = n_in * expansion
        if expansion > 1:
            self._expand_conv = SameConv2d(n_in, wide, 1)
            self._bn0 = _norm(wide)
        self._depthwise_conv = SameConv2d(wide, wide, side, stride, groups=wide)
        self._bn1 = _norm(wide)
        self._project_conv = SameConv2d(wide, n_out, 1)
        self._bn2 = _norm(n_out)
        self.expands, self.adds = expansion > 1, stride == 1 and n_in == n_out

    def forward(self, x: Tensor) -> Tensor:
        h = F.relu6(self._bn0(self._expand_conv(x))) if self.expands else x
        h = F.relu6(self._bn1(self._depthwise_conv(h)))
        h = self._bn2(self._project_conv(h))
        return x + h if self.adds else h


class EfficientNetLite(nn.Module):
    """The encoder: pictures (batch, 3, side, side), ``(x - MEAN) / STD`` of [0, 1], to 1280 codes.

    Parameters are named as in the released weights; the classifier ``_fc`` is there, and :meth:`classify` uses it.
    Larger variants have more channels and more blocks; stem, head, and the repeats of the first and last stage stay.

    Parameters
    ----------
    variant : 0, 1 or 2

    References
    ----------
    Tan, Le (2019), EfficientNet: rethinking model scaling; the Lite variants have ReLU6 and no squeeze and excitation.

    Examples
    --------
    >>> import torch
    >>> [sum(p.numel() for p in EfficientNetLite(variant).parameters()) for variant in VARIANTS]
    [4652008, 5416680, 6092072]
    >>> network = EfficientNetLite().eval()
    >>> network(torch.zeros(1, 3, 64, 64)).shape
    torch.Size([1, 1280])
    """

    def __init__(self, variant: int = 0) -> None:
        super().__init__()
        wider, deeper = VARIANTS[variant]
        self._conv_stem = SameConv2d(3, STEM, 3, stride=2)
        self._bn0 = _norm(STEM)
        blocks, before = [], STEM
        for stage, (repeats, side, stride, expansion, channels) in enumerate(STAGES):
            after = _scaled(channels, wider)
            inner = 0 < stage < len(STAGES) - 1
            for repeat in range(math.ceil(deeper * repeats) if inner else repeats):
                blocks.append(InvertedBottleneck(before, after, side, stride if repeat == 0 else 1, expansion))
                before = after
        self._blocks = nn.ModuleList(blocks)
        self._conv_head = SameConv2d(before, HEAD, 1)
        self._bn1 = _norm(HEAD)
        self._fc = nn.Linear(HEAD, 1000)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu6(self._bn0(self._conv_stem(x)))
        for block in self._blocks:
            x = block(x)
        return F.relu6(self._bn1(self._conv_head(x))).mean((2, 3))

    def classify(self, x: Tensor) -> Tensor:
        """Logits of ImageNet's 1000 classes."""
        return self._fc(self(x))

    @classmethod
    def from_state(cls, state: Mapping[str, Tensor], variant: int = 0) -> "EfficientNetLite":
        """The network with these weights; every key must be there, and no other."""
        network = cls(variant)
        wanted = network.state_dict()
        missing = [k for k in wanted if k not in state]
        unknown = [k for k in state if k not in wanted]
        if missing or unknown:
            raise ValueError(
                f"these are not the weights of EfficientNet-Lite{variant}: {len(missing)} of {len(wanted)} are missing "
                f"(such as {', '.join(missing[:3]) or 'none'}) and {len(unknown)} are unknown (such as "
                f"{', '.join(unknown[:3]) or 'none'})."
            )
        network.load_state_dict(state)
        return network.eval()
