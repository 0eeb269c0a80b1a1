"""The pool of encoded samples that all metrics share, and the samples made from it for chance, ceiling and error."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from unbraid.data.rows import Rows
from unbraid.metrics.arrays import check, check_factors, choose
from unbraid.metrics.matching import match

Parts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Sample:
    """A pool of factors and codes, and the rows of it that plain metrics, training and testing use.

    Attributes
    ----------
    pool_factors : ndarray (n_pool, n_factors)
    pool_codes : ndarray (n_pool, n_codes)
    rows, train, test : ndarrays of int
        Rows for metrics that train nothing, to train on, and to test on.
    pool_observations : Rows, optional
        What the codes were made from.
    kinds : mapping
        ``kinds`` and ``code_kinds`` of :func:`unbraid.metrics.mcc`, where some are declared.
    """

    pool_factors: np.ndarray
    pool_codes: np.ndarray
    rows: np.ndarray
    train: np.ndarray
    test: np.ndarray
    pool_observations: Rows | None = None
    kinds: Mapping[str, Sequence[str] | None] = field(default_factory=dict)

    @cached_property
    def factors(self) -> np.ndarray:
        return self.pool_factors[self.rows]

    @cached_property
    def codes(self) -> np.ndarray:
        return self.pool_codes[self.rows]

    @cached_property
    def parts(self) -> Parts:
        """Factors and codes to train on, factors and codes to test on."""
        v, z = self.pool_factors, self.pool_codes
        return v[self.train], z[self.train], v[self.test], z[self.test]

    def observations(self, most: int) -> np.ndarray:
        """The first ``most`` observations, read by the one rule of units."""
        if self.pool_observations is None:
            raise ValueError(
                "observations are needed, and only codes were given. Give a model, and a data set or (X, factors)."
            )
        return self.pool_observations.clean(self.pool_observations.take(self.rows[:most]))

    @property
    def n_train(self) -> int:
        return len(self.train)

    def half(self, rng: np.random.Generator) -> "Sample":
        """Half of the rows of each kind, drawn without replacement."""

        def draw(rows: np.ndarray) -> np.ndarray:
            return np.sort(rng.permutation(rows)[: max(len(rows) // 2, 2)])

        return replace(self, rows=draw(self.rows), train=draw(self.train), test=draw(self.test))

    def independent(self, rng: np.random.Generator) -> "Sample":
        """The same codes, assigned to other samples."""
        return replace(self, pool_codes=self.pool_codes[rng.permutation(len(self.pool_codes))])

    def ideals(self, marginal: str, seed: int) -> "list[Sample]":
        """One code for each factor, which determines it.

        Fewer codes than factors cannot determine all: there are two samples then, with codes for the factors of most
        values and for those of fewest. The first is better where a factor that is not known is guessed, the second
        where a code must fit a factor exactly.
        """
        codes = ceiling_codes(
            self.pool_factors, marginal="gaussian" if marginal == "codes" else marginal, random_state=seed
        )
        values = check_factors(self.pool_factors).values
        if marginal == "codes":
            codes = _reshape(codes, values, self.pool_codes)
        n = self.pool_codes.shape[1]
        poorest_first = np.argsort([len(np.unique(v)) for v in values.T], kind="stable")
        kept = [poorest_first] if n >= len(poorest_first) else [poorest_first[-n:], poorest_first[:n]]
        return [replace(self, pool_codes=codes[:, np.sort(columns)], kinds={}) for columns in kept]


def _reshape(ideal: np.ndarray, values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Give each ideal code the marginal of the code that is matched with its factor.

    A code with fewer values than its factor could not determine it; then, and without a code, it stays Gaussian.
    """
    shaped = ideal.copy()
    pairs = match(values, codes, kind="spearman")
    for k, d, sign in zip(pairs.factor, pairs.code, np.where(pairs.correlation < 0, -1, 1)):
        if len(np.unique(codes[:, d])) >= len(np.unique(values[:, k])):
            shaped[np.argsort(ideal[:, k], kind="stable"), k] = np.sort(codes[:, d])[::sign]
    return shaped


