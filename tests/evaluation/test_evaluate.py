"""The table: values that are the metrics', intervals that cover, chance and ceiling of known size, exports."""

import dataclasses
import json

import numpy as np
import pytest

import unbraid as ub
from tests.cli.command_line import run
from tests.facts import facts
from unbraid.data.rows import Rows, row_marks
from unbraid.evaluation import PROTOCOLS, Metric, ceiling_codes, interval, register
from unbraid.evaluation.registry import select

RNG = np.random.default_rng(0)
FACTORS = np.stack([RNG.integers(s, size=400) for s in (3, 4, 5)], axis=1)
CODES = FACTORS @ np.array([[1, 0.1, 0, 0], [0, 1, 0, 0.2], [0, 0.1, 1, 0]]) + 0.3 * RNG.normal(size=(400, 4))
QUICK = dataclasses.replace(
    PROTOCOLS["fast"],
    name="quick",
    n_batches=200,
    n_batches_test=100,
    downstream_sizes=(20,),
    replicates={"light": 4, "medium": 3, "heavy": 2},
    chance_draws={"light": 2, "medium": 1, "heavy": 1},
)


@pytest.fixture(scope="module")
def result():
    return ub.evaluate(FACTORS, CODES, protocol=QUICK)


def test_every_metric_has_its_rows(result):
    assert [s.name for s in result] == [row for metric in select("all", observations=False) for row in metric.rows]
    for metric in select("all", observations=False):
        for s in (result[row] for row in metric.rows):
            if s.name.startswith("efficiency"):  # needs 10,000 rows to train on
                assert np.isnan(s.value)
                continue
            assert s.low <= s.value <= s.high
            assert s.seconds > 0
            assert np.isfinite(s.ceiling)
            assert np.isfinite(s.chance) == metric.supervised


def test_values_are_those_of_the_functions(result):
    m = ub.metrics
    for name in ("mcc", "mig", "mig_sup", "jemmig", "dcimig", "med", "modularity", "irs", "sap", "explicitness"):
        assert float(result[name]) == pytest.approx(getattr(m, name)(FACTORS, CODES), abs=1e-12)
    assert result["infoc"].value == m.infomec(FACTORS, CODES).infoc
    assert result["dci_completeness"].value == m.dci(FACTORS, CODES, backend="compiled").completeness
    assert result["total_correlation"].value == m.total_correlation(CODES)


def test_chance_and_ceiling_enclose_good_codes(result):
    for name in ("mcc", "mig", "sap", "explicitness", "dci_disentanglement", "infoe", "beta_vae"):
        assert result[name].chance < result[name].value <= result[name].ceiling + 0.1


@pytest.mark.parametrize(("marginal", "expected"), [("gaussian", 0.63), ("uniform", 0.78)])
def test_the_ceiling_of_mig_on_a_32_valued_factor(marginal, expected):
    """Of the protocol's marginal, and of codes that have this marginal themselves, whatever they tell."""
    rng = np.random.default_rng(1)
    factors = rng.integers(32, size=10_000)
    protocol = dataclasses.replace(QUICK, name="ceiling", ceiling_marginal=marginal)
    score = ub.evaluate(factors, factors + 0.0, metrics="mig", protocol=protocol)["mig"]
    assert score.ceiling == pytest.approx(expected, abs=0.01)
    codes = rng.normal(size=10_000) if marginal == "gaussian" else rng.uniform(size=10_000)
    assert ub.evaluate(factors, codes, metrics="mig", protocol=QUICK)["mig"].ceiling == pytest.approx(
        expected, abs=0.015
    )


