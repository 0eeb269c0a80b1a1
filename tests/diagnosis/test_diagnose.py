"""The answer: yes where the factors can be found, no where they cannot, and never a crash on odd data."""

import gzip
import json
import re
from types import SimpleNamespace

import numpy as np
import pandas
import pytest
from scipy.special import ndtr

import unbraid as ub
from tests.facts import facts
from tests.spectral.manifolds import bent_sheets
from unbraid.diagnosis.codes import _by_edge
from unbraid.diagnosis.findings import AXES, Finding, finding
from unbraid.diagnosis.verdict import held, verdict_of
from unbraid.manifold.surroundings import torus
from unbraid.trust.expected import ExpectedMCC
from unbraid.trust.support import ball
from unbraid.trust.warnings import AssumptionWarning


def bent(z):
    """Coordinates along arcs, two columns each."""
    return np.concatenate([np.sin(z), np.cos(z)], axis=1)


@pytest.fixture(scope="module")
def sheet():
    return ub.diagnose(bent_sheets(700)[0])


def test_a_sheet_is_a_yes(sheet):
    assert (sheet.verdict, sheet.method, sheet.n_factors) == ("yes", "hessian-ica", 2)
    assert sheet["linear"].holds is False
    assert all(f.holds for f in sheet.findings if f.decides)
    assert sheet["independent codes"].power >= 0.8


def test_the_expected_mcc_is_that_of_the_fit(sheet):
    """The diagnosis examines all 700 rows, so a fit of them has the same figures."""
    model = ub.HessianICA(2, random_state=0).fit(bent_sheets(700)[0])
    fitted = model.diagnostics_.expected_mcc
    assert (sheet.expected_mcc.median, sheet.expected_mcc.low) == pytest.approx((fitted.median, fitted.low), abs=0.1)
    assert 0.75 < sheet.expected_mcc.low <= sheet.expected_mcc.median <= 1
    assert str(sheet.expected_mcc) in str(sheet)
    assert json.loads(sheet.to_json())["expected_mcc"]["low"] == sheet.expected_mcc.low


def broken(name):
    rng = np.random.RandomState(1)
    z = rng.uniform(size=(3000, 2))
    return {
        "circle": lambda: (torus(600, 1, rng), "no closed loops"),
        "torus": lambda: (torus(800, 2, rng), "no closed loops"),
        "short cylinder": lambda: (np.c_[torus(800, 1, rng), z[:800, 0]], "no closed loops"),
        "sphere": lambda: ((lambda x: x / np.linalg.norm(x, axis=1, keepdims=True))(rng.normal(size=(800, 3))),
                           "no closed loops"),
        "disk": lambda: (bent(ball(1000, 2, rng)), "filled box"),
        "triangle": lambda: (bent(z[z.sum(axis=1) < 1][:800]), "product support"),
        "Gaussian": lambda: (bent(rng.normal(size=(800, 2)) / 4), "non-Gaussian"),
        "clusters": lambda: (rng.normal(size=(4, 10))[rng.randint(4, size=600)] + rng.normal(size=(600, 10)) / 10,
                             "connected"),
        "noise": lambda: (rng.normal(size=(600, 12)), "structure"),
    }[name]()  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["circle", "torus", "short cylinder", "sphere", "disk", "triangle", "Gaussian", "clusters", "noise"],
)
def test_broken_assumptions_are_seen_and_never_a_yes(name):
    X, assumption = broken(name)
    found = ub.diagnose(X)
    assert found.verdict != "yes"
    assert found[assumption].holds is False
    if assumption == "no closed loops" and found["verified"].holds:
        assert (found.verdict, found.method, found.causes, found.remedies) == ("with care", "product-manifold", [], [])
    elif assumption in ("no closed loops", "structure", "connected"):
        assert found.verdict == ("no" if assumption != "no closed loops" else "unsure")
        assert assumption in found.causes
        assert found[assumption].remedy in found.remedies


CASES = [(False, None, "hessian-ica"), (True, False, "product-manifold")]


