"""The answers of studies whose answers are known."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, spearmanr
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from tests.facts import facts
from tests.study.analysis.planted import PAPER_METRICS, Planted, mean_scores, whole_study
from unbraid.evaluation.claims import VERDICTS
from unbraid.study import analysis
from unbraid.study.analysis.frames import scored
from unbraid.study.analysis.readout import read_accuracy
from unbraid.study.analysis.resampling import rank_correlations, resamples
from unbraid.study.analysis.unsupervised import divergence, udr_scores


def verdicts(answer):
    return [claim.verdict for claim in answer.claims]


def test_variance_of_planted_effects_in_closed_form():
    """Objectives -1, 0, 1 (variance 2/3), strengths -1, 0, 1 within each (2/3), seeds of variance 1."""
    place = {"beta-vae": -1, "factor-vae": 0, "dip-vae": 1}

    def score(dataset, method, strength, seed, rng):
        return mean_scores(place[method] + np.log2(strength) - 1 + rng.normal())

    answer = analysis.variance(Planted(score, n_seeds=400), n_resamples=20)
    table = answer.table.set_index(["dataset", "metric", "explained by"])["share"]
    total = 2 / 3 + 2 / 3 + 1
    assert table["dsprites", "mig", "objective"] == pytest.approx(2 / 3 / total, abs=0.03)
    assert table["room", "sap", "objective x strength"] == pytest.approx(4 / 3 / total, abs=0.03)
    assert verdicts(answer) == ["reproduced"] * 3


def test_variance_of_few_seeds_is_not_taken_for_an_effect():
    """Nine settings of three seeds that do not differ: the plain share is (9 - 1) / (27 - 1), the corrected one 0."""
    worlds = tuple(f"world {i}" for i in range(80))
    study = Planted(lambda *a: {("mean", "mig"): a[-1].normal()}, datasets=worlds, n_seeds=3)
    answer = analysis.variance(study, n_resamples=2)
    table = answer.table.query("`explained by` == 'objective x strength'")
    assert table["plain share"].mean() == pytest.approx(8 / 26, abs=0.03)
    assert table["share"].mean() < 0.1  # not 0: what is below is written as 0
    assert answer.claims[1].value == pytest.approx(0, abs=0.04)  # the mean is taken before


def test_variance_needs_two_seeds():
    with pytest.raises(analysis.Unanswerable, match=facts("seed")):
        analysis.variance(Planted(lambda *a: mean_scores(a[-1].normal()), n_seeds=1))


def test_the_papers_tables_average_to_its_sentences():
    from unbraid.study.analysis.paper import variance_range

    assert round(100 * variance_range("objective")[1]) == 37
    assert round(100 * variance_range("objective x strength")[1]) == 59


def test_rank_correlations_are_scipys():
    values = np.random.default_rng(0).integers(0, 9, (60, 4)).astype(float)  # with ties
    np.testing.assert_allclose(rank_correlations(values), spearmanr(values).statistic, atol=1e-12)


def test_agreement_finds_planted_pairs():
    def score(dataset, method, strength, seed, rng):
        common, first, second = rng.normal(size=3)
        made = {("mean", m): common + 1.5 * rng.normal() for m in PAPER_METRICS}
        for m in ("beta_vae", "factor_vae"):
            made["mean", m] = common + first + 0.1 * rng.normal()
        for m in ("mig", "dci.disentanglement"):
            made["mean", m] = common + second + 0.1 * rng.normal()
        made["mean", "modularity"] = rng.normal()
        return made

    answer = analysis.agreement(Planted(score, n_seeds=12), n_resamples=100)
    assert verdicts(answer) == ["reproduced"] * 4
    pair = answer.table.query("dataset == 'room' and metric == 'mig' and other == 'dci_disentanglement'")
    assert pair["correlation"].item() > 0.97
    assert pair["paper"].item() == "strong"
    frame = scored(Planted(score, n_seeds=12)).frame.query("dataset == 'room'")
    expected = spearmanr(frame["mig"], frame["sap"]).statistic
    assert answer.matrices["room"].loc["mig", "sap"] == pytest.approx(expected)


def test_agreement_of_noise_cannot_tell():
    study = Planted(lambda *a: {("mean", m): a[-1].normal() for m in PAPER_METRICS})
    weak, strong = "cannot tell at this size", "not reproduced"  # noise is not strongly correlated
    assert verdicts(analysis.agreement(study, n_resamples=100)) == [weak, strong, strong, weak]


@pytest.mark.parametrize(
    ("slope", "verdict"), [(1, "reproduced"), (-1, "not reproduced"), (0, "cannot tell at this size")]
)
def test_independence_reads_the_trend(slope, verdict):
    def score(dataset, method, strength, seed, rng):
        return {
            ("mean", "total_correlation"): 9 + slope * strength + 0.3 * rng.normal(),
            ("sampled", "total_correlation"): 9 - slope * (strength + 1) + 0.3 * rng.normal(),
        }

    answer = analysis.independence(Planted(score), n_resamples=100)
    assert verdicts(answer) == [verdict] * 3
    assert len(answer.levels) == 2 * 3 * 3 * 2


def test_independence_leaves_the_capacity_of_annealed_vae_out():
    def score(dataset, method, strength, seed, rng):
        turn = -1 if method == "annealed-vae" else 1
        noise = 0.1 * rng.normal()
        return {("mean", "total_correlation"): 9 + turn * strength + noise,
                ("sampled", "total_correlation"): 5 - turn * strength + noise}  # fmt: skip

    answer = analysis.independence(Planted(score, methods=("beta-vae", "annealed-vae")), n_resamples=50)
    assert verdicts(answer) == ["reproduced"] * 3
    assert set(answer.table.query("method == 'annealed-vae'")["paper"]) == {""}


def test_independence_of_a_half_finished_study_takes_what_has_a_trend():
    study = whole_study(n_seeds=3)
    late = study.runs().query("dataset == 'room' and method == 'dip-vae' and strength > 1")["run"]
    study._scores = study._scores[~study._scores["run"].isin(late)]
    answer = analysis.independence(study, n_resamples=20)
    assert len(answer.table) == 2 * (2 * 3 - 1)
    assert verdicts(answer) == ["reproduced"] * 3


def test_overlap_of_two_strengths_in_closed_form():
    """Scores 0, 1, 2 of the worse strength and 10, 11, 12 of the better: none is won. Moved by 1, of nine pairs one is
    won and two are ties; told by the other seeds, each seed's pair is lost."""

    def apart(dataset, method, strength, seed, rng):
        return {("mean", "mig"): seed + 10 * (strength > 1)}

    def near(dataset, method, strength, seed, rng):
        return {("mean", "mig"): seed + (strength > 1)}

    options = {"strengths": (1.0, 2.0), "n_seeds": 3}
    assert analysis.spread(Planted(apart, **options), n_resamples=50).claims[0].value == 0
    answer = analysis.spread(Planted(near, **options), n_resamples=50)
    assert answer.claims[0].value == pytest.approx(((1 + 2 / 2) / 9 + 0) / 2)
    assert set(answer.table["overlap"].round(6)) == {round(1 / 9, 6)}