def test_no_code_of_the_same_marginal_beats_the_ceiling():
    """Uniform factors found exactly: the ceiling is 1, not that of Gaussian codes; exact classes likewise."""
    factors = RNG.uniform(size=(1000, 2))
    score = ub.evaluate(factors, -factors[:, ::-1], metrics="mcc", protocol=QUICK)["mcc"]
    assert score.value == pytest.approx(1)
    assert score.ceiling == pytest.approx(1)
    exact = ub.evaluate(FACTORS, FACTORS * 1.0, metrics="mig", protocol=QUICK)["mig"]
    assert exact.ceiling == pytest.approx(exact.value)
    dead = ub.evaluate(FACTORS, np.zeros((400, 3)), metrics="mig", protocol=QUICK)["mig"]
    assert dead.ceiling > 0.7


def test_one_code_that_fits_the_poorer_of_two_factors_is_at_the_ceiling():
    """MIG is half of 1 - 0 there; with a code for the factor of 30 values, in 20 bins, it would be less."""
    rng = np.random.default_rng(0)
    factors = np.column_stack([rng.integers(3, size=2000), rng.integers(30, size=2000)])
    with pytest.warns(ub.warnings.AssumptionWarning, match="UB107"):
        score = ub.evaluate(factors, 1.0 * factors[:, :1], metrics="mig", protocol=QUICK)["mig"]
    assert score.value == pytest.approx(0.5, abs=0.02)
    assert score.ceiling == pytest.approx(score.value)


def test_the_chance_level_of_mutual_information():
    """An independent uniform code: (bins - 1)(values - 1) / 2n nats, to first order."""
    rng = np.random.default_rng(0)
    values = [ub.metrics.mig(rng.integers(32, size=10_000), rng.uniform(size=10_000)) for _ in range(20)]
    assert np.mean(values) == pytest.approx(19 * 31 / 20_000 / np.log(32), rel=0.03)


def test_ceiling_codes_determine_the_factors():
    for marginal in ("gaussian", "uniform"):
        codes = ceiling_codes(FACTORS, marginal=marginal)
        for v, z in zip(FACTORS.T, codes.T):
            assert (np.diff(v[np.argsort(z)]) >= 0).all()
    assert ceiling_codes(FACTORS).std() == pytest.approx(1, abs=0.05)


