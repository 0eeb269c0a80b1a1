"""``diagnose`` checks the assumptions of the methods on some data; ``fit`` fits the method it recommends."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from unbraid.data.counts import counts_of
from unbraid.data.covariates import adjustment_to
from unbraid.data.observations import Observations, observe
from unbraid.data.order import steps
from unbraid.data.rows import Rows
from unbraid.diagnosis.codes import Told, code_findings, first_codes, linear_codes, loops_finding, small_columns
from unbraid.diagnosis.evidence import Turned, turned_by, why_unused
from unbraid.diagnosis.findings import FOR_LOOPS, LOOPS, Diagnosis, Finding
from unbraid.diagnosis.gaps import completed
from unbraid.diagnosis.gaps import told as told_of_gaps
from unbraid.diagnosis.identified import twin_of
from unbraid.diagnosis.survey import MOST_FACTORS, Survey, survey_findings, survey_of
from unbraid.diagnosis.verdict import GOOD, deciding, held, labels_serve, priced, verdict_of
from unbraid.methods import COVARIATES, METHODS, method_of
from unbraid.runtime.determinism import check_random_state, one_thread
from unbraid.runtime.progress import heartbeat
from unbraid.spectral.diagnostics import adjustment_concerns
from unbraid.spectral.evidence import ROTATIONS, rotation_for
from unbraid.spectral.selection import given_factors
from unbraid.trust.expected import ExpectedMCC
from unbraid.trust.theorems import theorem_of
from unbraid.trust.warnings import warn

INSTEAD = "hessian-ica"  # fitted if the recommended method does not accept a setting
FROM_TIME = "contrastive"  # trained where an embedding does not give the factors of a recording
FEWEST_STEPS = 2000  # rows of a recording that it needs; .99 and more on recordings of 3,000
AGREED = 6.5  # rotation doubt of an embedding that is kept; mixings that it misses have 7 to 16
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
    above .9; "no" if there is nothing to find, a factor is verified to wrap around, or 95 % of them were below .9; else
    "unsure", as where no similar data were simulated, the number of factors is unclear, or the codes are Gaussian, so
    that any rotation is as good. Findings that fail say what they cost.

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
    return examine(known, n_factors=n_factors, random_state=random_state)[0]


@one_thread()  # its many small products gain nothing from threads, which wait for each other by spinning
def examine(
    known: Observations, *, n_factors: int | str = "auto", random_state: Any = 0
) -> tuple[Diagnosis, dict[str, Any]]:
    """Diagnose, and return the fits made on the way, by method: a fit of the same data can continue from them.

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
    known, filling = completed(known)
    if filling is not None:
        found, _ = examine(known, n_factors=n_factors, random_state=random_state)
        verdict = "with care" if found.verdict == "yes" else found.verdict
        return replace(found, reasons=[*found.reasons, told_of_gaps(filling)], verdict=verdict), {}
    if known.covariates is not None:  # the rest is examined; a fit takes them away for itself
        rows = Rows(known.X)
        rows.scale = counts_of(rows)
        adjustment = adjustment_to(rows, known.covariates)
        rest = adjustment(rows.array().reshape(len(rows), -1), known.covariates).reshape(-1, *rows.row_shape)
        found, _ = examine(replace(known, X=rest, covariates=None), n_factors=n_factors, random_state=random_state)
        doubts = adjustment_concerns(adjustment)
        told = [*found.reasons, f"The covariates {adjustment}.", *doubts]
        verdict = "with care" if doubts and found.verdict == "yes" else found.verdict
        return replace(found, reasons=told, verdict=verdict, evidence=known.evidence), {}
    with heartbeat("diagnose") as now:
        return _examined(known, n_factors, check_random_state(random_state), now)


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
    wraps = any(f.assumption == LOOPS and f.holds is False for f in findings)
    if findings[0].holds and told is None and not wraps:
        told = linear_codes(survey)[1].diagnostics_  # the baseline, which is then the method
    findings += by_labels
    if rotation == "independence":
        findings = [priced(f, told.figures if told else {}) for f in findings]
        verdict = verdict_of(findings, told.expected_mcc if told else None, warned=bool(told and told.concerns))
    else:
        verdict = {True: "yes", False: "no", None: "unsure"}[held(findings)]
    method, reasons = _method(verdict, survey, findings, rotation, told.expected_mcc if told else None)
    if survey.counts is not None and METHODS[method].family in ("spectral", "product"):
        reasons.append(f"X holds counts: distances are measured between {survey.counts}.")
    reasons += [f"{found.words} {found.remedy}" for found in findings if found.key == "noisy_ring"]
    if METHODS[method].trained:
        verdict = "unsure"  # the assumptions of trained methods can be checked only in part
    if method == FROM_TIME:
        rotation = "independence"  # there is nothing to rotate
    n_found = survey.d if findings[0].holds else 0
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
    wraps = loops[0].holds is False
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


