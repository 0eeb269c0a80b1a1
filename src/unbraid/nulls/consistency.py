r"""Agreement between runs, or between data sets: how well a linear map takes the codes of one to those of another.

For every ordered pair (i, j) a least-squares map from the codes of i to those of j is fitted on half of the rows and
its :math:`R^2` taken on the other half, mean over the codes of j. Data sets have no rows in common: their codes are
averaged within bins of a label, or of time, and bins take the place of rows (Schneider, Lee and Mathis 2023).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Consistency:
    """Agreement of every two runs or data sets.

    Attributes
    ----------
    matrix : array (m, m)
        Row i, column j: :math:`R^2` of the codes of j, predicted from those of i on held-out rows; 1 on the diagonal.
    nulls : array (B,)
        The mean off the diagonal where the rows of each run are permuted.
    n_rows : int
        Rows, or bins, that were compared.
    """

    matrix: Floats
    nulls: Floats
    n_rows: int

    @property
    def mean(self) -> float:
        """Over all ordered pairs."""
        return float(self.matrix[~np.eye(len(self.matrix), dtype=bool)].mean())

    @property
    def null(self) -> float:
        """What 95 % of the permuted ones lie below."""
        return float(np.quantile(self.nulls, 0.95))

    @property
    def p(self) -> float:
        """Share of all, the real one among them, that agree at least as well as the real one."""
        return float((1 + (self.nulls >= self.mean).sum()) / (1 + len(self.nulls)))

    @property
    def r_hat(self) -> float:
        r"""As R-hat of codes: :math:`1 / \sqrt{r}` with r the correlation, here :math:`\sqrt{R^2}`; 1 is perfect."""
        return float(np.maximum(self.mean, 1e-8) ** -0.25)

    def __str__(self) -> str:
        return (
            f"consistency {self.mean:.3f} of {len(self.matrix)} runs over {self.n_rows} rows or bins "
            f"(R-hat {self.r_hat:.3f}; 95 % of permuted ones below {self.null:.3f}, p = {self.p:.3g})"
        )


def consistency(
    runs: Sequence[Any],
    X: Any = None,
    *,
    labels: Sequence[ArrayLike] | None = None,
    n_bins: int = 50,
    n_null: int = 99,
    random_state: int = 0,
) -> Consistency:
    """How well runs on the same rows, or fits to different data sets, agree up to a linear map.

    Parameters
    ----------
    runs : sequence of arrays (n, d) or of fitted estimators
        Codes; those of estimators are ``transform(X)``.
    X : array (n, ...) or sequence of arrays, optional
        For estimators: the rows, or with ``labels`` those of each data set.
    labels : sequence of arrays (n_i,), optional
        For data sets whose rows do not correspond: what aligns them, a label or the time within a trial, one array for
        each. Numbers with more than ``n_bins`` values are cut into bins of equal width over their common range.
    n_bins : int
    n_null : int
        Permutations.
    random_state : int
        Of the halves and the permutations.

    Returns
    -------
    Consistency

    Notes
    -----
    Runs that agree may be wrong together: they share their assumptions and their data. Rows that follow each other in
    time are not independent, so that p of two recordings is too small where they both drift; align them by labels.

    References
    ----------
    Schneider, Lee, Mathis (2023), Learnable latent embeddings for joint behavioural and neural analysis. Nature.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(200, 2))
    >>> found = consistency([z, z @ [[1.0, 2.0], [0.0, 1.0]], 3 - z])
    >>> round(found.mean, 6), found.p
    (1.0, 0.01)
    """
    codes = _codes_of(runs, X, labels is not None)
    if len(codes) < 2:
        raise ValueError(f"{len(codes)} run cannot be compared; give two or more.")
    if labels is not None:
        codes = _binned(codes, [np.asarray(own) for own in labels], n_bins)
    sizes = {len(part) for part in codes}
    if len(sizes) > 1:
        raise ValueError(
            f"the runs have {sorted(sizes)} rows; they must have the same. For different data sets give labels=[...]."
        )
    n, width = sizes.pop(), max(part.shape[1] for part in codes)
    if n < 2 * (width + 2):
        raise ValueError(f"{n} rows or bins are too few for codes of {width} columns; {2 * (width + 2)} are needed.")
    rng = np.random.default_rng(random_state)
    half = np.zeros(n, dtype=bool)
    half[rng.permutation(n)[: n // 2]] = True
    off = ~np.eye(len(codes), dtype=bool)
    nulls = [_matrix([part[rng.permutation(n)] for part in codes], half)[off].mean() for _ in range(n_null)]
    return Consistency(_matrix(codes, half), np.array(nulls), n)


def _matrix(codes: list[Floats], half: NDArray[np.bool_]) -> Floats:
    found = np.eye(len(codes))
    for i, given in enumerate(codes):
        design = np.c_[given, np.ones(len(given))]
        for j, wanted in enumerate(codes):
            if i != j:
                weights = np.linalg.lstsq(design[half], wanted[half], rcond=None)[0]
                left = ((wanted[~half] - design[~half] @ weights) ** 2).sum(axis=0)
                total = ((wanted[~half] - wanted[~half].mean(axis=0)) ** 2).sum(axis=0)
                found[i, j] = np.mean(1 - left / np.maximum(total, 1e-300)) if total.all() else 0.0
    return found


def _codes_of(runs: Sequence[Any], X: Any, several: bool) -> list[Floats]:
    codes = []
    for i, run in enumerate(runs):
        if hasattr(run, "transform"):
            if X is None:
                raise ValueError("runs are estimators, which need X: consistency(models, X).")
            run = run.transform(X[i] if several else X)
        values = np.asarray(run, dtype=np.float64)
        codes.append(values.reshape(len(values), -1))
    return codes


def _binned(codes: list[Floats], labels: list[NDArray], n_bins: int) -> list[Floats]:
    """Mean codes within bins of the labels that all data sets have."""
    lengths = [len(part) for part in codes], [len(own) for own in labels]
    if lengths[0] != lengths[1]:
        raise ValueError(
            f"labels have the lengths {lengths[1]}, the codes {lengths[0]}; give one label per row of each."
        )
    if len(np.unique(np.concatenate(labels))) > n_bins:
        low, high = max(own.min() for own in labels), min(own.max() for own in labels)
        labels = [np.floor((own - low) / max(high - low, 1e-300) * n_bins).astype(int) for own in labels]
        labels = [np.where(own == n_bins, n_bins - 1, own) for own in labels]  # the highest value of all
        common = set(range(n_bins)).intersection(*labels)
    else:
        common = set(labels[0].tolist()).intersection(*(own.tolist() for own in labels[1:]))
    return [
        np.stack([part[own == name].mean(axis=0) for name in sorted(common)]) if common else part[:0]
        for part, own in zip(codes, labels)
    ]
