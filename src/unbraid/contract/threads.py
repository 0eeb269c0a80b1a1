"""Work by one thread: the bits of a sum depend on how many share it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Linear algebra by one thread; many small products are faster that way."""
    with _libraries().limit(limits=1, user_api="blas"):
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra, OpenMP and PyTorch (where it is loaded) by one thread.

    >>> import torch
    >>> with one_thread():
    ...     torch.get_num_threads()
    1
    """
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else 0
    with _libraries().limit(limits=1):
        if torch:
            torch.set_num_threads(1)
        try:
            yield
        finally:
            if torch:
                torch.set_num_threads(before)


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # looking through the loaded libraries takes milliseconds: once is enough
