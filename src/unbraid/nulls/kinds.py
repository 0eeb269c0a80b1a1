"""The kinds of evidence: which rows are held out, how it is shuffled, and how codes are scored with it."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee

from unbraid.data.observations import WORDS, Observations
from unbraid.data.order import GAP
from unbraid.nulls.scores import Floats, class_odds, partner_auc, predicted_ranks

BLOCKS = 9  # of time; three of them are held out
HELD_OUT = 1 / 3
FEWEST = 5  # held-out rows or pairs: fewer say nothing
PER_CLASS = 5  # rows, on average; labels of more different numbers are numbers, not classes
STRATA = 5  # parts of a covariate with more different values than twice this


class UntestableError(ValueError):
    """The evidence is too little to hold some of it out, or cannot be shuffled."""


class Kind:
    """A piece of evidence of some rows.

    Attributes
    ----------
    name : str
        Of :data:`unbraid.methods.EVIDENCE`.
    what : str
        What is counted of it.
    statistic : str
        What the score is.
    shuffle : str
        What is shuffled, and so what the null keeps.
    """

    name: ClassVar[str]
    what: ClassVar[str]
    statistic: str
    shuffle: str

    def positions(self, known: Observations, rng: np.random.Generator) -> Floats:
        """Of each row, in (0, 1], in an order of the rows of which any first part is like the whole."""
        raise NotImplementedError

    def thinned(self, known: Observations, most: int, rng: np.random.Generator) -> Observations:
        """At most about this many rows, in memory."""
        return known.subset(np.flatnonzero(self.positions(known, rng) <= most / len(known)))

    def held_out(self, known: Observations, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Which rows are not fitted on: about a third."""
        return self.positions(known, rng) <= HELD_OUT

    def shuffled(self, known: Observations, rng: np.random.Generator) -> Observations:
        """The same rows with evidence that says nothing."""
        raise NotImplementedError

    def score(
        self, codes: Floats, known: Observations, new: Floats, held: Observations, rng: np.random.Generator
    ) -> float:
        """How well the codes of held-out rows go with their evidence, given those of the training rows."""
        pairs = self.partners(held)
        _enough(len(pairs), self.what)
        return partner_auc(new, pairs, rng)

    def partners(self, held: Observations) -> NDArray[np.intp]:
        """Held-out rows (m, 2) that should have near codes, by their evidence."""
        raise NotImplementedError


class Labels(Kind):
    """Classes or numbers, one or several per row, or the factors of some rows."""

    name = "labels"
    what = "labelled rows"

    def __init__(self, known: Observations) -> None:
        self.classes = _are_classes(known.labels)
        self.statistic = "log-odds of the class" if self.classes else "rank correlation of predicted labels"
        if known.time is not None:
            self.shuffle = "labels shifted along time, in a circle"
        elif known.covariates is not None:
            self.shuffle = "labels permuted among rows of like covariates"
        else:
            self.shuffle = "labels permuted"

    def positions(self, known: Observations, rng: np.random.Generator) -> Floats:
        if known.time is not None:
            return _blocks(known.time, rng)
        return _stratified(_numbers(known.labels) if self.classes else _known(known.labels).astype(int), rng)

    def thinned(self, known: Observations, most: int, rng: np.random.Generator) -> Observations:
        if known.time is not None:
            return _window(known, most, rng)
        labelled = np.flatnonzero(_known(known.labels))
        if len(labelled) in (len(known), 0) or len(labelled) > most // 2:
            return super().thinned(known, most, rng)
        others = rng.permutation(np.setdiff1d(np.arange(len(known)), labelled))[: most - len(labelled)]
        return known.subset(np.sort(np.concatenate([labelled, others])))

    def shuffled(self, known: Observations, rng: np.random.Generator) -> Observations:
        labels, n = known.labels, len(known)
        if known.time is not None:
            moved = np.empty_like(labels)
            order = np.argsort(known.time, kind="stable")
            moved[order] = np.roll(labels[order], int(rng.integers(1, n)), axis=0)
            return replace(known, labels=moved)
        strata = _known(labels).astype(int)
        if known.covariates is not None:
            strata = _numbers(np.c_[strata, _parts(known.covariates)])
        mixed = rng.permutation(n)
        order, source = np.argsort(strata, kind="stable"), mixed[np.argsort(strata[mixed], kind="stable")]
        moved = np.empty_like(labels)
        moved[order] = labels[source]
        return replace(known, labels=moved)

    def score(
        self, codes: Floats, known: Observations, new: Floats, held: Observations, rng: np.random.Generator
    ) -> float:
        rows, of = _known(known.labels), _known(held.labels)
        _enough(int(of.sum()), self.what)
        if self.classes:
            return class_odds(codes, known.labels.ravel(), new, held.labels.ravel())
        values, others = (
            np.asarray(part, dtype=np.float64).reshape(len(part), -1) for part in (known.labels, held.labels)
        )
        told = np.isfinite(values[rows]).all(axis=0)
        return predicted_ranks(codes[rows], values[rows][:, told], new[of], others[of][:, told])


