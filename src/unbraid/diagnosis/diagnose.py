"""``diagnose``: from data to an answer."""

from typing import Any

import numpy as np

from unbraid.data.observations import Observations, observe
from unbraid.diagnosis.codes import code_findings, first_codes, loops_finding
from unbraid.diagnosis.findings import FOR_LOOPS, LOOPS, Diagnosis, Finding, labels_serve, verdict_of
from unbraid.diagnosis.ground import MOST_FACTORS, Ground, ground_findings, survey
from unbraid.runtime.randomness import check_random_state
from unbraid.runtime.threads import one_thread
from unbraid.spectral.selection import given_factors


def diagnose(
    X: Any,
    labels: Any = None,
    pairs: Any = None,
    *,
    time: Any = None,
    sets: Any = None,
    covariates: Any = None,
    n_factors: int | str = "auto",
    random_state: Any = 0,
) -> Diagnosis:
    """Say whether the factors of X can be found, by which method, and how far to trust that.

    Without assumptions factors cannot be found. This looks at each assumption of the methods here: whether it holds,
    by which figure against which threshold, and how often a violation would be noticed with so many points. At most
    2000 rows are looked at. The answer is "no" if an assumption that decides fails, "unsure" if one cannot be told.

    Parameters
    ----------
    X : array (n, ...), or anything that the estimators take
        At least 30 different rows.
    labels : array (n,) or (n, q), optional
        A condition under which each row was observed, as for :class:`~unbraid.GIN`.
    pairs : array of int, (m, 2), optional
        Rows that share all factors but one or a few.
    time, sets, covariates : arrays, optional
        As in :class:`~unbraid.Observations`, which can be given as X too. They are checked, and no finding
        rests on them.
    n_factors : int or "auto"
        If it is known.
    random_state : int, RandomState, Generator or None
        Draws rows, permutations and simulated violations.

    Returns
    -------
    Diagnosis

    References
    ----------
    Locatello et al. (2019), theorem 1: why assumptions are needed. Horan, Richardson, Weiss (2021): local isometry and
    independence. Sorrenson, Rother, Koethe (2020): nk + 1 conditions.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(0).uniform(size=(600, 2))
    >>> X = np.c_[np.sin(2 * z[:, 0]), np.cos(2 * z[:, 0]), np.sin(z[:, 1]), np.cos(z[:, 1])]
    >>> found = diagnose(X)
    >>> found.verdict, found.method, found.n_factors
    ('yes', 'hessian-ica', 2)
    >>> diagnose(np.random.default_rng(0).normal(size=(600, 5))).verdict
    'no'
    """
    known = observe(X, labels=labels, pairs=pairs, time=time, sets=sets, covariates=covariates)
    return examine(known, n_factors=n_factors, random_state=random_state)[0]


@one_thread()  # its many small products gain nothing from threads, which wait for each other by spinning
def examine(
    known: Observations, *, n_factors: int | str = "auto", random_state: Any = 0
) -> tuple[Diagnosis, dict[str, Any]]:
    """:func:`diagnose`, and what it fitted on the way, by method: a fit of the same data can go on from there.

    Parameters
    ----------
    known : Observations
    n_factors, random_state
        As of :func:`diagnose`.

    Returns
    -------
    diagnosis : Diagnosis
    starts : dict
        For ``continue_from`` of the estimator of a method.
    """
    rng = check_random_state(random_state)
    given = given_factors(n_factors)
    labels, pairs = known.labels, known.pairs
    ground, structured = survey(known.X, "auto" if given is None else given, rng)
    findings = ground_findings(ground, structured)
    by_labels = []
    if labels is not None:
        from unbraid.diagnosis.labels import label_findings

        by_labels = label_findings(labels, ground.rows, ground.points, ground.n, ground.d)
    if findings[0].holds and not ground.torn:
        findings += _of_a_fit(ground, pairs, rng)
    findings += by_labels
    verdict = verdict_of(findings)
    method, reasons = _method(verdict, ground, findings)
    if method == "gin":
        verdict = "unsure"  # what GIN assumes of its labels can be checked only in part
    n_found = ground.d if findings[0].holds else 0
    starts = ground.starts
    if given is not None or not ground.look.complete:  # these would fit another number of factors, or more rows
        starts.pop(FOR_LOOPS, None)
    return Diagnosis(verdict, method, n_found, findings, reasons, ground.n, len(ground.rows)), starts


def _of_a_fit(ground: Ground, pairs: Any, rng: np.random.RandomState) -> list[Finding]:
    """Whether a factor wraps around, and if none does, what codes show that run from end to end."""
    loops = loops_finding(ground, rng)
    if loops.holds is False:
        return [loops]
    codes, findings = first_codes(ground)
    if codes is not None:
        findings = [*findings, *code_findings(codes, rng)]
    if codes is not None and pairs is not None:
        from unbraid.diagnosis.labels import pair_finding

        place = {int(row): position for position, row in enumerate(ground.rows)}
        findings.append(pair_finding(pairs, place, codes, rng))
    return [loops, *findings]


def _method(verdict: str, ground: Ground, findings: list[Finding]) -> tuple[str, list[str]]:
    """The name of a method and why."""
    held = {finding.assumption: finding.holds for finding in findings}
    if not held["structure"]:
        return "pca-ica", ["There is nothing to unroll; this shows the directions of the largest variance."]
    if held.get(LOOPS) is False:
        return FOR_LOOPS, ["A factor wraps around: it has no ends, and needs an angle instead of a code."]
    if verdict != "yes" and labels_serve(findings):
        return "gin", [
            "Without labels the answer would be otherwise; the labels meet what can be checked of GIN's conditions, "
            "and GIN needs neither a product nor non-Gaussian factors."
        ]
    if ground.flat:
        exact = "exact, and " if verdict == "yes" else ""
        return "pca-ica", [f"The data are flat: the linear method is {exact}the least sensitive to noise."]
    if ground.torn:
        return "pca-ica", ["The points lie in pieces that no curved method can lay out together; this is the baseline."]
    if ground.d > MOST_FACTORS or "independent codes" not in held:
        return "pca-ica", [
            "No curved method has a chance with so many factors and so few points; this is the baseline."
        ]
    reason = "The data are curved, with few factors: the method with a proof under the assumptions below."
    return "hessian-ica", [reason] if verdict == "yes" else ["The data are curved, with few factors."]