def test_the_interval_in_closed_form():
    """Mean of n normal numbers: standard error 1/sqrt(n), no bias."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    halves = np.array([[rng.permutation(x)[:200].mean()] for _ in range(2000)])
    low, high = interval(np.array([x.mean()]), halves, (-np.inf, np.inf))
    assert high[0] - low[0] == pytest.approx(2 * 1.96 * x.std() / 20, rel=0.06)
    assert np.isnan(interval(np.array([0.5]), np.array([[0.5]]))[0]).all()


def test_the_interval_of_a_biased_score():
    """Bias far above the spread: from 1.645 below the corrected to 1.645 above the plain value."""
    rng = np.random.default_rng(0)
    halves = 5 + 0.1 * rng.normal(size=(5000, 1))
    low, high = interval(np.array([2.0]), halves, (-np.inf, np.inf))
    assert low[0] == pytest.approx(2 - 3 - 0.1645, abs=0.01)
    assert high[0] == pytest.approx(2 + 0.1645, abs=0.01)


MIXING = np.array([[1, 0.2, 0, 0], [0, 1, 0.3, 0], [0.1, 0, 1, 0.2]])


def draw(n, rng):
    factors = np.stack([rng.integers(s, size=n) for s in (3, 6, 8)], axis=1)
    return factors, factors / [0.8, 1.7, 2.3] @ MIXING + 0.4 * rng.normal(size=(n, 4))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mcc", "mcc_weak", "mig", "jemmig", "sap", "explicitness", "total_correlation"])
def test_the_interval_covers_the_true_value(name):
    """Over 200 samples of 1000 points; the truth is the expected score of 1000 points, from 500 other samples.

    IRS is left out: it is made of largest deviations, which no bootstrap gets right; it was covered in 87 %.
    """
    rng = np.random.default_rng(0)
    (metric,) = select(name, observations=False)
    rules = dataclasses.replace(PROTOCOLS["fast"], name="coverage", replicates={"light": 30, "medium": 20, "heavy": 5})
    sizes = {"n_samples": 1000, "n_train": 1000, "n_test": 1000, "random_state": 0}

    def value():
        factors, codes = draw(1000, rng)
        return metric.compute(ub.evaluation.draw_sample(factors, codes, None, **sizes), rules, 0)

    truth = np.mean([value() for _ in range(500)], axis=0)[metric.rows.index(name)]
    covered = []
    for _ in range(200):
        factors, codes = draw(1000, rng)
        score = ub.evaluate(factors, codes, metrics=name, protocol=rules)[name]
        covered.append(score.low <= truth <= score.high)
    print(f"{name}: covered in {np.mean(covered):.1%}")
    assert 0.90 <= np.mean(covered) <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mcc", "mcc_weak", "total_correlation", "wasserstein_correlation"])
def test_the_interval_covers_the_limit_of_many_samples(name):
    """Scores without bins or training have a limit, here the score of a million points."""
    rng = np.random.default_rng(1)
    factors, codes = draw(1_000_000, rng)
    (metric,) = select(name, observations=False)
    sizes = {"n_samples": 10**6, "n_train": 10**6, "n_test": 10**6, "random_state": 0}
    (truth,) = metric.compute(ub.evaluation.draw_sample(factors, codes, None, **sizes), PROTOCOLS["fast"], 0)
    covered = []
    for _ in range(200):
        factors, codes = draw(1000, rng)
        score = ub.evaluate(factors, codes, metrics=name)[name]
        covered.append(score.low <= truth <= score.high)
    print(f"{name}: covered in {np.mean(covered):.1%}")
    assert 0.90 <= np.mean(covered) <= 0.99


class Encoder:
    """A model: remembers how often it was asked."""

    def __init__(self):
        self.seen = 0

    def transform(self, X):
        self.seen += len(X)
        return X[:, :2] * 2


class Grid:
    """A data set of the contract."""

    def sample(self, n, random_state=None):
        factors = np.random.default_rng(random_state).integers(0, 6, size=(n, 2))
        return np.hstack([factors, factors]).astype(float), factors


def test_a_model_encodes_one_pool_once():
    model = Encoder()
    result = ub.evaluate(model, Grid(), metrics=["mcc", "mig", "sap"], protocol=QUICK)
    assert model.seen == QUICK.pool
    assert result["mcc"].value == pytest.approx(1)
    u = np.random.default_rng(0).uniform(size=(300, 2))
    isometry = ub.evaluate(model, (np.hstack([u, u]), u), metrics="local_isometry", protocol=QUICK)["local_isometry"]
    assert isometry.value == pytest.approx(1)
    with pytest.raises(ValueError, match=facts("local_isometry", "(X, factors)")):
        ub.evaluate(FACTORS, CODES, metrics="local_isometry")
    X, factors = Grid().sample(300, random_state=1)
    assert ub.evaluate(model, (X, factors), metrics="mcc", protocol=QUICK).n_samples == 300


def test_types_tell_a_model_from_data_in_either_position():
    """A function encodes as a model does; keywords say the same as positions."""
    model, data = Encoder(), Grid()
    ways = [
        ub.evaluate(model, data, metrics="mcc", protocol=QUICK),
        ub.evaluate(data, model, metrics="mcc", protocol=QUICK),
        ub.evaluate(factors=data, codes=model.transform, metrics="mcc", protocol=QUICK),
        ub.evaluate(data.sample(QUICK.pool, random_state=QUICK.random_state), model, metrics="mcc", protocol=QUICK),
    ]
    assert len({way["mcc"].value for way in ways}) == 1
    assert ub.evaluate(codes=CODES, factors=FACTORS, metrics="mig", protocol=QUICK)["mig"].value == ub.metrics.mig(
        FACTORS, CODES
    )


def test_swapped_arrays_never_give_a_calm_number():
    """Three factors in eight codes: MCC .985 would become .369."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(600, 3))
    codes = np.hstack([factors + 0.17 * rng.normal(size=(600, 3)), rng.normal(size=(600, 5))])
    assert ub.evaluate(factors, codes, metrics="mcc", protocol=QUICK)["mcc"].value == pytest.approx(0.985, abs=0.003)
    with pytest.warns(ub.warnings.AssumptionWarning, match="UB107") as given:
        swapped = ub.evaluate(codes, factors, metrics="mcc", protocol=QUICK)["mcc"].value
    assert swapped == pytest.approx(0.369, abs=0.003)
    assert given[0].filename == __file__
    with pytest.warns(ub.warnings.AssumptionWarning, match="UB107"):
        assert ub.metrics.mcc(codes, factors) == pytest.approx(0.369, abs=0.003)
    with pytest.raises(ValueError, match=r"\(factors, codes\)"):
        ub.evaluate(CODES, FACTORS, metrics="mcc", protocol=QUICK)


