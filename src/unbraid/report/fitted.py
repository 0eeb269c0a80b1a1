"""One fit with what its page and the terminal show: codes, distances, agreement with known factors, warnings."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.data.observations import Observations
from unbraid.data.rows import Rows, is_sliceable
from unbraid.data.sources import column_names, is_dataset
from unbraid.estimator.summary import Summary
from unbraid.manifold.neighbors import isometry_of_pairs, neighbor_pairs
from unbraid.metrics.kinds import columns_of
from unbraid.report.drawing import as_rows, some_of
from unbraid.trust.warnings import AssumptionWarning, TrustWarning, without_hint

Floats = NDArray[np.float64]

MOST_ROWS = 5000  # rows looked at beyond the codes themselves
PAIRS_COST = 4e9  # rows squared times features that a search for neighbours may cost: some tenths of a second


@dataclass(frozen=True)
class Distances:
    """Distances of neighbours in X and, after the best rescaling of each code, in the codes; and their correlation."""

    lengths: Floats
    found: Floats
    isometry: float


@dataclass(frozen=True)
class Fitted:
    """A fitted model with what was measured of it.

    Attributes
    ----------
    model : estimator
    summary : Summary
        The model's own summary.
    n_rows : int
    sample : array (m, ...)
        Rows of the data as the model sees them: pictures in [0, 1].
    codes : array (n, d) or None
        None for a method that finds no codes, such as GEOMANCER.
    sample_codes : array (m, d) or None
    row_names, sample_names : arrays of str, (n,) and (m,), or None
        Names of the rows of the codes and of the sample, where they have some.
    feature_names : list of str or None
        Names of the columns of the data, where they have some.
    distances : Distances or None
        Of the sample, in the codes that are worth a look.
    factors : array (n, number of factors) or None
    factor_names : list of str or None
    factor_kinds : list of str or None
        What the factors are, as :func:`unbraid.metrics.mcc` takes it; None where they are plain numbers.
    mcc : float or None
        Where the factors are known.
    seconds : float or None
        What the fit took.
    concerns : list of str
        Reasons for doubt, from the summary and from warnings raised during the fit.
    remarks : list of str
        Other warnings raised during the fit, for instance about a setting that did not converge.
    table : frame or mapping, or None
        What else is known about the rows.
    """

    model: Any
    summary: Summary
    n_rows: int
    sample: NDArray
    codes: Floats | None
    sample_codes: Floats | None
    row_names: NDArray | None
    sample_names: NDArray | None
    distances: Distances | None
    factors: NDArray | None
    factor_names: list[str] | None
    factor_kinds: list[str] | None
    mcc: float | None
    seconds: float | None
    concerns: list[str]
    remarks: list[str]
    table: Any = None
    feature_names: list[str] | None = None


def nearby_distances(
    points: ArrayLike, codes: ArrayLike, n_neighbors: int = 8, angles: Sequence[int] = ()
) -> Distances:
    """Distances of neighbours in X and in the codes; differences of columns that are angles are wrapped.

    Examples
    --------
    >>> z = np.random.default_rng(0).uniform(size=(30, 2))
    >>> round(nearby_distances(2 * z, z).isometry, 6)
    1.0
    """
    i, j, lengths = neighbor_pairs(as_rows(points), n_neighbors)
    steps = as_rows(codes)[i] - as_rows(codes)[j]
    steps[:, angles] = np.angle(np.exp(1j * steps[:, angles]))
    score, scale = isometry_of_pairs(steps, lengths)
    return Distances(lengths, np.linalg.norm(steps * scale, axis=1), score)


def measured_fit(
    model: Any,
    X: Any,
    labels: Any = None,
    *,
    factors: ArrayLike | None = None,
    factor_names: Sequence[str] | None = None,
    factor_kinds: Sequence[str] | None = None,
) -> Fitted:
    """Fit a model, and measure what a page shows; warnings go to the result instead of the terminal.

    Parameters
    ----------
    model : estimator
    X : as in the model's ``fit``
    labels : array (n,) or (n, q), optional
        The condition, for methods that take one.
    factors : array (n, number of factors), optional
        The truth, where it is known: it is compared with the codes, and the model does not see it.
    factor_names : sequence of str, optional
    factor_kinds : sequence of str, optional
        As of :class:`unbraid.datasets.base.Dataset`: which factors wrap around.

    Returns
    -------
    Fitted

    Examples
    --------
    >>> import unbraid as ub
    >>> z = np.random.default_rng(0).uniform(size=(300, 2))
    >>> fitted = measured_fit(ub.PCAICA(2, random_state=0), z @ [[1, 0, 2], [0, 1, 1]], factors=z)
    >>> round(fitted.mcc, 2), fitted.summary.title
    (1.0, 'PCA+ICA')
    """
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        codes = model.fit_transform(X) if labels is None else model.fit_transform(X, labels)
    seconds = time.perf_counter() - start
    fitted = describe(model, X, factors, factor_names=factor_names, factor_kinds=factor_kinds, codes=codes)
    concerns, remarks = _sorted_out(caught, fitted.concerns)
    return replace(fitted, seconds=seconds, concerns=[*fitted.concerns, *concerns], remarks=remarks)


def describe(
    model: Any,
    X: Any,
    factors: ArrayLike | None = None,
    *,
    factor_names: Sequence[str] | None = None,
    factor_kinds: Sequence[str] | None = None,
    codes: Any = None,
    table: Any = None,
) -> Fitted:
    """The same of a model that is fitted already; of a large X, 5000 rows or fewer are coded.

    Parameters
    ----------
    model : fitted estimator
    X : array, or anything that ``fit`` takes
    factors : array (n, factors), optional
        The truth, where it is known.
    factor_names, factor_kinds : sequences of str, optional
    codes : array (n, number of codes), optional
        Of all rows, where they are known already.
    table : frame or mapping of names to arrays (n,), optional
        What else is known about the rows.

    Returns
    -------
    Fitted
    """
    rows, summary = Rows(X, gaps=getattr(model, "takes_gaps", False)), model.summary()
    given = X.names if isinstance(X, Observations) else None
    names = None if given is None else given.astype(str)
    codes = None if codes is None or not summary.n_shown else np.asarray(codes)
    truth = None if factors is None else np.asarray(factors)
    if truth is not None and len(truth) != len(rows):
        raise ValueError(f"factors have {len(truth)} rows and X {len(rows)}; they must describe the same observations.")
    seen, stored = _some_rows(rows)
    sample, sample_codes = rows.clean(stored), None
    if summary.n_shown:
        if codes is not None:
            sample_codes = codes[seen]
        elif rows.names is None:
            sample_codes = np.asarray(model.transform(stored))
        else:  # a frame: its columns have names that the model compares
            sample_codes = np.asarray(model.transform(X))[seen]
        if sample_codes.ndim == 3:  # sets of augmented points: the first of each set stands for it
            sample, sample_codes = sample[:, 0], sample_codes[:, 0]
            codes = None if codes is None else codes[:, 0]
        if np.isnan(sample).any():  # what is missing is shown as the model decodes it
            sample = np.where(np.isnan(sample), model.inverse_transform(sample_codes), sample)
        if codes is None:
            codes, truth = sample_codes, None if truth is None else truth[seen]
            table = table if table is None else {str(c): np.asarray(table[c])[seen] for c in table}
    score = None if truth is None or codes is None else _agreement(truth, codes, factor_kinds, summary.kinds)
    first = summary.n_shown if summary.order is None else None  # a method without an order sorts noise to the end
    angles = columns_of("circle", summary.kinds) if summary.kinds else []
    near = None if sample_codes is None else nearby_distances(sample, sample_codes[:, :first], angles=angles)
    return Fitted(
        model=model,
        summary=summary,
        n_rows=len(rows),
        sample=sample,
        codes=codes,
        sample_codes=sample_codes,
        row_names=names if names is None or codes is None or len(codes) == len(names) else names[seen],
        sample_names=None if names is None else names[seen],
        distances=near,
        factors=truth if truth is None or truth.ndim > 1 else truth[:, None],
        factor_names=None if factor_names is None else list(factor_names),
        factor_kinds=None if factor_kinds is None else list(factor_kinds),
        mcc=score,
        seconds=None,
        concerns=[*summary.concerns, *_below_the_bound(model, score)],
        remarks=[],
        table=table,
        feature_names=column_names(X),
    )


def _agreement(truth: NDArray, codes: Floats, kinds: Sequence[str] | None, code_kinds: Sequence[str]) -> float:
    """MCC, by kinds where the truth has some."""
    from unbraid import metrics  # only for data whose factors are known

    return metrics.mcc(truth, codes, kinds=kinds, code_kinds=None if kinds is None else code_kinds or None)


def _below_the_bound(model: Any, score: float | None) -> list[str]:
    """What is wrong where codes agree less with known factors than those of similar simulated data do."""
    expected = getattr(getattr(model, "diagnostics_", None), "expected_mcc", None)
    if score is None or expected is None or score >= expected.low:
        return []
    return [
        f"The MCC with the known factors is {score:.2f}; 95 % of similar simulated data sets have more than "
        f"{expected.low:.2f}. These data break an assumption that no check sees, or the codes follow other factors."
    ]


def _some_rows(rows: Rows) -> tuple[NDArray[np.intp], NDArray]:
    """Numbers of some rows, drawn at random, and these rows as they are stored; of an iterable, the first ones."""
    most = max(200, min(MOST_ROWS, int((PAIRS_COST / rows.n_features) ** 0.5)))
    if not (is_sliceable(rows.source) or is_dataset(rows.source)):
        first = np.concatenate(list(rows.stored(most=most)))
        return np.arange(len(first)), first
    seen = np.sort(some_of(len(rows), most))
    return seen, rows.take(seen, np.random.default_rng(0))


def _sorted_out(caught: Sequence[warnings.WarningMessage], known: list[str]) -> tuple[list[str], list[str]]:
    """(concerns, remarks) of warnings, without those that repeat the summary."""
    grave = {without_hint(str(w.message)): issubclass(w.category, TrustWarning | AssumptionWarning) for w in caught}
    new = [text for text in grave if not any(concern in text for concern in known)]
    return [text for text in new if grave[text]], [text for text in new if not grave[text]]
