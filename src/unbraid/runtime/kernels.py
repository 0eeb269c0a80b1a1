"""Compiled kernels: numba's ``njit``, kept between runs, and a word to the user while one is built."""

import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numba
import numpy as np
from numba.core import event

from unbraid.runtime.progress import may_speak

_kernels: Counter[str] = Counter()  # how many each module has


def njit(**options: Any) -> Callable[[Callable], Callable]:
    """``numba.njit`` whose result is kept on disk: beside the source, or in the user's cache where that is read-only.

    Where neither may be written, kernels are built in every process, and a message names the remedy.

    >>> @njit(nogil=True)
    ... def double(x):
    ...     return 2 * x
    >>> double.py_func(4)
    8
    """

    def decorate(function: Callable) -> Callable:
        _kernels[function.__module__] += 1
        kernel = numba.njit(**options)(function)
        try:
            kernel.enable_caching()
        except RuntimeError as error:  # numba has no class of its own for it
            if "no locator available" not in str(error):
                raise
            _notice.not_kept = True
        return kernel

    return decorate


def by_rows(kernel: Callable, n: int, threads: int) -> None:
    """Call ``kernel(start, stop)`` over ranges that cover ``n`` rows; compiled kernels release the lock."""
    if threads == 1 or n < 1000:
        kernel(0, n)
        return
    edges = np.linspace(0, n, 4 * threads + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(kernel, a, b) for a, b in pairwise(edges)]:
            done.result()


class _Notice(event.Listener):
    """One line for each module whose kernels are built, when the first of them is."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.not_kept = False

    def on_start(self, event: Any) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if module not in _kernels or module in self.modules:
            return
        self.modules.add(module)
        if may_speak():
            count = _kernels[module]
            kept = (
                "repeated in every process, as no cache folder is writable (set NUMBA_CACHE_DIR to one that is)"
                if self.not_kept
                else "on first use only; takes a few seconds"
            )
            what = f"{count} kernel{'s' if count > 1 else ''} of {module}"
            print(f"Compiling {what} ({kept}).", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        """Nothing to report: the next progress bar follows."""


_notice = _Notice()
event.register("numba:compile", _notice)
