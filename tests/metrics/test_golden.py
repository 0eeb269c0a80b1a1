"""Against the scores of the reference code on given arrays; without that file, against scikit-learn on made ones."""

import json

import numpy as np
import pytest

import unbraid as ub

REPRESENTATIONS = ("clean", "mixed", "warped", "duplicated", "random")


@pytest.fixture(params=REPRESENTATIONS)
def golden(request, shared):
    """(factors, codes, factors_test, codes_test) and the reference scores."""
    arrays, scores = shared.path("golden/metrics_public.npz"), shared.path("golden/metrics_public.json")
    if arrays is None or scores is None:
        return reference_scores(request.param)
    with np.load(arrays) as file:
        parts = [file[f"{request.param}__{k}"] for k in ("factors_train", "codes_train", "factors_test", "codes_test")]
    return parts, json.loads(scores.read_text())[request.param]


def reference_scores(name):
    """Made arrays, and what scikit-learn and the published formulas say of them (slow loops, nothing shared)."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import mutual_info_score, roc_auc_score
    from sklearn.svm import LinearSVC

    rng = np.random.default_rng(REPRESENTATIONS.index(name))
    sizes, n = np.array([3, 4, 5]), 900
    v = np.stack([rng.integers(s, size=n) for s in sizes], axis=1)
    mix = np.eye(3) if name == "clean" else rng.normal(size=(3, 4))
    z = (v / sizes) @ mix + 0.1 * rng.normal(size=(n, mix.shape[1]))
    f, c, ft, ct = v[:600], z[:600], v[600:], z[600:]
    bins = np.stack([np.digitize(x, np.histogram(x, 20)[1][:-1]) for x in c.T], axis=1)
    mi = np.array([[mutual_info_score(a, b) for b in f.T] for a in bins.T])
    entropy = np.array([mutual_info_score(b, b) for b in f.T])
    ordered, squared = np.sort(mi, axis=0), mi**2
    best = squared.max(axis=1)
    cov = np.cov(c.T)
    sap = np.array(
        [
            [
                np.mean(
                    LinearSVC(C=0.01, class_weight="balanced", tol=1e-8).fit(a[:, None], b).predict(at[:, None]) == bt
                )
                for b, bt in zip(f.T, ft.T)
            ]
            for a, at in zip(c.T, ct.T)
        ]
    )
    r2 = np.array([[np.corrcoef(a, b)[0, 1] ** 2 for b in f.T] for a in c.T])
    x, xt = (c - c.mean(0)) / c.std(0), (ct - c.mean(0)) / c.std(0)
    areas = []
    for b, bt in zip(f.T, ft.T):
        p = LogisticRegression(tol=1e-8, max_iter=5000).fit(x, b).predict_proba(xt)
        areas.append(np.mean([roc_auc_score(bt == k, p[:, k]) for k in range(p.shape[1])]))
    root = np.sqrt(np.diag(cov))
    gap = np.sort(sap, axis=0)
    gap2 = np.sort(r2, axis=0)
    return [f, c, ft, ct], {
        "mig": np.mean((ordered[-1] - ordered[-2]) / entropy),
        "modularity": np.mean(1 - (squared.sum(1) - best) / (best * (len(sizes) - 1))),
        "sap_discrete": np.mean(gap[-1] - gap[-2]),
        "sap_continuous": np.mean(gap2[-1] - gap2[-2]),
        "explicitness_test": np.mean(areas),
        "gaussian_total_correlation": 0.5 * (np.log(np.diag(cov)).sum() - np.linalg.slogdet(cov)[1]),
        "gaussian_wasserstein_correlation": 2 * np.trace(cov)
        - 2 * np.sqrt(np.linalg.eigvalsh(root[:, None] * cov * root)).sum(),
    }


def test_exact_scores(golden):
    (factors, codes, *_), scores = golden
    m = ub.metrics
    assert m.mig(factors, codes) == pytest.approx(scores["mig"], abs=1e-6)
    assert m.modularity(factors, codes) == pytest.approx(scores["modularity"], abs=1e-6)
    assert m.sap(factors.astype(float), codes) == pytest.approx(scores["sap_continuous"], abs=1e-6)
    for call in (lambda f: f(codes), lambda f: f(factors, codes), lambda f: f(codes=codes)):
        assert call(m.total_correlation) == pytest.approx(scores["gaussian_total_correlation"], abs=1e-6)
        assert call(m.wasserstein_correlation) == pytest.approx(scores["gaussian_wasserstein_correlation"], abs=1e-6)
    if "irs_scalable" in scores:
        assert m.irs(factors, codes) == pytest.approx(scores["irs_scalable"], abs=1e-6)


def test_trained_scores(golden):
    arrays, scores = golden
    assert ub.metrics.sap(*arrays) == pytest.approx(scores["sap_discrete"], abs=2e-3)
    assert ub.metrics.explicitness(*arrays) == pytest.approx(scores["explicitness_test"], abs=2e-3)


def test_sampled_scores(golden):
    (factors, codes, *_), scores = golden
    if "factor_vae_sampled" in scores:
        assert ub.metrics.factor_vae(factors, codes) == pytest.approx(scores["factor_vae_sampled"], abs=0.02)
        assert ub.metrics.beta_vae(factors, codes) == pytest.approx(scores["beta_vae_sampled"], abs=0.02)


@pytest.mark.parametrize("backend", ["compiled", pytest.param("gbt", marks=pytest.mark.slow)])
def test_dci_of_boosted_trees(golden, backend):
    arrays, scores = golden
    if "dci" in scores:
        found = ub.metrics.dci(*arrays, backend=backend)
        assert found.disentanglement == pytest.approx(scores["dci"]["disentanglement"], abs=0.01)
        assert found.completeness == pytest.approx(scores["dci"]["completeness"], abs=0.01)
        assert found.informativeness == pytest.approx(scores["dci"]["informativeness_test"], abs=0.01)
        assert found.informativeness_train == pytest.approx(scores["dci"]["informativeness_train"], abs=0.01)