@pytest.mark.parametrize(("turns", "holds", "method"), CASES)
def test_noise_that_hides_the_edge_of_a_box_makes_no_loop_of_it(turns, holds, method):
    """Counts of mean 1 in 200 bumps over a square, and over a torus."""
    rng = np.random.default_rng(0)
    away = (2 * np.pi if turns else 1) * (rng.uniform(size=(2000, 1, 2)) - rng.uniform(-0.5, 1.5, size=(200, 2)))
    rates = 0.1 + np.exp((2 * np.cos(away) - 2 if turns else -np.square(away) / 0.18).sum(axis=2))
    found = ub.diagnose(rng.poisson(rates / rates.mean()))
    assert found["low noise"].holds is None
    assert found["no closed loops"].figure < found["no closed loops"].threshold
    assert (found["no closed loops"].holds, found.method, found.n_factors) == (holds, method, 2)


def test_pictures_of_separate_kinds_are_no_product():
    rng = np.random.default_rng(0)
    kinds = rng.uniform(0, 200, size=(10, 8, 8))
    X = (kinds[rng.integers(10, size=300)] + rng.uniform(0, 20, size=(300, 8, 8))).astype(np.uint8)
    assert ub.diagnose(X).verdict in ("no", "unsure")


@pytest.mark.slow
def test_digits_are_no_product(shared):
    """Real pictures of ten kinds that no few factors explain."""
    path = shared.path("data/mnist/t10k-images-idx3-ubyte.gz")
    if path is None:
        pytest.skip("needs data/mnist of the shared folder")
    X = np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=16).reshape(-1, 28, 28)[:1000]
    assert ub.diagnose(X).verdict in ("no", "unsure")


def test_noise_has_no_factors():
    found = ub.diagnose(np.random.default_rng(0).normal(size=(400, 8)))
    assert found.n_factors == 0
    assert [f.assumption for f in found.findings] == ["structure"]


def test_flat_data_need_no_curved_method():
    X = np.random.default_rng(0).uniform(size=(500, 3)) @ np.random.default_rng(1).normal(size=(3, 9))
    found = ub.diagnose(X)
    assert (found.verdict, found.method, found.n_factors) == ("yes", "pca-ica", 3)


@pytest.mark.filterwarnings("ignore:UB210")
def test_clusters_are_not_laid_out_together():
    X, _ = broken("clusters")
    with pytest.warns(AssumptionWarning, match=facts("UB101", "connected")):
        model = ub.fit(X, random_state=0)
    assert isinstance(model, ub.PCAICA)
    assert model.diagnosis_["connected"].holds is False


def test_a_category_among_measurements_is_named():
    table = pandas.DataFrame(bent_sheets(400)[0]).add_prefix("gene").assign(batch=np.arange(400) % 3 * 2.0)
    found = ub.diagnose(table)
    assert found["connected"].holds is False
    assert found["connected"].cost is None
    assert any("'batch'" in reason and "3 values" in reason for reason in found.reasons)


def test_a_column_in_another_unit_is_named():
    X = bent_sheets(400)[0]
    found = ub.diagnose(X * np.where(np.arange(X.shape[1]) == 2, 1e4, 1.0))
    assert found["like units"].holds is None
    assert re.search(facts("column 2"), found["like units"].words.lower())
    assert found.verdict != "yes"
    pictures = np.repeat(X[:, :, None], 2, axis=2)
    assert "like units" not in [f.assumption for f in ub.diagnose(pictures).findings]


def test_the_rotation_is_in_doubt_without_non_gaussian_factors():
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(2, 6))
    assert ub.diagnose(rng.uniform(size=(500, 2)) @ mixing)["rotation"].holds is True
    doubtful = ub.diagnose(rng.normal(size=(500, 2)) @ mixing)
    assert doubtful["rotation"].figure > doubtful["rotation"].threshold
    assert doubtful["rotation"].holds is None
    assert doubtful["rotation"].remedy in doubtful.remedies


def test_given_factors_are_kept():
    assert ub.diagnose(bent_sheets(400, d=3)[0], n_factors=2).n_factors == 2


