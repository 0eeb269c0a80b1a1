"""The figures of a product: known shapes, and draws of known power."""

import numpy as np
import pytest
from scipy.integrate import quad

from unbraid.manifold.spectra import structure
from unbraid.manifold.surroundings import edge_ratio, end_distance, off_tangent, shows_no_edge, torus
from unbraid.trust.support import (
    IN_CORNERS,
    ball,
    corners,
    dependence,
    dependent,
    emptiness,
    power_of,
    raggedness,
    separability,
    unfilled,
)
from unbraid.trust.table import FIGURES

DEPENDENT, RAGGED, HOLLOW, GAUSSIAN, SIGMAS, MEETS = (
    FIGURES[key].limit()
    for key in ("dependence", "raggedness", "emptiness", "separability", "structure", "end_distance")
)
CLEAR = FIGURES["separability"].limit("clear")


@pytest.fixture
def rng():
    return np.random.RandomState(0)


@pytest.mark.parametrize("d", [2, 3])
def test_boxes_are_products(rng, d):
    for law in (rng.uniform, lambda size: rng.beta(2, 1, size=size), lambda size: rng.exponential(size=size)):
        codes = law(size=(1000, d))
        assert dependence(codes) < DEPENDENT
        assert raggedness(codes, rng) < RAGGED
        assert emptiness(codes, rng) < HOLLOW


def test_dependence_is_the_mutual_information_of_a_gaussian_pair(rng):
    """-log(1 - r^2) / 2 nats, less what twelve bins lose."""
    r = 0.6
    codes = rng.multivariate_normal([0, 0], [[1, r], [r, 1]], size=50_000)
    assert dependence(codes) == pytest.approx(-np.log(1 - r**2) / 2, rel=0.1)


def test_scale_and_order_do_not_matter(rng):
    codes = rng.uniform(size=(800, 3))
    assert dependence(codes[:, ::-1] * [1, 100, 0.01]) == pytest.approx(dependence(codes))


def test_shapes_that_are_no_products(rng):
    assert dependence(dependent(1000, 2, rng)) > DEPENDENT
    assert emptiness(ball(1000, 3, rng), rng) > HOLLOW
    corner = rng.uniform(size=(4000, 2))
    triangle = corner[corner.sum(axis=1) < 1][:1000]
    assert raggedness(triangle, rng) > RAGGED


def test_one_code_is_a_product(rng):
    codes = rng.uniform(size=(300, 1))
    assert (dependence(codes), raggedness(codes, rng), emptiness(codes, rng)) == (0.0, 1.0, 0.0)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_tori_have_no_edge_and_boxes_have(rng, d):
    assert edge_ratio(torus(1000, d, rng), d) < FIGURES["edge"].limit(d)
    assert edge_ratio(rng.uniform(size=(1000, d)), d) > FIGURES["edge"].limit(d)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_edge_of_a_noisy_box_shows_in_wide_neighbourhoods(rng, d):
    closed, box = torus(2000, d, rng), 6 * np.pad(rng.uniform(size=(2000, d)), [(0, 0), (0, d)])
    assert shows_no_edge(closed + 0.1 * rng.normal(size=closed.shape), d, rng)
    assert not shows_no_edge(box + 0.1 * rng.normal(size=box.shape), d, rng)


def test_ends_of_a_square_that_is_open_by_one_side(rng):
    """Three sides of a square, evenly stepped: the ends are one side, which is as long as 100 steps."""
    s = np.linspace(0, 1, 101)
    sides = [np.c_[s, 0 * s], np.c_[0 * s + 1, s], np.c_[1 - s, 0 * s + 1]]
    curve = np.unique(np.round(np.concatenate(sides), 9), axis=0)
    assert end_distance(curve, rng) == pytest.approx(100, rel=1e-6)
    closed = np.unique(np.round(np.concatenate([curve, np.c_[0 * s, s]]), 9), axis=0)
    assert end_distance(closed, rng) < MEETS


@pytest.mark.parametrize("n", [100, 500])
def test_chance_is_what_gaussian_pairs_stay_below(rng, n):
    """In 95 of 100; a share of 150 draws has a standard error of .018."""
    drawn = [separability(rng.normal(size=(n, 2))) for _ in range(150)]
    assert 0.89 < np.mean(np.array(drawn) < GAUSSIAN) <= 0.995


def test_laws_that_are_told_from_their_rotations_with_300_points(rng):
    """Skewness counts: log cosh alone sees nothing of a triangle or a cut exponential with so few."""
    for codes in (rng.beta(2, 1, (300, 2)), -np.log1p(-rng.uniform(size=(300, 2)) * 0.86), rng.laplace(size=(300, 2))):
        assert separability(codes) > CLEAR


def test_what_is_round_has_no_axes(rng):
    """A disk is not Gaussian, and looks the same from all sides all the same, up to chance."""
    assert separability(ball(1000, 2, rng)) < separability(rng.uniform(size=(1000, 2))) / 3
    assert separability(rng.normal(size=(50, 1))) == np.inf


@pytest.mark.parametrize("law", ["normal", "uniform", "exponential"])
@pytest.mark.parametrize("width", [2, 10, 80])
def test_independent_columns_have_no_structure(rng, law, width):
    assert structure(getattr(rng, law)(size=(250, width)), rng) < SIGMAS


def test_a_ring_has_structure_though_its_columns_do_not_correlate(rng):
    assert structure(torus(500, 1, rng), rng) > SIGMAS


def test_off_tangent_is_the_share_of_noise(rng):
    """White noise of p directions: all but d of p, up to the spread of eigenvalues that sampling makes."""
    assert off_tangent(rng.normal(size=(2000, 3)), 3) == pytest.approx(0, abs=1e-12)
    assert 0.4 < off_tangent(rng.normal(size=(2000, 10)), 2) < 0.8


@pytest.mark.parametrize(("key", "n", "d"), [("dependence", 200, 2), ("raggedness", 200, 2), ("raggedness", 1000, 2)])
def test_the_table_of_power_is_what_draws_show(rng, key, n, d):
    """Twelve draws against the forty of the table: three standard errors of either end."""
    draw = {
        "dependence": lambda: dependence(dependent(n, d, rng)),
        "raggedness": lambda: raggedness(ball(n, d, rng), rng),
    }
    noticed = np.mean([not FIGURES[key].holds(draw[key]()) for _ in range(12)])
    assert noticed == pytest.approx(power_of(key, n, d), abs=0.35)
    assert power_of(key, 10**6, d) == power_of(key, 2000, d)


def test_the_share_of_a_square_outside_of_the_disk_of_its_ranks():
    def law(x):  # that of a coordinate of the disk
        return 0.5 + (x * np.sqrt(1 - x**2) + np.arcsin(x)) / np.pi

    def inside(x):
        y = np.sqrt(1 - x**2)
        return 2 / np.pi * y * (2 * law(y) - 1)

    assert IN_CORNERS[2] == pytest.approx(1 - quad(inside, -1, 1)[0], abs=1e-4)


@pytest.mark.parametrize("d", [2, 3, 5])
@pytest.mark.parametrize("n", [400, 1000])
def test_balls_lack_corners_and_boxes_do_not(d, n):
    draws = [np.random.RandomState(seed) for seed in range(10)]
    assert np.mean([corners(rng.uniform(size=(n, d))) for rng in draws]) == pytest.approx(1, abs=0.05)
    assert (
        max(unfilled(rng.uniform(size=(n, d)) ** 3, rng) for rng in draws)
        < 1
        < min(unfilled(ball(n, d, rng), rng) for rng in draws)
    )
