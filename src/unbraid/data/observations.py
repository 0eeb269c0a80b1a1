"""X and everything that is known about its rows: checked against each other once, with one fingerprint."""

import sys
import zlib
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.data.dates import moments
from unbraid.data.order import apart, consecutive
from unbraid.methods import EVIDENCE

KEPT = (*EVIDENCE, "factors", "names")
NUMBERS, WORDS = "biuf", "OUS"  # kinds of numpy types


@dataclass(frozen=True, eq=False, repr=False)
class Observations:
    """Data, and what is known about its rows.

    ``fit``, ``transform``, :func:`unbraid.fit` and :func:`unbraid.diagnose` take it in place of X. What a method does
    not use is refused; ``only`` leaves it out.

    Parameters
    ----------
    X : array (n, ...), or anything that the estimators take
        A list of arrays (length, features) of different lengths is several recordings, as of :meth:`recordings`; so is
        one of equal lengths whose rows have times, ``time``. Otherwise arrays of one shape are pictures.
    labels : array (n,) or (n, q), optional
        The condition of each row: classes, class weights or numbers; or the factors of some rows, NaN elsewhere.
    pairs : array of int, (m, 2) or (n,), optional
        Rows that share all factors but one or a few: two row numbers each, or one number per row, which is the same for
        both rows of a pair and negative for a row without one. Cross-validation can split only the second form. It is
        kept in the first.
    time : array (n,), optional
        When each row was observed: numbers or dates. Rows may be in any order.
    sets : array (n,), optional
        Which set each row belongs to: the rows of a set are augmentations of one point.
    factors : array (n,) or (n, k), optional
        The truth, where it is known: for scores only, no method sees it.
    covariates : array (n,) or (n, c), optional
        What else was measured with each row.
    names : array (n,), optional
        Names of the rows.

    Attributes
    ----------
    evidence : tuple of str
        What is given of labels, pairs, time, sets and covariates.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(6, 3))
    >>> known = Observations(X, labels=[0, 0, 0, 1, 1, 1], pairs=[[0, 1], [4, 5]])
    >>> known
    Observations(X: ndarray (6, 3), labels: (6,) int64, pairs: (2, 2) int64)
    >>> known.subset([3, 4, 5]).pairs.tolist()
    [[1, 2]]
    """

    X: Any
    _: KW_ONLY
    labels: Any = None
    pairs: Any = None
    time: Any = None
    sets: Any = None
    factors: Any = None
    covariates: Any = None
    names: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.X, Observations):
            raise TypeError("X holds Observations already. Give the data themselves, which are its X.")
        given = [name for name in KEPT if getattr(self, name) is not None]
        if are_recordings(self.X) or _are_timed(self.X, self.time):
            joined = _joined(self.X, {name: getattr(self, name) for name in given})
            for name, value in joined.items():
                object.__setattr__(self, name, value)
            given = [name for name in KEPT if name in joined]
        if given:
            _check_order(self.X, given)
        n = len(self) if given else 0
        for name in given:
            checked = _CHECKS[name](name, _array(name, getattr(self, name)), n).view()
            checked.flags.writeable = False
            object.__setattr__(self, name, checked)

    @classmethod
    def recordings(cls, parts: Sequence[Any], **known: Any) -> "Observations":
        """Several recordings, one after the other, with times that leave a gap between them.

        Parameters
        ----------
        parts : list of arrays (length, ...)
            Each has its rows in the order of time, one step apart; they may differ in length.
        **known
            What else is known, as of the class: an array for all rows, or a list with one for each recording. Of such
            times, those that begin before the last recording has ended are moved behind it.

        Returns
        -------
        Observations
            Rows of different recordings are never consecutive.

        Examples
        --------
        >>> both = Observations.recordings([np.zeros((3, 2)), np.ones((2, 2))], factors=[[0, 1, 2], [5, 6]])
        >>> both
        Observations(X: ndarray (5, 2), time: (5,) int64, factors: (5,) int64)
        >>> both.time.tolist()
        [0, 1, 2, 12, 13]
        """
        return cls(**_joined(parts, known))

    def __len__(self) -> int:
        if hasattr(self.X, "shape") and len(self.X.shape) and not hasattr(self.X, "sample"):
            return int(self.X.shape[0])
        if isinstance(self.X, list | tuple):
            return len(self.X)
        rows = _rows(self.X)
        if rows.endless:
            raise ValueError(
                f"X is the data set {type(self.X).__name__}, which draws new rows at every look, so nothing can be "
                "known about them. Draw some first: X, factors = data.sample(n)."
            )
        return len(rows)

    def __repr__(self) -> str:
        shape = f" {tuple(self.X.shape)}" if hasattr(self.X, "shape") else ""
        kept = {name: getattr(self, name) for name in KEPT}
        parts = [f"{name}: {value.shape} {value.dtype}" for name, value in kept.items() if value is not None]
        return f"Observations({', '.join([f'X: {type(self.X).__name__}{shape}', *parts])})"

    @property
    def shape(self) -> tuple[int, ...]:
        """Of X."""
        return tuple(self.X.shape) if hasattr(self.X, "shape") else (len(self), *_rows(self.X).row_shape)

    @property
    def evidence(self) -> tuple[str, ...]:
        """What is given of all that a method may use."""
        return tuple(name for name in EVIDENCE if getattr(self, name) is not None)

    def only(self, *names: str) -> Self:
        """The same data with this evidence alone; factors and names stay."""
        kept = copy(self)
        for name in set(EVIDENCE) - set(names):
            object.__setattr__(kept, name, None)
        return kept

    def subset(self, rows: ArrayLike) -> "Observations":
        """Some rows, by their numbers or a mask, in memory; of the pairs those with both rows among them."""
        index = np.arange(len(self))[np.asarray(rows)]
        part = {
            name: getattr(self, name)[index] for name in KEPT if getattr(self, name) is not None and name != "pairs"
        }
        if self.pairs is not None:
            place = np.full(len(self), -1)
            place[index[::-1]] = np.arange(len(index))[::-1]
            pairs = place[self.pairs]
            part["pairs"] = pairs[(pairs >= 0).all(axis=1)]
        return Observations(self.X.iloc[index] if hasattr(self.X, "iloc") else _rows(self.X).take(index), **part)

    def __getitem__(self, rows: Any) -> "Observations":
        """As ``subset``, the way in which scikit-learn splits arrays."""
        return self.subset(rows[0] if isinstance(rows, tuple) else rows)

    def marks(self, uses: Collection[str] = EVIDENCE) -> dict[str, str]:
        """Shape, type and checksum of each piece of evidence of these names that is given."""
        return {name: _mark(getattr(self, name)) for name in self.evidence if name in uses}

    def fingerprint(self, uses: Collection[str] = EVIDENCE) -> str:
        """Identifies these data and the evidence of these names; it reads all rows that are in memory."""
        marks = {"X": _rows(self.X).fingerprint(), **self.marks(uses)}
        return "; ".join(f"{name} {mark}" for name, mark in marks.items())


