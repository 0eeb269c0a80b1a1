import subprocess
import sys

import numpy as np
import pytest
from sqlalchemy import text

import unbraid as ub
from tests.facts import facts
from unbraid.study import Store, StoreError, parse_spec, run_study, schema
from unbraid.study.artefacts import Folder, pack_codes, unpack_codes
from unbraid.study.store import FILE

from .tiny import LINEAR, linear


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    place = tmp_path_factory.mktemp("study") / "store"
    run_study(linear(), place, workers=0)
    return place


def test_frames_have_the_columns_that_are_promised(filled):
    study = ub.study.open(filled)
    runs, scores = study.runs(), study.scores()
    assert list(runs) == [
        "run", "index", "dataset", "method", "strength", "seed", "status", "seconds", "steps", "config"
    ]  # fmt: skip
    assert runs["index"].tolist() == [0, 1, 2, 3]
    assert runs["strength"].tolist() == [2, 2, 3, 3]
    assert set(runs["status"]) == {"done"}
    assert list(scores) == ["run", "representation", "metric", "value"]
    assert set(scores["metric"]) == {"mcc", "mig", "total_correlation"}
    assert set(scores["representation"]) == {"mean"}  # PCA has no posterior to sample from


def test_scores_are_those_of_the_codes_that_are_kept(filled):
    study = ub.study.open(filled)
    for run in study.runs()["run"]:
        scores = study.scores().query("run == @run").set_index("metric")["value"]
        assert scores["mcc"] == ub.metrics.mcc(study.factors(run), study.codes(run))
        assert scores["total_correlation"] == ub.metrics.total_correlation(study.codes(run))


def test_codes_are_those_of_the_model(filled):
    study = ub.study.open(filled)
    data = ub.datasets.load("isometric", n_features=10)
    pool, factors = data.sample(200, random_state=[0, 0])
    rows = data.sample(300, random_state=[1, 0])[0]
    model = ub.PCAICA(n_factors=2, random_state=1).fit(rows)
    run = study.runs().query("seed == 1 and strength == 2")["run"].item()
    np.testing.assert_allclose(study.codes(run), model.transform(pool), rtol=0, atol=2e-3 * 4)
    np.testing.assert_array_equal(study.factors(run), factors)


def test_what_is_not_there_is_told(filled):
    study = ub.study.open(filled)
    run = study.runs()["run"].iloc[0]
    with pytest.raises(KeyError, match=facts("codes/sampled", "codes/mean")):
        study.codes(run, "sampled")
    with pytest.raises(KeyError, match=facts("0123", "study.runs()")):
        study.factors("0123")
    with pytest.raises(StoreError, match=facts("study.sqlite", "unbraid study run")):
        ub.study.open(filled.parent)


def test_two_specs_for_one_store_are_refused(filled):
    other = parse_spec(LINEAR.replace("pool = 200", "pool = 300"))
    with pytest.raises(StoreError, match=facts("'tiny'", "--store", "unbraid study export")):
        run_study(other, filled, workers=0)
    assert run_study(linear(), filled, workers=0).done == 0


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(StoreError, match=facts(str(tmp_path), "--store")):
        run_study(linear(), tmp_path, workers=0)


@pytest.mark.parametrize("version", ["1", "99", "new"])
def test_a_store_of_another_version_is_refused_with_the_version_that_wrote_it(tmp_path, version):
    with Store(tmp_path / "s", create=True) as store, store.engine.begin() as connection:
        connection.execute(text(f"update meta set value = '{version}' where key = 'schema'"))
        connection.execute(text("update meta set value = '7.1' where key = 'unbraid'"))
    with pytest.raises(StoreError, match=facts(f"format {version}", "unbraid 7.1", schema.VERSION)):
        Store(tmp_path / "s")


def test_a_damaged_database_is_told(tmp_path):
    (tmp_path / FILE).write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreError, match=facts(str(tmp_path), "not a database")):
        Store(tmp_path)


def test_there_is_one_writer(tmp_path):
    with Store(tmp_path / "s", create=True) as first, Store(tmp_path / "s") as second:
        first.lock()
        assert second.has_writer()
        with pytest.raises(StoreError, match=facts("unbraid study watch")):
            second.lock()
        first.unlock()
        assert not second.has_writer()
        second.lock()


def test_artefacts_are_checked(tmp_path):
    folder = Folder(tmp_path)
    address = folder.put(b"codes")
    assert folder.get(address) == b"codes"
    (tmp_path / address[:2] / address).write_bytes(b"other")
    with pytest.raises(ValueError, match=facts(address)):
        folder.get(address)


def test_an_artefact_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    def fail(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match=facts("Errno 28")):
        Folder(tmp_path).put(b"codes")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(("center", "spread"), [(0, 1), (1e4, 1), (0, 1e6), (3, 1e-6)])
def test_packed_codes_keep_eleven_bits_of_any_column(center, spread):
    codes = center + spread * np.random.default_rng(0).normal(size=(1000, 1))
    error = np.abs(unpack_codes(pack_codes(codes)) - codes).max()
    # half a unit in the last place of float16 at four standard deviations, and float32's own at the center
    assert error <= spread * 4 * 2**-11 + 2 * np.spacing(np.float32(center))


def test_constant_codes_are_kept():
    np.testing.assert_array_equal(unpack_codes(pack_codes(np.full((5, 2), 7.0))), 7)


def test_to_say_how_far_a_study_is_takes_a_database_only(filled):
    """`study status` answers at once: what it would not use is not loaded."""
    code = (
        "import sys; from unbraid.study import Store; from unbraid.study.status import status_of;"
        "heavy = {'distributed', 'pandas', 'sklearn', 'torch'};"
        f"print(status_of(Store({str(filled)!r})).done, heavy & {{*sys.modules}})"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split(maxsplit=1) == ["4", "set()\n"]


def test_every_public_name_is_there():
    assert all(getattr(ub.study, name) is not None for name in ub.study.__all__)
    assert callable(ub.study.rescore)
    with pytest.raises(AttributeError, match=facts("unbraid.study", "'opne'", "open")):
        _ = ub.study.opne
