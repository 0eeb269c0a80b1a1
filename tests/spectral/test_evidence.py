"""Worlds where independence fails and other evidence is right."""

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.metrics import mcc
from unbraid.spectral.evidence import by_support, delayed, joint_diagonaliser
from unbraid.spectral.evidence_figures import evidence_turn
from unbraid.spectral.ica import whitening
from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import AssumptionWarning, DataWarning

# Gaussian or dependent factors are what these worlds are made of: the warnings of that are right.
pytestmark = pytest.mark.filterwarnings("ignore::unbraid.trust.warnings.TrustWarning")
MIX = np.array([[1.0, 0.6, 0.2], [-0.5, 1.0, 0.3]])


def bent(factors):
    """Factors on a gently bent sheet in space, mixed."""
    Y = factors / factors.std(axis=0) @ MIX[:, :2] / 4
    return np.c_[np.sin(Y[:, 0]), np.cos(Y[:, 0]), Y[:, 1]]


def fitted(rotation, X, *given, **also):
    return ub.HessianICA(2, 20, rotation=rotation, null="off", random_state=0).fit(X, *given, **also)


def in_time(n, rng):
    """Two Gaussian factors, one slow, one fast."""
    steps = rng.normal(size=(n, 2))
    z = np.zeros((n, 2))
    for t in range(1, n):
        z[t] = np.array([0.95, 0.4]) * z[t - 1] + steps[t]
    return z


def world(kind, n=1500):
    rng = np.random.default_rng(0)
    if kind == "time":
        z = in_time(n, rng)
        return z, (), {}
    if kind == "condition":
        y = rng.integers(3, size=n)
        z = rng.normal(size=(n, 2)) * np.array([[1.0, 0.3], [0.4, 1.0], [1.0, 1.0]])[y] + 1.5 * (y[:, None] - 1)
        return z, (y,), {}
    if kind == "pairs":
        z = rng.normal(size=(n, 2))
        half = n // 2
        z[half:] = z[:half]
        changed = rng.integers(2, size=half)
        z[half + np.arange(half), changed] = rng.normal(size=half)
        return z, (), {"pairs": np.c_[np.arange(half), half + np.arange(half)]}
    z = rng.normal(size=(n, 2)) @ np.array([[1.0, 0.5], [0.0, 0.8]])  # correlated Gaussians
    y = np.full((n, 2), np.nan)
    y[:20] = z[:20]
    return z, (y,), {}


@pytest.mark.filterwarnings("ignore:UB11")
@pytest.mark.parametrize("kind", ["time", "condition", "pairs", "labels"])
def test_evidence_is_right_where_independence_is_not(kind):
    z, given, also = world(kind)
    X = bent(z)
    assert mcc(z, fitted("independence", X).transform(X)) < 0.95
    model = fitted(kind, X, *given, **also)
    assert mcc(z, model.transform(X)) > 0.98
    assert model.diagnostics_.rotation_uncertainty.size == 0


def test_support_is_right_for_dependent_factors_in_a_box():
    rng = np.random.default_rng(0)
    z = rng.uniform(-1, 1, size=(30_000, 2))
    z = z[rng.uniform(size=len(z)) < 0.1 + 0.9 * (np.abs(z[:, 0] - z[:, 1]) < 0.5)][:2000]
    Z = whitening(z @ MIX[:, :2])(z @ MIX[:, :2])
    codes = Z @ by_support(Z).T
    assert np.abs(np.corrcoef(z.T)[0, 1]) > 0.3
    assert mcc(z, codes) > 0.99


def test_joint_diagonaliser_undoes_a_known_rotation():
    rng = np.random.default_rng(0)
    R = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    found = joint_diagonaliser(np.stack([R.T @ np.diag(rng.normal(size=4)) @ R for _ in range(5)]))
    np.testing.assert_allclose(np.sort(np.abs(found @ R.T), axis=1)[:, -1], 1, atol=1e-8)


