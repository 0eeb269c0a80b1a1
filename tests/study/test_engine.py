import signal
import time
from types import SimpleNamespace

import pytest
import torch

import unbraid as ub
from tests.facts import facts
from unbraid.study import Store, run_study, work
from unbraid.study.status import status_of
from unbraid.study.work import checkpoint_of

from .tiny import content, linear, tiny


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    place = tmp_path_factory.mktemp("undisturbed") / "store"
    sitting = run_study(tiny(), place, workers=0)
    assert (sitting.done, sitting.failed, sitting.left, sitting.steps) == (8, 0, 0, 4 * 20)
    return content(Store(place))


def test_a_vae_has_both_representations_losses_and_curves(tmp_path):
    run_study(tiny(), tmp_path / "s", workers=0, indices=[4])
    study = ub.study.open(tmp_path / "s")
    run = study.runs().query("status == 'done'")["run"].item()
    assert set(study.scores()["representation"]) == {"mean", "sampled"}
    losses = study.losses().set_index("name")["value"]
    assert losses["elbo"] == -(losses["reconstruction"] + losses["kl"])
    curves = study.curves()
    assert curves.query("name == 'kl'")["step"].tolist() == [10, 20]
    assert curves.query("name == 'kl_per_dimension.1'")["value"].size == 2
    assert study.strip(run) is None  # vectors, not pictures
    origin = study.provenance(run)
    assert {"versions", "machine", "seed", "data", "cpu_seconds"} <= set(origin)
    spread = (study.codes(run, "sampled") - study.codes(run)).std(axis=0)
    assert (spread > 0.01).all()  # a posterior has a width
    assert not checkpoint_of(tmp_path / "s", run).exists()


def test_pictures_leave_a_strip(tmp_path):
    spec = ub.study.parse_spec(
        """
        name = "pictures"
        seeds = 1
        pool = 60
        metrics = ["mcc"]
        [[datasets]]
        name = "shapes-xy"
        options = { image_size = 32 }
        shrink = 2
        rows = 100
        [[methods]]
        name = "pca-ica"
        parameters = { n_factors = 3 }
        """
    )
    run_study(spec, tmp_path / "s", workers=0)
    study = ub.study.open(tmp_path / "s")
    strip = study.strip(study.runs()["run"].item())
    assert strip.shape == (3 * 16, 7 * 16)
    assert strip.dtype == "uint8"


def test_slices_run_apart_make_the_whole(tmp_path, undisturbed):
    for indices in ([0, 1, 2], [5, 4, 3], [6, 7]):
        run_study(tiny(), tmp_path / "s", workers=0, indices=indices)
    assert content(Store(tmp_path / "s")) == undisturbed
    with pytest.raises(ValueError, match=facts(7, 8, "unbraid study list")):
        run_study(tiny(), tmp_path / "s", workers=0, indices=[8])


def test_first_seeds_come_first(tmp_path, monkeypatch):
    seen = []
    original = work.perform
    monkeypatch.setattr(
        "unbraid.study.engine.perform", lambda order: seen.append(order.config["seed"]) or original(order)
    )
    run_study(linear(seeds=3), tmp_path / "s", workers=0)
    assert seen == [0, 0, 1, 1, 2, 2]


def test_a_failure_is_kept_with_its_traceback_and_tried_again(tmp_path, monkeypatch, undisturbed):
    def broken(order):
        if order.config["seed"] == 1:
            raise FloatingPointError("the loss is nan")
        return work.perform(order)

    with monkeypatch.context() as patch:
        patch.setattr("unbraid.study.engine.perform", broken)
        sitting = run_study(tiny(), tmp_path / "s", workers=0)
    assert (sitting.done, sitting.failed) == (4, 4)
    study = ub.study.open(tmp_path / "s")
    assert study.failures()["error"].str.contains("FloatingPointError: the loss is nan").all()
    assert run_study(tiny(), tmp_path / "s", workers=0).done == 0  # failed ones are not tried again by themselves
    assert study.store.retry() == 4
    assert run_study(tiny(), tmp_path / "s", workers=0).done == 4
    assert content(study.store) == undisturbed


