"""Worlds where independence fails and other evidence is right."""

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.metrics import mcc
from unbraid.spectral.evidence import by_support, joint_diagonaliser
from unbraid.spectral.ica import whitening

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
        ("spin", (), {}, ("rotation", "'spin'", "'independence', 'support'")),
        ("labels", (), {}, ("rotation='labels'",)),
        ("pairs", (), {}, ("rotation='pairs'", "fit(X, pairs=pairs)")),
        ("time", (), {"pairs": np.c_[:30, 1:31]}, ("pairs", "rotation='pairs'")),
        ("pairs", (), {"pairs": np.full((30, 2), 5000)}, ("pairs", 5000, 299)),
        ("pairs", (), {"pairs": np.zeros((30, 2), int)}, ("pairs",)),
        ("independence", (), {"time": np.arange(300)}, ("time", "rotation='time'")),
        ("condition", (np.zeros(300),), {}, (1, "rotation='condition'")),
        ("labels", (np.full((300, 2), np.nan),), {}, ("labels", 0, "rotation='labels'", 5)),
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
