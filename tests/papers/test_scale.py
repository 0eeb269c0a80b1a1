"""The figures of the scale paper, on rows whose answers are known."""

import json
from dataclasses import replace

import pytest

from unbraid_papers import scale_compute, scale_encoders, watching
from unbraid_papers.bench import Bench
from unbraid_papers.paper import Rows
from unbraid_papers.scale import BETAS, N_SEEDS, advantage, compute_rows, growth, late_growth, trained
from unbraid_papers.scale_compute import run_compute
from unbraid_papers.scale_encoders import (
    CLIP,
    COLUMNS,
    PHOTOGRAPHS,
    clip_rows,
    differences,
    draw_scores,
    low_scores,
    probe_rows,
    probes_of,
    run_encoder,
)


@pytest.fixture
def results():
    """beta-VAE gains 0.1 for every 100 steps and a thousandth with every seed; VAE gains nothing."""
    trained = [
        {
            "method": m,
            "seed": s,
            "steps": 400,
            "parameters": 7,
            "curve": [[steps, (m != "VAE") * steps / 1000 + s / 1000] for steps in (40, 100, 200, 400)],
        }
        for s in range(N_SEEDS)
        for m in BETAS
    ]
    encoders = [
        {"data": "dsprites", "encoder": "pixels", "mig": [0.02, 0.01, 0.03]},
        {"data": "room", "encoder": "pixels", "mig": [0.5, 0.4, 0.6]},
        {"data": "dsprites", "encoder": PHOTOGRAPHS, "mig": [0.06, 0.05, 0.07]},
    ]
    return {"compute": Rows(trained), "encoders": Rows(encoders), "clip": Rows()}


def test_growth_is_from_the_fewest_steps_to_the_most(results):
    assert growth("beta-VAE (4)")(results)["beta-VAE (4)"] == pytest.approx((0.36, 0.36, 0.36))
    assert growth("VAE")(results)["VAE"] == pytest.approx((0, 0, 0))


def test_late_growth_is_from_a_tenth_of_the_steps_on(results):
    rows = Rows({**row, "curve": [[10 * steps, mig] for steps, mig in row["curve"]]} for row in results["compute"])
    assert late_growth({"compute": rows})["beta-VAE (4)"].value == pytest.approx(0.36)


def test_a_training_that_is_not_there_yet_is_not_looked_at(results):
    def cut(row):
        return row | {"curve": row["curve"][:-1]} if row["seed"] == 3 else row

    whole = Rows(cut(row) for row in results["compute"])
    assert growth("beta-VAE (4)")({"compute": whole})["beta-VAE (4)"].value == pytest.approx(0.16)


def test_methods_are_compared_seed_by_seed_after_the_most_steps(results):
    found = advantage(results)
    assert list(found) == ["400 steps"]
    assert found["400 steps"] == pytest.approx((0.4, 0.4, 0.4))
    assert [row[0] for row in compute_rows(results)] == ["40", "100", "200", "400"]


@pytest.fixture(scope="module")
def short_training(tmp_path_factory):
    """One beta-VAE of 300 steps on few pictures, scored along the way."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scale_compute, "N_TRAINED", 5_000)
        cell = {"method": "beta-VAE (4)", "seed": 0, "image_size": 16, "steps": 300}
        bench = Bench("small", tmp_path_factory.mktemp("scale"))
        return cell, bench, run_compute(cell, bench)


def test_a_training_is_scored_along_its_way_as_shorter_ones_are(short_training, monkeypatch):
    """The score after 100 of 300 steps is that of a training of 100."""
    cell, bench, found = short_training
    monkeypatch.setattr(scale_compute, "N_TRAINED", 5_000)
    assert [steps for steps, _ in found["curve"]] == [100, 200, 300]
    shorter = run_compute(cell | {"steps": 100}, bench)
    assert shorter["curve"] == [pytest.approx(found["curve"][0])]


def test_scores_survive_in_the_checkpoint(short_training, monkeypatch):
    cell, bench, found = short_training
    monkeypatch.setattr(scale_compute, "N_TRAINED", 5_000)
    monkeypatch.setattr(watching, "_encoded", None)  # no step is taken again, so nothing is scored again
    assert run_compute(cell, bench)["curve"] == found["curve"]


def test_differences_have_the_widest_interval_and_leave_out_what_is_missing(results):
    pairs = {"more": ("pixels", PHOTOGRAPHS), "absent": ("pixels", "RN50")}
    assert differences("encoders", pairs)(results) == {"more": pytest.approx((0.04, 0.02, 0.06))}
    assert [p.value for p in low_scores(results).values()] == [0.02, 0.06]


def test_the_trained_are_those_of_the_most_steps(results):
    assert [(name, size) for name, size, _ in trained(results)] == [
        ("VAE, 400 steps", 7),
        ("beta-VAE (4), 400 steps", 7),
    ]


def test_the_table_of_clip_has_the_papers_figures_and_ours(results):
    mine = Rows([{"data": "dsprites", "encoder": "RN50", "mig": [0.01, 0.0, 0.02]}])
    rows = list(clip_rows(results | {"clip": mine}))
    assert rows[0] == ("CLIP RN50", "102,000,000", "0.00441", "0.01 (0 to 0.02)")
    assert [row[-1] for row in rows[1:]] == [""] * (len(CLIP) - 1)


@pytest.mark.parametrize("encoder", ["pixels", pytest.param("beta-VAE, width 32", marks=pytest.mark.slow)])
def test_an_encoder_is_probed_and_its_rows_are_drawn(tmp_path, monkeypatch, encoder):
    """From a cell to table and picture; pixels of the room hold its colours, whatever else."""
    few = {"n_samples": 240, "n_train": 160, "n_test": 80, "replicates": {"light": 1, "medium": 1, "heavy": 1}}
    monkeypatch.setattr(scale_encoders, "RULES", replace(scale_encoders.RULES, **few))
    monkeypatch.setattr(scale_encoders, "STEPS", 3)
    cell = {"data": "room", "encoder": encoder}
    row = cell | run_encoder(cell, Bench("small", tmp_path))
    results = {"encoders": Rows([json.loads(json.dumps(row))])}
    (shown,) = probe_rows("room")(results)
    assert len(shown) == len(COLUMNS)
    assert shown[0] == encoder
    (found,) = probes_of(results["encoders"], "room")
    assert found["mig"].value == pytest.approx(row["mig"][0])
    if encoder == "pixels":
        assert found.read("linear") > 0.2  # chance is 0, and 160 rows do not teach it all
    assert draw_scores("room")(results, None).axes
