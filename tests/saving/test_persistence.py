"""Saved runs: whole or not at all, safe to load, refused by one error when they are damaged or foreign."""

import json
import multiprocessing
import os
import signal
import stat
import subprocess
import sys
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from safetensors.numpy import save_file

import unbraid as ub
from tests.facts import facts
from unbraid.methods import METHODS
from unbraid.saving import encoding as saved_names
from unbraid.saving import persistence
from unbraid.saving.persistence import CONFIG, FORMAT, NotARunError, Persistent
from unbraid.spectral.selection import Candidate

PCAICA = {
    "n_factors": 2,
    "contrast": "logcosh",
    "random_state": 0,
    "n_features_in_": 3,
    "row_shape_": {"tuple": [3]},
    "unit_": 1.0,
    "is_picture_": False,
    "concerns_": [],
    "rotation_": {
        "object": "Rotation",
        "state": {
            "matrix": {"array": "turn"}, "contrast": "logcosh", "stability": 1.0, "converged": 1.0, "weighted": True
        },
    },
    "components_": {"array": "components"},
    "mixing_": {"array": "mixing"},
    "mean_": {"array": "mean"},
    "kurtosis_": {"array": "kurtosis"},
    "n_factors_": 2,
}  # fmt: skip


@pytest.fixture
def known(tmp_path):
    """A run of today's format as its description says, written without our encoder; ``n_init`` is left out."""
    run = tmp_path / "known"
    run.mkdir()
    arrays = run / f"arrays-{'0' * 16}.safetensors"
    components = np.array([[1.0, 0, 0], [0, 2, 0]])
    values = {"turn": np.eye(2), "mean": np.ones(3), "kurtosis": -np.ones(2)}
    save_file(values | {"components": components, "mixing": np.array([[1.0, 0], [0, 0.5], [0, 0]])}, arrays)
    encoded = {"object": "PCAICA", "state": PCAICA}
    config = {
        "format": FORMAT,
        "unbraid": "0.1.0",
        "class": "PCAICA",
        "arrays": arrays.name,
        "arrays_crc32": f"{zlib.crc32(arrays.read_bytes()):08x}",
        "object_crc32": f"{zlib.crc32(json.dumps(encoded).encode()):08x}",
        "object": encoded,
    }
    (run / CONFIG).write_text(json.dumps(config))
    return run


@saved_names.register
class Thing(Persistent):
    def __init__(self, **state):
        self.__dict__.update(state)


def arrays_of(run):
    return run / json.loads((run / CONFIG).read_text())["arrays"]


def rewrite(run, change):
    """Change a run's config as a knowing hand would: with the right checksum."""
    config = json.loads((run / CONFIG).read_text())
    config = change(config) or config
    if isinstance(config, dict) and "object" in config:
        config["object_crc32"] = persistence._crc_of(config["object"])
    (run / CONFIG).write_text(json.dumps(config))


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
        mixed=np.array(["a", None, 1.5, float("nan")], dtype=object),
        sparse=sp.csr_array(np.eye(3)),
        place=Path("a") / "b",
        record=candidate,
    )
    back = ub.load(thing.save(tmp_path / "run"))
    assert back.pair == (1, (2.0, "x"))
    assert (back.none, back.flag, back.number, back.whole, back.text) == (None, True, 1.5, 7, "é")
    np.testing.assert_array_equal(back.table[3][1]["a"], [0, 1, 2])
    np.testing.assert_array_equal(back.array, thing.array)
    assert back.names.tolist() == ["a", "b"]
    assert back.mixed.tolist()[:3] == ["a", None, 1.5]
    assert np.isnan(back.mixed[3])
    np.testing.assert_array_equal(back.sparse.toarray(), np.eye(3))
    assert back.place == os.path.join("a", "b")
    assert back.record.eigengap == float("inf")
    assert np.isnan(back.record.closest)


