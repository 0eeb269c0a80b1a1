"""The trainer: kills, interrupts, full disks, wrong checkpoints, logs, and no trace in the global random state."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning

import unbraid as ub

from .killed_run import build, data

SCRIPT = Path(__file__).with_name("killed_run.py")


def start(method, checkpoint, steps, *more):
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, str(SCRIPT), method, str(checkpoint), str(steps), *map(str, more)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True)


def wait_for(checkpoint, process):
    for _ in range(6000):
        if checkpoint.exists() or process.poll() is not None:
            return
        time.sleep(0.01)
    raise AssertionError("no checkpoint was written within a minute")


def one_thread(function):
    """Sums depend on the number of threads; both runs get one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return function()
    finally:
        torch.set_num_threads(before)


def weights_equal(a, b):
    return a.weights_.keys() == b.weights_.keys() and all(
        a.weights_[k].tobytes() == b.weights_[k].tobytes() for k in a.weights_
    )


@pytest.mark.parametrize("method", ["VAE", "FactorVAE", "HessianAutoencoder"])
def test_killed_and_resumed_gives_the_same_bytes(tmp_path, method):
    steps, checkpoint = 400, tmp_path / "run.safetensors"
    process = start(method, checkpoint, steps)
    wait_for(checkpoint, process)
    time.sleep(random.SystemRandom().uniform(0, 0.3))
    process.kill()
    assert "done" not in process.communicate()[0], "the run was over before it was killed; raise its steps"
    resumed = one_thread(lambda: build(method, checkpoint, steps).fit(data()))
    whole = one_thread(lambda: build(method, None, steps).fit(data()))
    assert weights_equal(resumed, whole)
    strip = [[{k: v for k, v in r.items() if k != "seconds"} for r in m.history_] for m in (resumed, whole)]
    assert strip[0] == strip[1]


