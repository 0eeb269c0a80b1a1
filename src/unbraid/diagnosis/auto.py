"""``fit``: the method that the diagnosis recommends, with the reasons kept."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from unbraid.diagnosis.diagnose import diagnose
from unbraid.diagnosis.findings import Diagnosis
from unbraid.methods import METHODS, Method, method_of
from unbraid.trust.warnings import warn

INSTEAD = "hessian-ica"


def fit(
    X: Any,
    method: str = "auto",
    *,
    labels: Any = None,
    n_factors: int | str = "auto",
    random_state: Any = None,
    **settings: Any,
) -> Any:
    """Fit the method that :func:`~unbraid.diagnose` recommends for X, or one by its name.

    After "no" the best guess is fitted, and a warning (UB101) says that it is not to be trusted; where a factor wraps
    around and nothing else is wrong, :class:`~unbraid.ProductManifold` is, and UB105 says that its codes are angles.

    Parameters
    ----------
    X : array (n, ...), or anything that the estimators take
    method : str
        "auto", or a name of the table of methods, such as "hessian-ica" or "beta-vae".
    labels : array (n,) or (n, q), optional
        A condition for methods that take one; the diagnosis looks at it too.
    n_factors : int or "auto"
        How many factors; "auto" estimates it, or means a network's own default.
    random_state : int, RandomState, Generator or None
        Makes the fit repeatable. The diagnosis is repeatable in any case.
    **settings
        Parameters of the method. With "auto", a method that takes them is chosen.

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
    if method != "auto":
        return _fitted(method, X, labels, _parameters(method, n_factors, settings), random_state)
    diagnosis = choose(diagnose(X, labels, n_factors=n_factors), settings)
    model = _fitted(
        diagnosis.method, X, labels, _parameters(diagnosis.method, n_factors, settings), random_state, strict=False
    )
    model.diagnosis_ = diagnosis
    if diagnosis.only_wraps:
        warn("UB105")
    elif diagnosis.verdict == "no":
        warn("UB101", causes=", ".join(diagnosis.causes), method=diagnosis.method)
    return model


def choose(diagnosis: Diagnosis, wanted: Collection[str]) -> Diagnosis:
    """The diagnosis itself; with parameters that its method does not take, one whose method is HLLE+ICA instead.

    Parameters
    ----------
    diagnosis : Diagnosis
    wanted : collection of str
        Names of parameters that the user gave.

    Returns
    -------
    Diagnosis
    """
    if _takes(diagnosis.method, wanted):
        return diagnosis
    if not _takes(INSTEAD, wanted):
        raise ValueError(
            f"the diagnosis recommends {diagnosis.method}, which does not take all of {', '.join(wanted)}. Leave out "
            "what is for another method, or name the method."
        )
    given = ", ".join(name for name in wanted if not _takes(diagnosis.method, [name]))
    reason = f"{INSTEAD} stands in for {diagnosis.method}, which has no {given}."
    return replace(diagnosis, method=INSTEAD, reasons=[*diagnosis.reasons, reason])


def _takes(method: str, wanted: Collection[str]) -> bool:
    return set(wanted) <= set(METHODS[method].load()().get_params(deep=False))


def _parameters(name: str, n_factors: int | str, settings: dict[str, Any]) -> dict[str, Any]:
    """What the estimator is made with; a network has a number of codes of its own, and no way to estimate one."""
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
    name: str, X: Any, labels: Any, parameters: dict[str, Any], random_state: Any, *, strict: bool = True
) -> Any:
    method: Method = method_of(name)
    estimator = method.load()(**parameters, random_state=random_state)
    if method.takes_labels and labels is not None:
        return estimator.fit(X, labels)
    if strict and labels is not None:
        takers = ", ".join(known for known, other in METHODS.items() if other.takes_labels)
        raise ValueError(f"{name} does not take labels. Methods that do: {takers}.")
    return estimator.fit(X)
