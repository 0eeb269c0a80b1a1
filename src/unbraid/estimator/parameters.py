"""Estimators that name only the parameters they add, and still show all of them."""

import inspect
from typing import Any


class InheritsParameters:
    """A subclass's ``__init__(self, added=..., **settings)`` passes ``settings`` on; its signature shows both.

    scikit-learn reads the parameters of an estimator from that signature.

    >>> class Base(InheritsParameters):
    ...     def __init__(self, a=1): ...
    >>> class More(Base):
    ...     def __init__(self, b=2, **settings): ...
    >>> inspect.signature(More)
    <Signature (b=2, a=1)>
    """

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        own = inspect.signature(cls.__init__)
        if "__init__" in vars(cls) and any(p.kind is p.VAR_KEYWORD for p in own.parameters.values()):
            named = {k: p for k, p in own.parameters.items() if p.kind is not p.VAR_KEYWORD}
            inherited = inspect.signature(super(cls, cls).__init__).parameters
            rest = [p for k, p in inherited.items() if k not in named]
            cls.__init__.__signature__ = own.replace(parameters=[*named.values(), *rest])  # type: ignore[attr-defined]
