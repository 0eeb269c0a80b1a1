"""Tables of unlike columns: which likelihood each has, found from the data, and the sum of all of them."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from unbraid.autoencoders.counted import NegativeBinomial, Poisson
from unbraid.autoencoders.likelihood import Bernoulli, Likelihood
from unbraid.autoencoders.noise import Normal, Student
from unbraid.data.counts import FEWEST_COLUMNS, are_counts
from unbraid.networks.seen import Logs, log_depth

SCALED = ("gaussian", "student")  # of columns that networks see centred and scaled; others stay as they are
COUNTED = ("poisson", "negative-binomial")
OF_COLUMNS = (*SCALED, "bernoulli", *COUNTED)


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

    def __init__(self, kinds: Sequence[str], depth: bool = False):
        super().__init__()
        self.depth = depth
        columns = {kind: np.flatnonzero(np.asarray(kinds) == kind) for kind in OF_COLUMNS if kind in kinds}
        self.parts = nn.ModuleDict({kind: likelihood_of(kind, (len(own),)) for kind, own in columns.items()})
        self.columns = [torch.from_numpy(own) for own in columns.values()]
        self.order = torch.cat(self.columns).argsort()

    @property
    def _parts(self) -> list[tuple[Likelihood, Tensor]]:
        return list(zip(cast(list[Likelihood], self.parts.values()), self.columns))

    def start(self, logs: Logs) -> None:
        """Of the columns that are counts."""
        for part, own in self._parts:
            if isinstance(part, Poisson):
                part.start(Logs(*(numbers[own] for numbers in logs)))

    def mean(self, output: Tensor) -> Tensor:
        return torch.cat([part.mean(output[:, own]) for part, own in self._parts], dim=1)[:, self.order]

    def of_rows(self, output: Tensor, x: Tensor) -> Tensor:
        depth: Any = self._log_depth(x) if self.depth else 0.0
        found = [
            part.of_rows(output[:, own], x[:, own]) + depth * isinstance(part, Poisson) for part, own in self._parts
        ]
        return torch.cat(found, dim=1)[:, self.order]

    def cells(self, output: Tensor, x: Tensor) -> Tensor:
        return torch.cat([part.cells(output[:, own], x[:, own]) for part, own in self._parts], dim=1)[:, self.order]

    def _log_depth(self, x: Tensor) -> Tensor:
        """Of the counts of each row, of all kinds together."""
        counted = [(part.log_mean, own) for part, own in self._parts if isinstance(part, Poisson)]
        means, columns = zip(*counted)
        return log_depth(x[:, torch.cat(columns)], torch.cat(means).exp())


def likelihood_of(kind: str, shape: tuple[int, ...], depth: bool = False) -> Likelihood:
    """The likelihood of a name for rows of this shape, with a noise that is learned."""
    if kind in COUNTED:
        return (Poisson if kind == "poisson" else NegativeBinomial)(shape, depth)
    if kind == "bernoulli":
        return Bernoulli()
    return (Student if kind == "student" else Normal)(shape)


def recognised(blocks: Iterable[NDArray], sample: NDArray) -> list[str]:
    """The likelihood of each column: 0 and 1 only, counts beside other counts, or numbers.

    Counts get a negative binomial, which becomes Poisson where nothing else varies. All rows, in blocks, tell which
    values a column holds, as rare ones decide; some of them, ``sample``, whether whole numbers are counts.

    >>> rng = np.random.default_rng(0)
    >>> X = np.c_[rng.integers(0, 2, 100), rng.poisson(2, (100, 5)), rng.normal(size=100)]
    >>> recognised([X], X)[::3]
    ['bernoulli', 'negative-binomial', 'gaussian']
    """
    binary, whole = np.ones((2, sample.shape[1]), dtype=bool)
    for block in blocks:
        gaps = np.isnan(block)
        binary &= (gaps | (block == 0) | (block == 1)).all(axis=0)
        whole &= (gaps | _is_count(block)).all(axis=0)
        if not whole.any():
            break
    kinds = np.where(binary, "bernoulli", "gaussian").astype(object)
    counts = whole & ~binary
    seen = sample[:, counts & ~np.isnan(sample).all(axis=0)]
    enough = seen.shape[1] >= FEWEST_COLUMNS
    if enough and are_counts(np.where(np.isnan(seen), np.round(np.nanmedian(seen, axis=0)), seen)):
        kinds[counts] = "negative-binomial"
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
