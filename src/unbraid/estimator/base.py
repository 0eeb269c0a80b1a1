"""What every estimator is: scikit-learn's contract, parameters that are declared and checked, one way in and out."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unbraid.data.observations import Observations, data_of, observe
from unbraid.data.rows import Rows
from unbraid.estimator.summary import Fact, Summary
from unbraid.methods import EVIDENCE, method_of_class, methods_using, uses_of
from unbraid.saving.persistence import Persistent


@dataclass(frozen=True)
class Number:
    """A number within bounds; no bool, no NaN.

    >>> Number(above=0, most=2)
    a number above 0 and at most 2
    """

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None

    _type: ClassVar[type] = Real
    _name: ClassVar[str] = "a number"

    def allows(self, value: Any) -> bool:
        if not isinstance(value, self._type) or isinstance(value, bool):
            return False
        number: Any = value
        return (
            number == number
            and (self.least is None or number >= self.least)
            and (self.most is None or number <= self.most)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )

    def __repr__(self) -> str:
        names = {"least": "of at least", "above": "above", "most": "at most", "below": "below"}
        bounds = [f"{words} {getattr(self, k):g}" for k, words in names.items() if getattr(self, k) is not None]
        return " ".join([self._name, " and ".join(bounds)]).strip()


@dataclass(frozen=True, repr=False)
class Whole(Number):
    """A whole number within bounds, also of numpy; no bool.

    >>> Whole(1).allows(np.int64(3)), Whole(1).allows(True), Whole(1).allows(3.0)
    (True, False, False)
    """

    _type: ClassVar[type] = Integral
    _name: ClassVar[str] = "a whole number"


@dataclass(frozen=True)
class Having:
    """An object with these methods."""

    methods: tuple[str, ...]

    def allows(self, value: Any) -> bool:
        return not isinstance(value, type) and all(callable(getattr(value, name, None)) for name in self.methods)

    def __repr__(self) -> str:
        return f"an object with {' and '.join(self.methods)}"


class Hint(str):
    """What to try, for the end of the message."""


FUNCTION = Having(("__call__",))
COUNT = (Whole(1),)
COUNT_OR_AUTO = (Whole(1), "auto")
RANDOM_STATE = (Whole(0, 2**32 - 1), np.random.RandomState, np.random.Generator, None)
ARTICLES = {
    bool: "True or False", str: "a string", tuple: "a tuple", list: "a list",
    np.random.RandomState: "a numpy.random.RandomState", np.random.Generator: "a numpy.random.Generator",
}  # fmt: skip


def check_parameter(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Refuse a value that is none of those allowed: constraints, types, or values (words and None) themselves.

    >>> check_parameter("n_init", 0, (Whole(1), "auto", Hint("Try 3.")))
    Traceback (most recent call last):
    ValueError: n_init=0 must be a whole number of at least 1 or 'auto'. Try 3.
    """
    options = [option for option in allowed if not isinstance(option, Hint)]
    if any(_allows(option, value) for option in options):
        return
    names = [ARTICLES.get(o, f"a {o.__name__}") if isinstance(o, type) else repr(o) for o in options]
    listed = " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    hints = "".join(f" {option}" for option in allowed if isinstance(option, Hint))
    raise ValueError(f"{name}={value!r} must be {listed}.{hints}")


def _allows(option: Any, value: Any) -> bool:
    if option is None or isinstance(option, str):
        return value is None if option is None else isinstance(value, str) and value == option
    if option is bool:
        return isinstance(value, bool | np.bool_)
    return isinstance(value, option) if isinstance(option, type) else option.allows(value)


class Parameters:
    """The parameters of an estimator.

    A subclass's ``__init__(self, added=..., **settings)`` passes ``settings`` on; its signature shows both, and
    scikit-learn reads the parameters from that. ``_parameter_constraints`` declares what each parameter that a class
    adds may be; those of its bases count too.

    >>> class Base(Parameters):
    ...     _parameter_constraints = {"a": (Whole(1),)}
    ...     def __init__(self, a=1): self.a = a
    >>> class More(Base):
    ...     _parameter_constraints = {"b": ("x", "y", None)}
    ...     def __init__(self, b="x", **settings):
    ...         super().__init__(**settings)
    ...         self.b = b
    >>> inspect.signature(More)
    <Signature (b='x', a=1)>
    >>> More(a=0)._check_parameters()
    Traceback (most recent call last):
    ValueError: a=0 must be a whole number of at least 1.
    """

    _parameter_constraints: ClassVar[Mapping[str, Sequence[Any]]] = {}

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        declared = [vars(base).get("_parameter_constraints", {}) for base in reversed(cls.__mro__)]
        cls._parameter_constraints = {name: allowed for one in declared for name, allowed in one.items()}
        own = inspect.signature(cls.__init__)
        if "__init__" in vars(cls) and any(p.kind is p.VAR_KEYWORD for p in own.parameters.values()):
            named = {k: p for k, p in own.parameters.items() if p.kind is not p.VAR_KEYWORD}
            inherited = inspect.signature(super(cls, cls).__init__).parameters
            rest = [p for k, p in inherited.items() if k not in named]
            cls.__init__.__signature__ = own.replace(parameters=[*named.values(), *rest])  # type: ignore[attr-defined]

    def _check_parameters(self) -> None:
        """Every parameter against its constraint; subclasses add what depends on several of them."""
        for name, allowed in self._parameter_constraints.items():
            check_parameter(name, getattr(self, name), allowed)