def _method(
    verdict: str, survey: Survey, findings: list[Finding], rotation: str, expected: ExpectedMCC | None
) -> tuple[str, list[str]]:
    """The name of a method and why."""
    states = {finding.assumption: finding.holds for finding in findings}
    if not states["structure"]:
        return "pca-ica", ["There is no structure to find; this shows the directions of largest variance."]
    if states.get(LOOPS) is False:
        return FOR_LOOPS, ["A factor wraps around: it needs an angle instead of a code."]
    if verdict != "yes" and _may_learn_from_time(survey, findings, expected):
        return FROM_TIME, [
            "The codes of an embedding depend on each other, but rows that follow each other are alike: a network that "
            "tells them from other rows finds factors that move independently, in steps that are not Gaussian, through "
            "a mixing of any shape. It is trained, which takes about a minute."
        ]
    if rotation != "independence":
        embedding = "pca-ica" if survey.flat else INSTEAD
        return embedding, [f"The codes are rotated by {rotation}: {theorem_of(embedding, rotation=rotation).sentence}"]
    if verdict != "yes" and labels_serve(findings):
        return "gin", [
            "Without labels the answer would be different; the labels meet the conditions of GIN that can be checked, "
            "and GIN needs neither a product nor non-Gaussian factors."
        ]
    if survey.flat:
        exact = "exact, and " if verdict == "yes" else ""
        return "pca-ica", [f"The data are flat: the linear method is {exact}the least sensitive to noise."]
    if survey.disconnected:
        return "pca-ica", [
            "The points are disconnected, so no nonlinear method can embed them together; this is the baseline."
        ]
    if survey.d > MOST_FACTORS or "independent codes" not in states:
        return "pca-ica", [
            "There are too many factors for so few points to use a nonlinear method; this is the baseline."
        ]
    reason = "The data are curved, with few factors: this method is proven to work under the assumptions below."
    return "hessian-ica", [reason] if held(findings) else ["The data are curved, with few factors."]


def _may_learn_from_time(survey: Survey, findings: list[Finding], expected: ExpectedMCC | None) -> bool:
    """Whether a recording is long enough, remembers, is curved, and the codes of its embedding are not independent.

    Factors can depend on each other, as where an animal does not visit all of a box alike: an embedding of which
    much is expected is kept if rotations under different assumptions agree on its codes. So is one of data whose noise
    hides the distances between neighbours, which the theory of learning from time leaves out.
    """
    agreed = any(f.key == "rotation_doubt" and f.figure is not None and f.figure <= AGREED for f in findings)
    states = {found.key: found.holds for found in findings}
    decided = survey.flat or survey.disconnected or survey.d < 2 or survey.n < FEWEST_STEPS
    noisy = states.get("local_isometry", False) is None
    kept = decided or noisy or bool(agreed and expected and expected.median >= GOOD)
    return not kept and states.get("autocorrelation") is True and states.get("dependence") is False


