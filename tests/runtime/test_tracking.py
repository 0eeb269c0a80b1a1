"""What a tracker is told: every logged step once, every score, and how it ended. The real ones: make test-trackers."""

import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import unbraid as ub
from tests.facts import facts
from unbraid.runtime.tracking import Track


class Kept:
    """A tracker that keeps what it is told."""

    def __init__(self):
        self.told, self.steps, self.failed = {}, [], None

    def parameters(self, values):
        assert not self.told.keys() & values.keys()  # MLflow refuses a second value
        self.told |= values

    def figures(self, values, step):
        self.steps.append((step, values))

    def close(self, failed):
        assert self.failed is None
        self.failed = failed

    def series(self, name):
        return [(step, values[name]) for step, values in self.steps if name in values]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    factors = rng.uniform(size=(120, 2))
    return factors @ rng.normal(size=(2, 5)), factors


def vae(**more):
    return ub.VAE(n_factors=2, batch_size=32, random_state=0, **{"max_steps": 6, "log_every": 2, **more})


def test_training_and_evaluation_arrive_and_the_second_model_has_its_own_name(data):
    with ub.tracking(Kept()) as kept:
        first, second = vae().fit(data[0]), vae(max_steps=4).fit(data[0])
        scores = ub.evaluate(first, data, metrics=["mcc", "total_correlation"])
    assert kept.series("VAE/loss") == [(r["step"], r["loss"]) for r in first.history_]
    assert kept.series("VAE-2/loss") == [(r["step"], r["loss"]) for r in second.history_]
    assert kept.told["VAE/n_factors"] == 2
    assert kept.told["evaluation/protocol"] == "fast"
    assert kept.series("evaluation/mcc") == [(0, scores["mcc"].value)]
    assert kept.series("evaluation/mcc_ceiling") == [(0, scores["mcc"].ceiling)]
    assert kept.series("evaluation/total_correlation_chance") == []  # NaN: it knows no factors
    assert kept.failed is False


def test_a_training_that_goes_on_tells_the_steps_before_it(data, tmp_path):
    with pytest.warns(ub.warnings.ConvergenceWarning):
        vae(log_every=1, max_seconds=0, checkpoint=tmp_path / "c").fit(data[0])
    with ub.tracking(Kept()) as kept:
        model = vae(log_every=1, checkpoint=tmp_path / "c").fit(data[0])
    assert kept.series("VAE/loss") == [(r["step"], r["loss"]) for r in model.history_]
    assert [step for step, _ in kept.series("VAE/loss")] == [1, 2, 3, 4, 5, 6]


def test_an_error_closes_the_tracker_as_failed_and_tracking_is_off_again():
    kept = Kept()
    with pytest.raises(ArithmeticError), ub.tracking(kept):
        raise ArithmeticError
    assert kept.failed is True
    Track("VAE", {"beta": 1})({"loss": 1.0}, 1)
    assert not kept.told
    assert not kept.steps


def test_two_trackers_at_once_are_refused():
    with ub.tracking(Kept()), pytest.raises(ValueError, match=facts("tracking", "tracker")), ub.tracking(Kept()):
        pass


def test_lists_become_figures_and_what_is_no_finite_number_stays_out():
    with ub.tracking(Kept()) as kept:
        Track("GIN", {"augment": math.sin, "hidden": [8, 8]})({"step": 3, "losses": [1.0, math.nan], "why": "x"}, 3)
    assert kept.steps == [(3, {"GIN/losses/0": 1.0})]
    assert kept.told == {"GIN/augment": "<built-in function sin>", "GIN/hidden": "[8, 8]"}


def test_tracking_changes_no_result(data):
    with ub.tracking(Kept()):
        tracked = vae().fit(data[0])
    alone = vae().fit(data[0])
    assert all(torch.equal(torch.as_tensor(tracked.weights_[k]), torch.as_tensor(v)) for k, v in alone.weights_.items())


def test_wandb_gets_each_room_with_a_step_of_its_own(monkeypatch):
    logged, defined = [], {}
    run = SimpleNamespace(
        config=SimpleNamespace(update=lambda values: None),
        define_metric=lambda name, step_metric: defined.update({name: step_metric}),
        log=logged.append,
        finish=lambda exit_code: logged.append(exit_code),
    )
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=lambda project, **settings: run))
    with ub.tracking(ub.trackers.WandB()):
        Track("VAE", {})({"loss": 2.0}, 10)
    assert logged == [{"VAE/loss": 2.0, "VAE/step": 10}, 0]
    assert defined == {"VAE/*": "VAE/step"}


@pytest.mark.parametrize(("name", "module"), [("MLflow", "mlflow"), ("WandB", "wandb")])
def test_a_tracker_that_is_not_installed_says_what_brings_it(name, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=rf"pip install 'unbraid\[{module}\]'"):
        getattr(ub.trackers, name)()
