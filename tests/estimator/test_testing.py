"""Every check passes on an estimator that keeps the contract, and catches one that breaks it in one place."""

import warnings

import numpy as np
import pytest
from sklearn.utils import check_random_state as no_generator

from tests.estimator.exemplary import Exemplary
from tests.facts import facts
from unbraid.data.rows import Rows
from unbraid.estimator.summary import Fact, Section, Summary
from unbraid.saving.encoding import register
from unbraid.testing import CHECKS, ContractError, check_estimator_contract

BROKEN = {}


def breaks(check, *named):
    """Register an estimator that must fail this check with an error that names these."""

    def keep(cls):
        BROKEN[cls.__name__] = (cls, check, named)
        return register(cls)

    return keep


@breaks("parameters", "__init__", "n_factors")
class ConvertsAParameter(Exemplary):
    def __init__(self, n_factors=2, *, random_state=None):
        super().__init__(random_state=random_state)
        self.n_factors = str(n_factors)


@breaks("parameters", "__init__", "cache")
class SetsMore(Exemplary):
    def __init__(self, n_factors=2, *, random_state=None):
        super().__init__(n_factors, random_state=random_state)
        self.cache = {}


@breaks("parameters", "fit", "n_factors")
class ChangesAParameter(Exemplary):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.n_factors += 1
        return self


@breaks("inputs", "transform", "frame")
class TreatsFramesDifferently(Exemplary):
    def transform(self, X):
        return super().transform(X) + hasattr(X, "columns")


@breaks("inputs", "fit", "memory map")
class FitsMapsDifferently(Exemplary):
    def fit(self, X, y=None):
        return super().fit(np.array(X) * [1, 1, 1, 9] if isinstance(X, np.memmap) else X, y)


@breaks("pictures", "decoded")
class DecodesToBytes(Exemplary):
    def _decoded(self, rows):
        return 255 * np.asarray(rows).reshape(-1, *self.row_shape_)


@breaks("pictures", "[0, 1]")
class ReadsFloatsAsTheyCome(Exemplary):
    def transform(self, X):
        scale = 255 if getattr(X, "ndim", 2) == 3 and X.dtype.kind == "f" else 1
        return super().transform(X) * scale


@breaks("pictures", "0..255", "uint8")
class TakesAnyPicture(Exemplary):
    def transform(self, X):
        values = Rows(X).array()
        return (values.reshape(len(values), -1) - self.mean_) @ self.axes_


@breaks("row_by_row", "row")
class CentresTheBatch(Exemplary):
    def transform(self, X):
        codes = super().transform(X)
        return codes - codes.mean(0)


@breaks("saving", "codes", "saved")
class SavesRoughly(Exemplary):
    def _get_state(self):
        state = super()._get_state()
        return {**state, "axes_": state["axes_"].astype(np.float32)}


@breaks("saving", "HoldsAFunction.callback_", "pickle")
class HoldsAFunction(Exemplary):
    def fit(self, X, y=None):
        self.callback_ = lambda: 0
        return super().fit(X, y)


@breaks("random_state", "RandomState")
class TakesNoGenerator(Exemplary):
    def fit(self, X, y=None):
        no_generator(self.random_state)
        return super().fit(X, y)


@breaks("random_state", "random_state=3")
class IgnoresTheSeed(Exemplary):
    def _resume(self, identity, rng):
        return super()._resume(identity, np.random.default_rng())


@breaks("global_randomness", "fit", "numpy")
class DrawsGlobally(Exemplary):
    def fit(self, X, y=None):
        np.random.uniform()  # noqa: NPY002
        return super().fit(X, y)


@breaks("resume", "checkpoint", "data")
class TakesAnyCheckpoint(Exemplary):
    def _resume(self, identity, rng):
        if self.checkpoint is None or not self._file.exists():
            return super()._resume(identity, rng)
        with np.load(self._file) as kept:
            return int(kept["step"]), kept["axes"]


@breaks("resume", "codes", "resumed")
class ForgetsOnResume(Exemplary):
    def _resume(self, identity, rng):
        step, axes = super()._resume(identity, rng)
        return step, axes + (step > 0) * np.eye(*axes.shape)