def test_a_task_goes_on_from_its_checkpoint(tmp_path, monkeypatch, undisturbed):
    """The process dies in the middle of training; the next one takes fewer steps and ends with the same bytes."""
    from unbraid.training.trainer import Trainer

    taken, original = [], Trainer.step

    def dying(self, done):
        taken.append(done)
        if done == 13 and len(taken) < 20:
            raise KeyboardInterrupt
        return original(self, done)

    monkeypatch.setattr(Trainer, "step", dying)
    assert run_study(tiny(), tmp_path / "s", workers=0, indices=[4]).ending == "interrupt"
    assert status_of(Store(tmp_path / "s")).running == 0
    taken[:] = [0] * 20
    run_study(tiny(), tmp_path / "s", workers=0)
    assert taken[20] == 10  # the checkpoint of step 10
    assert content(Store(tmp_path / "s")) == undisturbed


def test_ctrl_c_ends_cleanly(tmp_path, undisturbed):
    """A real signal, in the middle of the third run of a study of this process."""
    begun = []

    def perform(order):
        begun.append(order)
        if len(begun) == 3:
            signal.raise_signal(signal.SIGINT)  # to this thread: with os.kill another may take it, and later
        return work.perform(order)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unbraid.study.engine.perform", perform)
        sitting = run_study(tiny(), tmp_path / "s", workers=0)
    signal.signal(signal.SIGINT, before)
    assert (sitting.ending, sitting.done, sitting.left) == ("interrupt", 2, 6)
    run_study(tiny(), tmp_path / "s", workers=0)
    assert content(Store(tmp_path / "s")) == undisturbed


def test_max_time_pauses_at_a_checkpoint(tmp_path, monkeypatch, undisturbed):
    from unbraid.training.trainer import Trainer

    original, now = Trainer.step, [0.0]

    def step(self, done):
        now[0] += 0.15
        return original(self, done)

    def clock():
        return now[0]

    seconds = SimpleNamespace(time=clock, monotonic=clock, process_time=clock, strftime=time.strftime)
    for module in ("study.engine", "study.work", "training.run"):
        monkeypatch.setattr(f"unbraid.{module}.time", seconds)
    monkeypatch.setattr(Trainer, "step", step)
    sitting = run_study(tiny(), tmp_path / "s", workers=0, indices=[4, 6], max_time=2.0)
    assert (sitting.ending, sitting.done, sitting.left) == ("time", 0, 2)
    assert len(list((tmp_path / "s" / "checkpoints").iterdir())) >= 1
    monkeypatch.undo()
    run_study(tiny(), tmp_path / "s", workers=0)
    assert content(Store(tmp_path / "s")) == undisturbed


@pytest.mark.parametrize("where", ["artefact", "checkpoint"])
def test_a_full_disk_stops_the_study_and_costs_no_result(tmp_path, monkeypatch, undisturbed, where):
    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    run_study(tiny(), tmp_path / "s", workers=0, indices=[0, 1])
    with monkeypatch.context() as patch:
        if where == "artefact":
            patch.setattr("os.fsync", full)
        else:
            patch.setattr("safetensors.torch.save_file", full)
        with pytest.raises(OSError, match=facts("Errno 28")):
            run_study(tiny(), tmp_path / "s", workers=0, indices=[4])
    assert Store(tmp_path / "s").counts()["failed"] == 0
    run_study(tiny(), tmp_path / "s", workers=0)
    assert content(Store(tmp_path / "s")) == undisturbed


def test_gin_gets_its_labels(tmp_path):
    spec = ub.study.parse_spec(
        """
        name = "labels"
        seeds = 1
        pool = 100
        metrics = ["mcc"]
        [[datasets]]
        name = "gin-mixture"
        rows = 300
        [[methods]]
        name = "gin"
        parameters = { max_steps = 3 }
        """
    )
    run_study(spec, tmp_path / "s", workers=0)
    assert ub.study.open(tmp_path / "s").runs()["status"].tolist() == ["done"]


def test_status_says_who_works(tmp_path):
    run_study(linear(), tmp_path / "s", workers=0, indices=[0])
    with Store(tmp_path / "s") as store:
        found = status_of(store)
        assert (found.done, found.pending, found.running, found.failed, found.writer) == (1, 3, 0, 0, False)
        assert "1 of 4" in str(found)


def test_the_bits_do_not_depend_on_the_threads_there_are(tmp_path):
    """As many as the machine has in this process, one in a worker: the results are the same."""
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            run_study(tiny(), tmp_path / str(threads), workers=0)
            found.append(content(Store(tmp_path / str(threads))))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert found[0] == found[1]