@pytest.mark.parametrize("name", ["mcc", "mig", "dci", "irs"])
def test_classes_stored_as_floats_and_swapped_are_noticed_by_every_metric(name):
    """As np.loadtxt gives them, three factors in the place of the codes of eight."""
    codes = np.hstack([CODES, np.random.default_rng(0).normal(size=(400, 5))])
    with pytest.warns(ub.warnings.AssumptionWarning, match="UB107") as given:
        getattr(ub.metrics, name)(codes, FACTORS.astype(float))
    assert {warning.filename for warning in given} == {__file__}
    getattr(ub.metrics, name)(FACTORS.astype(float), codes)
    with pytest.warns(ub.warnings.AssumptionWarning, match="UB107") as given:
        ub.evaluate(codes, FACTORS.astype(float), metrics=name, protocol=QUICK)
    assert len(given) == 1


def test_observations_of_every_kind_are_encoded_alike():
    """A frame keeps its column names on the way to the model; blocks, files and tensors give the same scores."""
    pandas, torch = pytest.importorskip("pandas"), pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X, factors = rng.normal(size=(1500, 3)), rng.integers(0, 4, size=(1500, 2))
    X[:, :2] += factors
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = ub.PCAICA(n_factors=2, random_state=0).fit(frame)
    names = ["mcc", "local_isometry"]
    expected = [s.value for s in ub.evaluate(model, (frame, factors), metrics=names, protocol=QUICK)]
    plain = ub.PCAICA(n_factors=2, random_state=0).fit(X)
    for given in (X, X.tolist(), ub.Blocks([X[:700], X[700:]]), torch.from_numpy(X)):
        found = [s.value for s in ub.evaluate(plain, (given, factors), metrics=names, protocol=QUICK)]
        assert found == pytest.approx(expected, abs=1e-9)


def test_a_frame_of_codes_is_no_model():
    """Frames have methods ``transform`` and ``sample`` of another meaning."""
    pandas = pytest.importorskip("pandas")
    found = ub.evaluate(pandas.DataFrame(FACTORS), pandas.DataFrame(CODES), metrics="mig", protocol=QUICK)
    assert found["mig"].value == ub.metrics.mig(FACTORS, CODES)


def test_bytes_are_encoded_in_the_unit_of_the_model():
    """A model of uint8 pictures: dark blocks, and floats in [0, 1], are the same pictures."""
    rng = np.random.default_rng(0)
    pictures = rng.integers(0, 2, size=(1200, 3, 3), dtype=np.uint8)
    pictures[:100] *= 255
    factors = (pictures[:, 0, :2] > 0).astype(int)
    model = ub.PCAICA(n_factors=3, random_state=0).fit(pictures)
    expected = ub.metrics.mcc(factors, model.transform(pictures))
    for X in (pictures, pictures / 255):
        assert ub.evaluate(model, (X, factors), metrics="mcc", protocol=QUICK)["mcc"].value == pytest.approx(expected)