@breaks("resume", "max_seconds=1e-9", "step 4")
class NeverStops(Exemplary):
    def fit(self, X, y=None):
        given, self.max_seconds = self.max_seconds, None
        super().fit(X, y)
        self.max_seconds = given
        return self


@breaks("feature_names", "frame", "columns")
class IgnoresNames(Exemplary):
    def _note_names(self, X, rows, *, reset):
        if reset:
            super()._note_names(X, rows, reset=reset)


@breaks("feature_names", "set_output", "ndarray")
class GivesNoFrames(Exemplary):
    def set_output(self, *, transform=None):
        return self


@breaks("warnings", "UserWarning", "careful")
class WarnsOnItsOwn(Exemplary):
    def fit(self, X, y=None):
        warnings.warn("careful", UserWarning, stacklevel=2)
        return super().fit(X, y)


@breaks("summary", "draw", "function")
class ShowsAFunction(Exemplary):
    def summary(self):
        return Summary("x", [Fact("a", "1", "")], sections=[Section("s", data={"draw": self.summary.__func__})])


@breaks("summary", "Fact(name='a', value=1, meaning='')")
class StatesANumber(Exemplary):
    def summary(self):
        return Summary("x", [Fact("a", 1, "")])


@breaks("decoding", (80, 2), (80, 4))
class DecodesCodesOnly(Exemplary):
    def inverse_transform(self, codes):
        self._check_codes(codes, 2)
        return np.asarray(codes)


@breaks("decoding", "code")
class DecodesAnything(Exemplary):
    def inverse_transform(self, codes):
        return super().inverse_transform(np.asarray(codes)[:, :2])


@breaks("chance", "MCC", "noise")
class LearnsLabelsByHeart(Exemplary):
    def fit(self, X, y=None):
        super().fit(X, y)
        codes = super().transform(X)
        self.known_ = {round(float(code), 9): int(label) for code, label in zip(codes[:, 0], y)}
        return self

    def transform(self, X):
        codes = super().transform(X)
        labels = np.array([self.known_.get(round(float(code), 9), 0) for code in codes[:, 0]])
        return np.stack([labels % 2, labels // 2], axis=1).astype(float) + 1e-3 * codes


@pytest.mark.parametrize("check", CHECKS)
def test_an_exemplary_estimator_passes(check):
    assert [r.outcome for r in check_estimator_contract(Exemplary(), checks=[check])] == ["passed"]


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_one_is_caught(name):
    cls, check, named = BROKEN[name]
    with pytest.raises(ContractError, match=facts(name, "1 of 1", f"{check}:", *named)):
        check_estimator_contract(cls(), checks=[check])


def test_every_check_catches_something():
    assert {check for _, check, _ in BROKEN.values()} == set(CHECKS)


def test_all_failures_are_told_at_once_and_expected_ones_are_not_failures():
    class Twice(WarnsOnItsOwn, DecodesCodesOnly):
        pass

    with pytest.raises(ContractError) as caught:
        check_estimator_contract(Twice(), checks=["warnings", "decoding", "row_by_row"])
    assert [r.outcome for r in caught.value.results] == ["failed", "failed", "passed"]
    assert "warnings: " in str(caught.value)
    assert "decoding: " in str(caught.value)
    expected = {"warnings": "it is careful", "decoding": "it cannot"}
    results = check_estimator_contract(Twice(), checks=["warnings", "decoding"], expected_failures=expected)
    assert [(r.outcome, r.reason) for r in results] == [("expected", "it is careful"), ("expected", "it cannot")]


def test_an_expected_failure_that_passes_is_a_failure():
    with pytest.raises(ContractError, match=facts("Exemplary", "summary", "some day")):
        check_estimator_contract(Exemplary(), checks=["summary"], expected_failures={"summary": "some day"})


def test_unknown_checks_are_refused():
    with pytest.raises(ValueError, match=facts("'speed'", "parameters", "inputs")):
        check_estimator_contract(Exemplary(), expected_failures={"speed": "slow"})