def test_the_interval_of_the_overlap_holds_the_truth():
    """Four strengths with means 0, .1, .2, .3 and unit seeds: Phi(-.3 / sqrt 2) of worst against best."""

    def score(dataset, method, strength, seed, rng):
        return {("mean", "mig"): 0.1 * strength + rng.normal()}

    truth, held = norm.cdf(-0.3 / 2**0.5), 0
    for repetition in range(12):
        study = Planted(score, datasets=("room",), strengths=(1.0, 2.0, 3.0, 4.0), n_seeds=4, random_state=repetition)
        claim = analysis.spread(study, n_resamples=20).claims[0]
        held += claim.low <= truth <= claim.high
    assert held >= 10


def test_a_setting_that_is_best_everywhere_moves_everywhere():
    """Nine settings of five seeds, the best one apart: it beats the other 40 runs and, on average, half its four."""

    def score(dataset, method, strength, seed, rng):
        return mean_scores(10 * (method == "dip-vae" and strength == 4.0) + rng.normal())

    answer = analysis.selection(Planted(score), n_resamples=50)
    chance = answer.table.set_index("chosen by")["chance"]
    assert chance["same metric, other data set"] == pytest.approx((40 + 2) / 44)
    assert chance["same metric, same data set"] > 0.9
    assert verdicts(answer)[:3] == ["reproduced", "not reproduced", "not reproduced"]


