"""Products of intervals, circles and spheres whose factors are known, and manifolds that are none."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import unbraid as ub
from tests.facts import facts
from unbraid.metrics.kinds import circular_correlation
from unbraid.product.diffusion import diffuse
from unbraid.product.groups import find_groups, shape_of
from unbraid.report.fitted import describe
from unbraid.report.pages import page_of
from unbraid.trust.warnings import DataWarning, TrustWarning

CIRCLE_AND_INTERVAL = ["circle", "interval"]


def cylinder(n, length=2.0, radius=1.0, seed=0):
    rng = np.random.default_rng(seed)
    angle, height = rng.uniform(-np.pi, np.pi, n), rng.uniform(0, length, n)
    return np.c_[radius * np.cos(angle), radius * np.sin(angle), height], np.c_[angle, height]


def directions(n, rng):
    v = rng.normal(size=(n, 3))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def fitted():
    X, factors = cylinder(1000)
    return ub.ProductManifold(random_state=0).fit(X), X, factors


def test_an_angle_and_a_height(fitted):
    model, X, factors = fitted
    assert model.kinds_ == CIRCLE_AND_INTERVAL
    assert model.verified_.all()
    assert ub.metrics.mcc(factors, model.transform(X), kinds=CIRCLE_AND_INTERVAL, code_kinds=model.kinds_) > 0.98
    assert model.lengths_ == pytest.approx([2 * np.pi, 2.0], rel=0.15)


def test_new_points_and_the_way_back(fitted):
    model, _, _ = fitted
    X, factors = cylinder(500, seed=1)
    codes = model.transform(X)
    assert ub.metrics.mcc(factors, codes, kinds=CIRCLE_AND_INTERVAL, code_kinds=model.kinds_) > 0.98
    assert np.abs(model.inverse_transform(codes) - X).mean() < 0.06
    turned = codes + [2 * np.pi, 0]
    assert model.inverse_transform(turned) == pytest.approx(model.inverse_transform(codes), abs=1e-9)


def test_an_angle_as_cosine_and_sine(fitted):
    model, X, _ = fitted
    embedded = ub.ProductManifold(output="embedding", random_state=0).fit(X)
    codes, angle = embedded.transform(X), model.transform(X)[:, 0]
    assert [c.tolist() for c in embedded.columns_] == [[0, 1], [2]]
    assert codes[:, :2] == pytest.approx(np.c_[np.cos(angle), np.sin(angle)], abs=1e-9)


def test_the_page_takes_angles_as_angles(fitted):
    model, X, factors = fitted
    fit = describe(model, X, factors, factor_names=["angle", "height"], factor_kinds=CIRCLE_AND_INTERVAL)
    assert fit.mcc > 0.98
    assert describe(model, X, factors).mcc < 0.98  # the angle as a number jumps where it closes
    assert f"{fit.mcc:.4f}" in page_of(fit).html()


def test_a_circle_four_times_shorter_than_the_other():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-np.pi, np.pi, (2, 1000))
    X = np.c_[4 * np.cos(a), 4 * np.sin(a), np.cos(b), np.sin(b)]
    model = ub.ProductManifold(random_state=0).fit(X)
    assert model.kinds_ == ["circle", "circle"]
    kinds = {"kinds": ["circle", "circle"], "code_kinds": model.kinds_}
    assert ub.metrics.mcc(np.c_[a, b], model.transform(X), **kinds) > 0.95


def test_a_direction_and_a_height():
    rng = np.random.default_rng(0)
    v, height = directions(1000, rng), rng.uniform(0, 1.2, 1000)
    X = np.c_[v, height]
    model = ub.ProductManifold(random_state=0).fit(X)
    kinds = {"kinds": ["sphere", "interval"], "code_kinds": model.kinds_}
    assert model.kinds_ == ["sphere", "interval"]
    assert ub.metrics.mcc(X, model.transform(X), **kinds) > 0.95
    assert np.linalg.norm(model.transform(X)[:, :3], axis=1) == pytest.approx(1)


def test_dependent_factors_on_a_product():
    """Density is divided out: the factors need not be independent, only their support a product."""
    rng = np.random.default_rng(0)
    angle, height = rng.uniform(-np.pi, np.pi, (1800,)), rng.uniform(0, 2, 1800)
    kept = rng.uniform(size=1800) < 0.5 + 0.4 * np.cos(angle) * (height - 1)
    X = np.c_[np.cos(angle), np.sin(angle), height][kept]
    model = ub.ProductManifold(random_state=0).fit(X)
    truth = np.c_[angle, height][kept]
    assert ub.metrics.mcc(truth, model.transform(X), kinds=CIRCLE_AND_INTERVAL, code_kinds=model.kinds_) > 0.97


def disk(n, rng):
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.sqrt(rng.uniform(size=n))
    return np.c_[radius * np.cos(angle), radius * np.sin(angle)]


def moebius(n, rng):
    t, s = rng.uniform(0, 2 * np.pi, n), rng.uniform(-0.5, 0.5, n)
    return np.c_[np.cos(t), np.sin(t), s * np.cos(t / 2), s * np.sin(t / 2)]


def clusters(n, rng):
    return np.concatenate([rng.uniform(size=(n // 2, 2)), rng.uniform(size=(n // 2, 2)) + [3, 0]])


def annulus(n, rng):
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.sqrt(rng.uniform(0.25, 1, n))
    return np.c_[radius * np.cos(angle), radius * np.sin(angle)]


def triangle(n, rng):
    u = rng.uniform(size=(n, 2))
    return np.where(u.sum(axis=1, keepdims=True) > 1, 1 - u, u)


def noise(n, rng):
    return rng.normal(size=(n, 10))


@pytest.mark.parametrize("make", [disk, moebius, clusters, annulus, triangle, noise])
def test_what_is_no_product_is_not_verified(make):
    with pytest.warns(TrustWarning):
        model = ub.ProductManifold(random_state=0).fit(make(600, np.random.default_rng(0)))
    assert not model.verified_.all()
    assert model.diagnostics_.concerns


def test_a_sphere_alone_is_a_sphere():
    model = ub.ProductManifold(random_state=0).fit(directions(1500, np.random.default_rng(0)))
    assert model.kinds_ == ["sphere"]
    assert model.verified_.all()
    assert model.lengths_[0] == pytest.approx(2 * np.pi, rel=0.1)


def test_eigenvalues_and_gradients_of_a_flat_torus():
    a, b = np.random.default_rng(0).uniform(-np.pi, np.pi, (2, 1500))
    walk = diffuse(np.c_[np.cos(a), np.sin(a), np.cos(b), np.sin(b)], np.random.RandomState(0), 2)
    assert walk.eigenvalues[:5] == pytest.approx([1, 1, 1, 1, 2], rel=0.2)
    cosines = np.c_[np.cos(a), np.cos(b)]
    gram = walk.mean(walk.gram(cosines).reshape(-1, 4))
    assert gram == pytest.approx([0.5, 0, 0, 0.5], abs=0.1)


def test_gradients_of_a_circle_have_its_shape():
    angle = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    walk = diffuse(np.c_[np.cos(angle), np.sin(angle)], np.random.RandomState(0), 1)
    (group,) = find_groups(walk, None, 1)
    assert group.kind == "circle"
    assert group.radius == pytest.approx(1, rel=0.02)
    assert shape_of(walk, group) > 0.999


@pytest.mark.parametrize("dim", [1, 2])
def test_widths_that_follow_the_density_leave_the_laplacian(dim):
    """Whatever the law of the samples, eigenvalues are those of the circle and the square."""
    rng = np.random.default_rng(0)
    if dim == 1:
        angle = rng.vonmises(0, 0.8, 1000)
        points, expected = np.c_[np.cos(angle), np.sin(angle)], [1, 1, 4, 4]
    else:
        points, expected = np.pi * rng.beta(2, 1, (1500, 2)) * [1, 0.8], [1, 1 / 0.64, 1 + 1 / 0.64]
    walk = diffuse(points, np.random.RandomState(0), dim)
    assert walk.rho.std() > 0.2
    assert walk.weights.sum() == pytest.approx(1)
    assert walk.eigenvalues[: len(expected)] == pytest.approx(expected, rel=0.25)
    assert walk.mean(walk.functions[:, :5] ** 2) == pytest.approx(1)


@pytest.mark.parametrize("n", [24, 72])
def test_even_views_of_a_turn(n):
    """As few as a turntable gives, on a curve whose far ends are as near as a few steps."""
    angle = 2 * np.pi * np.arange(n) / n
    X = np.concatenate([[np.cos(k * angle) / k, np.sin(k * angle) / k] for k in (1, 2, 3)]).T
    model = ub.ProductManifold(random_state=0).fit(X)
    assert model.kinds_ == ["circle"]
    assert model.verified_.all()
    assert abs(circular_correlation(angle, model.transform(X)[:, 0])) > 0.98


def test_a_line_that_crosses_itself_is_not_verified():
    t = np.random.default_rng(0).uniform(0, 2 * np.pi, 600)
    with pytest.warns(TrustWarning, match=facts("UB236")):
        model = ub.ProductManifold(random_state=0).fit(np.c_[np.sin(t), np.sin(2 * t) / 2])
    assert not model.verified_.any()
    (failed,) = [c for c in model.checks_[0] if c.name == "faithful"]
    assert not failed.holds


def test_eigenvalues_of_products_are_sums_but_not_on_a_disk():
    rng = np.random.default_rng(0)
    square = ub.ProductManifold(random_state=0).fit(rng.uniform(size=(900, 2)) * [1, 0.7])
    assert square.verified_.all()
    with pytest.warns(TrustWarning):
        round_one = ub.ProductManifold(random_state=0).fit(disk(900, rng))
    sums = [{c.name: c.figure for c in model.checks_[0]}["sum"] for model in (square, round_one)]
    assert sums[0] < 1.05
    assert sums[1] > 1.15


@pytest.mark.filterwarnings("ignore")  # it is not verified for several reasons
def test_rows_that_go_round_twice_are_told():
    """Views, in their order, of an object that looks alike after half a turn."""
    turn = 2 * np.pi * np.arange(80) / 80
    X = np.c_[np.cos(2 * turn), np.sin(2 * turn)]
    X += 1e-3 * np.random.default_rng(0).normal(size=X.shape)
    with pytest.warns(TrustWarning, match=facts("UB237", "2 times", "code 1")):
        model = ub.ProductManifold(random_state=0).fit(X)
    assert model.kinds_ == ["circle"]
    assert not model.verified_.any()


def test_landmarks_place_the_other_points():
    X, factors = cylinder(2000)
    model = ub.ProductManifold(n_landmarks=800, random_state=0).fit(X)
    assert len(model.maps_.points) == 800
    assert ub.metrics.mcc(factors, model.transform(X), kinds=CIRCLE_AND_INTERVAL, code_kinds=model.kinds_) > 0.98


def test_a_number_of_factors_that_is_not_there():
    X, _ = cylinder(600)
    with pytest.warns(TrustWarning, match=facts("UB234", 1, 2)):
        assert ub.ProductManifold(1, random_state=0).fit(X).n_factors_ == 1
    with pytest.warns(TrustWarning, match=facts("UB231", 2, 3)):
        ub.ProductManifold(3, random_state=0).fit(X)


def test_errors_and_duplicates():
    X, _ = cylinder(300)
    with pytest.raises(ValueError, match=facts("n_factors", 0, "auto")):
        ub.ProductManifold(0).fit(X)
    with pytest.raises(ValueError, match=facts("output", "'degrees'", "angles", "embedding")):
        ub.ProductManifold(output="degrees").fit(X)
    with pytest.raises(ValueError, match=facts("n_landmarks", 3, 20)):
        ub.ProductManifold(n_landmarks=3).fit(X)
    with pytest.raises(ValueError, match=facts(30, "identical")):
        ub.ProductManifold().fit(np.ones((30, 2)))
    with pytest.warns(DataWarning, match=facts("UB301", "300 of 600")):
        ub.ProductManifold(random_state=0).fit(np.concatenate([X, X]))


@parametrize_with_checks([ub.ProductManifold(random_state=0)])
@pytest.mark.filterwarnings("ignore")
def test_sklearn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("scale", [1e-310, 1e-100, 1e100])
def test_scales_beyond_float64_are_refused(scale):
    X = np.random.default_rng(0).uniform(size=(50, 2))
    with pytest.raises(ValueError, match=facts("X", "float64", "X / np.abs(X).max()")):
        ub.ProductManifold().fit(X * scale)