def is_anndata(X: Any) -> bool:
    """Whether X is an AnnData, by its type: the library itself is not needed."""
    return any(parent.__name__ == "AnnData" and parent.__module__.startswith("anndata") for parent in type(X).__mro__)


def observe(X: Any, **evidence: Any) -> Observations:
    """X, which may be Observations already, with further evidence; what is given twice is refused.

    Of an AnnData, evidence may be given by the names of columns of ``obs``, covariates by several; the names of its
    cells name the rows.
    """
    if is_anndata(X):
        from unbraid.data.cells import column_of_cells, values_of_cells

        named = {name: value for name, value in evidence.items() if isinstance(value, str)}
        evidence = evidence | {name: column_of_cells(X, column) for name, column in named.items()}
        several = evidence.get("covariates")
        if isinstance(several, list | tuple) and several and all(isinstance(column, str) for column in several):
            evidence["covariates"] = np.column_stack([column_of_cells(X, column) for column in several])
        X = Observations(values_of_cells(X), names=np.asarray(X.obs_names, dtype=str))
    further = {name: value for name, value in evidence.items() if value is not None}
    if not isinstance(X, Observations):
        return Observations(X, **further)
    for name in further:
        if getattr(X, name) is not None:
            raise ValueError(f"{name} is given twice: in the Observations and by itself. Leave out one.")
    return replace(X, **further) if further else X