class Pairs(Kind):
    """Pairs of rows; held-out rows are in no pair that is fitted on."""

    name = what = "pairs"
    statistic = "AUC of partners being near"
    shuffle = "partners permuted"

    def positions(self, known: Observations, rng: np.random.Generator) -> Floats:
        """Rows that are connected by pairs stay together; where a part must be cut, few pairs are."""
        n, (first, second) = len(known), known.pairs.T
        shared = np.bincount(known.pairs.ravel())
        if shared.max(initial=0) == len(first) > 1:
            raise UntestableError(
                f"all {len(first)} pairs share row {shared.argmax()}, so that with other partners they are the same "
                "pairs. Give pairs of other rows, too."
            )
        graph = coo_array((np.ones(2 * len(first)), (np.r_[first, second], np.r_[second, first])), shape=(n, n)).tocsr()
        count, component = connected_components(graph, directed=False)
        along = np.empty(n, dtype=np.intp)
        along[reverse_cuthill_mckee(graph, symmetric_mode=True)] = np.arange(n)
        return _ranks(np.lexsort((along, rng.permutation(count)[component])))

    def shuffled(self, known: Observations, rng: np.random.Generator) -> Observations:
        pairs = np.c_[known.pairs[:, 0], rng.permutation(known.pairs[:, 1])]
        return replace(known, pairs=pairs[pairs[:, 0] != pairs[:, 1]])

    def partners(self, held: Observations) -> NDArray[np.intp]:
        return held.pairs


class Sets(Kind):
    """Sets of rows; whole sets are held out."""

    name, what = "sets", "pairs of members of one set"
    statistic = "AUC of members of a set being near"
    shuffle = "members of sets permuted"

    def positions(self, known: Observations, rng: np.random.Generator) -> Floats:
        own = _numbers(known.sets)
        return (rng.permutation(own.max() + 1)[own] + 1) / (own.max() + 1)

    def shuffled(self, known: Observations, rng: np.random.Generator) -> Observations:
        return replace(known, sets=rng.permutation(known.sets))

    def partners(self, held: Observations) -> NDArray[np.intp]:
        order = np.argsort(held.sets, kind="stable")
        return np.c_[order[:-1], order[1:]][held.sets[order[:-1]] == held.sets[order[1:]]]


class Time(Kind):
    """The order of the rows. A shifted order is the same order, so single rows are permuted."""

    name, what = "time", "steps of time"
    statistic = "AUC of consecutive rows being near"
    shuffle = "rows permuted in time"

    def positions(self, known: Observations, rng: np.random.Generator) -> Floats:
        return _blocks(known.time, rng)

    def thinned(self, known: Observations, most: int, rng: np.random.Generator) -> Observations:
        return _window(known, most, rng)

    def shuffled(self, known: Observations, rng: np.random.Generator) -> Observations:
        return replace(known, time=rng.permutation(known.time))

    def partners(self, held: Observations) -> NDArray[np.intp]:
        order = np.argsort(held.time, kind="stable")
        between = np.diff(held.time[order])
        return np.c_[order[:-1], order[1:]][between <= GAP * np.median(between)]


