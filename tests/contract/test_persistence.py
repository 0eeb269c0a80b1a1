"""Saved runs: whole or not at all, safe to load, clear when they are damaged."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

import unbraid as ub
from unbraid.contract.persistence import ARRAYS, CONFIG, Persistent
from unbraid.spectral.selection import Candidate


class Thing(Persistent):
    def __init__(self, **state):
        self.__dict__.update(state)


Thing.__module__ = "unbraid.contract.persistence"  # as a class of the package would be


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setattr("unbraid.contract.persistence.Thing", Thing, raising=False)


def test_every_kind_of_state_comes_back(tmp_path):
    candidate = Candidate(8, 3, "logcosh", 0.5, float("nan"), 0.0, 1.0, float("inf"), 1.0, 1)
    thing = Thing(
        none=None,
        flag=True,
        number=np.float32(1.5),
        whole=np.int64(7),
        text="é",
        pair=(1, (2.0, "x")),
        table={3: [1, {"a": np.arange(3)}]},
        array=np.arange(6, dtype=np.float32).reshape(2, 3)[:, ::2],
        names=np.array(["a", "b"]),
        sparse=sp.csr_array(np.eye(3)),
        record=candidate,
    )
    back = ub.load(thing.save(tmp_path / "run"))
    assert back.pair == (1, (2.0, "x"))
    assert (back.none, back.flag, back.number, back.whole, back.text) == (None, True, 1.5, 7, "é")
    np.testing.assert_array_equal(back.table[3][1]["a"], [0, 1, 2])
    np.testing.assert_array_equal(back.array, thing.array)
    assert back.names.tolist() == ["a", "b"]
    np.testing.assert_array_equal(back.sparse.toarray(), np.eye(3))
    assert back.record.eigengap == float("inf")
    assert np.isnan(back.record.closest)


def test_what_needs_pickle_is_refused_and_the_old_run_survives(tmp_path):
    Thing(a=1).save(tmp_path / "run")
    (tmp_path / "run" / "notes.txt").write_text("mine")
    with pytest.raises(TypeError, match=r"Thing\.f is a function, which cannot be saved without pickle"):
        Thing(f=lambda: 0).save(tmp_path / "run")
    assert ub.load(tmp_path / "run").a == 1
    Thing(a=2).save(tmp_path / "run")
    assert ub.load(tmp_path / "run").a == 2
    assert (tmp_path / "run" / "notes.txt").read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_a_folder_that_is_no_run_is_left_alone(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_text("x")
    with pytest.raises(FileExistsError, match="left alone"):
        Thing(a=1).save(tmp_path / "photos")
    assert [p.name for p in (tmp_path / "photos").iterdir()] == ["a.jpg"]


def test_a_full_disk_keeps_the_old_run(tmp_path, monkeypatch):
    Thing(a=1).save(tmp_path / "run")

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("safetensors.numpy.save_file", full)
    with pytest.raises(OSError, match="No space left"):
        Thing(a=2).save(tmp_path / "run")
    assert ub.load(tmp_path / "run").a == 1
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def damage_config(run):
    (run / CONFIG).write_text("{")


def damage_arrays(run):
    (run / ARRAYS).write_bytes((run / ARRAYS).read_bytes()[:-4])


def lose_arrays(run):
    (run / ARRAYS).unlink()


def newer_format(run):
    config = json.loads((run / CONFIG).read_text())
    (run / CONFIG).write_text(json.dumps({**config, "format": 99}))


def foreign_class(run):
    config = json.loads((run / CONFIG).read_text())
    config["object"]["object"] = "subprocess:Popen"
    (run / CONFIG).write_text(json.dumps(config))


def no_estimator(run):
    config = json.loads((run / CONFIG).read_text())
    config["object"]["object"] = "unbraid.contract.persistence:load"
    (run / CONFIG).write_text(json.dumps(config))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (damage_config, "is damaged"),
        (damage_arrays, "is damaged"),
        (lose_arrays, "is damaged"),
        (newer_format, "has format 99"),
        (foreign_class, "not of unbraid; it was not loaded"),
        (no_estimator, "not an estimator; it was not loaded"),
    ],
)
def test_damaged_runs(tmp_path, damage, words):
    run = Thing(a=np.arange(4.0)).save(tmp_path / "run")
    damage(run)
    with pytest.raises(ValueError, match=words):
        ub.load(run)


def test_no_run_and_wrong_class(tmp_path):
    with pytest.raises(FileNotFoundError, match="is not a saved run"):
        ub.load(tmp_path)

    Thing(a=1).save(tmp_path / "run")
    with pytest.raises(TypeError, match="holds a Thing, not a HessianICA"):
        ub.HessianICA.load(tmp_path / "run")


def test_a_dataclass_of_somebody_else_is_refused(tmp_path):
    @dataclass
    class Foreign:
        a: int

    with pytest.raises(TypeError, match="is a Foreign"):
        Thing(x=Foreign(1)).save(tmp_path / "run")
