"""Each metric against a closed form, a reference implementation, or the failure that its paper names."""

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid import metrics as m

RNG = np.random.default_rng(0)


def grid(*sizes):
    """Every combination of factor values once: counts are exact, so are the scores."""
    return np.stack([a.ravel() for a in np.meshgrid(*map(np.arange, sizes), indexing="ij")], axis=1)


def test_information_scores_of_exact_codes():
    """Codes equal to balanced factors on the full grid: no sampling error, so every gap is whole."""
    factors = np.repeat(grid(3, 4, 5), 3, axis=0)
    codes = factors.astype(float)
    for metric in (m.mig, m.mig_sup, m.jemmig, m.dcimig, m.med, m.modularity):
        assert metric(factors, codes) == pytest.approx(1, abs=1e-9)


def test_jemmig_of_constant_codes_is_its_formula():
    factors = np.repeat(grid(4, 4), 3, axis=0)
    assert m.jemmig(factors, np.zeros((48, 2))) == pytest.approx(np.log(20) / (np.log(4) + np.log(20)))


def test_mig_by_hand():
    """Code 0 is the parity of a 4-valued factor: I = log 2, H = log 4; code 1 is nothing."""
    factors = np.repeat(np.arange(4), 5)
    codes = np.column_stack([factors % 2, np.zeros(20)])
    assert m.mig(factors, codes) == pytest.approx(0.5)
    assert m.mig(factors, factors % 2) == pytest.approx(0.5)