@pytest.mark.parametrize(
    ("rotation", "given", "also", "message"),
    [
        ("spin", (), {}, ("rotation", "'spin'", "'independence', 'fastica', 'support'")),
        ("labels", (), {}, ("rotation='labels'",)),
        ("pairs", (), {}, ("rotation='pairs'", "fit(X, pairs=pairs)")),
        ("time", (), {"pairs": np.c_[:30, 1:31]}, ("pairs", "rotation='pairs'")),
        ("pairs", (), {"pairs": np.full((30, 2), 5000)}, ("pairs", 5000, 299)),
        ("pairs", (), {"pairs": np.zeros((30, 2), int)}, ("pairs",)),
        ("independence", (), {"time": np.arange(300)}, ("time", "rotation='time'")),
        ("condition", (np.zeros(300),), {}, (1, "rotation='condition'")),
        ("time", (), {"time": np.arange(300) // 2}, ("time", "rows 0 and 1")),
        ("labels", (np.full((300, 2), np.nan),), {}, ("labels", 0, "rotation='labels'", 5)),
        ("labels", (np.ones((300, 3)),), {}, ("labels", "(300, 3)", "(300, 2)")),
    ],
)
def test_missing_evidence_is_said(rotation, given, also, message):
    X = bent(np.random.default_rng(0).uniform(size=(300, 2)))
    with pytest.raises(ValueError, match=facts(*message)):
        fitted(rotation, X, *given, **also)


def test_evidence_survives_saving(tmp_path):
    z, given, also = world("pairs")
    model = fitted("pairs", bent(z), *given, **also)
    loaded = ub.load(model.save(tmp_path / "run"))
    assert loaded.rotation == "pairs"
    np.testing.assert_array_equal(loaded.transform(bent(z)), model.transform(bent(z)))


@pytest.mark.parametrize("method", ["hessian", "pca"])
def test_shuffled_rows_have_no_order_in_time(method):
    z = in_time(600, np.random.default_rng(0))
    X = bent(z) if method == "hessian" else z @ MIX
    model = ub.HessianICA(2, 20, rotation="time") if method == "hessian" else ub.PCAICA(2, rotation="time")
    model.fit(X)
    assert mcc(z, model.transform(X)) > 0.98
    shuffled = np.random.default_rng(0).permutation(X)
    with pytest.warns(AssumptionWarning, match="UB108"):
        model.set_params(null="off").fit(shuffled)
    assert "UB108" in model.summary().concerns[-1]


def test_no_step_in_time_crosses_a_gap():
    """Recordings one after the other in shuffled rows: with their gaps the covariances are those of the parts."""
    rng = np.random.default_rng(0)
    parts = [in_time(200, rng) for _ in range(3)]
    Z, time = np.concatenate(parts), np.concatenate([np.arange(200) + 1000 * i for i in range(3)])
    order = rng.permutation(600)
    expected = np.mean([part[:-1].T @ part[1:] / 199 for part in parts], axis=0)
    (first, count), *_ = delayed(Z[order], time[order])
    np.testing.assert_allclose(first, expected)
    assert count == 3 * 199
    dates = np.datetime64("2024-01-01") + time[order].astype("timedelta64[D]")
    np.testing.assert_allclose(delayed(Z[order], dates)[0][0], expected)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("time", np.arange(800)),
        ("pairs", np.c_[:400, 400:800]),
        ("condition", np.arange(800) % 4),
        ("labels", np.random.default_rng(5).normal(size=(800, 2))),
    ],
)
def test_halves_of_evidence_that_says_nothing_disagree(kind, given):
    """Independent Gaussians, and times with one rate, arbitrary pairs, idle conditions, noise as labels."""
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(800, 2))
    for t in range(1, 800 if kind == "time" else 0):
        Z[t] += 0.5 * Z[t - 1]
    assert evidence_turn(kind, whitening(Z)(Z), given) > FIGURES["evidence_turn"].limit()
    if kind == "labels":
        assert evidence_turn(kind, whitening(Z)(Z), Z) == pytest.approx(0, abs=1e-3)


def test_a_rotation_that_the_evidence_does_not_determine_is_said():
    X = np.random.default_rng(0).normal(size=(500, 2)) @ MIX
    with pytest.warns(AssumptionWarning, match=facts("UB109", "labels")):
        ub.PCAICA(2, rotation="condition").fit(X, np.arange(500) % 3)


