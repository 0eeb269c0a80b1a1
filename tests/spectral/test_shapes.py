"""A plain fit warns of loops, of codes that do not fill a box, and of parts of different dimension."""

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.trust.support import ball
from unbraid.trust.warnings import AssumptionWarning

pytestmark = pytest.mark.filterwarnings("ignore:UB[23]")
SETTINGS = {"n_neighbors": 12, "random_state": 0}


def views(turn, n=72):
    """Pictures of two spots on a turntable."""
    t, grid = np.linspace(0, turn, n, endpoint=turn < 2 * np.pi)[:, None, None], np.linspace(-1, 1, 12)
    y, x = grid[:, None], grid
    spots = [((x - 0.6 * np.cos(t + o)) ** 2 + (y - 0.4 * np.sin(t + o)) ** 2) / w for o, w in ((0, 0.1), (2, 0.3))]
    return sum(np.exp(-spot) for spot in spots)


@pytest.mark.parametrize("n_factors", [1, 2])
def test_a_full_turn_is_a_loop(n_factors):
    with pytest.warns(AssumptionWarning, match=facts("UB116")):
        ub.HessianICA(n_factors, **SETTINGS).fit(views(2 * np.pi))


def test_most_of_a_turn_is_none():
    model = ub.HessianICA(1, **SETTINGS).fit(views(5.2))
    assert "UB116" not in " ".join(model.diagnostics_.concerns)


@pytest.mark.parametrize("n", [400, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_a_disk_is_no_product(n, seed):
    z = ball(n, 2, np.random.RandomState(seed))
    with pytest.warns(AssumptionWarning, match=facts("UB117")):
        ub.HessianICA(2, **SETTINGS).fit(np.c_[np.sin(z), np.cos(z)])


@pytest.mark.parametrize("n", [400, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_squares_and_their_conformal_images_fill_a_box(n, seed):
    z = np.random.default_rng(seed).uniform(-1, 1, size=(n, 2))
    w = np.exp(0.5 * (z[:, 0] + 1j * z[:, 1]))
    for points in (z, np.c_[w.real, w.imag]):
        model = ub.HessianICA(2, **SETTINGS).fit(np.c_[np.sin(points), np.cos(points)])
        assert "UB117" not in " ".join(model.diagnostics_.concerns)


def test_a_sheet_and_a_line_are_told_apart():
    rng = np.random.default_rng(0)
    sheet, line = np.zeros((200, 4)), np.zeros((100, 4))
    sheet[:, :2], line[:, 2] = rng.uniform(size=(200, 2)), rng.uniform(size=100)
    with pytest.warns(AssumptionWarning, match=facts("UB115", "dimension 1")):
        model = ub.HessianICA(2, **SETTINGS).fit(np.concatenate([sheet, line]))
    assert np.mean(model.pieces_[1] >= 200) > 0.95
    assert np.mean(model.pieces_[2] < 200) > 0.95