class Estimator(Parameters, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, Persistent):
    """Base of every estimator.

    ``fit`` reads its data by ``_read``, ``transform`` by ``_read_new``; both take what
    :class:`~unbraid.data.rows.Rows` takes, by the one rule for units that is written there.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : array of str
        Of a frame whose columns have names.
    row_shape_ : tuple of int
        Shape of one row as it was given.
    unit_ : float
        What stored values are divided by; 255 for uint8 pictures.
    is_picture_ : bool
        Whether the rows were bytes or bools of two or three axes: codes are then decoded to [0, 1].
    evidence_ : dict of str to str
        What the fit used besides X, by its name, with shape, type and checksum; a resumed run must have the same.
    """

    unit_interval: ClassVar[bool] = False  # whether float images, too, must lie in [0, 1]
    row_shape_: tuple[int, ...]
    unit_: float
    is_picture_: bool
    evidence_: dict[str, str]

    def summary(self) -> Summary:
        """What a report or a terminal shows about this fitted model."""
        check_is_fitted(self)
        found, evidence = self._summary(), getattr(self, "evidence_", {})
        if not evidence:
            return found
        marks = "; ".join(f"{name} {mark}" for name, mark in evidence.items())
        more = Fact("evidence", ", ".join(evidence), f"What the fit used besides X (shape, type, checksum): {marks}.")
        return replace(found, facts=[*found.facts, more])

    def _summary(self) -> Summary:
        raise NotImplementedError

    @property
    def uses(self) -> tuple[str, ...]:
        """What ``fit`` uses besides X, with these parameters: of labels, pairs, time, sets and covariates."""
        return uses_of(type(self))

    def _observed(self, X: Any, labels: Any = None, **evidence: Any) -> Observations:
        """X and what ``fit`` was given about its rows, as one; what is given twice or not used is refused."""
        observed = observe(X, labels=labels, **evidence)
        for name in set(observed.evidence) - set(uses_of(type(self))):
            users = ", ".join(methods_using(name)) or "none"
            raise ValueError(f"{type(self).__name__} does not use {name}. Methods that do: {users}.")
        method = method_of_class(type(self))
        needs = set(method.needs if method else ()) - {"labels"}  # GIN has its own message
        for name in needs & set(EVIDENCE):
            if name not in observed.evidence:
                raise ValueError(f"{type(self).__name__} needs {name}: fit(X, {name}=...).")
        self.evidence_ = observed.marks()
        return observed

    def _read(self, X: Any, *, fewest: int = 2) -> Rows:
        """Data to fit, once the parameters are checked: their shape, names and unit are kept."""
        self._check_parameters()
        X = self._observed(X).X
        rows = Rows(X, fewest=fewest)
        rows.in_unit_interval = self.unit_interval and len(rows.row_shape) > 1
        self._note_names(X, rows, reset=True)
        self.n_features_in_ = rows.n_features
        self.row_shape_ = rows.row_shape
        self.unit_ = rows.unit
        self.is_picture_ = rows.is_picture
        return rows

    def _read_new(self, X: Any) -> Rows:
        """New data, in the shape and the unit of those that were fitted, with their columns in the same order."""
        X = data_of(X)
        rows = Rows(X)
        self._note_names(X, rows, reset=False)
        if rows.n_features != self.n_features_in_:
            raise ValueError(
                f"X has {rows.n_features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        if rows.row_shape != tuple(self.row_shape_):
            raise ValueError(
                f"X has rows of shape {rows.row_shape}, but {type(self).__name__} was fitted on rows of shape "
                f"{tuple(self.row_shape_)}. Reshape X."
            )
        rows.read_as(unit=self.unit_, is_picture=self.is_picture_, unit_interval=self.unit_interval)
        return rows

    def _note_names(self, X: Any, rows: Rows, *, reset: bool) -> None:
        """Feature names by scikit-learn's rules: kept in ``fit``, compared afterwards."""
        if len(rows.row_shape) == 1 and (hasattr(X, "shape") or rows.names is not None):
            validate_data(self, X, reset=reset, skip_check_array=True)

    def _decoded(self, rows: NDArray) -> NDArray:
        """Decoded rows (n, n_features) in the shape that was given; pictures within [0, 1]."""
        rows = np.asarray(rows).reshape(-1, *self.row_shape_)
        return np.clip(rows, 0, 1, out=rows) if self.is_picture_ else rows

    def _check_codes(self, codes: Any, width: int) -> NDArray:
        """Codes (n, width), finite, as floats."""
        values = np.asarray(codes)
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float64)
        if values.ndim != 2 or values.shape[1] != width:
            raise ValueError(f"codes have shape {values.shape}; they must be (n, {width}).")
        if not np.isfinite(values).all():
            raise ValueError("codes contain NaN or infinity.")
        return values
