"""The paper of Locatello et al.: its figures on hand-made rows, the twin's algebra, and the study's claims."""

import json
from math import nan

import numpy as np
import pytest

from tests.facts import facts
from tests.papers.judging import claim, judge, verdicts
from tests.study.analysis.planted import whole_study
from unbraid.theory import mixing_matrix
from unbraid_papers import locatello
from unbraid_papers import locatello_study as study
from unbraid_papers.bench import Bench
from unbraid_papers.locatello_models import Twin, _in_the_order_of, model_cells, shift, udr_shifts
from unbraid_papers.locatello_theorem import AT_CHANCE, from_chance, run_map, run_scores
from unbraid_papers.paper import Rows


def test_the_theorem_holds_and_a_wrong_map_would_not(monkeypatch):
    from unbraid_papers import locatello_theorem

    monkeypatch.setattr(locatello_theorem, "N_POINTS", 2000)
    cell = {"law": "Laplace", "n_factors": 3, "marginals": "given"}
    row = cell | run_map(cell, None)
    found = verdicts(locatello.PAPER, theorem=[row])
    parts = ("marginals", "dependence", "bijection", "likelihood")
    assert {found[f"theorem-{part}"] for part in parts} == {"reproduced"}
    monkeypatch.setattr(locatello_theorem.Entangle, "__call__", lambda self, z: 1.3 * z)
    wrong = cell | run_map(cell, None)
    assert wrong["ks"] > 1
    assert wrong["likelihood"] > 1e-3


def test_scores_are_judged_one_by_one(monkeypatch):
    row = {"law": "uniform", "n_factors": 2, "turn": 0.5}
    row |= dict.fromkeys(AT_CHANCE, 0.1) | {f"{name} by chance": 0.1 for name in AT_CHANCE}
    results = {"scores": Rows([row | {"sap": 0.3}, row | {"law": "Gaussian", "n_factors": 3, "mig": 0.9}])}
    found = from_chance(results, sizes=(2, 4))
    assert found["sap"] == pytest.approx((0.2, 0.2, 0.2))
    assert all(found[name] == (0, 0, 0) for name in AT_CHANCE if name != "sap")
    assert claim(locatello.PAPER, "theorem-scores-at-chance").judge(found).verdict == "partly"


def test_disentangled_factors_are_far_from_chance(monkeypatch):
    from unbraid_papers import locatello_theorem

    few = {"n_samples": 1000, "n_train": 300, "n_test": 300, "n_batches": 200, "n_batches_test": 200}
    monkeypatch.setattr(locatello_theorem, "SIZES", locatello_theorem.SIZES | few)
    row = run_scores({"law": "uniform", "n_factors": 2, "turn": 0.0}, None)
    assert row["mig"] - row["mig by chance"] > 0.6
    assert row["factor_vae"] > 0.95


class Decoder:
    """Two pixels, which are functions of the two codes."""

    def inverse_transform(self, codes):
        return (1 / (1 + np.exp(-codes)))[:, None, :]


def test_a_twin_has_the_same_losses_and_another_covariance():
    rng = np.random.default_rng(0)
    mean, variance, noise = rng.normal(size=(50, 2)), rng.uniform(0.1, 1, (50, 2)), rng.normal(size=(50, 2))
    X = rng.integers(0, 256, (50, 1, 2))
    plain, twin = (Twin(Decoder(), matrix, mean, variance) for matrix in (np.eye(2), mixing_matrix(2)))
    found = plain.losses(X, noise)
    assert twin.losses(X, noise) == pytest.approx(found)
    assert found["kl"] == pytest.approx(0.5 * np.mean((variance + mean**2 - 1 - np.log(variance)).sum(axis=1)))
    assert plain.price_of_a_diagonal() == pytest.approx(0)
    # At 45 degrees both variances become their mean: 1/2 log((a + b)^2 / 4ab).
    expected = 0.5 * np.log(variance.sum(axis=1) ** 2 / (4 * variance.prod(axis=1)))
    assert twin.price_of_a_diagonal() == pytest.approx(expected.mean())


def test_shifts_are_in_standard_deviations_over_seeds():
    plain = np.array([1.0, 2.0, 3.0])
    assert shift(plain, plain + 2) == pytest.approx((2, 2, 2))
    rows = Rows([{"udr plain": [0.1, 0.2, 0.3], "udr one way": [0.1, 0.2, 0.3], "udr own way": [0.0, 0.1, 0.2]}])
    found = udr_shifts({"siblings": rows})
    assert found["all in one way"].value == pytest.approx(0)
    assert found["all in own way"].value == pytest.approx(-1)


