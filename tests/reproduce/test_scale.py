"""The figures of the scale paper, on rows whose answers are known."""

import pytest

from unbraid.reproduce.paper import Rows
from unbraid.reproduce.scale import (
    CLIP,
    METHODS,
    N_SEEDS,
    PAPER,
    PHOTOGRAPHS,
    advantage,
    differences,
    encoder_rows,
    growth,
    low_scores,
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
    score = {"linear": 0.5, "codes": 32, "units": 99, "mig_chance": 0.0}
    encoders = [
        {"encoder": "pixels", "parameters": 0, "mig_value": 0.02, "mig_low": 0.01, "mig_high": 0.03} | score,
        {"encoder": PHOTOGRAPHS, "parameters": 9, "mig_value": 0.06, "mig_low": 0.05, "mig_high": 0.07} | score,
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


def test_the_table_has_ours_and_theirs(results):
    rows = list(encoder_rows(results))
    assert [row[0] for row in rows[:4]] == ["pixels", PHOTOGRAPHS, "VAE, 400 steps", "beta-VAE (4), 400 steps"]
    assert [row[-1] for row in rows] == ["here"] * 4 + ["paper"] * len(CLIP)
    assert all(len(row) == len(PAPER.tables[0].columns) for row in rows)