def fit(
    X: Any,
    method: str = "auto",
    *,
    labels: Any = None,
    pairs: Any = None,
    time: Any = None,
    sets: Any = None,
    covariates: Any = None,
    n_factors: int | str = "auto",
    random_state: Any = None,
    **settings: Any,
) -> Any:
    """Fit the method that :func:`~unbraid.diagnose` recommends for X, or one by its name.

    After "no" the best guess is fitted, with a warning (UB101) not to trust it. If the only problem is a factor that
    wraps around, :class:`~unbraid.ProductManifold` is fitted, and UB105 says that its codes are angles.

    Parameters
    ----------
    X : array (n, ...), or anything that the estimators take
    method : str
        "auto", or a name of the table of methods, such as "hessian-ica" or "beta-vae".
    labels, pairs, time, sets, covariates : arrays, optional
        What is known about the rows, as in :class:`~unbraid.Observations`, which can be given as X too. A named method
        refuses what it does not use; with "auto" the diagnosis examines it, and ``diagnosis_`` lists what was not used.
        The spectral methods rotate their codes by it, unless ``rotation`` says otherwise: "pairs", "time", and
        "condition" for labels ("labels" where they are factors of some rows, NaN elsewhere).
    n_factors : int or "auto"
        How many factors; "auto" estimates it, or means a network's own default.
    random_state : int, RandomState, Generator or None
        Makes the fit repeatable. The diagnosis is always repeatable, and so are the parts of it that are reused.
    **settings
        Parameters of the method. With "auto", a method that accepts them is chosen.

    Returns
    -------
    estimator
        Fitted. With "auto" its ``diagnosis_`` is the :class:`~unbraid.diagnosis.Diagnosis`, and saved with it.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(0).uniform(size=(600, 2))
    >>> model = fit(z @ [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]], random_state=0)
    >>> type(model).__name__, model.diagnosis_.verdict
    ('PCAICA', 'yes')
    """
    known = observe(X, labels=labels, pairs=pairs, time=time, sets=sets, covariates=covariates)
    if method != "auto":
        return _fitted(method, known, n_factors, rotated(method, known, settings), random_state)
    found, starts = examine(known, n_factors=n_factors)
    diagnosis, known, settings = choose(found, known, settings)
    known, diagnosis = _filled_for(known, diagnosis)
    start = start_of(diagnosis, known, settings, starts)
    count = n_factors if start is not None else counted(diagnosis, n_factors)
    model = _fitted(diagnosis.method, known, count, settings, random_state, start)
    model.diagnosis_ = diagnosis
    for name in found.evidence:
        if name not in known.evidence and (why := why_unused(name, diagnosis)):
            warn("UB110", evidence=name, why=why)
    if diagnosis.only_wraps:
        warn("UB105")
    elif diagnosis.verdict == "no":
        warn("UB101", causes=", ".join(diagnosis.causes), method=diagnosis.method)
    if any(found.key == "noisy_ring" for found in diagnosis.findings):
        warn("UB119")
    return model


def _filled_for(known: Observations, diagnosis: Diagnosis) -> tuple[Observations, Diagnosis]:
    """The data with their gaps filled, where the method, or the regression on covariates, does not take them."""
    if METHODS[diagnosis.method].load().takes_gaps and known.covariates is None:
        return known, diagnosis
    known, filling = completed(known)
    if filling is None:
        return known, diagnosis
    return known, replace(diagnosis, reasons=[*diagnosis.reasons, "The fit saw the filled values, too."])