def test_a_setting_that_is_best_by_luck_is_random_elsewhere():
    """Each data set and metric has a best setting of its own: what is chosen elsewhere is a setting like any other."""
    rng = np.random.default_rng(3)
    effect = {}

    def score(dataset, method, strength, seed, noise):
        return {
            ("mean", m): effect.setdefault((dataset, method, strength, m), 3 * rng.normal()) + 0.3 * noise.normal()
            for m in PAPER_METRICS
        }

    study = Planted(score, datasets=("a", "b", "c", "d"), n_seeds=3)
    chance = analysis.selection(study, n_resamples=3).table.set_index("chosen by")["chance"]
    assert chance["same metric, same data set"] > 0.9
    assert chance["other metric, other data set"] == pytest.approx(0.5, abs=0.07)


def test_a_criterion_that_knows_the_quality_is_found_out():
    def loss(made, rng):
        return {"reconstruction": -made["mean", "mig"], "kl": rng.normal()}

    study = Planted(lambda *a: mean_scores(a[-1].normal()), loss=loss)
    answer = analysis.selection(study, n_resamples=60)
    table = answer.table.set_index("chosen by")["chance"]
    assert table["reconstruction"] == 1
    (claim,) = [claim for claim in answer.claims if claim.id == "no-unsupervised-score"]
    assert claim.holds(claim.parts["reconstruction"]) is False
    assert claim.holds(claim.parts["kl"])
    assert claim.verdict == "partly"


def test_udr_is_high_for_siblings_that_agree():
    study = Planted(lambda *a: mean_scores(0.5), datasets=("room",), methods=("vae",), strengths=(1.0, 2.0), n_seeds=3)
    rng = np.random.default_rng(0)
    axes = rng.normal(size=(500, 2))
    for i, run in enumerate(study.runs()["run"]):
        turn = np.linalg.qr(rng.normal(size=(2, 2)))[0] if i >= 3 else np.eye(2)[rng.permutation(2)]
        study.stored[run] = {"mean": axes @ turn}
    found = udr_scores(study, scored(study))
    assert found[:3].min() > 0.85
    assert found[3:].max() < found[:3].min()


def test_divergence_of_a_gaussian_posterior_in_closed_form():
    rng = np.random.default_rng(0)
    mean = np.full((200_000, 1), 0.6)
    drawn = mean + 0.5 * rng.normal(size=mean.shape)
    assert divergence(mean, drawn)[0] == pytest.approx((0.36 + 0.25 - 1 - np.log(0.25)) / 2, abs=0.005)


def test_usefulness_from_stored_scores():
    answer = analysis.usefulness(whole_study(n_seeds=10), n_resamples=100)
    assert verdicts(answer) == ["reproduced", "reproduced"]
    assert not any("codes" in note for note in answer.notes)


def test_usefulness_computes_the_efficiency_from_codes_and_says_so():
    """Half of the runs store the factors themselves, half store noise: accuracy and score go together."""
    truth = np.random.default_rng(0).integers(0, 3, (600, 2))
    kept = {}

    def score(dataset, method, strength, seed, rng):
        return {("mean", "mig"): float(seed % 2) + 0.01 * rng.normal()}

    study = Planted(
        score, datasets=("room",), methods=("vae",), strengths=(1.0, 2.0), n_seeds=4, truth=truth, stored=kept
    )
    for run, seed in study.runs()[["run", "seed"]].itertuples(index=False):
        noise = np.random.default_rng(int(run[:4], 16)).normal(size=(600, 2))
        kept[run] = {"mean": truth + 0.01 * noise if seed % 2 else noise}
    answer = analysis.usefulness(study, n_resamples=50)
    assert "codes" in answer.notes[-1]
    row = answer.table.query("task == 'accuracy, linear reader'")
    assert row["correlation"].item() > 0.8


