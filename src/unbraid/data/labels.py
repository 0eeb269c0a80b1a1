"""What a user gives as the condition: class labels, posterior class weights or continuous values."""

from dataclasses import dataclass, field

import numpy as np

from unbraid.trust.warnings import warn

LARGEST = 1e140  # beyond, sums of squares overflow
CONDITIONS = ("auto", "classes", "soft", "continuous")


@dataclass
class Labels:
    """A condition, parsed.

    Attributes
    ----------
    kind : {"classes", "soft", "continuous"}
    classes : array
        The class values; column numbers for soft labels, empty for continuous conditions.
    values : array
        (n,) class numbers, -1 for a point that is left out; (n, C) weights; or (n, q) standardised conditions.
    centre, scale : arrays
        Of continuous conditions.
    single : list
        Class values of one member each, which are left out.
    """

    kind: str
    classes: np.ndarray
    values: np.ndarray
    centre: np.ndarray
    scale: np.ndarray
    single: list = field(default_factory=list)


def parse_labels(labels: np.ndarray | None, n: int, condition: str = "auto") -> Labels:
    """As :func:`read_labels`, with a warning of the classes that are left out."""
    parsed = read_labels(labels, n, condition)
    if parsed.single:
        count = len(parsed.single)
        warn("UB303", stacklevel=3, count=count, of=count + len(parsed.classes), names=parsed.single[:5])
    return parsed


def read_labels(labels: np.ndarray | None, n: int, condition: str = "auto") -> Labels:
    """Sort out labels: ``auto`` reads integers, booleans and strings as classes, two-dimensional floats whose rows sum
    to 1 as soft labels, and other floats as continuous conditions (whole-numbered 1-D floats as classes).

    >>> read_labels(np.array(["a", "b", "a", "b"]), 4).values
    array([0, 1, 0, 1])
    """
    if labels is None:
        return Labels("classes", np.array([0]), np.zeros(n, int), np.zeros(0), np.ones(0))
    y = np.asarray(labels)
    if y.ndim == 2 and y.shape[1] == 1 and condition != "continuous":
        y = y[:, 0]
    if y.ndim not in (1, 2) or len(y) != n:
        raise ValueError(
            f"labels have shape {y.shape} and X has {n} rows. Give one label per row (n,), class weights (n, C) or "
            "continuous conditions (n, q)."
        )
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(
            f"labels hold {int((~np.isfinite(y)).sum())} NaN or infinite values, and a condition is known in all rows. "
            "Remove those rows; if labels are the factors of some rows, give them to HessianICA(rotation='labels')."
        )
    kind = _kind(y) if condition == "auto" else condition
    if kind == "soft":
        return _soft(y)
    if kind == "continuous":
        return _continuous(y)
    if y.ndim != 1:
        raise ValueError(f"class labels must be one-dimensional, and these have shape {y.shape}.")
    return _classes(y)


def parse_condition(method: str, labels: np.ndarray | None, n: int, condition: str = "auto") -> Labels:
    """As :func:`parse_labels`, for a method that cannot do without a condition that varies."""
    if labels is None:
        raise ValueError(
            f"{method} requires y to be passed, but the target y is None: a condition is what identifies the latents. "
            "Pass labels, or use SelfSupervisedGIN with augmentations, or RealNVP for a density alone."
        )
    parsed = parse_labels(labels, n, condition)
    if parsed.kind == "classes" and len(parsed.classes) < 2:
        raise ValueError(
            f"labels contain only one class ({parsed.classes.tolist()}); the latents are identified by how their "
            "distributions differ between classes. Pass at least two, or use RealNVP without labels for a density."
        )
    return parsed


def warn_of_few_conditions(n_conditions: int, n_informative: int) -> None:
    """Warn when there are fewer than n k + 1 conditions for n latents with k = 2 statistics each."""
    needed = 2 * n_informative + 1
    if n_conditions < needed:
        warn("UB104", stacklevel=4, conditions=n_conditions, latents=n_informative, needed=needed, statistics=2)


def _kind(y: np.ndarray) -> str:
    if y.dtype.kind != "f":
        return "classes" if y.ndim == 1 else "continuous"
    if y.ndim == 1:
        return "classes" if (y == np.round(y)).all() and len(np.unique(y)) <= max(2, len(y) // 2) else "continuous"
    return "soft" if _are_weights(y) else "continuous"


def _are_weights(y: np.ndarray) -> bool:
    return bool((y >= -1e-6).all()) and np.allclose(y.sum(1), 1, atol=1e-3)


def _classes(y: np.ndarray) -> Labels:
    classes, values, counts = np.unique(y, return_inverse=True, return_counts=True)
    lonely = counts < 2
    if lonely.all():
        raise ValueError(
            f"each of the {len(classes)} classes has one member only; a class needs two for a variance. Give a "
            "condition that differs from row to row as numbers with decimals, or use condition='continuous'."
        )
    number = np.where(lonely, -1, np.cumsum(~lonely) - 1)
    single = classes[lonely].tolist()
    return Labels("classes", classes[~lonely], number[values], np.zeros(0), np.ones(0), single)


def _soft(y: np.ndarray) -> Labels:
    if y.ndim != 2 or not _are_weights(y):
        raise ValueError(
            f"soft labels must be (n, C) weights of at least 0 with rows that sum to 1; received shape {y.shape}. "
            "Divide the rows by their sums."
        )
    weights = np.clip(y, 0, None).astype(np.float64)
    return Labels("soft", np.arange(y.shape[1]), weights / weights.sum(1, keepdims=True), np.zeros(0), np.ones(0))


def _continuous(y: np.ndarray) -> Labels:
    try:
        values = y.astype(np.float64).reshape(len(y), -1)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"a continuous condition holds numbers, and labels are {y.dtype} ({error}).") from error
    if not np.abs(values).max(initial=0) < LARGEST:
        raise ValueError(
            f"labels reach {np.abs(values).max():.3g}, and the squares of such numbers do not fit into float64. "
            "Rescale them: the unit of a condition does not matter."
        )
    centre, scale = values.mean(0), values.std(0)
    if not (scale > 0).any():
        raise ValueError(
            "the continuous condition is constant, so it is uninformative about the latents. Check labels."
        )
    scale = np.where(scale > 0, scale, 1)
    return Labels("continuous", np.array([]), (values - centre) / scale, centre, scale)
