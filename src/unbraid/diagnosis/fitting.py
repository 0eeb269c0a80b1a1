"""``fit`` fits the method that the diagnosis recommends, with the evidence that serves it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from unbraid.data.observations import Observations, observe
from unbraid.diagnosis.diagnose import examine
from unbraid.diagnosis.evidence import why_unused
from unbraid.diagnosis.findings import RING, Diagnosis
from unbraid.diagnosis.verdict import FROM_TIME, INSTEAD
from unbraid.methods import COVARIATES, METHODS, method_of
from unbraid.spectral.evidence import ROTATIONS, rotation_for
from unbraid.spectral.gaps import Filling
from unbraid.trust.warnings import warn


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

    After "no" the best guess is fitted, with a warning (UB101) not to trust it. If a factor is verified to wrap around,
    :class:`~unbraid.ProductManifold` is fitted, and UB105 says that its codes are angles.

    Parameters
    ----------
    X : array (n, ...), or anything that the estimators take
        A list of arrays (length, features) of different lengths is several recordings; of one length, give
        :meth:`unbraid.Observations.recordings`, or their times.
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
    plan = plan_of(known, n_factors, settings)
    diagnosis = plan.diagnosis
    model = _fitted(diagnosis.method, plan.known, plan.n_factors, plan.settings, random_state, plan.start)
    plan.note_on(model)
    for name in known.evidence:
        if name not in plan.known.evidence and (why := why_unused(name, diagnosis)):
            warn("UB110", evidence=name, why=why)
    if diagnosis.only_wraps or diagnosis.one_ring:
        warn("UB105")
    elif diagnosis.verdict == "no":
        warn("UB101", causes=", ".join(diagnosis.causes), method=diagnosis.method)
    if not diagnosis.one_ring and any(found.assumption == RING for found in diagnosis.findings):
        warn("UB119")
    return model


@dataclass(frozen=True)
class Plan:
    """What is fitted after a diagnosis.

    Attributes
    ----------
    diagnosis : Diagnosis
        Its method is the one to fit; its reasons list the evidence that is not used.
    known : Observations
        The data, with the evidence that the method uses; their gaps are filled where it does not take them.
    n_factors : int or "auto"
    settings : dict
        Further parameters: those that the user set, and those that the diagnosis asks for.
    start : Any
        What the fit continues from, or None.
    filling : Filling or None
        What filled the gaps.
    """

    diagnosis: Diagnosis
    known: Observations
    n_factors: int | str
    settings: dict[str, Any]
    start: Any
    filling: Filling | None

    def note_on(self, model: Any) -> None:
        """Keep the diagnosis with the fitted model, and the filling, so that it takes new rows with gaps."""
        model.diagnosis_ = self.diagnosis
        if self.filling is not None:
            model.filling_ = self.filling


def plan_of(known: Observations, n_factors: int | str, settings: dict[str, Any]) -> Plan:
    """Diagnose, and choose what is fitted then.

    Parameters
    ----------
    known : Observations
    n_factors : int or "auto"
    settings : dict
        Further parameters, set by the user.

    Returns
    -------
    Plan
    """
    examined = examine(known, n_factors=n_factors)
    diagnosis, used, settings = choose(examined.diagnosis, known, settings)
    start = start_of(diagnosis, used, settings, examined.starts)
    filling = examined.filling
    if METHODS[diagnosis.method].load().takes_gaps and used.covariates is None:  # their regression takes no gaps
        filling = None
    if filling is not None:
        used = replace(used, X=examined.whole.X)
        diagnosis = replace(diagnosis, reasons=[*diagnosis.reasons, "The fit saw the filled values, too."])
    count = n_factors if start is not None else counted(diagnosis, n_factors)
    return Plan(diagnosis, used, count, settings, start, filling)


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
    if diagnosis.one_ring:
        settings = {"kinds": "circle"} | settings
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
    verdict = "no" if diagnosis.only_wraps else diagnosis.verdict  # it has no angle
    return replace(diagnosis, method=INSTEAD, verdict=verdict, reasons=[*diagnosis.reasons, reason])


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