def rotated(method: str, known: Observations, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with the rotation that uses the evidence, if the method has one and the user chose none."""
    if (
        not (set(known.evidence) - {COVARIATES}) & set(method_of(method).uses)
        or "rotation" in settings
        or not _takes(method, ["rotation"])
    ):
        return settings
    return settings | {"rotation": rotation_for(known.only(*set(known.evidence) - {COVARIATES}))}


def start_of(diagnosis: Diagnosis, known: Observations, settings: Mapping[str, Any], starts: Mapping[str, Any]) -> Any:
    """Where the fit can start: from what the diagnosis has embedded, or from the same points with another rotation.

    Of more rows than were examined, the settings of an embedding are chosen on the examined ones: on thousands of
    landmarks that takes minutes.
    """
    start, further = starts.get(diagnosis.method), set(settings) - {"n_factors"}
    if start is None or not further:
        return start
    if further != {"rotation"} or start.look.complete:
        return None
    options = {"n_factors": diagnosis.n_factors, "rotation": settings["rotation"], "random_state": 0}
    return METHODS[diagnosis.method].load()(**options).start_from(known.X, start.look)


def counted(diagnosis: Diagnosis, n_factors: int | str) -> int | str:
    """The number of factors to fit: the one of the diagnosis, where the method would estimate it once more."""
    estimates = METHODS[diagnosis.method].family == "spectral"
    return diagnosis.n_factors if n_factors == "auto" and estimates and diagnosis.n_factors else n_factors


def choose(
    diagnosis: Diagnosis, known: Observations, settings: dict[str, Any]
) -> tuple[Diagnosis, Observations, dict[str, Any]]:
    """What is fitted after a diagnosis: its method, the evidence that this uses, and the settings for it.

    HLLE+ICA replaces a recommended method that does not accept a setting. Evidence is used if the diagnosis found that
    it determines the codes, or recommends a method for it.

    Parameters
    ----------
    diagnosis : Diagnosis
    known : Observations
    settings : dict
        Parameters set by the user.

    Returns
    -------
    diagnosis : Diagnosis
        Its method is the one to fit; its reasons list the evidence that is not used.
    known : Observations
    settings : dict
    """
    if diagnosis.rotation != "independence" and "rotation" not in settings:
        settings = settings | {"rotation": diagnosis.rotation}
    diagnosis = _taking(replace(diagnosis, rotation=settings.get("rotation", diagnosis.rotation)), settings)
    by_rotation = ROTATIONS.get(settings.get("rotation", ""))
    if diagnosis.method == FROM_TIME:
        by_rotation, settings = "time", {"n_factors": diagnosis.n_factors} | settings
    more = [name for name in (by_rotation, COVARIATES) if name in METHODS[diagnosis.method].uses]
    used = known.only(*METHODS[diagnosis.method].needs, *more)
    for name in (name for name in known.evidence if name not in used.evidence):
        why = why_unused(name, diagnosis)
        unused = f"The fit does not use {name}{f': {why}' if why else '.'}"
        diagnosis = replace(diagnosis, reasons=[*diagnosis.reasons, unused])
    return diagnosis, used, settings


def _taking(diagnosis: Diagnosis, wanted: Collection[str]) -> Diagnosis:
    """The diagnosis, with HLLE+ICA as its method if the recommended one does not accept all parameters."""
    if _takes(diagnosis.method, wanted):
        return diagnosis
    if not _takes(INSTEAD, wanted):
        raise ValueError(
            f"the diagnosis recommends {diagnosis.method}, which does not accept all of {', '.join(wanted)}. Remove "
            "the parameters of other methods, or choose the method by name."
        )
    given = ", ".join(name for name in wanted if not _takes(diagnosis.method, [name]))
    reason = f"{INSTEAD} replaces {diagnosis.method}, which has no parameter {given}."
    return replace(diagnosis, method=INSTEAD, reasons=[*diagnosis.reasons, reason])


def _takes(method: str, wanted: Collection[str]) -> bool:
    return set(wanted) <= set(METHODS[method].load()().get_params(deep=False))


def _parameters(name: str, n_factors: int | str, settings: dict[str, Any]) -> dict[str, Any]:
    """The parameters of the estimator; a network has its own default number of codes and cannot estimate one."""
    method = method_of(name)
    known = method.load()().get_params(deep=False)
    unknown = [parameter for parameter in settings if parameter not in known]
    if unknown:
        raise ValueError(f"{name} has no parameter {', '.join(unknown)}. Its parameters: {', '.join(known)}.")
    if "n_factors" not in known and n_factors != "auto":
        raise ValueError(f"{name} has no parameter n_factors. Its parameters: {', '.join(known)}.")
    wanted = "n_factors" in known and not (n_factors == "auto" and (method.trained or known["n_factors"] == "auto"))
    return settings | ({"n_factors": n_factors} if wanted else {})


def _fitted(
    name: str, known: Observations, n_factors: int | str, settings: dict[str, Any], random_state: Any, start: Any = None
) -> Any:
    estimator = method_of(name).load()(**_parameters(name, n_factors, settings), random_state=random_state)
    if start is not None:
        estimator.continue_from(start)
    return estimator.fit(known)