def test_exports(result, tmp_path):
    table = result.to_pandas()
    assert table.loc["mig", "value"] == result["mig"].value
    path = tmp_path / "scores.json"
    assert json.loads(result.to_json(path)) == json.loads(path.read_text())
    stored = json.loads(path.read_text())
    assert stored["protocol"] == json.loads(json.dumps(QUICK.to_dict()))
    assert stored["scores"][0]["name"] == "mcc"
    assert "mig" in str(result)
    assert "95 %" in str(result)
    assert "<td>mig</td>" in result._repr_html_()
    assert "protocol 'quick'" in repr(result)


def test_protocols_are_frozen_and_hold_the_numbers_of_the_study():
    study = PROTOCOLS["dlib-v1"]
    assert (study.n_train, study.n_test, study.n_bins, study.batch_size, study.prune) == (10_000, 5_000, 20, 64, 0.05)
    assert (study.dci_backend, study.svm_C, study.irs_quantile) == ("gbt", 0.01, 0.99)
    assert study.downstream_sizes == (10, 100, 1000, 10_000)
    with pytest.raises(dataclasses.FrozenInstanceError):
        study.n_bins = 10


def test_mixed_and_continuous_factors():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"shape": FACTORS[:, 0], "x": CODES[:, 1] + 0.0})
    names = ["mcc", "mig", "sap", "dci", "explicitness", "downstream_logistic"]
    result = ub.evaluate(table, CODES, metrics=names, protocol=QUICK)
    assert 0 < result["sap"].value <= 1
    assert ub.evaluate(CODES[:, :2], CODES, metrics=names, protocol=QUICK)["mcc"].value == pytest.approx(1)


def test_errors_say_what_to_do():
    with pytest.raises(ValueError, match=facts("migg", "all, mcc")):
        ub.evaluate(FACTORS, CODES, metrics="migg")
    with pytest.raises(ValueError, match=facts("protocol", "'slow'", "'dlib-v1', 'fast'")):
        ub.evaluate(FACTORS, CODES, protocol="slow")
    with pytest.raises(TypeError, match=facts("codes", "model")):
        ub.evaluate(Grid(), CODES)
    with pytest.raises(TypeError, match=facts("Encoder", "ndarray", "(X, factors)")):
        ub.evaluate(Encoder(), FACTORS)
    with pytest.raises(KeyError, match=facts("'mig'", "mcc")):
        ub.evaluate(FACTORS, CODES, metrics="mcc", protocol=QUICK)["mig"]
    with pytest.raises(ValueError, match=facts("name", "mig")):
        register(Metric("other", lambda s, p, seed: 0.0, reads={"mig": float}))
    with pytest.raises(ValueError, match=facts("name", "infom")):
        register(Metric("infom", lambda s, p, seed: 0.0))
    with pytest.raises(ValueError, match=facts("mine", "score", "(sample, protocol, seed)")):
        register(Metric("mine", None))
    with pytest.raises(TypeError, match=facts("unbraid.metrics.udr")):
        next(x for x in ub.metrics.METRICS if x.name == "udr").compute(None, QUICK, 0)
    with pytest.raises(ValueError, match=facts("ceiling_marginal", "'flat'", "'codes', 'gaussian', 'uniform'")):
        dataclasses.replace(QUICK, ceiling_marginal="flat")


def test_two_array_files_give_the_table(tmp_path, monkeypatch, capsys):
    np.save(tmp_path / "codes.npy", CODES)
    np.save(tmp_path / "factors.npy", FACTORS)
    files = tmp_path / "codes.npy", tmp_path / "factors.npy"
    out = run(monkeypatch, capsys, "evaluate", *files, "--metrics", "mcc,mig", "--json", tmp_path / "out.json")
    assert out.code == 0, out.err
    assert "mig" in out.out
    stored = json.loads((tmp_path / "out.json").read_text())
    assert stored["scores"][1]["value"] == pytest.approx(ub.metrics.mig(FACTORS, CODES))
    assert stored["protocol"]["name"] == "fast"