def test_mig_by_posteriors_is_that_of_the_mixture():
    """Two values at -a and a, posteriors of variance 1: I is log 2 less the entropy of the value given the code."""
    a, n = 1.2, 3000
    factors = np.column_stack([np.arange(n) % 2, np.arange(n) // 2 % 3])
    means = np.column_stack([np.where(factors[:, 0], a, -a), np.zeros(n)])
    z = np.linspace(-12, 12, 20_001)
    p = np.exp(-((z - a) ** 2) / 2) / np.sqrt(2 * np.pi)
    posterior = 1 / (1 + np.exp(-2 * a * z))
    uncertain = -(posterior * np.log(posterior) + (1 - posterior) * np.log1p(-posterior))
    expected = 1 - ((p + p[::-1]) / 2 * uncertain).sum() * (z[1] - z[0]) / np.log(2)
    log_variances = np.zeros_like(means)
    found = m.mig(factors, means, estimator="posterior", log_variances=log_variances)
    assert found == pytest.approx(expected / 2, abs=0.03)  # the second factor has no code
    sharp = m.mig(factors, means, estimator="posterior", log_variances=log_variances - 8)
    assert sharp == pytest.approx(0.5, abs=1e-3)


def test_mig_by_posteriors_is_not_limited_by_bins():
    """A sharp code of a 32-valued factor: 20 bins reach .78 of its entropy, posteriors all of it."""
    factors = np.arange(3200)[:, None] % 32
    means = np.column_stack([factors[:, 0] / 31, np.zeros(3200)])
    log_variances = np.tile([2 * np.log(0.002), 0.0], (3200, 1))
    by_posteriors = m.mig(factors, means, estimator="posterior", log_variances=log_variances)
    assert m.mig(factors, means) < 0.9 < 0.98 < by_posteriors


def test_mig_by_posteriors_needs_them():
    with pytest.raises(ValueError) as error:
        m.mig([[0], [1]], [[0.0], [1.0]], estimator="posterior")
    assert "log_variances" in str(error.value)


def test_modularity_of_a_code_of_two_factors():
    """One code that tells two balanced binary factors alike: 1 - I^2/I^2 = 0."""
    factors = grid(2, 2)
    assert m.modularity(factors, factors.sum(axis=1)) == pytest.approx(0, abs=1e-12)
    dead = np.column_stack([factors, np.zeros((4, 2))])
    assert m.modularity(factors, dead) == pytest.approx(0.5)
    assert m.modularity(factors, dead, dead="ignore") == pytest.approx(1)


def test_dcimig_and_mig_sup_see_a_code_that_mixes_and_mig_does_not():
    """z = v0 + 10 v1: MIG (with one code) is full for both factors; the scores of codes are not."""
    factors = np.repeat(grid(2, 2), 5, axis=0)
    mixed = factors @ [1, 10]
    assert m.mig(factors, mixed) == pytest.approx(1)
    assert m.mig_sup(factors, mixed) == pytest.approx(0, abs=1e-12)
    assert m.dcimig(factors, mixed) == pytest.approx(0, abs=1e-12)


def test_med_top_k_forgives_spare_codes():
    factors = np.repeat(grid(3, 4), 20, axis=0)
    spare = np.column_stack([factors, np.random.default_rng(0).normal(size=(240, 6))])
    assert m.med(factors, spare, top_k=1) > 0.95 > m.med(factors, spare)


def test_irs_by_hand():
    """z = v0 + 0.5 v1 with binary factors: fixing v0 leaves a deviation of .25, the largest is .75."""
    factors = grid(2, 2)
    assert m.irs(factors, factors @ [1, 0.5], quantile=1) == pytest.approx(1 - 0.25 / 0.75)


def test_total_correlation_in_closed_form():
    rho = 0.7
    x, y = RNG.normal(size=(2, 100_000))
    codes = np.column_stack([x, rho * x + np.sqrt(1 - rho**2) * y])
    r = np.corrcoef(codes.T)[0, 1]
    assert m.total_correlation(codes) == pytest.approx(-0.5 * np.log(1 - r**2))
    variances = np.full_like(codes, 3.0)  # sampled codes: unit covariance plus 3 on the diagonal
    sampled = r * codes[:, 0].std(ddof=1) * codes[:, 1].std(ddof=1) / np.sqrt(np.prod(codes.var(axis=0, ddof=1) + 3))
    assert m.total_correlation(codes, variances=variances) == pytest.approx(-0.5 * np.log(1 - sampled**2))
    noisy = codes + np.sqrt(3) * RNG.normal(size=codes.shape)
    assert m.total_correlation(noisy) == pytest.approx(m.total_correlation(codes, variances=variances), abs=2e-3)
    assert m.wasserstein_correlation(noisy) == pytest.approx(
        m.wasserstein_correlation(codes, variances=variances), abs=0.02
    )


def test_a_linear_combination_has_infinite_total_correlation_and_finite_wasserstein_correlation():
    z = RNG.normal(size=(500, 2))
    codes = np.column_stack([z, z[:, 0]])
    assert m.total_correlation(codes) > 10
    assert 0 < m.wasserstein_correlation(codes) < 4
    assert m.total_correlation(np.column_stack([z, np.ones(500)])) == pytest.approx(m.total_correlation(z))


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_exact_svm_minimises_liblinears_problem(n_classes):
    """The lines of the exact solver and of liblinear, run to a tiny tolerance."""
    from sklearn.svm import LinearSVC

    from unbraid.metrics import svm

    rng = np.random.default_rng(n_classes)
    labels = np.sort(rng.integers(n_classes, size=600))
    x = labels + rng.normal(size=600)
    counts = np.bincount(labels)
    peer = LinearSVC(C=0.05, class_weight="balanced", tol=1e-10, max_iter=1_000_000, dual=True).fit(x[:, None], labels)
    order = np.argsort(x)
    by_class = order[np.argsort(labels[order], kind="stable")]
    ends = np.concatenate([[0], np.cumsum(counts)])
    lines = svm._one_against_rest(x[order], x[by_class], ends, 0.05 * 600 / (n_classes * counts), 0.05)
    expected = np.column_stack([peer.coef_[:, 0], peer.intercept_])
    np.testing.assert_allclose(lines[-len(expected) :], expected, atol=2e-5)
    probe = np.linspace(x.min(), x.max(), 200)
    assert np.mean(svm.fit_predict(x, labels, probe, C=0.05) == peer.predict(probe[:, None])) > 0.99


@pytest.mark.parametrize(("C", "balanced"), [(1.0, False), (0.1, True), (np.inf, False)])
def test_logistic_regression_agrees_with_scikit_learn(C, balanced):
    from sklearn.linear_model import LogisticRegression

    from unbraid.metrics.logistic import fit_logistic

    rng = np.random.default_rng(0)
    labels = rng.integers(5, size=2000)
    X = np.column_stack([labels, labels % 2, np.zeros(2000)]) + rng.normal(size=(2000, 3))
    peer = LogisticRegression(C=C, class_weight="balanced" if balanced else None, tol=1e-8, max_iter=5000).fit(
        X, labels
    )
    ours = fit_logistic(X, labels, C=C, balanced=balanced, tol=1e-5, max_iter=2000)
    np.testing.assert_allclose(np.exp(ours.log_proba(X)), peer.predict_proba(X), atol=3e-3)


@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
def test_compiled_boosting_is_the_reference(kind):
    """The same trees up to ties between equally good cuts, so the same importances and predictions."""
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    from unbraid.metrics.boosting import Boosting

    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    signal = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=400)
    y = {"binary": (signal > 0.3).astype(int), "classes": np.digitize(signal, [-0.5, 0.3, 1]), "number": signal}[kind]
    peer = GradientBoostingRegressor if kind == "number" else GradientBoostingClassifier
    peer = peer(n_estimators=20, random_state=0).fit(X, y)
    ours = Boosting(discrete=kind != "number", n_estimators=20).fit(X, y)
    importance = ours.feature_importances_ / ours.feature_importances_.sum()
    np.testing.assert_allclose(importance, peer.feature_importances_, atol=2e-3)
    probe = rng.normal(size=(1000, 3))
    if kind == "number":
        assert np.mean(np.abs(ours.predict(probe) - peer.predict(probe)) < 1e-5) > 0.98
    else:
        assert np.mean(ours.predict(probe) == peer.predict(probe)) > 0.99


def test_mixed_information_is_scikit_learns():
    from sklearn.feature_selection import mutual_info_classif

    from unbraid.metrics.mixed_information import mixed_information

    rng = np.random.default_rng(0)
    labels = rng.integers(6, size=1500)
    x = labels + rng.normal(size=1500)
    order = np.argsort(x)
    peer = mutual_info_classif(x[:, None], labels, discrete_features=False, n_neighbors=10, random_state=0)[0]
    assert mixed_information(labels[order], x[order], 10) == pytest.approx(peer, abs=1e-9)
    ties = np.sort(labels) * 1.0  # a code of six values: the plug-in entropy, up to the estimator's bias
    p = np.bincount(labels) / 1500
    assert mixed_information(np.sort(labels), ties, 10) == pytest.approx(-(p * np.log(p)).sum(), abs=0.01)


def test_infomec_of_exact_and_of_merged_codes():
    factors = np.repeat(grid(4, 4), 30, axis=0)
    exact = m.infomec(factors, factors.astype(float))
    assert exact.infom > 0.95
    assert exact.infoc > 0.95
    turned = factors @ np.array([[1, -1], [1, 1.0]]) + 0.05 * np.random.default_rng(0).normal(size=factors.shape)
    assert m.infomec(factors, turned).infom < 0.3
    assert m.infomec(factors, turned).infoe > 0.9
    dead = np.column_stack([factors, 0.01 * np.random.default_rng(0).normal(size=480)])
    assert list(m.infomec(factors, dead).active) == [True, True, False]


def test_infomec_of_discrete_codes_in_closed_form():
    """A 4-valued factor behind a permuted code, its parity behind another: counts are exact on the full grid."""
    factors = np.repeat(grid(4, 3), 25, axis=0)
    permuted = np.array([2, 0, 3, 1])[factors[:, 0]]
    codes = np.column_stack([permuted, factors[:, 0] % 2, factors[:, 1]])
    found = m.infomec(factors, codes, discrete_codes=True)
    np.testing.assert_allclose(found.nmi, [[1, 0.5, 0], [0, 0, 1]], atol=1e-12)
    assert found.infom == pytest.approx(1)
    assert found.infoc == pytest.approx(((1 / 1.5 + 1) / 2 - 1 / 3) / (1 - 1 / 3))
    assert found.infoe > 0.999  # one indicator per value: the order of the values does not matter
    folded = np.array([0, 1, 1, 0])[factors[:, 0]]  # no line tells it from the code, its indicators do
    assert m.infomec(folded, factors[:, 0], discrete_codes=True).infoe > 0.999
    assert m.infomec(folded, factors[:, 0], discrete_codes=False).infoe == pytest.approx(0, abs=1e-6)
    parity = m.infomec(factors[:, 0], factors[:, 0] % 2, discrete_codes=True)
    assert parity.infoe == pytest.approx(0.5, abs=1e-3)
    assert parity.nmi.item() == pytest.approx(0.5)


def test_infomec_of_discrete_codes_agrees_with_scikit_learn():
    """Plug-in information, and the log loss of an unpenalised, balanced regression on indicators."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss, mutual_info_score
    from sklearn.preprocessing import OneHotEncoder

    rng = np.random.default_rng(0)
    factors = rng.integers(0, 5, size=(3000, 2))
    codes = (factors @ [[1, 1, 0], [0, 1, 2]] + rng.integers(0, 3, size=(3000, 3))) % 7
    found = m.infomec(factors, codes)
    assert found.discrete_codes
    expected = [[mutual_info_score(v, z) / mutual_info_score(v, v) for z in codes.T] for v in factors.T]
    np.testing.assert_allclose(found.nmi, expected, atol=1e-12)
    hot = OneHotEncoder().fit_transform(codes)
    told = []
    for v in factors.T:
        peer = LogisticRegression(C=np.inf, class_weight="balanced", tol=1e-8, max_iter=2000).fit(hot, v)
        told.append(1 - log_loss(v, peer.predict_proba(hot)) / np.log(5))
    assert found.infoe == pytest.approx(np.mean(told), abs=2e-3)


def test_infomec_takes_codes_of_many_values_as_numbers():
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, size=(1000, 2))
    assert not m.infomec(factors, factors + 0.1 * rng.normal(size=(1000, 2))).discrete_codes
    assert m.infomec(factors, factors * 0.25).discrete_codes
    assert not m.infomec(factors[:12], factors[:12]).discrete_codes  # three of each value are too few to count
    mixed = np.column_stack([factors, rng.normal(size=1000)])
    assert not m.infomec(factors, mixed).discrete_codes
    with pytest.raises(ValueError, match=facts("discrete_codes", "'yes'", True, False, "'auto'")):
        m.infomec(factors, factors, discrete_codes="yes")


def test_beta_vae_score_is_1_with_all_factors_but_one():
    """The failure that Kim & Mnih name: the K-th factor is what is left when no code stands still."""
    factors = np.random.default_rng(0).integers(0, 6, size=(3000, 3))
    assert m.beta_vae(factors, factors[:, :2].astype(float), n_train=1000, n_test=500) > 0.99
    assert m.factor_vae(factors, factors[:, :2].astype(float), n_train=1000, n_test=500) < 0.75


def test_factor_vae_prunes_dead_codes():
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 6, size=(2000, 2))
    dead = np.column_stack([factors / 3, 0.01 * rng.normal(size=2000)])
    assert m.factor_vae(factors, dead, n_train=500, n_test=300) == 1
    assert m.factor_vae(factors, 1e-3 * factors, n_train=500, n_test=300) == 0
    assert m.factor_vae(factors, 1e-3 * factors, n_train=500, n_test=300, threshold=0) == 1


@pytest.mark.parametrize("metric", [m.beta_vae, m.factor_vae])
def test_a_pool_agrees_with_fresh_sampling(metric):
    mixing = np.random.default_rng(4).normal(size=(4, 4))
    sizes = (3, 6, 8, 5)

    def encode(factors):
        noise = np.random.default_rng(len(factors)).normal(size=(len(factors), 4))
        return (factors / sizes) @ mixing + 0.2 * noise

    factors = np.stack([RNG.integers(s, size=20_000) for s in sizes], axis=1)
    pool = metric(factors, encode(factors), n_train=3000, n_test=3000)
    assert metric(factors, encode, n_train=3000, n_test=3000) == pytest.approx(pool, abs=0.04)


def test_dci_of_half_a_factor():
    """Two binary factors, code 0 tells the first, code 1 both: importances and accuracy by construction."""
    factors = np.repeat(grid(2, 2), 50, axis=0)
    found = m.dci(factors, np.column_stack([factors[:, 0], factors @ [1, 10]]), backend="compiled")
    assert found.informativeness == 1
    assert found.importance[1, 1] == pytest.approx(1)
    np.testing.assert_allclose(found.importance.sum(axis=0), 1)
    assert float(found) == found.disentanglement


def test_dci_backends_rank_alike_and_unknown_ones_are_named():
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, size=(450, 2))
    good, bad = factors + 0.2 * rng.normal(size=(450, 2)), factors @ [[1, 1], [1, -1]] + 0.2 * rng.normal(size=(450, 2))
    for backend in ("compiled", "lightgbm", "extra_trees"):
        assert float(m.dci(factors, good, backend=backend)) > float(m.dci(factors, bad, backend=backend)) + 0.3
    with pytest.raises(ValueError, match=facts("backend", "'xgb'", "'gbt', 'compiled', 'lightgbm', 'extra_trees'")):
        m.dci(factors, good, backend="xgb")


def test_explicitness_and_sap_out_of_given_test_rows():
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 3, size=(900, 2))
    codes = factors + 0.1 * rng.normal(size=(900, 2))
    wrong = codes[::-1]
    assert m.explicitness(factors[:600], codes[:600], factors[600:], codes[600:]) > 0.95
    assert m.explicitness(factors[:600], codes[:600], factors[600:], wrong[600:]) < 0.6
    with pytest.raises(ValueError, match=facts("2 factors", "2 codes", 1)):
        m.sap(factors, codes, factors[:, :1], codes)


def test_udr_of_copies_and_of_independent_models():
    """Spearman of permuted copies: one 1 and small noise a row; of unrelated models: noise only."""
    z = RNG.normal(size=(20_000, 4))
    same = m.udr([z, -z[:, ::-1], 5 * z], kind="spearman")
    unrelated = m.udr([RNG.normal(size=(20_000, 4)) for _ in range(3)], kind="spearman")
    assert same.scores.min() > 0.95
    assert unrelated.scores.max() < 0.02
    assert np.isnan(np.diag(same.pairwise)).all()


def test_udr_lasso_in_closed_form():
    """Orthonormal codes: the Lasso shrinks the weight 1 by alpha = .1, so max^2 / sum = .9."""
    z = RNG.normal(size=(1000, 3))
    z = np.linalg.qr(z - z.mean(axis=0))[0]
    assert m.udr([z, z[:, [1, 2, 0]]]).scores == pytest.approx(0.9, abs=2e-3)
    with_dead = np.column_stack([z, RNG.normal(size=1000)])
    kl = [np.array([1, 1, 1, 0.005])] * 2
    assert m.udr([with_dead, with_dead], kl=kl).scores == pytest.approx(0.9, abs=2e-3)
    with pytest.raises(ValueError, match=facts(1, [1000], 2)):
        m.udr([z])


def test_downstream_accuracy_and_efficiency():
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 2, size=(15_000, 1))
    codes = factors + 0.0
    found = m.downstream(factors, codes, n_train=[100, 10_000])
    assert found.efficiency == 1
    assert float(found) == 1
    assert np.isnan(m.downstream(factors[:900], codes[:900], n_train=[100]).efficiency)
    continuous = m.downstream(codes + 0.1 * rng.normal(size=codes.shape), codes, n_train=[100])
    assert float(continuous) == pytest.approx(0.25 / 0.26, abs=0.02)
    with pytest.raises(ValueError, match=facts("n_train", [10000], 600)):
        m.downstream(factors[:900], codes[:900], n_train=[10_000])


def test_binning_bounds_mig():
    """The trap: with 10,000 points a Gaussian code that determines a 32-valued factor reaches .63 only."""
    from unbraid.evaluation import ceiling_codes

    factors = np.random.default_rng(0).integers(32, size=10_000)
    assert m.mig(factors, ceiling_codes(factors)) == pytest.approx(0.63, abs=0.01)
    assert m.mig(factors, ceiling_codes(factors, marginal="uniform")) == pytest.approx(0.78, abs=0.01)


Z = np.random.default_rng(5).normal(size=(50, 3))


@pytest.mark.parametrize(
    ("codes", "options", "words"),
    [
        (Z, {}, ("codes", (50, 3), "model")),
        ([Z, Z], {"kl": iter([[1, 1, 1], [1, 1]])}, ("kl",)),
        ([Z, Z], {"kl": [[1, 1, np.nan], [1, 1, 1]]}, ("kl", "NaN")),
        ([Z, Z], {"threshold": np.nan}, ("threshold=nan",)),
        ([Z, Z], {"alpha": -1.0, "kind": "spearman"}, ("alpha=-1.0",)),
        ([Z * np.nan, Z], {}, ("codes", "NaN")),
    ],
)
def test_udr_refuses_what_it_cannot_rank(codes, options, words):
    with pytest.raises(ValueError, match=facts(*words)):
        m.udr(codes, **options)


@pytest.mark.parametrize("kind", ["lasso", "spearman"])
@pytest.mark.parametrize("odd", [Z * 1e130, Z * 1e-130, Z + 1e12, np.ones((50, 3)), Z > 0, np.repeat(Z[:, :1], 3, 1)])
def test_udr_is_a_number_for_odd_codes(kind, odd):
    found = m.udr([Z, odd, -Z], kind=kind, kl=iter([np.ones(3)] * 3)).scores
    assert ((found >= 0) & (found <= 1)).all()


def test_whole_numbers_that_float64_cannot_tell_apart_are_no_factors():
    factors = np.arange(50, dtype=np.uint64) % 3
    assert m.mcc(factors, Z) == m.mcc(factors.astype(int), Z)
    ub.evaluate(factors, Z, protocol="fast", metrics=["mcc"])
    for large in (factors + np.uint64(2**63), factors.astype(np.int64) - 2**60):
        with pytest.raises(ValueError, match=facts("factors", "2**53", "numpy.unique(factor, return_inverse=True)")):
            ub.evaluate(large, Z)
