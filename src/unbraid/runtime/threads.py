"""How many threads share a piece of work: all where it is alone, one where its neighbours have the other cores."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from threadpoolctl import ThreadpoolController

_has_neighbors: ContextVar[bool] = ContextVar("has_neighbors", default=False)


@contextmanager
def side_by_side() -> Iterator[None]:
    """This is one of many tasks, which fill the cores together: :func:`search_threads` are one in it.

    >>> with side_by_side():
    ...     search_threads()
    1
    """
    token = _has_neighbors.set(True)
    try:
        yield
    finally:
        _has_neighbors.reset(token)


def search_threads() -> int:
    """Threads of a large neighbour search: -1, all cores, unless tasks run side by side."""
    return 1 if _has_neighbors.get() else -1


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Linear algebra by one thread; many small products are faster that way."""
    with _libraries().limit(limits=1, user_api="blas"):
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra, OpenMP, PyTorch (where it is loaded) and searches by one thread.

    The bits of a sum depend on how many threads share it: what is done by one is the same
    however many cores there are.

    >>> import torch
    >>> with one_thread():
    ...     torch.get_num_threads()
    1
    """
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else 0
    with _libraries().limit(limits=1), side_by_side():
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
