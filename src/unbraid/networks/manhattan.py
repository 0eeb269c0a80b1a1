"""L1 distances between all codes of two batches, with their gradient, by a compiled kernel on CPUs."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from unbraid.runtime.kernels import njit

Array = np.ndarray
jit = njit(fastmath={"reassoc", "contract", "nsz"}, nogil=True, error_model="numpy")


def manhattan(a: Tensor, b: Tensor) -> Tensor:
    """Sums of absolute differences of the rows of a (n, d) and of b (m, d), (n, m).

    As ``torch.cdist(a, b, p=1)``, in a third of its time for the few columns that codes have.

    >>> manhattan(torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, -2.0], [0.0, 0.5]])).tolist()
    [[3.0, 0.5]]
    """
    if a.device.type == "cpu" and a.dtype == b.dtype == torch.float32:
        return _Manhattan.apply(a, b)
    return torch.cdist(a, b, p=1.0)


class _Manhattan(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        columns = [np.ascontiguousarray(codes.detach().numpy().T) for codes in (a, b)]
        ctx.columns = columns
        found = np.zeros((len(a), len(b)), np.float32)
        distances(*columns, found)
        return torch.from_numpy(found)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        of_a, of_b = (np.zeros_like(columns) for columns in ctx.columns)
        gradients(*ctx.columns, np.ascontiguousarray(gradient.numpy()), of_a, of_b)
        return torch.from_numpy(of_a.T), torch.from_numpy(of_b.T)


@jit
def distances(a: Array, b: Array, found: Array) -> None:
    """Add the distances of the columns of a (d, n) and b (d, m) to found (n, m)."""
    for i in range(a.shape[1]):
        row = found[i]
        for k in range(a.shape[0]):
            x, y = a[k, i], b[k]
            for j in range(len(row)):
                row[j] += abs(x - y[j])


@jit
def gradients(a: Array, b: Array, of_found: Array, of_a: Array, of_b: Array) -> None:
    """Add what a gradient of the distances is by a and by b; 0 where they are equal."""
    for i in range(a.shape[1]):
        row = of_found[i]
        for k in range(a.shape[0]):
            x, y, z = a[k, i], b[k], of_b[k]
            total = np.float32(0)
            for j in range(len(row)):
                v = row[j] if x > y[j] else (-row[j] if x < y[j] else np.float32(0))
                total += v
                z[j] -= v
            of_a[k, i] += total
