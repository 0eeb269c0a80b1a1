"""Coordinates that are known: the sphere's own point, the circle's angle, the line's length."""

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from tests.geometry.manifolds import product
from unbraid.geometry import analogy, charts


@pytest.fixture(scope="module")
def circle_and_sphere():
    """S1 x S2 in five dimensions, and its fit."""
    X, true = product(["S1", "S2"], 1200)
    return X, true, ub.Geomancer(dim=3, random_state=0).fit(X)


def explained(of, by):
    """Part of the variance of ``of`` that a linear map of ``by`` explains."""
    design = np.c_[by, np.ones(len(by))]
    left = of - design @ np.linalg.lstsq(design, of, rcond=None)[0]
    return 1 - left.var() / of.var()


def parts(X, true):
    """The factors' own coordinates: X minus its part normal to the other factor's plane."""
    planes = [np.linalg.svd(t.transpose(1, 0, 2).reshape(X.shape[1], -1), full_matrices=False) for t in true]
    return [X @ u[:, : (s > 1e-6 * s[0]).sum()] for u, s, _ in planes]


def test_charts_of_a_circle_and_a_sphere(circle_and_sphere):
    X, true, model = circle_and_sphere
    circle, sphere = parts(X, true)
    curved, angle = model.charts()
    assert (curved.kind, angle.kind) == ("curved", "circle")
    assert explained(sphere, curved.coordinates) > 0.96
    assert explained(circle, angle.embedded()) > 0.96
    assert explained(circle, curved.coordinates) < 0.02
    assert min(curved.purity, angle.purity) > 0.9


def test_a_line():
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 3, 1500)
    sphere, tangents = product(["S2"], 1500)
    X = np.c_[sphere, t]
    along = np.zeros((1500, 4, 1))
    along[:, 3] = 1
    flat = np.pad(tangents[0], [(0, 0), (0, 1), (0, 0)])
    line = charts(X, [flat, along])[1]
    assert line.kind == "line"
    assert abs(np.corrcoef(line.coordinates[:, 0], t)[0, 1]) > 0.99
    assert np.ptp(line.coordinates) == pytest.approx(3, rel=0.15)


def test_analogies(circle_and_sphere):
    X, true, model = circle_and_sphere
    circle, sphere = parts(X, true)
    found = model.charts()
    errors = []
    for a in range(20):
        # b is like a on the sphere, c is like a on the circle.
        b = near_but_far(sphere, circle, a)
        c = near_but_far(circle, sphere, a)
        d = analogy(found, a, b, c)
        errors.append([np.linalg.norm(circle[d] - circle[b]), np.linalg.norm(sphere[d] - sphere[c])])
    assert np.mean(errors) < 0.35
    far = np.argmax(np.linalg.norm(X - X[0], axis=1))
    with pytest.raises(ValueError, match=facts("submanifold 0")):
        analogy(found, 0, int(far), int(far))


def near_but_far(same, other, a):
    close = np.argsort(np.linalg.norm(same - same[a], axis=1))[1:25]
    return int(close[np.argmax(np.linalg.norm(other[close] - other[a], axis=1))])