def draw_sample(
    factors: ArrayLike,
    codes: ArrayLike,
    observations: Rows | None,
    *,
    n_samples: int,
    n_train: int,
    n_test: int,
    random_state: int,
    without: np.ndarray | None = None,
) -> Sample:
    """All rows up to the sizes given. Of few rows a third is for testing, which is how the metrics split themselves.

    Parameters
    ----------
    factors : array (n_pool, n_factors)
    codes : array (n_pool, n_codes)
    observations : Rows or None
    n_samples, n_train, n_test : int
        Most rows for metrics that train nothing, to train on, and to test on.
    random_state : int
        Draws the rows.
    without : array of bool (n_pool,), optional
        Rows that are not drawn.

    Returns
    -------
    Sample
        What a metric's ``score`` receives.

    Examples
    --------
    >>> factors = np.arange(30) % 3
    >>> sample = draw_sample(factors, factors, None, n_samples=12, n_train=10, n_test=20, random_state=0)
    >>> len(sample.factors), [len(part) for part in sample.parts]
    (12, [10, 10, 10, 10])
    """
    _, z = check(factors, codes, min_samples=4)
    order = np.random.default_rng(random_state).permutation(len(z))
    if without is not None:
        order = order[~without[order]]
    n = len(order)
    if n < 4:
        raise ValueError(
            f"the model has seen the factors of {len(z) - n} of {len(z)} rows, so {n} are left to score it on, and at "
            "least 4 are needed. Give rows whose factors were not in the fit."
        )
    n_held = min(round(n / 3), n_test)
    test, train = np.sort(order[:n_held]), np.sort(order[n_held:][:n_train])
    rows = np.sort(order[:n_samples])
    return Sample(_array(factors), z, rows, train, test, observations)


def _array(factors: ArrayLike) -> np.ndarray:
    """Factors as one array that keeps the kind of each column."""
    truth = check_factors(factors)
    columns = [truth.column(k) for k in range(len(truth.discrete))]
    if len(set(truth.discrete)) == 1:
        return np.column_stack(columns)
    return np.column_stack([column.astype(object) for column in columns])


def ceiling_codes(factors: ArrayLike, *, marginal: str = "gaussian", random_state: int | None = 0) -> np.ndarray:
    r"""One code per factor, which determines it and has a continuous marginal: what a perfect encoder could give.

    .. math:: z = F^{-1}(u), \qquad u \text{ uniform on } [P(v < v_i), P(v \le v_i)]

    with F the Gaussian or uniform distribution function. The value of the factor is a function of z; z spreads within
    each value as the marginal demands.

    Parameters
    ----------
    factors : array (n_samples, n_factors)
    marginal : {"gaussian", "uniform"}
    random_state : int

    Returns
    -------
    ndarray (n_samples, n_factors)
        The order of each column is that of its factor.

    Examples
    --------
    >>> from unbraid.metrics import mig
    >>> factors = np.random.default_rng(0).integers(0, 32, size=10_000)
    >>> [round(mig(factors, ceiling_codes(factors, marginal=m)), 2) for m in ("gaussian", "uniform")]
    [0.63, 0.78]
    """
    choose(marginal, ("gaussian", "uniform"), "marginal")
    values = check_factors(factors).values
    rng = np.random.default_rng(random_state)
    codes = np.empty(values.shape)
    for k, v in enumerate(values.T):
        _, place, counts = np.unique(v, return_inverse=True, return_counts=True)
        below = np.cumsum(counts) - counts
        codes[:, k] = (below[place] + counts[place] * rng.uniform(size=len(v))) / len(v)
    return ndtri(np.clip(codes, 1e-12, 1 - 1e-12)) if marginal == "gaussian" else codes
