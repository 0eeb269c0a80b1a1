"""Fits of data with strays, zeros, missing cells and columns in other units."""

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from tests.spectral.manifolds import bent_sheets
from unbraid.trust.warnings import AssumptionWarning

X, FACTORS = bent_sheets(300, 2, n_features=12)
SETTINGS = {"n_factors": 2, "n_neighbors": 12, "random_state": 0}
STRAYS = [3, 77, 210]


def with_strays():
    dirty = X.copy()
    dirty[STRAYS] += 20 * np.random.default_rng(0).normal(size=(3, 12))
    return dirty


@pytest.mark.parametrize("cls", [ub.HessianICA, ub.LTSA])
def test_a_fit_with_strays_is_that_of_the_other_rows(cls):
    kept = np.delete(np.arange(300), STRAYS)
    alone = cls(**SETTINGS).fit(X[kept])
    with pytest.warns(AssumptionWarning, match=facts("UB111", 3, "3, 77, 210", "outliers_")):
        model = cls(**SETTINGS).fit(with_strays())
    assert model.outliers_.tolist() == STRAYS
    codes = model.transform(with_strays())
    np.testing.assert_allclose(codes[kept], alone.transform(X[kept]), atol=1e-6)
    low, high = codes[kept].min(axis=0) - 1e-6, codes[kept].max(axis=0) + 1e-6
    assert (codes[STRAYS] >= low).all()
    assert (codes[STRAYS] <= high).all()
    assert "3, 77, 210" in str(model.summary().facts)


@pytest.mark.filterwarnings("ignore:UB111")
def test_strays_get_no_code_or_are_kept_by_choice(tmp_path):
    model = ub.HessianICA(outliers="nan", **SETTINGS)
    codes = model.fit_transform(with_strays())
    assert np.flatnonzero(np.isnan(codes).any(axis=1)).tolist() == STRAYS
    loaded = ub.load(model.save(tmp_path / "run"))
    np.testing.assert_array_equal(loaded.transform(with_strays()), codes)
    linear = ub.PCAICA(3, outliers="nan", random_state=0).fit(with_strays())
    assert np.flatnonzero(np.isnan(linear.transform(with_strays())).any(axis=1)).tolist() == STRAYS
    with pytest.warns(ub.warnings.UnbraidWarning):
        kept = ub.HessianICA(outliers="keep", **SETTINGS).fit(with_strays())
    assert len(kept.outliers_) == 0
    assert kept.screen_ is None


def test_evidence_of_the_other_rows_rotates_the_codes():
    labels = np.full((300, 2), np.nan)
    labels[:30] = FACTORS[:30]
    with pytest.warns(AssumptionWarning, match="UB111"):
        model = ub.HessianICA(rotation="labels", null="off", **SETTINGS).fit(with_strays(), labels)
    codes = np.delete(model.transform(with_strays()), STRAYS, axis=0)
    assert ub.metrics.mcc(np.delete(FACTORS, STRAYS, axis=0), codes) > 0.99


@pytest.mark.parametrize("kind", ["zero rows", "cells", "units", "row numbers"])
def test_the_codes_of_clean_rows_stay(kind):
    dirty, clean, code = X.copy(), np.arange(300), {"zero rows": "UB111", "cells": "UB112", "units": "UB113"}
    if kind == "zero rows":
        dirty[:100], clean = 0, clean[100:]
    elif kind == "cells":
        dirty = np.where(np.random.default_rng(0).uniform(size=X.shape) < 0.01, 0.0, X + 3)
    elif kind == "units":
        dirty[:, 5] *= 1000
    else:
        dirty = np.c_[X, np.arange(300)]
    with pytest.warns(AssumptionWarning, match=code.get(kind, "UB114")):
        codes = ub.HessianICA(**SETTINGS).fit_transform(dirty)
    plain = ub.metrics.mcc(FACTORS, ub.HessianICA(**SETTINGS).fit_transform(X))
    assert ub.metrics.mcc(FACTORS[clean], codes[clean]) > plain - 0.02


def test_the_diagnosis_leaves_the_same_rows_out():
    found = ub.diagnose(with_strays())
    assert found["rows alike"].holds is None
    assert found["rows alike"].figure == pytest.approx(3 / 300)
    assert found.verdict != "yes"
    with pytest.warns(AssumptionWarning, match="UB111"):
        assert ub.fit(with_strays(), random_state=0).outliers_.tolist() == STRAYS


@pytest.mark.filterwarnings("ignore:UB111")
def test_large_data_are_screened_block_by_block():
    many, _ = bent_sheets(6000, 2, n_features=12, seed=3)
    rows = np.arange(7, 6000, 300)
    many[rows] += 20 * np.random.default_rng(1).normal(size=(20, 12))
    model = ub.HessianICA(2, 12, n_landmarks=300, random_state=0).fit(ub.Blocks([many[:2500], many[2500:]]))
    assert model.outliers_.tolist() == rows.tolist()
    codes, inside = model.transform(many), np.delete(np.arange(6000), rows)
    assert (np.ptp(codes, axis=0) <= 1.05 * np.ptp(codes[inside], axis=0)).all()
