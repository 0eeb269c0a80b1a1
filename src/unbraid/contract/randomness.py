"""Randomness from one place: what a user gives as ``random_state``, and nothing else."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state as _check_random_state


def check_random_state(random_state: Any) -> np.random.RandomState:
    """An int, RandomState, Generator or None as a RandomState; a Generator is drawn from, as a RandomState is.

    >>> check_random_state(0).randint(10)
    5
    """
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)
    return _check_random_state(random_state)


def seed_of(random_state: Any) -> int:
    """One whole number that stands for the state; a new one at each call of a state that is drawn from."""
    return int(check_random_state(random_state).randint(2**31 - 1))
