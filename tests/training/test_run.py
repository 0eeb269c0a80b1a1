"""The training run: kills, interrupts, full disks, wrong checkpoints, logs, and no trace in the global random state."""

import functools
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

import unbraid as ub
from tests.facts import facts
from unbraid.training.checkpoint import read_checkpoint
from unbraid.trust.warnings import ConvergenceWarning

from .killed_run import build, data, fitted

SCRIPT = Path(__file__).with_name("killed_run.py")


STEPS = 30
KILLED = ("VAE", "FactorVAE", "HessianAutoencoder", "GIN", "SelfSupervisedGIN")
INTERRUPTED = ("VAE", "GIN", "SelfSupervisedGIN")


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """(step, exit status, folder) of runs that a signal ended, each at a step that is drawn anew for every test run."""
    wanted = [(m, signal.SIGKILL) for m in KILLED] + [(m, signal.SIGINT) for m in INTERRUPTED]
    steps = [random.SystemRandom().randrange(6, STEPS - 5) for _ in wanted]
    folders = [tmp_path_factory.mktemp("ended") for _ in wanted]
    runs = [[m, str(folder), STEPS, step, how] for (m, how), step, folder in zip(wanted, steps, folders)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-m", "tests.training.killed_run", json.dumps(runs)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=SCRIPT.parents[2], check=True)
    statuses = json.loads(done.stdout.splitlines()[-1])
    return dict(zip(wanted, zip(steps, statuses, folders)))


def one_thread(function):
    """Sums depend on the number of threads; both runs get one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return function()
    finally:
        torch.set_num_threads(before)


@functools.cache
def whole(method):
    """The run that nothing ended."""
    return one_thread(lambda: fitted(method, None, STEPS))


def weights_of(model):
    return {"theta": model.theta_, "extra": model.extra_} if hasattr(model, "theta_") else model.weights_


def weights_equal(a, b):
    a, b = weights_of(a), weights_of(b)
    return a.keys() == b.keys() and all(a[k].tobytes() == b[k].tobytes() for k in a)


def without_seconds(history):
    return [{k: v for k, v in record.items() if k != "seconds"} for record in history]


@pytest.mark.parametrize("method", KILLED)
def test_killed_and_resumed_gives_the_same_bytes(ended, method):
    _, status, folder = ended[method, signal.SIGKILL]
    assert status == -signal.SIGKILL
    resumed = one_thread(lambda: fitted(method, folder / "run.safetensors", STEPS, log=folder / "log"))
    assert weights_equal(resumed, whole(method))
    assert without_seconds(resumed.history_) == without_seconds(whole(method).history_)


@pytest.mark.filterwarnings("ignore:UB222")  # starts may disagree after so few steps
@pytest.mark.parametrize("method", INTERRUPTED)
def test_interrupt_saves_and_the_next_fit_goes_on(ended, method):
    step, status, folder = ended[method, signal.SIGINT]
    err = (folder / "err").read_text()
    assert status == -signal.SIGINT, err
    assert re.search(facts("KeyboardInterrupt", f"{step} of {STEPS}"), err)
    assert read_checkpoint(folder / "run.safetensors")[1]["n_steps"] == step, "the very step of Ctrl-C was saved"
    resumed = one_thread(lambda: fitted(method, folder / "run.safetensors", STEPS))
    assert weights_equal(resumed, whole(method))


def test_the_log_has_every_step_once_after_a_kill(ended):
    folder = ended["VAE", signal.SIGKILL][2]
    log = folder / "log"
    fitted("VAE", folder / "run.safetensors", STEPS, log=log)
    lines = [json.loads(line) for line in (log / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [*range(7, STEPS, 7), STEPS]
    parts = {"index_code_mi", "total_correlation", "dimension_wise_kl"}
    assert {"loss", "reconstruction", "kl", "kl_per_dimension"} | parts <= set(lines[0])
    assert len(lines[0]["kl_per_dimension"]) == 3
    assert sum(lines[0]["kl_per_dimension"]) == pytest.approx(lines[0]["kl"], rel=1e-4)


def test_flows_log_evaluations_and_every_so_many_steps(tmp_path):
    model = fitted("GIN", None, 40, log=tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert lines == model.history_
    evaluated = [line["step"] for line in lines if "held_out" in line]
    assert evaluated == [5, 10, 15, 20, 25, 30, 35, 40]
    assert sorted({line["step"] for line in lines} - set(evaluated)) == [7, 14, 21, 28]
    for line in lines:
        judged = line.get("held_out", line["losses"])
        assert line["loss"] == line["losses"][int(np.argmin(judged))], "the loss is that of the best start"
        assert line["learning_rate"] == (0.01 if line["step"] <= 25 else 0.001)
        assert line["seconds"] >= 0


def test_tensorboard_events_are_written(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    fitted("VAE", None, 14, log=tmp_path, tensorboard=True)
    events = EventAccumulator(str(tmp_path)).Reload()
    assert [e.step for e in events.Scalars("loss")] == [7, 14]
    line = json.loads((tmp_path / "log.jsonl").read_text().splitlines()[0])
    assert events.Scalars("kl_per_dimension/2")[0].value == pytest.approx(line["kl_per_dimension"][2], rel=1e-5)


@pytest.mark.parametrize("method", ["VAE", "GIN", "SelfSupervisedGIN"])
def test_max_seconds_stops_with_a_warning_and_resumes(tmp_path, method):
    checkpoint = tmp_path / "run.safetensors"
    with pytest.warns(ConvergenceWarning, match=facts("UB401", "1 of 30", "max_seconds=0")):
        stopped = fitted(method, checkpoint, 30, max_seconds=0)
    assert (stopped.n_steps_, stopped.stopped_) == (1, "max_seconds=0")
    assert len(stopped.transform(data(method)[0])) == len(data(method)[0])
    resumed = fitted(method, checkpoint, 30)
    assert (resumed.n_steps_, resumed.stopped_) == (30, "max_steps")
    assert weights_equal(resumed, fitted(method, None, 30))


def test_a_plateau_stays_one_when_the_fit_is_repeated(tmp_path):
    settings = {"patience": 1, "tol": 1e9}
    first = fitted("GIN", tmp_path / "c", 80, **settings)
    assert first.stopped_ == "plateau"
    again = fitted("GIN", tmp_path / "c", 80, **settings)
    assert (again.stopped_, again.n_steps_) == ("plateau", first.n_steps_)
    assert weights_equal(first, again)


@pytest.mark.parametrize("method", ["VAE", "GIN"])
def test_a_run_without_a_seed_goes_on_with_that_of_its_checkpoint(tmp_path, method):
    with pytest.warns(ConvergenceWarning):
        fitted(method, tmp_path / "c", 20, random_state=None, max_seconds=0)
    assert fitted(method, tmp_path / "c", 20, random_state=None).n_steps_ == 20


@pytest.mark.parametrize(
    ("method", "change", "words"),
    [
        ("VAE", {"n_factors": 4}, ("n_factors", 3, 4)),
        ("VAE", {"random_state": 4}, ("seed",)),
        ("VAE", {"learning_rate": 0.1}, ("learning_rate", None, 0.1)),
        ("HessianAutoencoder", {"teacher": ub.PCAICA(n_factors=3)}, ("teacher", "'PCAICA()'", "n_factors=3")),
        ("GIN", {"random_state": 4}, ("seed",)),
        ("GIN", {"learning_rate": 0.1}, ("learning_rate", 0.01, 0.1)),
        ("GIN", {"n_blocks": 4}, ("n_blocks", 3, 4, "network")),
        ("GIN", {"max_steps": 11}, ("max_steps", 10, 11)),
        ("GIN", {"validation_fraction": 0.2}, ("validation_fraction", 0.1, 0.2)),
        ("SelfSupervisedGIN", {"augment": lambda X, rng: X + 0.4 * rng.normal(size=X.shape)}, ("augmented",)),
        ("SelfSupervisedGIN", {"n_augmentations": 4}, ("n_augmentations", 3, 4)),
    ],
)
def test_a_checkpoint_of_another_run_is_refused_and_left_alone(tmp_path, method, change, words):
    checkpoint = tmp_path / "run.safetensors"
    fitted(method, checkpoint, 10)
    before = checkpoint.read_bytes()
    with pytest.raises(ValueError, match=facts(*words)):
        fitted(method, checkpoint, 10, **change)
    assert checkpoint.read_bytes() == before


@pytest.mark.parametrize(("first", "second"), [("VAE", "FactorVAE"), ("GIN", "RealNVP"), ("VAE", "GIN")])
def test_a_checkpoint_of_another_model_is_refused(tmp_path, first, second):
    fitted(first, tmp_path / "c", 10)
    with pytest.raises(ValueError, match=facts("model", f"'{first}'", f"'{second}'")):
        fitted(second, tmp_path / "c", 10)


@pytest.mark.filterwarnings("ignore::unbraid.trust.warnings.AssumptionWarning")
@pytest.mark.parametrize("method", ["VAE", "GIN", "SelfSupervisedGIN"])
def test_a_checkpoint_of_other_data_is_refused(tmp_path, method):
    fitted(method, tmp_path / "c", 10)
    X, *labels = data(method)
    X[17] = X[18]  # one row of many
    with pytest.raises(ValueError, match=facts("data")):
        build(method, tmp_path / "c", 10).fit(X, *labels)


@pytest.mark.filterwarnings("ignore::unbraid.trust.warnings.AssumptionWarning")
def test_a_checkpoint_of_other_labels_is_refused(tmp_path):
    fitted("GIN", tmp_path / "c", 10)
    X, labels = data("GIN")
    labels[[0, 1]] = labels[[1, 0]]
    with pytest.raises(ValueError, match=facts("labels", "150 int64")):
        build("GIN", tmp_path / "c", 10).fit(X, labels)


@pytest.mark.parametrize("change", [{"n_factors": 1}, {"engine": "fused"}, {"log_every": 3}, {"progress": False}])
def test_what_does_not_change_the_training_may_change(tmp_path, change):
    fitted("GIN", tmp_path / "c", 10)
    assert fitted("GIN", tmp_path / "c", 10, **change).n_steps_ == 10


@pytest.mark.parametrize("kept", [0, 7, 100, 0.5, 0.99])
@pytest.mark.parametrize("method", ["VAE", "GIN"])
def test_a_truncated_checkpoint_is_refused_and_left_alone(tmp_path, method, kept):
    checkpoint = tmp_path / "run.safetensors"
    fitted(method, checkpoint, 10)
    whole = checkpoint.read_bytes()
    part = whole[: kept if isinstance(kept, int) else int(kept * len(whole))]
    checkpoint.write_bytes(part)
    with pytest.raises(ValueError, match=facts("run.safetensors")):
        fitted(method, checkpoint, 10)
    assert checkpoint.read_bytes() == part


@pytest.mark.parametrize("metadata", [None, {"format": "unbraid checkpoint 99", "state": "{}"}])
def test_a_file_that_is_no_checkpoint_of_today_is_refused(tmp_path, metadata):
    path = tmp_path / "other.safetensors"
    save_file({"a": np.zeros(3)}, path, metadata=metadata)
    with pytest.raises(ValueError, match=rf"other\.safetensors .*format {(metadata or {}).get('format')!r}"):
        fitted("GIN", path, 10)


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path):
    """A file-size limit makes the real write of the real file fail in the middle, as a full disk does."""
    checkpoint = tmp_path / "run.safetensors"
    with pytest.warns(ConvergenceWarning):
        fitted("VAE", checkpoint, 20, max_seconds=0)
    assert signal.getsignal(signal.SIGXFSZ) == signal.SIG_IGN, "as Python has it: the write fails, the process goes on"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(OSError, match=facts("run.safetensors")):
            fitted("VAE", checkpoint, 20)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [p.name for p in tmp_path.iterdir()] == ["run.safetensors"], "no half-written file is left"
    assert fitted("VAE", checkpoint, 20).n_steps_ == 20


def test_a_loss_that_is_not_finite_is_an_error_that_says_what_to_do():
    X = np.random.default_rng(0).normal(size=(50, 4))
    with pytest.raises(FloatingPointError, match=facts("nan", "step 10", "learning_rate")):
        ub.VAE(n_factors=2, max_steps=200, learning_rate=1e6, log_every=10, random_state=0).fit(X)


@pytest.mark.parametrize("method", ["FactorVAE", "GIN"])
def test_the_global_random_state_is_neither_used_nor_changed(method):
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002
    before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    first = fitted(method, None, 5)
    assert torch.equal(torch.get_rng_state(), before)
    assert np.array_equal(np.random.get_state()[1], numpy_before)  # noqa: NPY002
    torch.manual_seed(6)
    assert weights_equal(first, fitted(method, None, 5))
    assert not weights_equal(first, fitted(method, None, 5, random_state=4))


@pytest.mark.parametrize("method", ["VAE", "GIN"])
@pytest.mark.parametrize("kind", [np.random.RandomState, np.random.default_rng])
def test_a_generator_is_drawn_from(method, kind):
    generator = kind(3)
    first, second = (fitted(method, None, 3, random_state=generator) for _ in range(2))
    assert not weights_equal(first, second), "a second fit draws on"
    assert weights_equal(first, fitted(method, None, 3, random_state=kind(3)))


@pytest.mark.parametrize("method", ["VAE", "GIN"])
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"checkpoint_every": 0}, ("checkpoint_every", 0)),
        ({"log_every": 2.5}, ("log_every", 2.5)),
        ({"max_seconds": -1}, ("max_seconds", -1)),
        ({"learning_rate": 0}, ("learning_rate", 0)),
        ({"precision": "int8"}, ("precision", "'int8'", "'float32'")),
        ({"precision": "bf16", "device": "cpu"}, ("precision='bf16'", "'float32'")),
        ({"device": "cuda:9"}, ("device='cuda:9'", "'cpu'")),
        ({"tensorboard": True}, ("tensorboard=True", "log=")),
    ],
)
def test_wrong_settings_of_a_run_are_refused_in_words(method, wrong, words):
    with pytest.raises(ValueError, match=facts(*words)):
        fitted(method, None, 3, **wrong)
