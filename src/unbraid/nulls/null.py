r"""The null of a fit that takes evidence: would it have said the same of nothing?

A third of the rows is held out (blocks of time, whole sets, rows in no pair that is fitted on), the method is fitted to
the rest with the real evidence, and a score says how well the codes of the held-out rows go with their evidence. Then
the evidence is shuffled B times, over all rows, and everything is done again. Where the evidence says nothing about X,
the B + 1 scores are exchangeable, so that

.. math:: p = \frac{1 + \#\{b : s_b \ge s\}}{1 + B}

is at most :math:`\alpha` with a probability of at most :math:`\alpha` (Phipson and Smyth 2010). With the usual B = 19
it can be .05 but not below.
"""

import sys
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from unbraid.data.observations import Observations
from unbraid.methods import COVARIATES
from unbraid.nulls.kinds import Kind, kind_of
from unbraid.runtime.progress import bar, may_speak
from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import UnbraidWarning

N_NULL = 19
MOST_ROWS = 2000
MOST_STEPS = 500  # of a short refit
FEWEST_STEPS = 100  # below which a short refit has learned nothing
MOST_FEATURES = 1000  # of rows, for "auto" with a method that is not trained step by step

# Parameters of a short refit, of those that a method has.
SHORT = {
    "checkpoint": None, "log": None, "max_seconds": None, "n_init": 1, "null": "off", "progress": False,
    "tensorboard": False, "trust": "cheap",
}  # fmt: skip
CHOSEN = ("n_factors", "n_neighbors", "pca_components")  # which a refit takes as the fit chose them


@dataclass(frozen=True)
class NullTest:
    """The score of a fit with real evidence, beside those with shuffled evidence.

    Attributes
    ----------
    evidence : str
        What was tested: "labels", "pairs", "sets" or "time".
    statistic : str
        What the score is; more is better.
    shuffle : str
        How the evidence was shuffled.
    score : float
        Of held-out rows, with the evidence as it was given.
    nulls : array (B,)
        The same with shuffled evidence; NaN where that could not be fitted, which counts as "at least as good".
    n_train, n_held : int
        Rows that the refits were fitted on, and rows held out.
    n_steps : int
        Of training in each refit; 0 for a method that is not trained.
    """

    evidence: str
    statistic: str
    shuffle: str
    score: float
    nulls: NDArray[np.float64]
    n_train: int
    n_held: int
    n_steps: int = 0

    @property
    def p(self) -> float:
        """Share of the scores, the real one among them, that are at least as good as the real one.

        >>> NullTest("time", "AUC", "rows permuted", 0.8, np.linspace(0.4, 0.6, 19), 200, 100).p
        0.05
        """
        return float((1 + (~(self.nulls < self.score)).sum()) / (1 + len(self.nulls)))

    @property
    def holds(self) -> bool:
        """Whether the evidence tells more than shuffled evidence: p of at most .05."""
        return FIGURES["null_p"].holds(self.p)

    def __str__(self) -> str:
        best = float(np.max(self.nulls, initial=-np.inf, where=np.isfinite(self.nulls)))
        return (
            f"p = {self.p:.3g} ({self.evidence}: {self.statistic} {self.score:.3g}, at most {best:.3g} in "
            f"{len(self.nulls)} refits with {self.shuffle})"
        )


def null_test(
    model: Any, known: Observations, *, n_null: int = N_NULL, n_steps: int | None = None, seed: int = 0
) -> NullTest:
    """Fit short copies of a fitted model to real and to shuffled evidence, and compare their scores on held-out rows.

    Parameters
    ----------
    model : Estimator
        Fitted; it is not changed.
    known : Observations
        X and its evidence. Beside labels, ``time`` (labels are then shifted along it in a circle) and ``covariates``
        (labels are then permuted among like rows) say how to shuffle, whether or not the method uses them. Of more than
        2,000 rows, some are taken.
    n_null : int
        Refits with shuffled evidence.
    n_steps : int, optional
        Steps of each refit of a trained method; by default those of the fit, at most 500.
    seed : int
        Of all randomness.

    Returns
    -------
    NullTest
    """
    others = set(known.evidence) - {COVARIATES}
    if not others and set(model.uses) - {COVARIATES} == {"time"}:  # rows are then in the order of time
        known = replace(known, time=np.arange(len(known)))
    kind = kind_of(model.uses, known)
    try:
        known = kind.thinned(known, MOST_ROWS, np.random.default_rng([seed, 0]))
    except TypeError as error:
        raise ValueError(f"the null looks rows up by number: {error}") from error
    steps = _steps(model) if n_steps is None else n_steps
    short = _short(model, steps)
    started = time.monotonic()
    score, sizes = _score(short, kind, known, seed)
    if may_speak():
        seconds = n_null * (time.monotonic() - started)
        about = f"{n_null} short refits with {kind.shuffle}, about {seconds:.0f} s; Ctrl-C stops it"
        print(f"null of {type(model).__name__}: {about}", file=sys.stderr)
    nulls = np.full(n_null, np.nan)
    with bar("null", total=n_null, show=getattr(model, "progress", None)) as advance:
        for b in range(n_null):
            shuffled = kind.shuffled(known, np.random.default_rng([seed, 1, b]))
            with suppress(ValueError):  # it stays NaN, which counts against the evidence
                nulls[b] = _score(short, kind, shuffled, seed)[0]
            advance(1)
    return NullTest(kind.name, kind.statistic, kind.shuffle, score, nulls, *sizes, steps)


def _score(short: Any, kind: Kind, known: Observations, seed: int) -> tuple[float, tuple[int, int]]:
    held_out = kind.held_out(known, np.random.default_rng([seed, 2]))
    train, held = known.subset(~held_out), known.subset(held_out)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnbraidWarning)  # those of the fit itself were given
        fitted = clone(short).fit(train.only(*short.uses))
        given = (train, held) if COVARIATES in short.uses else (train.X, held.X)
        codes, new = (np.asarray(fitted.transform(X), np.float64).reshape(len(X), -1) for X in given)
    return kind.score(codes, train, new, held, np.random.default_rng([seed, 3])), (len(train), len(held))


def _short(model: Any, n_steps: int) -> Any:
    """An unfitted copy without search, checkpoint or logs, and with few steps."""
    has = model.get_params(deep=False)
    chosen = {
        name: getattr(model, f"{name}_") for name in CHOSEN if has.get(name) == "auto" and hasattr(model, f"{name}_")
    }
    steps = {"max_steps": n_steps} if n_steps else {}
    settings = SHORT | chosen | steps | {"random_state": 0}
    return clone(model).set_params(**{name: value for name, value in settings.items() if name in has})


def _steps(model: Any) -> int:
    return min(MOST_STEPS, getattr(model, "n_steps_", 0))


def auto_steps(model: Any) -> int:
    """Steps of a refit such that the null takes no more steps than the fit did, over all its starts; 0 if not trained.

    Where it is not affordable, this is a ValueError that says why.
    """
    if not hasattr(model, "n_steps_"):
        if model.n_features_in_ > MOST_FEATURES:
            raise ValueError(f"rows of {model.n_features_in_} features are too wide for {N_NULL + 1} refits")
        return 0
    share = model.n_steps_ * getattr(model, "n_init", 1) // (N_NULL + 1)
    if share < FEWEST_STEPS:
        raise ValueError(f"{N_NULL + 1} refits of {FEWEST_STEPS} steps would take longer than the fit")
    return min(MOST_STEPS, share)