KINDS: dict[str, type[Kind]] = {kind.name: kind for kind in (Labels, Pairs, Sets, Time)}


def kind_of(uses: tuple[str, ...], known: Observations) -> Kind:
    """The evidence to test: of what a method uses and what is given, the first of labels, pairs, sets and time."""
    for name, kind in KINDS.items():
        if name in uses and name in known.evidence:
            return kind(known) if kind is Labels else kind()
    given = f"{', '.join(known.evidence)} given" if known.evidence else "nothing given besides X"
    raise ValueError(
        f"there is no evidence to shuffle: the method uses {', '.join(uses) or 'nothing besides X'}, with {given}. "
        f"The null is about {', '.join(KINDS)}; whether X itself has structure is the finding 'structure' of "
        "unbraid.diagnose(X)."
    )


def _enough(count: int, what: str) -> None:
    if count < FEWEST:
        raise UntestableError(
            f"{count} held-out {what} are too few for a null; {FEWEST} or more are needed. Give more rows."
        )


def _known(labels: NDArray) -> NDArray[np.bool_]:
    """Rows whose labels are all known, of the columns that are known anywhere."""
    if labels.dtype.kind != "f":
        return np.ones(len(labels), dtype=bool)
    finite = np.isfinite(labels.reshape(len(labels), -1))
    return finite[:, finite.any(axis=0)].all(axis=1)


def _are_classes(labels: NDArray) -> bool:
    """Text, and whole numbers in one column that repeat; all else is numbers."""
    one = labels.ndim == 1 or labels.shape[1] == 1
    if labels.dtype.kind in WORDS:
        return one
    whole = labels.dtype.kind != "f" or bool(_known(labels).all() and (labels == np.round(labels)).all())
    return one and whole and len(np.unique(labels)) <= max(2, len(labels) // PER_CLASS)


def _numbers(values: NDArray) -> NDArray[np.intp]:
    """Equal rows as equal numbers, from 0."""
    table = values.reshape(len(values), -1)
    if table.dtype.kind == "O":
        table = table.astype(str)
    return np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)


def _parts(covariates: NDArray) -> NDArray[np.intp]:
    """Each column as whole numbers; of numbers with many values, which fifth of the values they are in."""
    columns = []
    for column in covariates.reshape(len(covariates), -1).T:
        own = _numbers(column)
        many = column.dtype.kind not in WORDS and own.max() >= 2 * STRATA
        columns.append(STRATA * own // (own.max() + 1) if many else own)
    return np.stack(columns, axis=1)


def _stratified(strata: NDArray[np.intp], rng: np.random.Generator) -> Floats:
    """Random positions with like shares of each stratum in every part, rounded down."""
    mixed = rng.permutation(len(strata))
    order = mixed[np.argsort(strata[mixed], kind="stable")]
    counts = np.bincount(strata)
    rank = np.arange(len(strata)) - np.repeat(np.cumsum(counts) - counts, counts)
    positions = np.empty(len(strata))
    positions[order] = (rank + 1) / np.repeat(counts, counts)
    return positions


def _blocks(time: NDArray, rng: np.random.Generator) -> Floats:
    """Positions of contiguous blocks of time, in random order."""
    block = (np.ceil(_ranks(np.argsort(time, kind="stable")) * BLOCKS) - 1).astype(int)
    return (rng.permutation(BLOCKS)[np.minimum(block, BLOCKS - 1)] + 1) / BLOCKS


def _window(known: Observations, most: int, rng: np.random.Generator) -> Observations:
    """Rows that follow each other in time."""
    start = int(rng.integers(0, max(len(known) - most, 0) + 1))
    return known.subset(np.sort(np.argsort(known.time, kind="stable")[start : start + most]))


def _ranks(order: NDArray[np.intp]) -> Floats:
    """Positions (0, 1] of rows in this order."""
    positions = np.empty(len(order))
    positions[order] = np.arange(1, len(order) + 1) / len(order)
    return positions