def are_recordings(X: Any) -> bool:
    """Whether X is a list of tables of the same columns and different lengths; of one shape, they may be pictures.

    >>> are_recordings([np.zeros((3, 2)), np.ones((5, 2))]), are_recordings(np.zeros((2, 3, 2)))
    (True, False)
    """
    return _are_tables(X) and len({len(part) for part in X}) > 1


def may_be_recordings(X: Any) -> bool:
    """Whether X is a list of tables of one shape, which are read as pictures."""
    return _are_tables(X) and not are_recordings(X)


def _are_tables(X: Any) -> bool:
    if not isinstance(X, list | tuple) or any(not isinstance(part, np.ndarray) or part.ndim != 2 for part in X):
        return False
    return len({part.shape[1] for part in X}) == 1 and all(part.dtype != np.uint8 for part in X)  # bytes are pixels


def _are_timed(X: Any, time: Any) -> bool:
    """Whether tables of one shape have a time for each of their rows: then they are recordings, and no pictures.

    >>> parts = [np.zeros((3, 2)), np.ones((3, 2))]
    >>> _are_timed(parts, [np.arange(3)] * 2), _are_timed(parts, np.arange(6)), _are_timed(parts, np.arange(2))
    (True, True, False)
    """
    if time is None or not _are_tables(X):
        return False
    lengths = [len(part) for part in X]
    if isinstance(time, list | tuple) and all(np.ndim(part) == 1 for part in time):
        return [len(part) for part in time] == lengths
    return np.shape(time) == (sum(lengths),) != (len(X),)


def _joined(parts: Sequence[Any], known: dict[str, Any]) -> dict[str, Any]:
    """X, time and what else is known of several recordings: one array each, of one or of a list with one for each."""
    X, time = consecutive(list(parts))
    lengths, joined = [len(part) for part in parts], {"X": X, "time": time, **known}
    for name, value in known.items():
        if not (isinstance(value, list | tuple) and len(value) == len(lengths) and all(np.ndim(v) for v in value)):
            continue
        if [len(v) for v in value] != lengths:
            raise ValueError(
                f"{name} have {[len(v) for v in value]} rows, and the recordings {lengths}: they must agree."
            )
        each = [np.asarray(v) for v in value]
        joined[name] = np.concatenate(apart(each) if name == "time" else each)
    return joined


def data_of(X: Any) -> Any:
    """X itself, or the X of Observations."""
    return X.X if isinstance(X, Observations) else X


def _check_order(X: Any, given: list[str]) -> None:
    """Refuse a DataLoader that shuffles beside what is known row by row: its batches come in another order."""
    data = sys.modules.get("torch.utils.data")
    if data is not None and isinstance(X, data.DataLoader) and isinstance(X.sampler, data.RandomSampler):
        raise TypeError(
            f"X is a DataLoader that shuffles, and {', '.join(given)} belong to rows in one order: that of its batches "
            "or that of its data set? Give the data set itself, X.dataset, and what is known in its order."
        )


def _array(name: str, values: Any) -> NDArray:
    from unbraid.data.sources import array_of_tensor, is_tensor  # which take Observations themselves

    if is_tensor(values):
        return array_of_tensor(values)
    try:
        return np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise ValueError(
            f"{name} are a list of {len(values)} entries of different lengths. Give an array (n,) or (n, k), with NaN "
            "where a value is not known."
        ) from error


def _rows(X: Any) -> Any:
    from unbraid.data.rows import Rows  # which takes Observations itself

    return Rows(X)


def _mark(values: NDArray) -> str:
    words = values.dtype.kind in WORDS
    content = "\0".join(map(str, values.ravel())).encode() if words else np.ascontiguousarray(values).tobytes()
    kind = "text" if words else values.dtype
    return f"{' x '.join(map(str, values.shape))} {kind} {zlib.crc32(content):08x}"


def _per_row(
    name: str, values: NDArray, n: int, axes: tuple[int, ...] = (1, 2), kinds: str = NUMBERS + WORDS
) -> NDArray:
    if values.ndim not in axes or len(values) != n:
        allowed = " or ".join({1: f"({n},)", 2: f"({n}, k)"}[axis] for axis in axes)
        raise ValueError(f"{name} have shape {values.shape}, and X has {n} rows: they must have the shape {allowed}.")
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} have the type {values.dtype}. Give real numbers.")
    if values.dtype.kind not in kinds:
        raise ValueError(f"{name} have the type {values.dtype}; they must be numbers{' or text' * (WORDS in kinds)}.")
    return values