@pytest.mark.parametrize("kind", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
@pytest.mark.parametrize("make", [np.random.RandomState, np.random.Generator])
def test_random_states_go_on_where_they_were(tmp_path, kind, make):
    state = make(getattr(np.random, kind)(3))
    state.normal(size=3)  # RandomState keeps the second of a pair of normals
    back = ub.load(Thing(state=state).save(tmp_path / "run")).state
    assert type(back) is make
    np.testing.assert_array_equal(back.normal(size=5), state.normal(size=5))


def test_what_needs_pickle_is_refused_and_the_old_run_survives(tmp_path):
    Thing(a=1).save(tmp_path / "run")
    (tmp_path / "run" / "notes.txt").write_text("mine")
    with pytest.raises(TypeError, match=facts("Thing.f", "function", "pickle")):
        Thing(f=lambda: 0).save(tmp_path / "run")
    assert ub.load(tmp_path / "run").a == 1
    Thing(a=2).save(tmp_path / "run")
    assert ub.load(tmp_path / "run").a == 2
    assert (tmp_path / "run" / "notes.txt").read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["run"]
    assert len(list((tmp_path / "run").iterdir())) == 3


def test_a_folder_that_is_no_run_is_left_alone(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_text("x")
    with pytest.raises(FileExistsError, match=facts(str(tmp_path / "photos"))):
        Thing(a=1).save(tmp_path / "photos")
    assert [p.name for p in (tmp_path / "photos").iterdir()] == ["a.jpg"]


@pytest.mark.parametrize("there", [True, False])
def test_a_full_disk_keeps_the_old_run(tmp_path, monkeypatch, there):
    if there:
        Thing(a=1).save(tmp_path / "run")

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("safetensors.numpy.save_file", full)
    with pytest.raises(OSError, match=facts("Errno 28")):
        Thing(a=2).save(tmp_path / "run")
    assert [p.name for p in tmp_path.iterdir()] == (["run"] if there else [])
    if there:
        assert ub.load(tmp_path / "run").a == 1
        assert len(list((tmp_path / "run").iterdir())) == 2


def save_again_and_again(path, mark, times):
    for _ in range(times):
        Thing(mark=mark, array=np.full(1000, mark)).save(path)


def test_two_processes_save_to_one_place_and_a_third_reads(tmp_path):
    """Whatever the order, a run is whole: its array and its number are of one process."""
    run = tmp_path / "run"
    save_again_and_again(run, 0, 1)
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=save_again_and_again, args=(run, mark, 100)) for mark in (1, 2)]
    for writer in writers:
        writer.start()
    seen = set()
    while any(writer.is_alive() for writer in writers):
        thing = ub.load(run)
        assert (thing.array == thing.mark).all()
        seen.add(thing.mark)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert seen & {1, 2}


KILLED = """
import os, signal, sys
import unbraid.saving.persistence as persistence
import unbraid as ub
model = ub.load(sys.argv[1])
persistence.json.dumps = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)  # the arrays are written, no config yet
model.save(sys.argv[2])
"""


