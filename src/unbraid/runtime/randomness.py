"""Randomness from one place: what a user gives as ``random_state``, and nothing else."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state as _check_random_state


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
