"""Randomness and threads: the two things on which the bits of a result could depend."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import numpy as np
from sklearn.utils import check_random_state as _check_random_state
from threadpoolctl import ThreadpoolController


def check_random_state(random_state: Any) -> np.random.RandomState:
    """An int, RandomState, Generator or None as a RandomState; a Generator is drawn from, as a RandomState is.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None
        None is numpy's global random state, as everywhere in scikit-learn.

    Returns
    -------
    numpy.random.RandomState

    Examples
    --------
    >>> check_random_state(0).randint(10)
    5
    """
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)
    try:
        return _check_random_state(random_state)
    except ValueError as error:
        raise ValueError(
            f"random_state={random_state!r} cannot be used; give a whole number from 0 to 2**32 - 1, a "
            "numpy.random.RandomState, a numpy.random.Generator, or None."
        ) from error


def seed_of(random_state: Any) -> int:
    """One whole number that stands for the state; a new one at each call of a state that is drawn from.

    >>> seed_of(7) == seed_of(7)
    True
    """
    return int(check_random_state(random_state).randint(2**31 - 1))


_in_parallel: ContextVar[bool] = ContextVar("in_parallel", default=False)


@contextmanager
def parallel_task() -> Iterator[None]:
    """Mark this as one of many parallel tasks, which fill the cores together: searches use one thread within it.

    >>> with parallel_task():
    ...     search_threads()
    1
    """
    token = _in_parallel.set(True)
    try:
        yield
    finally:
        _in_parallel.reset(token)


def search_threads() -> int:
    """Threads of a large neighbour search: -1, all cores, unless this is one of many parallel tasks."""
    return 1 if _in_parallel.get() else -1


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
    with _libraries().limit(limits=1), parallel_task():
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
