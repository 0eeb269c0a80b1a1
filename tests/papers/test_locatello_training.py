"""Beside the study: the order in which AnnealedVAE takes up factors, and boosted trees on entangled twins."""

import numpy as np
import pytest

from tests.papers.judging import judge, shown
from unbraid_papers import locatello, locatello_capacity, locatello_efficiency
from unbraid_papers.bench import Bench
from unbraid_papers.locatello_capacity import C_MAX, TAKEN, capacity_rows, draw_capacity, run_capacity, targets, told
from unbraid_papers.locatello_efficiency import accuracies, efficiency_rows
from unbraid_papers.paper import Rows


def learned(seed, *nats):
    """A run that tells all of each factor from its capacity on."""
    curve = [
        {"capacity": float(c), **{k: float(c >= at) for k, at in zip(TAKEN, nats)}} for c in range(0, int(C_MAX) + 1)
    ]
    return {"seed": seed, "image_size": 32, "steps": 100, "curve": curve, "nats": [[c, c / 2, c / 3] for c in (5, 25)]}


def test_the_order_is_judged_by_the_nats_between_factors():
    rows = [learned(0, 3, 7, 15, 20), learned(1, 4, 8, 15, 21)]
    found = judge(locatello.PAPER, "annealed-takes-up-in-order", capacity=rows)
    assert found.verdict == "reproduced"
    assert found.parts["shape, then rotation, seed 1"].value == 6
    wrong = judge(locatello.PAPER, "annealed-takes-up-in-order", capacity=[learned(2, 7, 3, 15, 40)])
    assert wrong.held == ["scale, then shape, seed 2", "shape, then rotation, seed 2"]
    assert [row[2] for row in capacity_rows({"capacity": Rows([learned(0, 7, 3, 15, 40)])})] == [
        "7",
        "3",
        "15",
        "never",
    ]
    assert len(draw_capacity({"capacity": Rows(rows)}, None).axes) == 2


def test_what_looks_the_same_has_the_same_rotation():
    """A square after a quarter turn (here 39 orientations are a whole turn), an ellipse after half a one."""
    square = np.array([[0, 0, 0, 0, 0], [0, 0, 39, 0, 0]])
    assert targets(square)["rotation"] == pytest.approx(np.array([[1, 0], [1, 0]]), abs=1e-12)
    ellipse, heart = (np.array([[shape, 0, 19.5, 0, 0]]) for shape in (1, 2))
    ellipse[0, 2] = 13
    assert targets(ellipse.astype(int))["rotation"][0] == pytest.approx(
        [np.cos(4 * np.pi / 3), np.sin(4 * np.pi / 3)], abs=1e-12
    )
    assert targets(heart.astype(int))["rotation"][0, 0] == pytest.approx(np.cos(2 * np.pi * 19 / 39))


def test_codes_that_are_the_factors_tell_them_all_and_noise_tells_nothing():
    rng = np.random.default_rng(0)
    factors = rng.integers(0, [3, 6, 40, 32, 32], size=(3000, 5))
    read = np.hstack(list(targets(factors).values())) * [0.03, 0.03, 0.2, 1, 1, 1, 0.5, 0.5]
    assert min(told(read, factors).values()) > 0.6
    assert max(told(rng.normal(size=(3000, 3)), factors).values()) < 0.05


def test_a_short_training_is_watched(monkeypatch, tmp_path):
    monkeypatch.setattr(locatello_capacity, "N_TRAINED", 5_000)
    found = run_capacity({"seed": 0, "image_size": 16, "steps": 400}, Bench("small", tmp_path))
    assert [point["capacity"] for point in found["curve"]] == pytest.approx([0, 6.25, 12.5, 18.75, 25])
    assert found["curve"][0]["position"] == 0
    assert found["nats"][-1][0] > 0


def test_trees_read_factors_with_few_and_many_labels(monkeypatch):
    for name, size in (("FEW", 30), ("MANY", 300), ("N_TEST", 200), ("DRAWS", 2)):
        monkeypatch.setattr(locatello_efficiency, name, size)
    factors = np.random.default_rng(0).integers(0, [2, 3], size=(500, 2))
    assert accuracies(factors, 1.0 * factors) == (1.0, 1.0)
    few, many = accuracies(factors, np.random.default_rng(1).normal(size=(500, 2)))
    assert few < 0.6
    assert many < 0.6


def test_twins_are_compared_seed_by_seed():
    def row(plain, entangled):
        values = {f"{name} {kind}": 0.5 for name in ("mig", "few", "many") for kind in ("plain", "entangled")}
        return values | {"efficiency plain": plain, "efficiency entangled": entangled}

    alike = [row(0.6 + s / 100, 0.6 + s / 100) for s in range(3)]
    found = judge(locatello.PAPER, "twin-efficiency", efficiency=alike)
    assert (found.verdict, shown(found)) == ("reproduced", {"": "0"})
    far = judge(locatello.PAPER, "twin-efficiency", efficiency=[row(0.8, 0.6)] * 3)
    assert far.verdict == "not reproduced"
    assert list(efficiency_rows({"efficiency": Rows(alike)}))[-1][2] == "0.118"
