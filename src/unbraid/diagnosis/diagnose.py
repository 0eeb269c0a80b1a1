"""``diagnose`` checks the assumptions of the methods on some data."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from unbraid.data.counts import counts_of
from unbraid.data.covariates import adjustment_to
from unbraid.data.observations import Observations, may_be_recordings, observe
from unbraid.data.order import steps
from unbraid.data.rows import Rows
from unbraid.diagnosis.codes import Told, code_findings, first_codes, linear_codes, loops_finding, small_columns
from unbraid.diagnosis.evidence import Turned, turned_by
from unbraid.diagnosis.findings import FOR_LOOPS, LOOPS, RING, Diagnosis, Finding
from unbraid.diagnosis.identified import twin_of
from unbraid.diagnosis.survey import Survey, completed, survey_findings, survey_of, told_of_gaps
from unbraid.diagnosis.verdict import FROM_TIME, INSTEAD, deciding, held, labels_serve, method_for, priced, verdict_of
from unbraid.methods import METHODS
from unbraid.runtime.determinism import check_random_state, one_thread
from unbraid.runtime.progress import heartbeat
from unbraid.spectral.diagnostics import adjustment_concerns
from unbraid.spectral.evidence import rotation_for
from unbraid.spectral.gaps import Filling
from unbraid.spectral.selection import given_factors
from unbraid.trust.theorems import theorem_of

INDEPENDENT = ("hessian-ica", "pca-ica")  # whose expected MCC was calibrated, among those that are recommended


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
    """Check whether the factors of X can be found, by which method, and how far to trust the answer.

    Without assumptions factors cannot be found. Each assumption is tested by a figure with a threshold, together with
    the power: how often a clear violation is detected with this many points. At most 2000 rows are examined.

    The answer follows from the MCC that is expected of the codes: in similar simulated data sets, 95 % were above
    ``expected_mcc.low``. "yes" if that is at least .8 and the fit warns of nothing; "with care" if half of them were
    above .9, or if a factor wraps around and :class:`~unbraid.ProductManifold` verifies all; "no" if there is nothing
    to find, or 95 % of them were below .9; else "unsure", as where no similar data were simulated, the number of
    factors is unclear, or the codes are Gaussian, so that any rotation is as good. Findings that fail say what they
    cost.

    Parameters
    ----------
    X : array (n, ...), or anything that the estimators take
        At least 30 distinct rows. Missing values, NaN or masked, are filled, and the reasons say so.
    labels : array (n,) or (n, q), optional
        A condition under which each row was observed, as for :class:`~unbraid.GIN`; or the factors of some rows, NaN
        elsewhere.
    pairs : array of int, (m, 2), optional
        Rows that share all factors but one or a few.
    time : array (n,), optional
        Numbers or dates, each row its own.
    sets, covariates : arrays, optional
        As in :class:`~unbraid.Observations`, which can be given as X too. What covariates explain is taken away before
        anything is examined; sets are checked, but no finding depends on them.
    n_factors : int or "auto"
        The number of factors, if known.
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
    return examine(known, n_factors=n_factors, random_state=random_state).diagnosis


class Examined(NamedTuple):
    """A diagnosis, and what a fit of the same data can take over from it.

    Attributes
    ----------
    diagnosis : Diagnosis
    starts : dict
        Fits made on the way, by method, for ``continue_from`` of its estimator.
    whole : Observations
        The data with their gaps filled.
    filling : Filling or None
        What filled them; None if there were none.
    """

    diagnosis: Diagnosis
    starts: dict[str, Any]
    whole: Observations
    filling: Filling | None = None


@one_thread()  # its many small products gain nothing from threads, which wait for each other by spinning
def examine(known: Observations, *, n_factors: int | str = "auto", random_state: Any = 0) -> Examined:
    """Diagnose, and keep what a fit can take over; parameters as of :func:`diagnose`."""
    whole, filling = completed(known)
    if filling is not None:
        found = examine(whole, n_factors=n_factors, random_state=random_state).diagnosis
        verdict = "with care" if found.verdict == "yes" else found.verdict
        reasons = [*found.reasons, told_of_gaps(filling)]
        return Examined(replace(found, reasons=reasons, verdict=verdict), {}, whole, filling)
    if known.covariates is not None:  # the rest is examined; a fit takes them away for itself
        rows = Rows(known.X)
        rows.scale = counts_of(rows)
        adjustment = adjustment_to(rows, known.covariates)
        X = adjustment(rows.array().reshape(len(rows), -1), known.covariates).reshape(-1, *rows.row_shape)
        rest = replace(known, X=X, covariates=None)
        found = examine(rest, n_factors=n_factors, random_state=random_state).diagnosis
        doubts = adjustment_concerns(adjustment)
        told = [*found.reasons, f"The covariates {adjustment}.", *doubts]
        verdict = "with care" if doubts and found.verdict == "yes" else found.verdict
        return Examined(replace(found, reasons=told, verdict=verdict, evidence=known.evidence), {}, known)
    with heartbeat("diagnose") as now:
        return Examined(*_examined(known, n_factors, check_random_state(random_state), now), known)


