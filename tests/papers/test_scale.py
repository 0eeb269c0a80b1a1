"""The figures of the scale paper, on rows whose answers are known."""

import json
from dataclasses import replace

import pytest

from unbraid_papers import scale_encoders
from unbraid_papers.bench import Bench
from unbraid_papers.paper import Rows
from unbraid_papers.scale import METHODS, N_SEEDS, advantage, growth, trained
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
        {"method": m, "seed": s, "steps": steps, "parameters": 7, "mig": (m != "VAE") * steps / 1000 + s / 1000}
        for s in range(N_SEEDS)
        for steps in (100, 200, 400)
        for m in METHODS
    ]
    encoders = [
        {"data": "dsprites", "encoder": "pixels", "mig": [0.02, 0.01, 0.03]},
        {"data": "room", "encoder": "pixels", "mig": [0.5, 0.4, 0.6]},
        {"data": "dsprites", "encoder": PHOTOGRAPHS, "mig": [0.06, 0.05, 0.07]},
    ]
    return {"compute": Rows(trained), "encoders": Rows(encoders), "clip": Rows()}


def test_growth_is_from_the_fewest_steps_to_the_most(results):
    assert growth("beta-VAE (4)")(results)["beta-VAE (4)"] == pytest.approx((0.3, 0.3, 0.3))
    assert growth("VAE")(results)["VAE"] == pytest.approx((0, 0, 0))


def test_a_training_that_is_not_there_yet_is_not_looked_at(results):
    whole = Rows(row for row in results["compute"] if (row["steps"], row["seed"]) != (400, 3))
    assert growth("beta-VAE (4)")({"compute": whole})["beta-VAE (4)"].value == pytest.approx(0.1)


def test_methods_are_compared_seed_by_seed(results):
    found = advantage(results)
    assert {name: round(p.value, 6) for name, p in found.items()} == {"200 steps": 0.2, "400 steps": 0.4}
    assert found["200 steps"].low == pytest.approx(0.2)


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
