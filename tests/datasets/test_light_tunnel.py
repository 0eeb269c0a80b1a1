"""The light tunnel: numbers of the makers' own simulators, and what the light cannot tell."""

import numpy as np
import pytest

from tests.facts import facts
from unbraid import datasets
from unbraid.datasets.light_tunnel import hexagon

SETTINGS = [[200, 100, 50, 30, -70], [10, 250, 120, -150, 160], [255, 255, 255, 0, 0]]
# lt.Deterministic and lt.ModelF3 of causalchamber 0.2.8, with the parameters of its tutorials
READINGS = [
    [40001.8441, 7547.8234, 5904.3642, 1131.5322, 105.4418, 25.2274, 103.2126, 549.4833, 411.4006],
    [31621.0016, 11644.9881, 4656.3524, 1758.8036, 668.9187, 249.6433, 107.2866, 293.4132, 738.6014],
    [74392.7023, 21075.9325, 11085.0805, 3230.7272, 3518.5976, 1011.6853, 157.0318, 506.8050, 510.9834],
]
COLOURS = [[0.050013, 0.100037, 0.189388], [0.081112, 0.503623, 0.600473], [0.764424, 1.0, 1.0]]
PIXELS = 525  # of the lamp, at 64 by 64


def test_numbers_of_the_original_simulators():
    readings = datasets.load("light-tunnel").observe(SETTINGS)
    np.testing.assert_allclose(readings, READINGS, atol=1e-4)
    np.testing.assert_array_equal(datasets.load("light-tunnel", view="light").observe(SETTINGS), readings[:, :7])
    images = datasets.load("light-tunnel", view="images").observe(SETTINGS)
    np.testing.assert_allclose(images[:, 32, 32], COLOURS, atol=1e-6)
    lit = hexagon(64)
    assert lit.sum() == PIXELS
    assert (images[:, lit] == images[:, 32, 32][:, None]).all()
    assert not images[:, ~lit].any()


@pytest.mark.parametrize("view", ["light", "images"])
def test_light_is_the_same_after_what_it_cannot_tell(view):
    tunnel = datasets.load("light-tunnel", view=view, image_size=16)
    z = tunnel.sample_factors(20, random_state=0)
    z[:, 3:] /= 3
    first, second = z[:, 3], z[:, 4]
    for angles in ((first + 40, second + 40), (second, first), (-first, -second), (first + 180 * (first < 0), second)):
        np.testing.assert_allclose(tunnel.observe(np.c_[z[:, :3], *angles]), tunnel.observe(z), rtol=1e-6)


def test_an_unknown_view_is_refused():
    with pytest.raises(ValueError, match=facts("'film'", "sensors, light, images")):
        datasets.load("light-tunnel", view="film")
