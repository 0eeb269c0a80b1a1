"""A fused CPU kernel for small fully connected GIN flows: forward and gradient in one pass over tiles of the batch.

Optional: it computes what :class:`~unbraid.networks.flow.Flow` computes with torch, to float32 accuracy, without a C
compiler (numba builds it once and keeps it).
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unbraid.networks.coupling import DenseCoupling
from unbraid.networks.flow import Flow
from unbraid.networks.fused_kernel import TILE, run

MAX_WIDTH = 64  # beyond it the matrix products of torch win


def supports(flow: Flow) -> bool:
    """Whether the kernel computes this flow: fully connected GIN blocks with the authors' clamp, narrow enough."""
    return all(
        isinstance(layer, DenseCoupling)
        and layer.affine.has_kernel
        and max(layer.hidden, layer.features) <= MAX_WIDTH
        and min(layer.hidden, layer.first) >= 2
        for layer in flow.layers
    )


class FusedForward:
    """``flow.forward`` by the kernel, differentiable by the parameters; the K models share the threads of torch.

    >>> from unbraid.networks.flow import dense_flow
    >>> rng = np.random.default_rng(0)
    >>> flow = dense_flow(4, rng)
    >>> theta, x = flow.initial(rng), flow.lay_out(torch.ones(3, 4))
    >>> bool(torch.allclose(FusedForward(flow)(theta, x)[0], flow.forward(theta, x)[0]))
    True
    """

    def __init__(self, flow: Flow):
        if not supports(flow):
            raise ValueError(
                "the fused kernel computes GIN flows with clamp='atan' only, convolutional or fully connected of up to "
                f"{MAX_WIDTH} features and hidden units. Use engine='auto' or 'torch'."
            )
        self.hidden, self.limit = flow.layers[0].hidden, flow.layers[0].affine.limit
        self.permutations = np.stack([layer.permutations.numpy() for layer in flow.layers], 1)

    def __call__(self, theta: Tensor, x: Tensor) -> tuple[Tensor, None]:
        return _Fused.apply(theta, x, self), None

    def run(self, *arrays: np.ndarray) -> None:
        """The kernel on the parameters and the other arrays of every model."""

        def one(k: int) -> None:
            theta, *others = (array[k] for array in arrays)
            run(theta, self.permutations[k], self.hidden, self.limit, *others)

        models = range(len(self.permutations))
        threads = min(len(models), torch.get_num_threads())
        if threads == 1:
            for k in models:
                one(k)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(one, models))


class _Fused(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, theta: Tensor, x: Tensor, kernel: FusedForward) -> Tensor:
        weights, data = np.ascontiguousarray(theta.detach().numpy()), x.detach().numpy()
        tiles, (models, *each) = -(-x.shape[2] // TILE), kernel.permutations.shape
        z, none = np.empty(x.shape, np.float32), np.empty((models, 0, 0), np.float32)
        exps = np.empty((models, tiles, *each, TILE), np.float32)
        kernel.run(weights, data, z, exps, none, weights)
        ctx.kernel, ctx.weights, ctx.data, ctx.exps = kernel, weights, data, exps
        return torch.from_numpy(z)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        kernel, weights, data, exps = ctx.kernel, ctx.weights, ctx.data, ctx.exps
        dz = np.ascontiguousarray(grads[0].numpy())
        grad, none = np.zeros_like(weights), np.empty((len(weights), 0, 0), np.float32)
        kernel.run(weights, data, none, exps, dz, grad)
        return torch.from_numpy(grad), None, None
