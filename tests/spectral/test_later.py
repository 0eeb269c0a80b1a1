"""What no warning needs is computed when it is read, and does not depend on when that is."""

import pickle
from copy import deepcopy

import numpy as np
import pytest

import unbraid as ub
from tests.spectral.manifolds import bent_sheets
from unbraid.spectral import diagnostics

MODELS = [ub.HessianICA(2, 12, random_state=0), ub.PCAICA(2, random_state=0)]
X = bent_sheets(200, n_features=8)[0]


@pytest.mark.parametrize("model", MODELS, ids=["hessian", "pca"])
def test_a_plain_fit_does_not_predict_its_mcc(model, monkeypatch):
    calls = []
    predict = diagnostics.figures_of
    monkeypatch.setattr(diagnostics, "figures_of", lambda *given: calls.append(1) or predict(*given))
    model.fit_transform(X)
    assert not calls
    assert model.diagnostics_.figures["n_factors"] == 2
    assert model.diagnostics_.expected_mcc is not None
    assert len(calls) == 1


@pytest.mark.parametrize("model", MODELS, ids=["hessian", "pca"])
@pytest.mark.parametrize("copied", [deepcopy, lambda model: pickle.loads(pickle.dumps(model))], ids=["copy", "pickle"])
def test_copies_have_all_figures(model, copied):
    model.fit(X)
    other = copied(model).diagnostics_
    assert other.figures == model.diagnostics_.figures
    assert other.expected_mcc == model.diagnostics_.expected_mcc
    assert other.left_over == model.diagnostics_.left_over


@pytest.mark.parametrize("model", MODELS, ids=["hessian", "pca"])
def test_saved_runs_have_all_figures(model, tmp_path):
    model.fit(X).save(tmp_path / "run")
    assert ub.load(tmp_path / "run").diagnostics_.figures == model.diagnostics_.figures


def test_reading_later_changes_nothing_that_a_shared_random_state_draws():
    first, second, draws = MODELS[1], ub.PCAICA(2), np.random.RandomState(0)
    shared = second.set_params(random_state=draws).fit(X)
    draws.normal(size=100)
    assert shared.diagnostics_.figures == first.fit(X).diagnostics_.figures


def test_unknown_names_are_no_figures():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = MODELS[1].fit(X).diagnostics_.nothing
