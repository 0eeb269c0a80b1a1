"""The unfolding flow is trained in two parts, which are one run: it ends, resumes and is refused as any other."""

import signal

import numpy as np
import pytest
import torch

import unbraid as ub
from tests.facts import facts
from unbraid.flows.stages import PartTrainer, Stages
from unbraid.testing import CHECKS, check_estimator_contract
from unbraid.training.checkpoint import read_checkpoint
from unbraid.trust.warnings import ConvergenceWarning, TrustWarning

STEPS = 8
pytestmark = pytest.mark.filterwarnings("ignore:UB1", "ignore:UB221", "ignore:UB222", "ignore:UB252")


def model(**settings):
    small = {"max_steps": STEPS, "n_init": 2, "n_blocks": 2, "hidden": 4, "batch_size": 60, "n_factors": 2}
    return ub.GIN(architecture="unfolding", random_state=0, null="off", log_every=3, **small | settings)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 3
    X = rng.normal(size=(300, 4)) * [1, 0.7, 0.05, 0.05] + labels[:, None] * [1.0, -0.5, 0, 0]
    return X @ np.linalg.qr(rng.normal(size=(4, 4)))[0], labels


@pytest.fixture(scope="module")
def whole(data):
    return model().fit(*data)


def test_both_parts_are_in_the_history(whole):
    assert (whole.n_steps_, whole.stopped_, whole.n_unfolded_) == (2 * STEPS, "max_steps", 2)
    assert [r["step"] for r in whole.history_ if "held_out" in r] == list(range(1, 2 * STEPS + 1))
    rates = np.array([r["learning_rate"] for r in whole.history_]).reshape(2, STEPS)
    cosine = 0.005 * (1 + np.cos(np.pi * np.arange(STEPS) / STEPS))
    np.testing.assert_allclose(rates, [cosine, cosine])
    assert len(whole.init_scores_) == 2
    assert whole.history_[-1]["held_out"] == pytest.approx((-whole.init_scores_).tolist())


@pytest.mark.parametrize("step", [3, STEPS, STEPS + 5])
def test_an_interrupted_run_goes_on_to_the_same_bytes(data, whole, step, tmp_path, monkeypatch):
    checkpoint, take = tmp_path / "run", Stages.step

    def interrupted(stages, done):
        if done + 1 == step:
            signal.raise_signal(signal.SIGINT)
        return take(stages, done)

    monkeypatch.setattr(Stages, "step", interrupted)
    with pytest.raises(KeyboardInterrupt, match=facts(f"{step} of {2 * STEPS}")):
        model(checkpoint=checkpoint).fit(*data)
    assert read_checkpoint(checkpoint)[1]["n_steps"] == step
    monkeypatch.undo()
    resumed = model(checkpoint=checkpoint).fit(*data)
    assert resumed.theta_.tobytes() == whole.theta_.tobytes()
    without = [[{k: v for k, v in r.items() if k != "seconds"} for r in m.history_] for m in (resumed, whole)]
    assert without[0] == without[1]
    again = model(checkpoint=checkpoint).fit(*data)  # of a run that has ended nothing is left to do
    assert again.theta_.tobytes() == whole.theta_.tobytes()


@pytest.mark.parametrize("step", [3, STEPS + 2])
def test_either_part_ends_by_max_seconds(data, step, monkeypatch):
    """The codes are those of the part that was under way."""
    clock = iter(range(10_000))
    monkeypatch.setattr("unbraid.training.run.time.monotonic", lambda: next(clock))
    with pytest.warns(ConvergenceWarning, match=facts("UB401", f"{step} of {2 * STEPS}")):
        found = model(max_seconds=step - 0.5).fit(*data)
    assert found.n_steps_ == step
    assert found.n_unfolded_ == 2
    X = data[0]
    np.testing.assert_allclose(found.inverse_transform(found.transform(X)), X, atol=1e-4)


@pytest.mark.parametrize("n_factors", [1, 4])
def test_without_a_surface_the_flow_is_dense(data, n_factors):
    with pytest.warns(TrustWarning, match=facts("UB223", f"{n_factors} of 4", "dense", "n_factors")):
        found = model(n_factors=n_factors).fit(*data)
    dense = model(n_factors=n_factors).set_params(architecture="dense").fit(*data)
    assert (found.n_steps_, found.n_unfolded_) == (dense.n_steps_, 0)
    assert found.theta_.tobytes() == dense.theta_.tobytes()


def test_the_whole_is_the_first_flow_then_the_second(data):
    """On known parts: the codes of the whole are the second's of the first's on the surface, the volume is kept."""
    seen = []

    class Watched(PartTrainer):
        def __init__(self, flow, theta, *rest):
            super().__init__(flow, theta, *rest)
            seen.append((flow, theta, self))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unbraid.flows.conditional.PartTrainer", Watched)
        model().fit(*data)
    ((flow, theta, trainer),) = seen
    rows = torch.from_numpy(data[0].astype(np.float32))
    first = flow.encode(theta, rows)[0][0]
    second, change = trainer.flow.encode(trainer.theta, first[:, :2])
    codes, volume = trainer.whole.encode(trainer.whole_theta, rows)
    torch.testing.assert_close(codes[..., :2], second)
    torch.testing.assert_close(codes[..., 2:], first[:, 2:] * (-change / 2).exp()[..., None])
    assert not volume.any()


@pytest.mark.parametrize("check", list(CHECKS))
def test_the_contract(check):
    check_estimator_contract(model(max_steps=3, n_factors="auto"), checks=[check])