def test_the_command_reads_csv_and_npz_and_explains(tmp_path, monkeypatch, capsys):
    from unbraid.data.frames import read_array

    np.savetxt(tmp_path / "factors.csv", FACTORS, fmt="%d", delimiter=",", header="a,b,c", comments="")
    np.savez(tmp_path / "codes.npz", CODES)
    np.savez(tmp_path / "two.npz", a=CODES, b=CODES)
    assert read_array(tmp_path / "factors.csv").dtype.kind == "i"
    assert (read_array(tmp_path / "factors.csv") == FACTORS).all()
    assert (read_array(tmp_path / "codes.npz") == CODES).all()
    with pytest.raises(ValueError, match=facts("two.npz", "a, b")):
        read_array(tmp_path / "two.npz")
    (tmp_path / "bad.csv").write_text("1,2\n3\n")
    with pytest.raises(ValueError, match=facts("bad.csv")):
        read_array(tmp_path / "bad.csv")
    out = run(monkeypatch, capsys, "evaluate", tmp_path / "codes.npz")
    assert out.code == 2
    assert f"unbraid evaluate {tmp_path / 'codes.npz'} factors.npy" in out.err


class Remembers:
    """Knows the factors of the rows that it was fitted with, and nothing of the others."""

    def __init__(self, X, factors, known):
        self.X, self.factors = X[known], factors[known]
        self.labelled_rows_ = row_marks(Rows(self.X))

    def transform(self, X):
        codes = np.random.default_rng(1).normal(size=(len(X), self.factors.shape[1]))
        for x, factors in zip(self.X, self.factors):
            codes[(x == X).all(axis=1)] = factors
        return codes


def test_rows_whose_factors_a_model_has_seen_are_left_out():
    rng = np.random.default_rng(0)
    X, factors = rng.normal(size=(600, 5)), rng.normal(size=(600, 2))
    model = Remembers(X, factors, np.arange(0, 600, 2))
    result = ub.evaluate(model, ub.Observations(X[::-1], factors=factors[::-1]), "mcc", protocol=QUICK)
    assert (result.n_left_out, result.n_samples) == (300, 300)
    assert result["mcc"].value < 0.15
    assert "300 rows" in str(result)
    del model.labelled_rows_
    inflated = ub.evaluate(model, (X, factors), "mcc", protocol=QUICK)
    assert (inflated.n_left_out, inflated["mcc"].value > 0.4) == (0, True)


def test_a_rotation_by_labels_is_scored_on_the_other_rows():
    rng = np.random.default_rng(0)
    factors = rng.uniform(size=(300, 2))
    X = np.column_stack([factors, 0.2 * np.sin(3 * factors)])
    labels = np.where(np.arange(300)[:, None] < 20, factors, np.nan)
    model = ub.HessianICA(2, n_neighbors=15, rotation="labels", random_state=0).fit(X, labels)
    rest = ub.evaluate(factors[20:], model.transform(X[20:]), "mcc", protocol=QUICK)["mcc"].value
    for rows, seen in ((slice(None), 20), (slice(10, None), 10), (slice(20, None), 0)):
        result = ub.evaluate(model, (X[rows].astype(np.float32), factors[rows]), "mcc", protocol=QUICK)
        assert result.n_left_out == seen
        assert result["mcc"].value == pytest.approx(rest, abs=1e-3)
    with pytest.raises(ValueError, match=facts(20, "4")):
        ub.evaluate(model, (X[:22], factors[:22]), "mcc", protocol=QUICK)


def test_observations_without_factors_cannot_be_scored():
    with pytest.raises(ValueError, match=facts("factors")):
        ub.evaluate(lambda X: X, ub.Observations(CODES), "mcc")