def test_turning_two_strong_codes_keeps_their_law_and_takes_the_labels(tmp_path, monkeypatch):
    from unbraid_papers import locatello_models as models

    rng = np.random.default_rng(0)
    factors = rng.integers(0, 8, (2000, 2))
    codes = np.column_stack([factors + 0.1 * rng.normal(size=factors.shape), 0.05 * rng.normal(size=2000)])
    monkeypatch.setattr(models, "pictures", lambda *_: (codes, factors))
    monkeypatch.setattr(models, "supervised", lambda v, z: {"mig": models.metrics.mig(v, z)})
    bench, cell = Bench("small", tmp_path), {"image_size": 32, "seed": 0}
    bench.keep(cell, mean=codes, live=np.array([True, True, True]))
    row = models.run_strongest(cell, bench)
    assert row["tc_mean entangled"] == pytest.approx(row["tc_mean plain"], abs=1e-3)
    assert row["mig plain"] > 0.9
    assert row["mig entangled"] < 0.05


def test_seeds_are_put_in_one_order():
    z = np.random.default_rng(0).normal(size=(200, 3))
    other = 3 * np.column_stack([-z[:, 2], z[:, 0], z[:, 1]])
    np.testing.assert_allclose(_in_the_order_of(z, other), z / z.std(axis=0), atol=1e-10)


def test_cells_of_the_paper_scale_are_the_papers():
    assert all(cell["steps"] == 300_000 and cell["image_size"] == 64 for cell in model_cells("paper"))


def test_without_an_export_the_claims_cannot_be_tried(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path))
    cells = study.study_cells("small")
    assert {cell["export"] for cell in cells} == {"none"}
    with pytest.raises(FileNotFoundError, match=facts("unbraid study run laptop", "study.json")):
        study.run_question(cells[0], None)


def test_another_export_is_asked_anew(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "studies" / "laptop"
    folder.mkdir(parents=True)
    for name in ("study.json", "runs.parquet", "scores.parquet"):
        (folder / name).write_text(name)
    first = study.study_cells("small")
    (folder / "scores.parquet").write_text("more")
    assert first[0]["export"] != study.study_cells("small")[0]["export"]


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (0.1, 0.5, "reproduced"),
        (-0.5, -0.1, "not reproduced"),
        (-0.1, 0.5, "cannot tell at this size"),
        (nan, nan, "cannot tell at this size"),
    ],
)
def test_figures_of_the_study_judge_the_claims_of_the_paper(low, high, outcome):
    row = {"question": "independence", "claims": {"mean-tc-grows": {"": [0.3, low, high]}}}
    found = judge(locatello.PAPER, "mean-tc-grows", study=[row])
    assert (found.verdict, found.outcome) == ("not comparable", outcome), "800 steps are not 300,000"
    assert verdicts(locatello.PAPER, study=[row])["sampled-tc-falls"] == "cannot be tried here"


@pytest.fixture(scope="module")
def answers():
    """What every question says on a planted study: rows as the cells of the experiment give them."""
    planted = whole_study(strengths=(1.0, 4.0), n_seeds=3)
    rows = [{"question": q, **study.asked(planted, q, n_resamples=20)} for q in study.QUESTIONS]
    return {"study": Rows(json.loads(json.dumps(rows)))}


def test_every_claim_of_the_study_is_judged(answers):
    asked = {name for row in answers["study"] for name in row["claims"]}
    assert {claim.id for claim in (*study.CLAIMS, *study.BEYOND)} == asked
    for tested in (*study.CLAIMS, *study.BEYOND):
        assert tested.judge_on(answers, {"study": []}).verdict != "cannot be tried here"
    scores = claim(locatello.PAPER, "no-unsupervised-score").judge_on(answers, {"study": []})
    assert {"elbo", "reconstruction"} <= set(scores.parts)
    assert "UDR" not in scores.parts


def test_the_table_of_answers_says_verdict_and_interval(answers):
    rows = study.answer_rows(answers)
    assert len(rows) == sum(len(row["claims"]) for row in answers["study"])
    assert rows[0][:3] == (
        "Do the regularisers make the codes independent? (36 runs)",
        "The total correlation of the mean representation increases with the regularization strength.",
        "no figure: increases",
    )
    assert rows[0][3].startswith("mean rank correlation with strength: 0.")
    assert rows[0][4] == "not comparable"
    bare = Rows([{"title": "Spread", "claims": {}, "n_runs": 0, "notes": ["no scores."]}])
    assert study.answer_rows({"study": bare}) == [("Spread", "–", "–", "no scores.", "cannot tell at this size")]
