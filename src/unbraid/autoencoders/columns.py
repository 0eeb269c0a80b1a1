"""Tables of unlike columns: which likelihood each has, found from the data, and the sum of all of them."""

from collections.abc import Sequence
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from unbraid.autoencoders.counted import NegativeBinomial, Poisson
from unbraid.autoencoders.likelihood import Bernoulli, Likelihood
from unbraid.autoencoders.noise import Normal, Student
from unbraid.data.counts import FEWEST_COLUMNS, are_counts
from unbraid.networks.seen import Logs

COUNTED = ("poisson", "negative-binomial")
OF_COLUMNS = ("gaussian", "student", "bernoulli", *COUNTED)


class OfColumns(Likelihood):
    """A likelihood for each column.

    Parameters
    ----------
    kinds : sequence of str
        Of each column, a name of ``OF_COLUMNS``. Gaussian columns have a noise each, which is learned.
    depth : bool
        Whether rows were counted to different depths.

    Examples
    --------
    >>> both = OfColumns(["bernoulli", "poisson", "bernoulli"])
    >>> both.mean(torch.zeros(1, 3)).tolist()
    [[0.5, 1.0, 0.5]]
    """

    order: Tensor

    def __init__(self, kinds: Sequence[str], depth: bool = False):
        super().__init__()
        self.columns = {kind: np.flatnonzero(np.asarray(kinds) == kind) for kind in OF_COLUMNS if kind in kinds}
        self.parts = nn.ModuleDict(
            {kind: likelihood_of(kind, (len(columns),), depth) for kind, columns in self.columns.items()}
        )
        order = np.argsort(np.concatenate(list(self.columns.values())))
        self.register_buffer("order", torch.from_numpy(order), persistent=False)

    @property
    def _parts(self) -> list[Likelihood]:
        return cast(list[Likelihood], list(self.parts.values()))

    def start(self, logs: Logs) -> None:
        """Of the columns that are counts."""
        for part, columns in zip(self._parts, self.columns.values()):
            if isinstance(part, Poisson):
                part.start(Logs(*(numbers[torch.from_numpy(columns)] for numbers in logs)))

    def _split(self, values: Tensor) -> list[Tensor]:
        return [values[:, torch.from_numpy(columns)] for columns in self.columns.values()]

    def mean(self, output: Tensor) -> Tensor:
        means = [part.mean(own) for part, own in zip(self._parts, self._split(output))]
        return torch.cat(means, dim=1)[:, self.order]

    def forward(self, output: Tensor, x: Tensor) -> Tensor:
        parts = zip(self._parts, self._split(output), self._split(x))
        return torch.stack([part(output, x) for part, output, x in parts]).sum(0)


def likelihood_of(kind: str, shape: tuple[int, ...], depth: bool = False) -> Likelihood:
    """The likelihood of a name for rows of this shape, with a noise that is learned."""
    if kind in COUNTED:
        return (Poisson if kind == "poisson" else NegativeBinomial)(shape, depth)
    if kind == "bernoulli":
        return Bernoulli()
    return (Student if kind == "student" else Normal)(shape)


def recognised(sample: NDArray) -> list[str]:
    """The likelihood of each column of some rows: 0 and 1 only, counts beside other counts, or numbers.

    Counts get a negative binomial, which becomes Poisson where nothing else varies.

    >>> rng = np.random.default_rng(0)
    >>> recognised(np.c_[rng.integers(0, 2, 100), rng.poisson(2, (100, 5)), rng.normal(size=100)])[::3]
    ['bernoulli', 'negative-binomial', 'gaussian']
    """
    gaps = np.isnan(sample)
    binary = (gaps | (sample == 0) | (sample == 1)).all(axis=0)
    whole = (gaps | ((sample >= 0) & (sample == np.round(sample)))).all(axis=0) & ~binary
    kinds = np.where(binary, "bernoulli", "gaussian").astype(object)
    if whole.sum() >= FEWEST_COLUMNS:
        filled = np.where(gaps, np.round(np.nanmedian(sample, axis=0)), sample)[:, whole]
        if are_counts(filled):
            kinds[whole] = "negative-binomial"
    return kinds.tolist()


def check_values(values: NDArray, kinds: Sequence[str]) -> None:
    """Refuse rows (n, p) that a likelihood does not allow."""
    for kind, rule, words in (
        ("bernoulli", lambda v: (v >= 0) & (v <= 1), "numbers from 0 to 1"),
        ("poisson", _is_count, "whole numbers from 0 on"),
        ("negative-binomial", _is_count, "whole numbers from 0 on"),
    ):
        columns = np.flatnonzero(np.asarray(kinds) == kind)
        wrong = ~(rule(values[:, columns]) | np.isnan(values[:, columns]))
        if wrong.any():
            row, place = np.argwhere(wrong)[0]
            raise ValueError(
                f"likelihood={kind!r} is for {words}; column {columns[place]} of X holds "
                f"{values[row, columns[place]]:g}. Choose another likelihood for it, such as 'gaussian'; a list gives "
                "one for each column."
            )


def _is_count(values: NDArray) -> NDArray[np.bool_]:
    return (values >= 0) & (values == np.round(values))
