"""Where a step runs: one device in float32, or what accelerate sets up (mixed precision, several processes)."""

import ctypes
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from unbraid.runtime.extras import require

PRECISIONS = ("float32", "bf16", "fp16")


def device_of(name: str) -> torch.device:
    """The device of a name; "auto" takes the first GPU there is."""
    if name != "auto":
        try:
            return torch.empty(0, device=name).device
        except (RuntimeError, AssertionError) as error:
            raise ValueError(
                f"device={name!r} is not available ({error}). Use 'auto', 'cpu' or one of this machine's GPUs."
            ) from error
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps") if torch.backends.mps.is_available() else torch.device("cpu")


def keep_freed_memory() -> None:
    """Let the C library keep freed memory for the next step; returning it and asking again costs a tenth of a step.

    Only glibc has this switch. It stays on for the process and affects speed only.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            trim, mapped = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h
            mallopt(mapped, 32 * 2**20)
            mallopt(trim, 2**30)


class Device:
    """One process, one device, float32."""

    rank, n_processes = 0, 1

    def __init__(self, device: str):
        self.torch_device = device_of(device)
        keep_freed_memory()

    def autocast(self) -> AbstractContextManager:
        return nullcontext()

    def prepare(self, optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
        return optimizer

    def backward(self, loss: Tensor) -> None:
        loss.backward()

    def average(self, parameters: Iterable[nn.Parameter]) -> None:
        """Average gradients over the processes; here there is only one."""

    def wait(self) -> None:
        """Wait for all processes."""


class Accelerated(Device):
    """As accelerate was launched and configured: its mixed precision, its processes.

    Each process takes its share of every batch and gradients are averaged, so that losses that are means over
    points train as on one device. What an objective takes over the batch (total correlation, covariances, mean KL) is
    taken over a process's share.
    """

    def __init__(self, device: str, precision: str):
        accelerate = require("accelerate", "accelerate")
        mixed = "no" if precision == "float32" else precision
        accelerate.state.AcceleratorState._reset_state()  # an earlier fit may have had another precision
        self._accelerator: Any = accelerate.Accelerator(mixed_precision=mixed, cpu=device == "cpu")
        self.torch_device = self._accelerator.device
        if mixed != "no" and self.torch_device.type == "cpu":
            raise ValueError(
                f"precision={precision!r} needs a GPU: on a CPU it is much slower than float32, and crashes on some. "
                "Use precision='float32'."
            )
        self.rank, self.n_processes = self._accelerator.process_index, self._accelerator.num_processes

    def autocast(self) -> AbstractContextManager:
        return self._accelerator.autocast()

    def prepare(self, optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
        return self._accelerator.prepare(optimizer)

    def backward(self, loss: Tensor) -> None:
        self._accelerator.backward(loss)

    def average(self, parameters: Iterable[nn.Parameter]) -> None:
        if self.n_processes > 1:
            for parameter in parameters:
                if parameter.grad is not None:
                    parameter.grad = self._accelerator.reduce(parameter.grad, reduction="mean")

    def wait(self) -> None:
        self._accelerator.wait_for_everyone()
