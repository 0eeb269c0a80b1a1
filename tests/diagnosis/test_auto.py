"""`fit` without a method: what the diagnosis recommends, and its reasons kept."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import unbraid as ub
from tests.cli.command_line import run
from tests.facts import facts
from unbraid.datasets.shapes import ShapesXY
from unbraid.diagnosis.findings import ANSWERS, WRAPS
from unbraid.manifold.surroundings import torus
from unbraid.spectral import landmarks
from unbraid.trust.warnings import AssumptionWarning


@pytest.fixture(scope="module")
def pictures():
    return ShapesXY(image_size=16).sample(300, random_state=0)


@pytest.fixture(scope="module")
def fitted(pictures):
    """The pictures fitted by default, and how many points were embedded, fit by fit."""
    with pytest.MonkeyPatch.context() as patch:
        counts = counted(patch)
        return ub.fit(pictures[0], random_state=0), counts


def counted(patch):
    counts = []
    choose = landmarks.choose
    patch.setattr(landmarks, "choose", lambda P, *rest: counts.append(len(P)) or choose(P, *rest))
    return counts


@pytest.fixture
def solved(monkeypatch):
    """How many points were embedded, fit by fit."""
    return counted(monkeypatch)


def test_pictures_get_hessian_ica_and_the_same_codes(pictures, fitted, tmp_path):
    X, factors = pictures
    model = fitted[0]
    same = ub.HessianICA(n_factors="auto", random_state=0).fit(X)
    assert isinstance(model, ub.HessianICA)
    assert (model.n_factors_, model.n_neighbors_) == (same.n_factors_, same.n_neighbors_)
    np.testing.assert_allclose(model.embedding_, same.embedding_, atol=1e-3 * same.embedding_.std())
    assert ub.metrics.mcc(factors, model.transform(X)) > 0.97
    model.save(tmp_path / "run")
    assert ub.load(tmp_path / "run").diagnosis_ == model.diagnosis_


def test_the_fit_takes_over_what_the_diagnosis_solved(pictures, fitted):
    X, _ = pictures
    model, solved = fitted
    assert solved == [len(X)]
    assert model.diagnosis_ == ub.diagnose(X)
    assert len(model.embedding_) == len(X)


@pytest.mark.parametrize(("enough", "expected"), [(0.01, [2000]), (0.0, [2000, 2600])])
def test_of_many_rows_the_fit_goes_on_from_those_that_were_looked_at(solved, monkeypatch, enough, expected):
    monkeypatch.setattr(landmarks, "ENOUGH", enough)
    X, factors = ub.datasets.load("isometric", n_factors=1, n_features=10).sample(2600, random_state=0)
    model = ub.fit(X, random_state=0)
    codes = model.transform(X)
    assert isinstance(model, ub.HessianICA)
    assert solved == expected
    assert model.n_landmarks_ == (2000 if len(expected) == 1 else 0)
    assert len(codes) == 2600
    assert ub.metrics.mcc(factors, codes) > 0.999


def test_with_a_rotation_too_the_settings_are_chosen_on_the_rows_that_were_looked_at(solved):
    """On thousands of landmarks, as without a diagnosis, the search takes minutes."""
    X, factors = ub.datasets.load("isometric", n_factors=1, n_features=10).sample(6000, random_state=0)
    model = ub.fit(X, rotation="support", random_state=0)
    assert max(solved) == 2000
    assert model.n_factors_ == model.diagnosis_.n_factors == 1
    assert ub.metrics.mcc(factors, model.transform(X)) > 0.999


def test_the_fit_has_the_number_of_factors_of_its_diagnosis(monkeypatch):
    X = np.random.default_rng(0).uniform(size=(300, 2)) @ [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]
    auto = import_module("unbraid.diagnosis.fitting")
    examine = auto.examine

    def examined(*a, **k):
        found = examine(*a, **k)
        return found._replace(diagnosis=replace(found.diagnosis, n_factors=1), starts={})

    monkeypatch.setattr(auto, "examine", examined)
    assert ub.fit(X, random_state=0).n_factors_ == 1
    assert ub.fit(X, n_factors=2, random_state=0).n_factors_ == 2


def test_a_parameter_is_not_taken_over_from_the_diagnosis(pictures, solved):
    X, _ = pictures
    model = ub.fit(X, random_state=0, n_neighbors=20)
    assert model.n_neighbors_ == 20
    assert solved == [len(X), len(X)]


def test_a_verified_angle_is_told_and_no_reason_for_a_no():
    X = torus(400, 1, np.random.RandomState(0))
    with pytest.warns(AssumptionWarning, match=facts("UB105", "product-manifold", "model.kinds_")) as caught:
        model = ub.fit(X, random_state=0)
    assert (model.diagnosis_.verdict, model.diagnosis_.answer) == ("with care", WRAPS)
    assert isinstance(model, ub.ProductManifold)
    assert model.kinds_ == ["circle"]
    assert any(w.filename == __file__ for w in caught)


@pytest.mark.filterwarnings("ignore:UB116", "ignore:UB203")
def test_a_method_without_angles_on_a_circle_is_a_no():
    X = torus(400, 1, np.random.RandomState(0))
    with pytest.warns(AssumptionWarning, match=facts("UB101", "no closed loops", "hessian-ica")):
        model = ub.fit(X, n_neighbors=20, random_state=0)
    assert (model.diagnosis_.verdict, model.diagnosis_.causes) == ("no", ["no closed loops"])


def test_settings_choose_a_method_that_takes_them():
    X = np.random.default_rng(0).uniform(size=(300, 2)) @ [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]
    assert isinstance(ub.fit(X, random_state=0), ub.PCAICA)
    model = ub.fit(X, n_neighbors=12, random_state=0)
    assert isinstance(model, ub.HessianICA)
    assert model.n_neighbors_ == 12
    assert "n_neighbors" in model.diagnosis_.reasons[-1]
    with pytest.raises(ValueError, match=facts("pca-ica", "magic")):
        ub.fit(X, magic=3)


def test_a_named_method_is_fitted_without_a_diagnosis():
    X = np.random.default_rng(0).uniform(size=(300, 2)) @ [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]
    model = ub.fit(X, "pca-ica", n_factors=2, random_state=0)
    np.testing.assert_array_equal(model.components_, ub.PCAICA(2, random_state=0).fit(X).components_)
    with pytest.raises(ValueError, match=facts("'magic'", "pca-ica")):
        ub.fit(X, "magic")
    with pytest.raises(ValueError, match=facts("pca-ica", "k", "contrast, counts, n_factors")):
        ub.fit(X, "pca-ica", k=3)
    with pytest.raises(ValueError, match=r"labels.*gin"):
        ub.fit(X, "product-manifold", labels=np.zeros(300))


def flat(text):
    return " ".join(text.split())


def test_the_command_says_what_a_fit_does(monkeypatch, capsys, tmp_path):
    np.save(tmp_path / "ring.npy", torus(300, 1, np.random.RandomState(0)))
    files = ("--json", tmp_path / "d.json", "--report", tmp_path / "d.html")
    result = run(monkeypatch, capsys, "diagnose", tmp_path / "ring.npy", *files)
    assert result.code == 0, result.err
    assert flat(result.out).count(WRAPS) == 1
    assert "no closed loops" in result.out
    assert '"verdict": "with care"' in (tmp_path / "d.json").read_text()
    assert "no closed loops" in (tmp_path / "d.html").read_text()


def test_fit_by_default_tells_its_reasons_and_keeps_them(monkeypatch, capsys, tmp_path, pictures):
    np.save(tmp_path / "x.npy", pictures[0])
    result = run(monkeypatch, capsys, "fit", tmp_path / "x.npy", "--out", tmp_path / "run")
    assert result.code == 0, result.err
    verdict = ub.load(tmp_path / "run").diagnosis_.verdict
    assert verdict in ("yes", "with care")
    assert ANSWERS[verdict] in flat(result.out)
    assert "HLLE+ICA" in result.out
    assert "no closed loops" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_fit_of_a_ring_says_that_its_code_is_an_angle(monkeypatch, capsys, tmp_path):
    np.save(tmp_path / "ring.npy", torus(300, 1, np.random.RandomState(0)))
    result = run(monkeypatch, capsys, "fit", tmp_path / "ring.npy", "--out", tmp_path / "run")
    assert result.code == 0, result.err
    assert WRAPS in flat(result.out)
    assert "no closed loops" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
