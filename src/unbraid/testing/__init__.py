"""The contract of all estimators as checks that other packages can run on theirs.

>>> import unbraid as ub
>>> ub.testing.check_estimator_contract(ub.PCAICA(n_factors=2), checks=["saving"])
[Result(check='saving', outcome='passed', reason='')]
"""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from unbraid.testing.checks import CHECKS, InapplicableError
from unbraid.testing.data import known_data

__all__ = ["CHECKS", "ContractError", "Result", "check_estimator_contract"]


@dataclass(frozen=True)
class Result:
    """The result of one check.

    Attributes
    ----------
    check : str
    outcome : "passed", "failed", "expected" or "inapplicable"
        "expected" is a known failure; "inapplicable" means that there is nothing to check, such as ``checkpoint`` in an
        estimator without it.
    reason : str
    """

    check: str
    outcome: str
    reason: str = ""


class ContractError(AssertionError):
    """Some checks failed; ``results`` has all of them."""

    def __init__(self, name: str, results: list[Result]):
        self.results = results
        failed = [f"{r.check}: {r.reason}" for r in results if r.outcome == "failed"]
        super().__init__(f"{name} fails {len(failed)} of {len(results)} checks.\n" + "\n".join(failed))


def check_estimator_contract(
    estimator: Any, *, checks: Iterable[str] | None = None, expected_failures: Mapping[str, str] | None = None
) -> list[Result]:
    """Check that an estimator keeps the contract of this package.

    Parameters
    ----------
    estimator : estimator
        As small as possible (few steps, few neighbours): it is cloned and fitted some thirty times, on 80 rows of 4
        features or 16 x 16 pixels with two factors. To be saved, a class of another package needs
        :func:`unbraid.saving.encoding.register`.
    checks : iterable of str, optional
        Names of :data:`CHECKS`; all by default.
    expected_failures : dict of str to str, optional
        Checks that are known to fail, and why. If one of them passes, that is a failure: remove it.

    Returns
    -------
    list of Result
        One per check.

    Raises
    ------
    ContractError
        An AssertionError that lists every failed check.

    Examples
    --------
    >>> import unbraid as ub
    >>> results = check_estimator_contract(ub.PCAICA(n_factors=2), checks=["parameters", "resume"])
    >>> [(r.check, r.outcome) for r in results]
    [('parameters', 'passed'), ('resume', 'inapplicable')]
    """
    expected = dict(expected_failures or {})
    names = list(CHECKS if checks is None else checks)
    unknown = [name for name in (*names, *expected) if name not in CHECKS]
    if unknown:
        raise ValueError(f"unknown check {unknown[0]!r}. Valid checks: {', '.join(CHECKS)}.")
    results = [_run(name, estimator, expected.get(name)) for name in names]
    if any(r.outcome == "failed" for r in results):
        raise ContractError(type(estimator).__name__, results)
    return results


def _run(name: str, estimator: Any, expected: str | None) -> Result:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings have their own check
            CHECKS[name](estimator, known_data())
    except InapplicableError as reason:
        return Result(name, "inapplicable", str(reason))
    except Exception as error:  # any error of the estimator is a finding
        if expected is not None:
            return Result(name, "expected", expected)
        return Result(name, "failed", f"{type(error).__name__}: {error}")
    if expected is not None:
        return Result(
            name, "failed", f"it passes but was expected to fail ({expected}). Remove it from expected_failures."
        )
    return Result(name, "passed")
