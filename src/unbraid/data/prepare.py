"""What is done to the rows and columns of a table before its distances mean something: the habits of spectroscopy."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

WINDOW, ORDER = 15, 2  # of the Savitzky-Golay derivative: columns, and degree of the polynomial
AXIS = 30  # columns named by rising or falling numbers from which on they are taken for an axis, such as wavelengths


def prepared(values: NDArray, steps: Sequence[str]) -> NDArray:
    """The table after the named steps, one after the other.

    Parameters
    ----------
    values : array (n, k)
    steps : sequence of {"log", "snv", "derivative", "spread"}
        The logarithm; standard normal variate (each row has mean 0 and standard deviation 1: takes out scatter and the
        brightness of the lamp); the first derivative along the columns (takes out baselines); each column divided by
        its standard deviation.

    Returns
    -------
    array (n, k)

    References
    ----------
    Barnes, Dhanoa and Lister 1989 (SNV); Savitzky and Golay 1964 (derivative).

    Examples
    --------
    >>> prepared(np.array([[1.0, 2.0, 6.0], [3.0, 8.0, 1.0]]), ["snv", "spread"]).std(axis=0).round(6).tolist()
    [1.0, 1.0, 1.0]
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(
            f"prepare (--prepare) is for tables; the rows of these data have the shape {values.shape[1:]}."
        )
    for step in steps:
        if step not in STEPS:
            raise ValueError(f"prepare (--prepare) has {step!r}; allowed are {', '.join(STEPS)}.")
        values = STEPS[step](values)
    return values


def _log(values: NDArray) -> NDArray:
    if not (values > 0).all():
        row, column = np.argwhere(~(values > 0))[0]
        raise ValueError(
            f"prepare='log' needs values above 0; row {row} holds {values[row, column]:g} in column {column} (both "
            "counted from 0). Leave such columns out."
        )
    return np.log(values)


def _snv(values: NDArray) -> NDArray:
    spread = values.std(axis=1, keepdims=True)
    if not spread.all():
        raise ValueError(
            f"prepare='snv' divides each row by its spread; row {int((spread == 0).argmax())} (counted from 0) holds "
            "one value in every column. drop_missing=True leaves such rows out."
        )
    return (values - values.mean(axis=1, keepdims=True)) / spread


def _derivative(values: NDArray) -> NDArray:
    from scipy.signal import savgol_filter

    if values.shape[1] < WINDOW:
        raise ValueError(
            f"prepare='derivative' fits parabolas to {WINDOW} columns in a row; these data have {values.shape[1]}."
        )
    return savgol_filter(values, WINDOW, ORDER, deriv=1, axis=1)


def _spread(values: NDArray) -> NDArray:
    spread = values.std(axis=0)
    return values / np.where(spread > 0, spread, 1)


STEPS: dict[str, Callable[[NDArray], NDArray]] = {
    "log": _log,
    "snv": _snv,
    "derivative": _derivative,
    "spread": _spread,
}


def advice(names: Sequence[str]) -> list[str]:
    """What to do if the columns are an axis, such as wavelengths: their names are numbers that rise or fall all along.

    >>> len(advice([str(400 + i) for i in range(40)])), advice(["dye", "salt"])
    (1, [])
    """
    try:
        steps = np.diff(np.array(names, dtype=np.float64))
    except ValueError:
        return []
    if len(names) < AXIS or not ((steps > 0).all() or (steps < 0).all()):
        return []
    return [
        f"the columns are an axis from {names[0]} to {names[-1]}: of spectra, prepare=['derivative', 'spread'] "
        "(--prepare derivative,spread) takes out baselines and the noise of dark channels"
    ]