def test_labels_are_held_against_the_theory():
    X, _, labels = ub.datasets.load("gin-mixture").sample_conditional(600, random_state=0)
    with_labels, without = ub.diagnose(X, labels), ub.diagnose(X)
    assert without.verdict != "yes"
    assert (with_labels.method, with_labels.verdict) == ("gin", "unsure")
    assert with_labels["enough conditions"].threshold == 2 * with_labels.n_factors + 1
    two = ub.diagnose(X, labels % 2)
    assert two["enough conditions"].holds is False
    assert two.method != "gin"
    shuffled = ub.diagnose(X, np.random.default_rng(0).permutation(labels))
    assert shuffled["informative labels"].holds is None


def test_classes_that_lie_apart_do_not_overlap():
    X, _ = broken("clusters")
    apart = np.unique(np.sign(X - X.mean(axis=0))[:, :3], axis=0, return_inverse=True)[1]
    assert ub.diagnose(X, apart.ravel())["classes overlap"].figure < 1


def test_pairs_that_share_a_factor_are_told_from_any_pairs():
    rng = np.random.default_rng(0)
    z = rng.uniform(size=(300, 2))
    moved = np.where(rng.integers(2, size=(300, 1)) == [[0, 1]], z, rng.uniform(size=(300, 2)))
    X = bent(np.concatenate([z, moved]))
    pairs = np.c_[np.arange(300), np.arange(300, 600)]
    assert ub.diagnose(X, pairs=pairs)["sparse pairs"].holds is True
    assert ub.diagnose(X, pairs=np.c_[np.arange(300), np.roll(np.arange(300), 1)])["sparse pairs"].holds is False


def test_every_form_says_the_same(sheet, tmp_path):
    frame = sheet.to_frame()
    assert list(frame.index) == [f.assumption for f in sheet.findings]
    read = json.loads(sheet.to_json(tmp_path / "d.json"))
    assert read == json.loads((tmp_path / "d.json").read_text())
    assert read["verdict"] == "yes"
    assert read["findings"][0]["assumption"] == sheet.findings[0].assumption
    page = sheet.report().write(tmp_path / "d.html").read_text()
    for f in sheet.findings:
        assert f.assumption in page
        assert f.assumption in str(sheet)
    assert AXES in str(sheet)
    assert AXES in page
    with pytest.raises(KeyError, match=facts("'magic'", "'connected'")):
        sheet["magic"]


def test_assumptions_hold_if_all_that_decide_do():
    yes, no, unknown = (Finding("a", holds, None, None, "") for holds in (True, False, None))
    aside = Finding("b", False, None, None, "", decides=False)
    assert held([yes, aside]) is True
    assert held([yes, unknown]) is None
    assert held([unknown, no]) is False


@pytest.mark.parametrize(
    ("median", "low", "high", "verdict"),
    [(0.99, 0.8, 1, "yes"), (0.99, 0.79, 1, "with care"), (0.89, 0.4, 1, "unsure"), (0.6, 0.4, 0.89, "no")],
)
def test_the_verdict_follows_from_what_is_expected(median, low, high, verdict):
    """A failed assumption on the codes does not decide by itself, nor does its p-value."""
    expected = ExpectedMCC(median, low, high)
    fine = [finding("structure", True, 9.0, ""), finding("dependence", False, 0.9, "")]
    assert verdict_of(fine, expected) == verdict
    assert verdict_of([*fine, finding("structure", False, 0.0, "")], expected) == "no"
    assert verdict_of([*fine, finding("dimension_gap", None, 1.0, "")], expected) in ("unsure", "no")
    assert verdict_of(fine, expected, warned=True) == ("with care" if verdict == "yes" else verdict)


