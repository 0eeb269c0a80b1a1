"""Parameters of an estimator: declared once, checked before a fit, and refused with what is allowed."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np


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