def _examined(
    known: Observations, n_factors: int | str, rng: np.random.RandomState, now: Callable[[str], None]
) -> tuple[Diagnosis, dict[str, Any]]:
    given = given_factors(n_factors)
    if known.time is not None:
        steps(known.time)  # refuses times that are the same in several rows
    now("reading; how many factors, and are the data curved")
    survey, structured = survey_of(known.X, "auto" if given is None else given, rng)
    findings = survey_findings(survey, structured)
    by_labels: list[Finding] = []
    if known.labels is not None and rotation_for(known.only("labels")) == "condition":
        from unbraid.diagnosis.labels import label_findings

        by_labels = label_findings(known.labels, survey.rows, survey.points, survey.n, survey.d)
    rotation, twin, told = "independence", "", None
    if findings[0].holds and not survey.disconnected:
        fitted, rotation, twin, told = _of_a_fit(survey, known, findings, rng, now, for_flows=labels_serve(by_labels))
        findings += fitted
    failed = {f.assumption for f in findings if f.holds is False}
    if findings[0].holds and told is None and not failed & {LOOPS, RING}:
        told = linear_codes(survey)[1].diagnostics_  # the baseline, which is then the method
    findings += by_labels
    if rotation == "independence":
        findings = [priced(f, told.figures if told else {}) for f in findings]
        verdict = verdict_of(findings, told.expected_mcc if told else None, warned=bool(told and told.concerns))
    else:
        verdict = {True: "yes", False: "no", None: "unsure"}[held(findings)]
    if verdict == "yes" and any(f.key == "coherence" and f.holds is not True for f in findings):
        verdict = "with care"  # time shows a dependence of the factors that the rows alone do not
    if survey.disconnected:  # what it costs the baseline is not what it costs: there is no embedding
        findings = [replace(f, cost=None, decides=True) if f.key == "apart" else f for f in findings]
    method, reasons = method_for(verdict, survey, findings, rotation, told.expected_mcc if told else None)
    if survey.counts is not None and METHODS[method].family in ("spectral", "product"):
        reasons.append(f"X holds counts: distances are measured between {survey.counts}.")
    reasons += [
        f"{found.words} {found.remedy}" for found in findings if found.assumption == RING and found.holds is None
    ]
    if may_be_recordings(known.X):
        reasons.append(
            f"X is a list of {survey.n} arrays of one shape, which are read as pictures. If they are recordings, give "
            "ub.Observations.recordings(X)."
        )
    if METHODS[method].trained:
        verdict = "unsure"  # the assumptions of trained methods can be checked only in part
    if method == FROM_TIME:
        rotation = "independence"  # there is nothing to rotate
    n_found = 1 if RING in failed else survey.d if findings[0].holds else 0
    starts = survey.starts
    if given is not None or not survey.look.complete:  # these would fit another number of factors, or more rows
        starts.pop(FOR_LOOPS, None)
    expected = told.expected_mcc if told and rotation == "independence" and method in INDEPENDENT else None
    found = Diagnosis(
        verdict,
        method,
        n_found,
        findings,
        reasons,
        survey.n,
        len(survey.rows),
        rotation,
        known.evidence,
        twin,
        expected,
        told.unguessed if told else "",
        list(told.concerns) if told else [],
    )
    return found, starts


def _of_a_fit(
    survey: Survey,
    known: Observations,
    before: list[Finding],
    rng: np.random.RandomState,
    now: Callable[[str], None],
    *,
    for_flows: bool,
) -> tuple[list[Finding], str, str, Told | None]:
    """Findings of a first fit (whether a factor wraps around; if none does, what the codes show), the rotation that
    the evidence allows, the twin of codes that may be Gaussian, and the figures of the fit."""
    now("does a factor wrap around")
    loops = loops_finding(survey, rng)
    wraps = any(f.holds is False for f in loops if f.assumption in (LOOPS, RING))
    now("a first fit, and what its codes show")
    codes, encode, findings, told = (None, survey.leading, list[Finding](), None) if wraps else first_codes(survey)
    if codes is not None and survey.is_table:
        findings.append(small_columns(survey, encode))
    tried = turned_by(known, lambda rows: encode(survey.points_of(rows)), rng) if known.evidence else []
    if codes is None:
        known_of = (turned.findings[0] for turned in tried if turned.findings)
        return [*loops, *findings, *known_of], "independence", "", None
    alike = min((turned.effective for turned in tried), default=1.0)
    effective = min(1.0, alike * survey.n / len(survey.rows))
    plain = [*findings, *code_findings(codes, rng, effective)]
    turns = tried if codes.shape[1] > 1 else []  # a single code cannot be rotated
    used = _used(turns, [*before, *loops, *plain], conditions=survey.flat or not for_flows)
    others = {f.key: f for turned in tried if turned is not used for f in turned.findings}
    if used is None or used.turn is None:
        in_doubt = codes.shape[1] > 1 and any(f.key == "separability" and f.holds is not True for f in plain)
        return [*loops, *plain, *others.values()], "independence", twin_of(codes) if in_doubt else "", told
    others.pop("evidence_turn", None)  # it is that of the evidence that is used
    rotated = [*findings, *code_findings(used.turn(codes), rng, effective), *used.findings]
    return [*loops, *deciding(rotated, used.rotation), *others.values()], used.rotation, "", told


def _used(tried: list[Turned], plain: list[Finding], *, conditions: bool) -> Turned | None:
    """The first piece of evidence that serves; a condition only where it is needed and its theorem holds.

    Curved data with as many conditions as a flow needs are left to flows, which need no isometry.
    """
    for turned in tried:
        states = {f.key: f.holds for f in (*plain, *turned.findings)}
        needed = conditions and not held(plain) and theorem_of(INSTEAD, rotation=turned.rotation).holds(states)
        if turned.serves and (turned.rotation != "condition" or needed):
            return turned
    return None
