"""The StyleGAN2 of faces that ``unbraid datasets get ffhq`` brings: distilled (MobileStyleGAN), run by OpenVINO."""

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from unbraid.datasets.registry import PACKAGES
from unbraid.datasets.storage import data_folder
from unbraid.runtime.extras import require

Network = Callable[[np.ndarray], np.ndarray]
PACKAGE = PACKAGES["ffhq"]
ANY_NUMBER = -1


class FFHQ(nn.Module):
    """Faces of 1024 pixels from StyleGAN2's W: ``synthesis(mapping(z))``, as of the networks in ``stylegan2.py``.

    Faces are drawn one at a time, each in about .15 CPU seconds.

    Parameters
    ----------
    folder : path, optional
        The data folder that has the weights; by default ``UNBRAID_DATA``, or the user's cache.

    References
    ----------
    Belousov (2021), MobileStyleGAN: a lightweight convolutional neural network for high-fidelity image synthesis.
    Karras et al. (2020), Analyzing and improving the image quality of StyleGAN.
    """

    latent_size = 512
    image_size = 1024
    content = PACKAGE.sha256

    def __init__(self, folder: str | os.PathLike | None = None):
        super().__init__()
        root = data_folder() if folder is None else Path(folder)
        if not PACKAGE.is_here(root):
            raise FileNotFoundError(
                f"the weights of the generator 'ffhq' are not in {PACKAGE.paths(root)[0].parent}. Fetch them with "
                "`unbraid datasets get ffhq` (38 MB)."
            )
        self._files = {path.name: path for path in PACKAGE.paths(root)}

    @cached_property
    def _mapping(self) -> Network:
        return compiled(self._files["MappingNetwork.xml"], rows=ANY_NUMBER)

    @cached_property
    def _synthesis(self) -> Network:
        return compiled(self._files["SynthesisNetwork.xml"])

    def mapping(self, z: torch.Tensor) -> torch.Tensor:
        """Vectors of W (n, 512) of normal latent vectors (n, 512)."""
        return torch.from_numpy(self._mapping(z.numpy()))

    def synthesis(self, w: torch.Tensor) -> torch.Tensor:
        """Images (n, 3, 1024, 1024) in [-1, 1] of vectors of W (n, 512)."""
        return torch.from_numpy(np.concatenate([self._synthesis(row[None]) for row in w.numpy()]))

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.synthesis(self.mapping(z))


def compiled(path: Path, rows: int = 1) -> Network:
    """The function of a network in OpenVINO's format, which takes this number of rows.

    In single precision on every processor: OpenVINO takes bfloat16 where there is one, which changed five faces of 64
    pixels by 0.002 of [0, 1] on average and by up to 0.06, and is no faster here.
    """
    core = require("openvino", "faces").Core()
    graph = core.read_model(path)
    graph.reshape([rows, *graph.inputs[0].shape[1:]])
    _join_wavelets(graph)
    settings = {"INFERENCE_NUM_THREADS": torch.get_num_threads(), "INFERENCE_PRECISION_HINT": "f32"}
    network = core.compile_model(graph, "CPU", settings)
    return lambda batch: network(batch)[0]


def _join_wavelets(graph: Any) -> None:
    """Make each inverse wavelet transform one convolution.

    MobileStyleGAN doubles the side of its images by Haar wavelets. As exported, these are splits and transposed
    convolutions for which OpenVINO has no fast code: they took more than half of the time. A convolution of one pixel
    by Haar's matrix and a rearrangement of channels give the same image.
    """
    ops = require("openvino", "faces").opset13
    for node in graph.get_ordered_ops():
        if node.get_type_name() != "VariadicSplit" or node.get_output_size() != 2:
            continue
        bands = node.input_value(0)
        _, channels, height, width = bands.get_shape()
        doubled = [1, channels // 4, 2 * height, 2 * width]
        while node.get_type_name() != "Add" or list(node.get_output_shape(0)) != doubled:
            node = next(iter(node.output(0).get_target_inputs())).get_node()
        readers = node.output(0).get_target_inputs()
        matrix = ops.constant(haar_matrix(channels // 4)[:, :, None, None])
        phases = ops.convolution(bands, matrix, [1, 1], [0, 0], [0, 0], [1, 1])
        image = ops.depth_to_space(phases, "blocks_first", 2)
        for reader in readers:
            reader.replace_source_output(image.output(0))
    graph.validate_nodes_and_infer_types()


def haar_matrix(n_channels: int) -> np.ndarray:
    """From the four bands of each channel to its four pixels.

    Bands are the low ones of all channels, then three details (rows, columns, both) of the first, of the second, and so
    on. Pixels are the upper left ones of all channels, then the upper right, the lower left and the lower right ones.

    >>> haar_matrix(1)[:, :2]
    array([[ 0.5,  0.5],
           [ 0.5,  0.5],
           [ 0.5, -0.5],
           [ 0.5, -0.5]], dtype=float32)
    """
    signs = np.array([[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]]) / 2
    same = np.eye(n_channels)
    details = np.einsum("pb,cd->pcdb", signs[:, 1:], same).reshape(4 * n_channels, 3 * n_channels)
    return np.hstack([np.kron(signs[:, :1], same), details]).astype(np.float32)
