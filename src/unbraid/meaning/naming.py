"""Which known columns go with which code, corrected for the number of columns tried."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import false_discovery_control, norm, pearson3, rankdata

from unbraid.metrics.kinds import columns_of

Floats = NDArray[np.float64]

WAVES = 4  # cosines along the ranks of a code, or half as many pairs around an angle
SHUFFLES = 400
FEWEST = 20  # rows with a value


@dataclass(frozen=True)
class Link:
    """A known column and the code that it goes with.

    Attributes
    ----------
    column : str
    code : int or None
        Number of the code that explains most of it, from 0; None where that could be chance.
    share : float
        The part of the column's variance (of its ranks, classes or direction) that this code explains, adjusted for
        chance.
    p : float
        How often shuffled values would be explained as well by their best code, adjusted for the number of columns.
    """

    column: str
    code: int | None
    share: float
    p: float


@dataclass(frozen=True)
class Names:
    """What :func:`name` found.

    Attributes
    ----------
    links : list of Link
        One per column, strongest first.
    columns : list of str
        In the order of the table.
    shares : array (columns, codes)
        The part of each column that each code explains.
    level : float
        Expected share of wrong links among those that name a code.
    """

    links: list[Link]
    columns: list[str]
    shares: Floats
    level: float

    def of(self, code: int) -> list[Link]:
        """The columns that go with a code, strongest first."""
        return [link for link in self.links if link.code == code]

    def __str__(self) -> str:
        lines = []
        for code in range(self.shares.shape[1]):
            found = [f"{link.column} ({100 * link.share:.0f} %, p {link.p:.2g})" for link in self.of(code)]
            lines.append(f"code {code + 1}: " + (", ".join(found) or "none of the columns"))
        rest = [link.column for link in self.links if link.code is None]
        return "\n".join([*lines, *([f"no code: {', '.join(rest)}"] if rest else [])])


def name(
    model: Any,
    X: Any,
    table: Any,
    *,
    angles: Collection[str] = (),
    time: bool = False,
    level: float = 0.05,
    random_state: int = 0,
) -> Names:
    """Which known columns explain which code of a fitted model.

    A column of numbers counts by its ranks, one of words or truth values by its classes, an angle by its direction. The
    part of it that a code explains is that of a regression on four cosines along the ranks of the code, or on two waves
    around an angle. Each column is linked to the code that explains most of it, and the link is tested against shuffled
    columns and their best codes; p-values are adjusted over columns (Benjamini & Hochberg 1995).

    Parameters
    ----------
    model : fitted estimator
    X : array, or anything that ``transform`` takes
    table : frame, or mapping of names to arrays (n,)
        What is known about the same rows. Rows without a value are left out of their column.
    angles : collection of str
        Columns that are angles in radians.
    time : bool
        Whether rows are in the order of time: columns are then shifted in a circle rather than permuted, so that slow
        columns are not linked by chance.
    level : float
        The share of wrong links that is accepted among those found.
    random_state : int

    Returns
    -------
    Names

    References
    ----------
    Tails of the permutation distribution by three moments: Winkler et al. (2016), Faster permutation inference in brain
    imaging, section 2.6.

    Examples
    --------
    >>> import unbraid as ub
    >>> z = np.random.default_rng(0).uniform(size=(300, 2))
    >>> model = ub.PCAICA(2, random_state=0).fit(z @ [[1, 0, 2], [0, 1, 1]])
    >>> found = name(model, z @ [[1, 0, 2], [0, 1, 1]], {"width": z[:, 0] ** 2, "batch": np.arange(300) % 3})
    >>> [(link.column, link.code is not None) for link in found.links]
    [('width', True), ('batch', False)]
    """
    shown = model.summary()
    if not shown.n_shown:
        raise ValueError(f"{shown.title} finds no codes; pass a model whose transform gives some.")
    codes = np.asarray(model.transform(X))
    return name_codes(codes, table, kinds=shown.kinds, angles=angles, time=time, level=level, random_state=random_state)


def name_codes(
    codes: ArrayLike,
    table: Any,
    *,
    kinds: Sequence[str] = (),
    angles: Collection[str] = (),
    time: bool = False,
    level: float = 0.05,
    random_state: int = 0,
) -> Names:
    """The same of codes that are there already.

    Parameters
    ----------
    codes : array (n, d)
    table : frame, or mapping of names to arrays (n,)
    kinds : sequence of str
        What the codes are, as in :class:`unbraid.estimator.summary.Summary`; empty for plain numbers.
    angles, time, level, random_state
        As of :func:`name`.

    Returns
    -------
    Names
    """
    codes = np.asarray(codes, dtype=np.float64)
    if not isinstance(table, Mapping) and not hasattr(table, "columns"):
        raise TypeError(
            f"table is a {type(table).__name__}; it must be a frame, or a mapping of names to arrays, such as "
            '{"age": age}.'
        )
    known = {
        str(column): np.asarray(table[column]) for column in (table if isinstance(table, Mapping) else table.columns)
    }
    _check(known, len(codes), angles, level)
    around = columns_of("circle", kinds) if kinds else []
    bases = [_waves(codes[:, j], j in around) for j in range(codes.shape[1])]
    rng = np.random.default_rng(random_state)
    tested = [_tested(column, values, bases, column in angles, time, rng) for column, values in known.items()]
    shares = np.stack([share for share, _ in tested])
    adjusted = false_discovery_control([p for _, p in tested])
    links = [
        Link(column, int(share.argmax()) if p <= level else None, float(share.max()), float(p))
        for column, share, p in zip(known, shares, adjusted, strict=True)
    ]
    return Names(sorted(links, key=lambda link: (link.p, -link.share)), list(known), shares, level)


def _check(known: Mapping[str, NDArray], n: int, angles: Collection[str], level: float) -> None:
    if not known:
        raise ValueError("the table has no columns; give at least one that is known about the rows of X.")
    for column, values in known.items():
        if values.shape != (n,):
            raise ValueError(f"column {column!r} has shape {values.shape} and X {n} rows; give one value per row.")
    missing = set(angles) - set(known)
    if missing:
        raise ValueError(f"angles={sorted(missing)} are no columns of the table. It has: {', '.join(known)}.")
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} must be a number above 0 and below 1.")


def _waves(code: Floats, angle: bool) -> Floats:
    if angle:
        turns = code[:, None] * np.arange(1, WAVES // 2 + 1)
        return np.concatenate([np.cos(turns), np.sin(turns)], axis=1)
    place = (rankdata(code) - 0.5) / len(code)
    return np.cos(np.pi * place[:, None] * np.arange(1, WAVES + 1))


def _tested(
    column: str, values: NDArray, bases: list[Floats], angle: bool, time: bool, rng: np.random.Generator
) -> tuple[Floats, float]:
    """The parts of a column that the codes explain, and how often a shuffle has a part as large for its best code."""
    targets, rows = _targets(column, values, angle)
    axes = []
    for basis in bases:
        centred = basis[rows] - basis[rows].mean(axis=0)
        axes.append(np.linalg.svd(centred, full_matrices=False)[0][:, : np.linalg.matrix_rank(centred)])

    def explained(y: Floats) -> Floats:
        return np.array([np.square(axis.T @ y).sum() for axis in axes])

    n = len(targets)
    found = explained(targets)
    nulls = np.empty(SHUFFLES)
    for i in range(SHUFFLES):
        order = np.roll(np.arange(n), rng.integers(1, n)) if time else rng.permutation(n)
        nulls[i] = explained(targets[order]).max()
    width = np.array([axis.shape[1] for axis in axes])
    shares = 1 - (1 - np.minimum(found, 1)) * (n - 1) / np.maximum(n - 1 - width, 1)
    return shares, _tail(found.max(), nulls)


def _targets(column: str, values: NDArray, angle: bool) -> tuple[Floats, NDArray[np.intp]]:
    """(rows, m) centred, of unit total variance: ranks as normal scores, indicators of classes, or a direction."""
    numeric = np.issubdtype(values.dtype, np.number)
    present = np.isfinite(values) if numeric else ~np.array([v is None or v != v or v == "" for v in values.tolist()])
    rows = np.flatnonzero(present)
    if len(rows) < FEWEST:
        raise ValueError(f"column {column!r} has values in {len(rows)} rows; at least {FEWEST} are needed.")
    seen = values[rows]
    if angle:
        y = np.stack([np.cos(seen), np.sin(seen)], axis=1)
    elif numeric:
        y = norm.ppf((rankdata(seen) - 0.5) / len(seen))[:, None]
    else:
        y = np.equal.outer(seen, np.unique(seen)).astype(float)
    y = y - y.mean(axis=0)
    size = np.linalg.norm(y)
    return (y / size if size > 1e-9 else y), rows


def _tail(found: float, nulls: Floats) -> float:
    """Chance of a null at least as large: counted where that is often enough, else by a fit to their three moments."""
    reached = int((nulls >= found).sum())
    if reached >= 10 or nulls.std() == 0:
        return (1 + reached) / (1 + len(nulls))
    centred = (nulls - nulls.mean()) / nulls.std(ddof=1)
    return float(max(pearson3.sf((found - nulls.mean()) / nulls.std(ddof=1), max((centred**3).mean(), 0.0)), 1e-16))