@pytest.mark.parametrize("there", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_what_a_killed_save_leaves_is_swept_by_a_later_one(tmp_path, known, there):
    run = tmp_path / "run"
    if there:
        ub.load(known).save(run)
    killed = subprocess.run([sys.executable, "-c", KILLED, known, run], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = set(run.glob("arrays-*")) - ({arrays_of(run)} if there else set())
    if there:
        assert isinstance(ub.load(run), ub.PCAICA)
    ub.load(known).save(run)
    assert left.exists(), "it may belong to a save that is under way"
    hours_ago = time.time() - 2 * persistence.STALE
    os.utime(left, (hours_ago, hours_ago))
    ub.load(known).save(run)
    assert {p.name for p in run.iterdir()} == {CONFIG, arrays_of(run).name}


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_permissions_are_those_of_any_new_file(tmp_path, umask):
    before = os.umask(umask)
    try:
        run = Thing(a=np.arange(3)).save(tmp_path / "run")
    finally:
        os.umask(before)
    assert {stat.S_IMODE(p.stat().st_mode) for p in run.iterdir()} == {0o666 & ~umask}
    assert stat.S_IMODE(run.stat().st_mode) == 0o777 & ~umask


def write(text):
    return lambda run: (run / CONFIG).write_text(text)


def truncate(run):
    arrays_of(run).write_bytes(arrays_of(run).read_bytes()[:-4])


def flip_a_bit(run):
    data = bytearray(arrays_of(run).read_bytes())
    data[-1] ^= 1
    arrays_of(run).write_bytes(data)


def edit_unseen(run):
    (run / CONFIG).write_text((run / CONFIG).read_text().replace('"logcosh"', '"kurtosis"'))


def change(**entries):
    return lambda run: rewrite(run, lambda config: {**config, **entries})


def name_class(name):
    return lambda run: rewrite(run, lambda config: config["object"].update(object=name))


def drop(name):
    return lambda run: rewrite(run, lambda config: config["object"]["state"].pop(name) and None)


def add(name, value):
    return lambda run: rewrite(run, lambda config: config["object"]["state"].update({name: value}))


def plain_record(run):
    rewrite(run, lambda config: config.update(object=config["object"]["state"]["rotation_"]))


DAMAGE = {
    "not JSON": (write("{"), ("config.json", "JSON")),
    "not text": (lambda run: (run / CONFIG).write_bytes(b"\xff\xfe\xfa"), ("config.json", "JSON")),
    "empty": (write(""), ("config.json", "JSON")),
    "list": (write("[]"), ("config.json", "list")),
    "null": (write("null"), ("config.json", "NoneType")),
    "deep": (write("[" * 200_000), ("nested",)),
    "deep value": (add("n_factors", json.loads("[" * 900 + "]" * 900)), ("nested",)),
    "no format": (change(format=None), ("format", None)),
    "text format": (change(format="2"), ("format", "'2'")),
    "older": (change(format=FORMAT - 1), (f"format {FORMAT - 1}", f"format {FORMAT}")),
    "newer": (change(format=99, unbraid="7.1"), ("format 99", "unbraid 7.1")),
    "no object": (lambda run: rewrite(run, lambda config: config.pop("object") and None), ("'object'",)),
    "number": (change(object=3), ("int", "estimator")),
    "record alone": (plain_record, ("Rotation", "estimator")),
    "arrays lost": (lambda run: arrays_of(run).unlink(), ("arrays-", ".safetensors", "missing")),
    "arrays cut": (truncate, (".safetensors", "header")),
    "arrays changed": (flip_a_bit, (".safetensors", "checksum")),
    "arrays elsewhere": (change(arrays="../../known.safetensors"), ("config.json", "'../../known.safetensors'")),
    "edited": (edit_unseen, ("config.json", "changed")),
    "foreign class": (name_class("subprocess:Popen"), ("class", "'subprocess:Popen'")),
    "main": (name_class("unbraid.__main__"), ("class", "'unbraid.__main__'")),
    "function": (name_class("load"), ("class", "'load'")),
    "list as class": (name_class(["PCAICA"]), ("class", "['PCAICA']")),
    "other class": (name_class("Geomancer"), ("Geomancer", "n_factors")),
    "attribute lost": (drop("mixing_"), ("PCAICA.mixing_",)),
    "attribute unknown": (add("colour", 1), ("PCAICA", "colour")),
    "kind unknown": (add("n_factors", {"set": [1]}), ("'set'",)),
    "state is a list": (lambda run: rewrite(run, lambda c: c["object"].update(state=[1])), ("config.json", "'items'")),
    "array unknown": (add("mean_", {"array": "elsewhere"}), ("array elsewhere",)),
    "random unknown": (
        add("random_state", {"random": "Generator", "state": {"dict": [["bit_generator", "Lottery"]]}}),
        ("'Lottery'",),
    ),
}


@pytest.mark.parametrize("damage", sorted(DAMAGE))
def test_damaged_and_foreign_runs_are_refused_by_one_error(tmp_path, known, damage):
    act, words = DAMAGE[damage]
    run = ub.load(known).save(tmp_path / "run")
    loaded = set(sys.modules)
    act(run)
    with pytest.raises(NotARunError, match=facts(str(run), *words)):
        ub.load(run)
    assert not {"unbraid.__main__", "unbraid.cli"} & (set(sys.modules) - loaded)


def test_no_run_and_wrong_class(tmp_path):
    with pytest.raises(FileNotFoundError, match=facts(str(tmp_path), "config.json")):
        ub.load(tmp_path)

    Thing(a=1).save(tmp_path / "run")
    with pytest.raises(TypeError, match=facts("run", "Thing", "HessianICA", "unbraid.load")):
        ub.HessianICA.load(tmp_path / "run")


def test_a_class_of_somebody_else_must_be_registered(tmp_path, monkeypatch):
    monkeypatch.setattr(saved_names, "_registered", dict(saved_names._registered))

    @dataclass
    class Foreign:
        a: int

    class Mine(ub.PCAICA):
        pass

    for value in (Foreign(1), Mine()):
        with pytest.raises(TypeError, match=facts("Thing.x", type(value).__name__, "register")):
            Thing(x=value).save(tmp_path / "run")
    saved_names.register(Foreign)
    assert ub.load(Thing(x=Foreign(1)).save(tmp_path / "run")).x == Foreign(1)


def test_a_name_belongs_to_one_class():
    class Thing(Persistent):
        pass

    Thing.__module__, Thing.__qualname__ = f"{__name__.partition('.')[0]}.elsewhere", "Thing"
    with pytest.raises(ValueError, match=facts("tests:Thing", "tests.saving.test_persistence")):
        saved_names.register(Thing)


def test_every_name_leads_to_its_class():
    for name in [*saved_names.RECORDS, *(m.estimator for m in METHODS.values())]:
        cls = saved_names.class_of(name)
        assert cls.__name__ == name
        assert saved_names.name_of(cls) == name


def test_a_parameter_that_a_run_lacks_gets_its_default():
    class Car(Persistent):
        def __init__(self, speed, depth=(), *, colour="red"): ...

    assert saved_names.completed(Car, {"speed": 7, "c_": 3}) == {"speed": 7, "depth": (), "colour": "red", "c_": 3}
    with pytest.raises(ValueError, match=facts("Car", "velocity")):
        saved_names.completed(Car, {"velocity": 7})
    with pytest.raises(ValueError, match=facts("Car", "speed")):
        saved_names.completed(Car, {"colour": "blue"})


@pytest.mark.parametrize("again", [False, True])
def test_a_run_that_was_written_by_hand_loads_and_gives_its_codes(tmp_path, known, again):
    model = ub.load(known)
    if again:
        model = ub.load(model.save(tmp_path / "run"))
    assert model.n_init == ub.PCAICA().n_init
    codes = model.transform([[1, 1, 1], [2, 3, 9]])
    np.testing.assert_array_equal(codes, [[0, 0], [1, 4]])
    np.testing.assert_array_equal(model.inverse_transform(codes), [[1, 1, 1], [2, 3, 1]])
    assert model.summary().facts