def test_linear_reader_reaches_bayes_accuracy():
    """Two classes at -1 and 1 with unit noise: Phi(1) of the points are read right; numbers keep R2 = .8."""
    rng = np.random.default_rng(0)
    sides = rng.integers(0, 2, (20_000, 1))
    codes = 2.0 * sides - 1 + rng.normal(size=(20_000, 1))
    assert read_accuracy(sides, codes, 8000, 10_000, 1) == pytest.approx(norm.cdf(1), abs=0.012)
    number = 2 * rng.normal(size=(20_000, 1))
    assert read_accuracy(number, number + rng.normal(size=(20_000, 1)), 8000, 10_000, 1) == pytest.approx(0.8, abs=0.02)


def test_linear_reader_is_sklearns_discriminant():
    rng = np.random.default_rng(1)
    v = rng.integers(0, 3, (900, 1))
    codes = np.eye(3)[v[:, 0]] @ rng.normal(size=(3, 4)) + rng.normal(size=(900, 4))
    order = np.random.default_rng(0).permutation(900)
    test, rest = order[:300], order[300:]
    ours = read_accuracy(v, codes, 600, 300, 1)
    reference = LinearDiscriminantAnalysis().fit(codes[rest], v[rest, 0]).score(codes[test], v[test, 0])
    assert ours == pytest.approx(reference, abs=0.01)


def test_resamples_stay_in_their_cells_and_vary_as_fresh_seeds():
    cells = np.repeat([0, 1], [4, 3])
    values = np.array([0.0, 1, 2, 3, 10, 20, 30])
    means = []
    for rows in resamples(cells, 20_000, 0):
        assert np.bincount(cells[rows]).tolist() == [3, 2]
        means.append([values[rows][:3].mean(), values[rows][3:].mean()])
    expected = [values[:4].var(ddof=1) / 4, values[4:].var(ddof=1) / 3]
    np.testing.assert_allclose(np.var(means, axis=0), expected, rtol=0.05)


def test_fewer_than_three_seeds_cannot_tell():
    answer = analysis.agreement(whole_study(n_seeds=2))
    assert set(verdicts(answer)) == {"cannot tell at this size"}
    assert "seeds" in answer.words


def test_methods_without_a_sweep_do_not_count():
    study = whole_study()
    extra = study.runs().iloc[:2].assign(run=["x1", "x2"], method="pca-ica", strength=None, dataset="room")
    study._runs = pd.concat([study.runs().astype({"strength": object}), extra])
    study._scores = pd.concat([study.scores(), study.scores().query("run == '0000abcd'").assign(run="x1")])
    assert "pca-ica" not in set(scored(study).frame["method"])
    assert list(scored(study, all_methods=True).frame.query("method == 'pca-ica'")["run"]) == ["x1"]


def test_metrics_that_some_run_lacks_are_named():
    study = whole_study()
    study._scores = study._scores.drop(study._scores.query("metric == 'mig'").index[0])
    answer = analysis.agreement(study, n_resamples=2)
    assert "mig" in answer.notes[-1]
    with pytest.raises(analysis.Unanswerable, match=facts("mig", "beta_vae, dci_disentanglement", "rescore")):
        analysis.agreement(study, metrics=["mig", "sap"])


def test_a_study_without_scores_says_so():
    study = Planted(lambda *a: {})
    with pytest.raises(analysis.Unanswerable, match=facts("'mean'")):
        analysis.variance(study)


@pytest.mark.parametrize("question", list(analysis.QUESTIONS))
def test_every_answer_has_table_words_and_figure(question):
    answer = analysis.QUESTIONS[question](whole_study(n_seeds=3), n_resamples=5)
    assert len(answer.table)
    assert answer.words.count("\n") + 1 == len(answer.claims)
    for line in answer.words.splitlines():
        assert line.lower().startswith(VERDICTS)
    assert answer.figure().axes
    assert answer.title in str(answer)
    again = analysis.QUESTIONS[question](whole_study(n_seeds=3), n_resamples=5)
    pd.testing.assert_frame_equal(answer.table, again.table)