def test_interrupt_saves_and_the_next_fit_goes_on(tmp_path):
    steps, checkpoint = 700, tmp_path / "run.safetensors"
    process = start("VAE", checkpoint, steps)
    wait_for(checkpoint, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in err
    assert "fit again to go on" in err
    assert "done" not in out
    stopped = int(err.split("stopped after ")[1].split()[0])
    resumed = one_thread(lambda: build("VAE", checkpoint, steps).fit(data()))
    assert resumed.n_steps_ == steps
    assert 0 < stopped < steps


def test_the_log_has_every_step_once_after_a_kill(tmp_path):
    checkpoint, log = tmp_path / "run.safetensors", tmp_path / "log"
    process = start("VAE", checkpoint, 300, log)
    wait_for(checkpoint, process)
    process.kill()
    process.communicate()
    build("VAE", checkpoint, 300).set_params(log=log).fit(data())
    lines = [json.loads(line) for line in (log / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [*range(7, 300, 7), 300]
    wanted = {
        "loss",
        "reconstruction",
        "kl",
        "kl_per_dimension",
        "index_code_mi",
        "total_correlation",
        "dimension_wise_kl",
    }
    assert wanted <= set(lines[0])
    assert len(lines[0]["kl_per_dimension"]) == 3
    assert sum(lines[0]["kl_per_dimension"]) == pytest.approx(lines[0]["kl"], rel=1e-4)


def test_tensorboard_events_are_written(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    build("VAE", None, 14).set_params(log=tmp_path, tensorboard=True).fit(data())
    events = EventAccumulator(str(tmp_path)).Reload()
    assert [e.step for e in events.Scalars("loss")] == [7, 14]
    line = json.loads((tmp_path / "log.jsonl").read_text().splitlines()[0])
    assert events.Scalars("kl_per_dimension/2")[0].value == pytest.approx(line["kl_per_dimension"][2], rel=1e-5)


def test_max_seconds_stops_with_a_warning_and_resumes(tmp_path):
    checkpoint = tmp_path / "run.safetensors"
    with pytest.warns(ConvergenceWarning, match="stopped after 1 of 30 steps"):
        stopped = build("VAE", checkpoint, 30).set_params(max_seconds=0).fit(data())
    assert stopped.n_steps_ == 1
    assert stopped.transform(data()).shape == (60, 3)
    resumed, whole = build("VAE", checkpoint, 30).fit(data()), build("VAE", None, 30).fit(data())
    assert weights_equal(resumed, whole)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_factors": 4}, "n_factors was 3 and is 4"),
        ({"random_state": 4}, "seed was"),
        ({"learning_rate": 0.1}, "learning_rate was None and is 0.1"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused_and_left_alone(tmp_path, change, words):
    checkpoint = tmp_path / "run.safetensors"
    build("VAE", checkpoint, 10).fit(data())
    before = checkpoint.read_bytes()
    with pytest.raises(ValueError, match=words):
        build("VAE", checkpoint, 10).set_params(**change).fit(data())
    assert checkpoint.read_bytes() == before


def test_a_checkpoint_of_another_model_or_of_other_data_is_refused(tmp_path):
    checkpoint = tmp_path / "run.safetensors"
    build("VAE", checkpoint, 10).fit(data())
    with pytest.raises(ValueError, match="model was 'VAE' and is 'FactorVAE'"):
        build("FactorVAE", checkpoint, 10).fit(data())
    with pytest.raises(ValueError, match="data was"):
        build("VAE", checkpoint, 10).fit(1 - data())


@pytest.mark.parametrize("kept", [0, 7, 100, 0.5, 0.99])
def test_a_truncated_checkpoint_is_refused_and_left_alone(tmp_path, kept):
    checkpoint = tmp_path / "run.safetensors"
    build("VAE", checkpoint, 10).fit(data())
    whole = checkpoint.read_bytes()
    part = whole[: kept if isinstance(kept, int) else int(kept * len(whole))]
    checkpoint.write_bytes(part)
    with pytest.raises(ValueError, match="cut short"):
        build("VAE", checkpoint, 10).fit(data())
    assert checkpoint.read_bytes() == part


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path):
    from safetensors.numpy import save_file

    path = tmp_path / "other.safetensors"
    save_file({"a": np.zeros(3)}, path)
    with pytest.raises(ValueError, match="not a checkpoint of an unbraid autoencoder"):
        build("VAE", path, 10).fit(data())


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path):
    """A file-size limit makes the real write of the real file fail in the middle, as a full disk does."""
    checkpoint = tmp_path / "run.safetensors"
    build("VAE", checkpoint, 10).set_params(max_steps=20, max_seconds=None)
    code = f"""
import resource, signal, sys
sys.path[:0] = {sys.path!r}
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from tests.training.killed_run import build, data
model = build("VAE", {str(checkpoint)!r}, 20)
import warnings
warnings.simplefilter("ignore")
model.set_params(max_seconds=0).fit(data())
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    build("VAE", {str(checkpoint)!r}, 20).fit(data())
except OSError as error:
    print("refused:", error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=SCRIPT.parents[2])
    assert "could not be written" in run.stdout, run.stdout + run.stderr
    assert "earlier checkpoint there is unchanged" in run.stdout
    assert [p.name for p in tmp_path.iterdir()] == ["run.safetensors"], "no half-written file is left"
    assert build("VAE", checkpoint, 20).fit(data()).n_steps_ == 20


def test_a_loss_that_is_not_finite_is_an_error_that_says_what_to_do():
    X = np.random.default_rng(0).normal(size=(50, 4))
    with pytest.raises(FloatingPointError, match="lower learning_rate"):
        ub.VAE(n_factors=2, max_steps=200, learning_rate=1e6, log_every=10, random_state=0).fit(X)


def test_the_global_random_state_is_neither_used_nor_changed():
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002
    before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    first = build("FactorVAE", None, 5).fit(data())
    assert torch.equal(torch.get_rng_state(), before)
    assert np.array_equal(np.random.get_state()[1], numpy_before)  # noqa: NPY002
    torch.manual_seed(6)
    assert weights_equal(first, build("FactorVAE", None, 5).fit(data()))
    assert not weights_equal(first, build("FactorVAE", None, 5).set_params(random_state=4).fit(data()))