def _labels(name: str, values: NDArray, n: int) -> NDArray:
    if values.dtype.kind == "O":  # None, NaN and NA among numbers are numbers that are not known
        unknown = np.frompyfunc(lambda value: str(value) in ("None", "nan", "<NA>", "NaT"), 1, 1)
        missing = np.asarray(unknown(values), dtype=bool)
        if missing.any():
            try:
                values = np.where(missing, np.nan, values).astype(np.float64)
            except (TypeError, ValueError) as error:
                raise ValueError(
                    f"{name} are missing in {missing.sum()} of {missing.size} places, for instance in row "
                    f"{np.argwhere(missing)[0, 0]}. Remove these rows, or give them a class of their own."
                ) from error
    values = _per_row(name, values, n)
    infinite = int(np.isinf(values).sum()) if values.dtype.kind == "f" else 0
    if infinite:
        raise ValueError(f"{name} are infinite in {infinite} places. Give numbers, and NaN where they are not known.")
    return values


def _finite(name: str, values: NDArray, n: int) -> NDArray:
    _per_row(name, values, n)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(f"{name} hold {int((~np.isfinite(values)).sum())} NaN or infinite values. Fill them in.")
    return values


def _pairs(name: str, values: NDArray, n: int) -> NDArray:
    if values.dtype.kind not in "iu" or (values.shape != (n,) and (values.ndim != 2 or values.shape[1] != 2)):
        raise ValueError(
            f"pairs have shape {values.shape} and type {values.dtype}; they must be whole numbers: row numbers (m, 2), "
            f"or one number per row, ({n},), that is the same for both rows of a pair."
        )
    if values.ndim == 1:
        return _pairs_by_number(values)
    if values.size and (values.min() < 0 or values.max() >= n):
        raise ValueError(
            f"pairs name rows {values.min()} to {values.max()}; X has the rows 0 to {n - 1}. Where rows are split off, "
            "as in cross-validation, give one number per row that is the same for both rows of a pair."
        )
    alone = np.flatnonzero(values[:, 0] == values[:, 1])
    if len(alone):
        raise ValueError(
            f"{len(alone)} pairs join a row with itself, for instance row {values[alone[0], 0]}. Leave them out."
        )
    return values.astype(np.intp)


def _pairs_by_number(numbers: NDArray) -> NDArray:
    order = np.argsort(numbers, kind="stable")
    found, first, counts = np.unique(numbers[order], return_index=True, return_counts=True)
    many = (counts > 2) & (found >= 0)
    if many.any():
        raise ValueError(
            f"the pair {found[many][0]} has {counts[many][0]} rows; a pair has two. Give row numbers (m, 2) where rows "
            "belong to several pairs, and sets where more than two rows belong together."
        )
    first = first[(counts == 2) & (found >= 0)]
    return np.column_stack([order[first], order[first + 1]]).astype(np.intp)


def _time(name: str, values: NDArray, n: int) -> NDArray:
    if values.dtype.kind in WORDS:
        words = values.ndim == 1 and values.size and all(isinstance(value, str) for value in values)
        try:
            values = moments(values.tolist()) if words else values.astype("datetime64")
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"time holds text that is no date ({error}). Give numbers, or dates as 2024-05-31T12:00 or 31/05/2024 "
                "12:00."
            ) from error
    _per_row("times", values, n, axes=(1,), kinds=NUMBERS + "mM")
    missing = int((~np.isfinite(values)).sum())
    if missing:
        raise ValueError(f"time is missing or infinite in {missing} rows. Remove those rows, or fill the gaps.")
    return values


_CHECKS: dict[str, Callable[..., NDArray]] = {
    "labels": _labels,
    "pairs": _pairs,
    "time": _time,
    "sets": partial(_per_row, axes=(1,)),
    "covariates": _finite,
    "factors": _per_row,
    "names": partial(_per_row, axes=(1,)),
}