def test_a_failed_assumption_says_what_it_costs():
    """Factors of correlation .6 fail a test of support, and are found with an MCC of .95 all the same."""
    rng = np.random.default_rng(0)
    normal = rng.normal(size=(1500, 2))
    z = ndtr(normal @ [[1.0, 0.6], [0.0, 0.8]])
    X = bent(z) @ rng.normal(size=(4, 12))
    found = ub.diagnose(X)
    assert found.verdict in ("yes", "with care")
    failed = [f for f in found.findings if f.holds is False and f.cost is not None]
    assert failed
    assert all(f"{f.cost:.2f}" in str(f) or f.cost < 0.01 for f in failed)


def test_a_factor_too_short_to_count_is_no_calm_yes():
    z = np.random.default_rng(0).uniform(size=(800, 3)) * [1, 1, 0.02]
    X = np.c_[bent(z[:, :2]), z[:, 2]] @ np.linalg.qr(np.random.default_rng(1).normal(size=(12, 12)))[0][:5]
    found = ub.diagnose(X)
    assert (found.n_factors, found["nothing left over"].holds) == (2, False)
    assert found.verdict != "yes"
    with pytest.warns(ub.warnings.DataWarning, match="UB306"):
        ub.HessianICA(2, 15, random_state=0).fit(X)


def test_bad_input_is_refused_in_words():
    X = bent_sheets(100)[0]
    with pytest.raises(ValueError, match=facts(20, 30)):
        ub.diagnose(X[:20])
    with pytest.raises(ValueError, match=facts(10, 30)):
        ub.diagnose(np.repeat(X[:10], 20, axis=0))
    with pytest.raises(ValueError, match=facts("n_factors", 0, "'auto'")):
        ub.diagnose(X, n_factors=0)
    with pytest.raises(ValueError, match=facts("labels", (3,), 100)):
        ub.diagnose(X, labels=np.zeros(3))
    with pytest.raises(ValueError, match=facts("pairs", 100, 99)):
        ub.diagnose(X, pairs=[[0, 100]])
    with pytest.raises(ValueError, match=facts("pairs", "float64", "(m, 2)")):
        ub.diagnose(X, pairs=[[0.5, 1.0]])
    with pytest.raises(ValueError, match="infinity"):
        ub.diagnose(np.where(X.max() == X, np.inf, X))


def test_few_rows_are_no_reason_for_a_no():
    """With 60 rows uniform factors look as Gaussian as any: that cannot be told, and is not refuted."""
    found = ub.diagnose(bent_sheets(60)[0])
    assert found["non-Gaussian"].holds is not False
    assert found.verdict != "no"


def test_a_single_column_is_its_own_factor():
    found = ub.diagnose(np.random.default_rng(0).uniform(size=(100, 1)))
    assert (found.verdict, found.n_factors, found.method) == ("yes", 1, "pca-ica")


def test_columns_that_vary_little_may_hold_something_else():
    """A few loud channels hide what the others show; the codes follow the loud ones only, and that is told."""
    rng = np.random.default_rng(0)
    z = rng.uniform(size=(600, 2))
    quiet = np.sin(z[:, 1:] * np.linspace(1, 3, 40)) + 0.05 * rng.normal(size=(600, 40))
    loud = 20 * (np.sin(z[:, :1] * np.linspace(1, 3, 8)) + 0.05 * rng.normal(size=(600, 8)))
    X = np.c_[loud[:, :4], quiet, loud[:, 4:]]
    given, spread = ub.diagnose(X), ub.diagnose(X / X.std(axis=0))
    assert (given.n_factors, given["small columns"].holds, given.verdict) == (1, None, "unsure")
    assert (spread.n_factors, spread["small columns"].holds) == (2, True)


def test_more_edge_than_a_box_has_is_noise():
    """Rays of a star have many ends, and a line has two."""
    rng = np.random.RandomState(0)
    star = np.eye(10)[rng.randint(10, size=500)] * rng.random_sample((500, 1))
    line = np.pad(rng.random_sample((500, 1)), [(0, 0), (0, 9)])
    for points, noise, holds in ((star, 0.5, None), (star, 0.0, True), (line, 0.5, True)):
        survey = SimpleNamespace(d=1, points=points, noise=noise)
        assert _by_edge(survey, [], False, rng).holds is holds
