"""Against the scores of the reference code of the study on given arrays (folder golden)."""

import json
from pathlib import Path

import numpy as np
import pytest

import unbraid as ub

GOLDEN = Path(__file__).parent / "golden"
SCORES = json.loads((GOLDEN / "scores.json").read_text())


@pytest.fixture(params=("clean", "mixed", "warped", "duplicated", "random"))
def golden(request):
    """(factors, codes, factors_test, codes_test) and the reference scores."""
    with np.load(GOLDEN / "scores.npz") as file:
        parts = [file[f"{request.param}__{k}"] for k in ("factors_train", "codes_train", "factors_test", "codes_test")]
    return parts, SCORES[request.param]


def test_exact_scores(golden):
    (factors, codes, *_), scores = golden
    m = ub.metrics
    assert m.mig(factors, codes) == pytest.approx(scores["mig"], abs=1e-6)
    assert m.modularity(factors, codes) == pytest.approx(scores["modularity"], abs=1e-6)
    assert m.sap(factors.astype(float), codes) == pytest.approx(scores["sap_continuous"], abs=1e-6)
    for call in (lambda f: f(codes), lambda f: f(factors, codes), lambda f: f(codes=codes)):
        assert call(m.total_correlation) == pytest.approx(scores["gaussian_total_correlation"], abs=1e-6)
        assert call(m.wasserstein_correlation) == pytest.approx(scores["gaussian_wasserstein_correlation"], abs=1e-6)
    assert m.irs(factors, codes) == pytest.approx(scores["irs_scalable"], abs=1e-6)


def test_trained_scores(golden):
    arrays, scores = golden
    assert ub.metrics.sap(*arrays) == pytest.approx(scores["sap_discrete"], abs=2e-3)
    assert ub.metrics.explicitness(*arrays) == pytest.approx(scores["explicitness_test"], abs=2e-3)


def test_sampled_scores(golden):
    (factors, codes, *_), scores = golden
    assert ub.metrics.factor_vae(factors, codes) == pytest.approx(scores["factor_vae_sampled"], abs=0.02)
    assert ub.metrics.beta_vae(factors, codes) == pytest.approx(scores["beta_vae_sampled"], abs=0.02)


DCI_CASES = [("clean", "compiled"), ("mixed", "compiled")]
DCI_SLOW = [(name, backend) for backend in ("compiled", "gbt") for name in SCORES if (name, backend) not in DCI_CASES]


@pytest.mark.parametrize(
    ("golden", "backend"),
    [*DCI_CASES, *(pytest.param(*case, marks=pytest.mark.slow) for case in DCI_SLOW)],
    indirect=["golden"],
)
def test_dci_of_boosted_trees(golden, backend):
    arrays, scores = golden
    expected = scores["dci"]
    found = ub.metrics.dci(*arrays, backend=backend)
    assert found.disentanglement == pytest.approx(expected["disentanglement"], abs=0.01)
    assert found.completeness == pytest.approx(expected["completeness"], abs=0.01)
    assert found.informativeness == pytest.approx(expected["informativeness_test"], abs=0.01)
    assert found.informativeness_train == pytest.approx(expected["informativeness_train"], abs=0.01)