@pytest.mark.parametrize("column", [0, 1])
def test_labels_of_one_factor_are_enough_for_two(column):
    """Uncorrelated Gaussians: the code of the labels is known, and the other is what is left."""
    z = np.random.default_rng(1).normal(size=(800, 2))
    one = np.where(np.arange(800) < 30, z[:, column], np.nan)
    for labels in (one, one[:, None], np.c_[one, np.full(800, np.nan)], one.astype(object)):
        model = fitted("labels", bent(z), labels)
        assert mcc(z, model.transform(bent(z))) > 0.99
    assert len(model.labelled_rows_) == 30


def test_factors_without_labels_are_made_independent():
    """Uniform factors, of which one is known: its code is exact, the others are found by ICA."""
    z = np.random.default_rng(0).uniform(size=(2000, 3))
    X = z @ np.random.default_rng(1).normal(size=(3, 5))
    model = ub.PCAICA(3, rotation="labels", random_state=0, null="off").fit(
        X, np.where(np.arange(2000) < 9, z[:, 2], np.nan)
    )
    codes = model.transform(X)
    assert np.abs(np.corrcoef(z[:, 2], codes.T)[0, 1:]).max() == pytest.approx(1, abs=1e-9)
    assert mcc(z, codes) > 0.99


def test_columns_of_labels_need_not_be_known_in_the_same_rows():
    z = np.random.default_rng(0).normal(size=(500, 2)) @ [[1.0, 0.5], [0.0, 0.8]]
    labels = np.full((500, 2), np.nan)
    labels[:10, 0], labels[10:20, 1] = z[:10, 0], z[10:20, 1]
    assert mcc(z, ub.PCAICA(2, rotation="labels", null="off").fit(z @ MIX, labels).transform(z @ MIX)) > 0.9999


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_pairs_that_never_change_a_factor_are_refused(noise):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(800, 2))
    z[400:, 1] = z[:400, 1]
    X = bent(z) + noise * rng.normal(size=(800, 3))
    with pytest.raises(ValueError, match=facts("pairs", 2)):
        fitted("pairs", X, pairs=np.c_[:400, 400:800])
    z[400:440, 1] = rng.normal(size=40)  # a tenth of the pairs
    z[400:440, 0] = z[:40, 0]
    X = bent(z) + noise * rng.normal(size=(800, 3))
    assert mcc(z, fitted("pairs", X, pairs=np.c_[:400, 400:800]).transform(X)) > 0.98


def test_pairs_whose_noise_alone_shows_a_factor_do_not_determine_it():
    """All of them pass for two directions, and some halves do not."""
    rng = np.random.default_rng(3)
    z = rng.normal(size=(800, 2))
    z[400:, 1] = z[:400, 1]
    X = z @ [[0.8, 0.6], [-0.6, 0.8]] + 0.2 * rng.normal(size=(800, 2))
    with pytest.warns(AssumptionWarning, match=facts("UB109", "pairs")):
        ub.PCAICA(2, rotation="pairs", null="off", random_state=0).fit(X, pairs=np.c_[:400, 400:800])


def test_pairs_of_one_point_are_left_out_and_said():
    z, _, also = world("pairs", 800)
    X = np.concatenate([z, z[:50]]) @ MIX
    same = np.c_[:50, 800:850]
    model = ub.PCAICA(2, rotation="pairs", random_state=0)
    with pytest.warns(DataWarning, match=facts("UB305", 50, 450)):
        model.fit(X, pairs=np.concatenate([also["pairs"], same]))
    assert mcc(z, model.transform(z @ MIX)) > 0.999
    with pytest.raises(ValueError, match=facts(0, 20)):
        model.fit(X, pairs=same)


@pytest.mark.parametrize("rotation", ["time", "pairs", "condition", "labels", "support"])
def test_flat_data_are_rotated_by_evidence_too(rotation, tmp_path):
    rng = np.random.default_rng(0)
    z, given, also = (rng.uniform(size=(500, 2)), (), {}) if rotation == "support" else world(rotation)
    model = ub.PCAICA(2, rotation=rotation, random_state=0).fit(z @ MIX, *given, **also)
    assert mcc(z, model.transform(z @ MIX)) > 0.98
    assert ub.load(model.save(tmp_path / "run")).summary().concerns == []
    np.testing.assert_allclose(model.inverse_transform(model.transform(z @ MIX)), z @ MIX, atol=1e-6)
