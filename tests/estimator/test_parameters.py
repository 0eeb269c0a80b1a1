"""Every parameter of every method says what it may be, and a wrong one is refused by its name and value."""

import inspect
import re

import numpy as np
import pytest

from unbraid.estimator.parameters import Having, Number, Whole, check_parameter
from unbraid.methods import METHODS
from unbraid.testing.data import needed_evidence

TAKES_TEXT = {"checkpoint", "log", "device"}
TAKES_TRUTH = {"progress", "count_twice"}
WRONG = {"object": object(), "nan": float("nan"), "bytes": b"auto", "True": True, "text": "no such thing"}


def parameters_of(cls):
    return {k: p.default for k, p in inspect.signature(cls.__init__).parameters.items() if k != "self"}


@pytest.mark.parametrize("method", METHODS)
def test_every_parameter_has_a_constraint_that_its_default_meets(method):
    cls = METHODS[method].load()
    assert set(cls._parameter_constraints) == set(parameters_of(cls))
    for name, default in parameters_of(cls).items():
        check_parameter(name, default, cls._parameter_constraints[name])
        if isinstance(default, int) and not isinstance(default, bool):
            check_parameter(name, np.int64(default), cls._parameter_constraints[name])


@pytest.mark.parametrize("method", METHODS)
def test_a_wrong_value_is_refused_by_fit_with_its_name_and_what_was_received(method):
    cls = METHODS[method].load()
    X = np.random.default_rng(0).normal(size=(12, 2, 3))
    for name, default in parameters_of(cls).items():
        for kind, value in WRONG.items():
            if kind == "text" and name in TAKES_TEXT:
                continue
            if kind == "True" and (isinstance(default, bool) or name in TAKES_TRUTH):
                continue
            with pytest.raises((ValueError, TypeError), match=rf"{name}={re.escape(repr(value))}"):
                cls(**{name: value}).fit(X, np.arange(12) % 2, **needed_evidence(cls(), 12))


@pytest.mark.parametrize(
    ("constraint", "right", "wrong"),
    [
        (Whole(2, 4), [2, 4, np.uint8(3)], [1, 5, 3.0, True, np.True_, "3", None, np.array([3])]),
        (Number(0, below=1), [0, 0.5, np.float32(0.5), np.int64(0)], [1, -1e-9, float("nan"), False, "0.5", 1j]),
        (Number(above=0), [1e-300, float("inf")], [0, -1, float("nan")]),
        (Number(), [-5, 0.0], [float("nan"), True]),
        (Having(("fit", "transform")), [METHODS["pca-ica"].load()()], [METHODS["pca-ica"].load(), 3, None]),
    ],
)
def test_constraints(constraint, right, wrong):
    for value in right:
        check_parameter("p", value, (constraint,))
    for value in wrong:
        with pytest.raises(ValueError, match=re.escape(f"p={value!r} must be {constraint!r}")):
            check_parameter("p", value, (constraint,))
