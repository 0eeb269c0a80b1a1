"""The light tunnel of the causal chambers: a coloured lamp behind two polarisers, by its published formulas."""

import numpy as np

from unbraid.datasets.base import Continuous
from unbraid.datasets.shapes import image_shape

# What the makers of the tunnel fitted to their measurements (causalchamber 0.2.8, MIT: tutorials of its simulators).
INFRARED, VISIBLE = (4.34165202, 2.8594438, 1.91565691), (0.89410569, 1.58679242, 2.68477163)
DISTANCES = (0.1, 0.17, 0.25)  # of the three pairs of light sensors from the lamp
BEHIND_ONE = np.array([0.42685688, 0.41231782, 0.46652526])  # light that passes the first polariser
ALIGNED, CROSSED = np.array([0.2909342, 0.29624314, 0.30526271]), np.array([0.00431032, 0.01447611, 0.02041075])
CURRENT, IDLE_CURRENT = np.array([0.12834946, 0.12870338, 0.13078523]), 58.13307318503893
PER_DEGREE, AT_ZERO = 1.42261211, (506.8049747171294, 510.98343062774353)  # of the angle sensors
GAINS = 2.0 ** np.array([5, 4])  # infrared: large diode; visible: medium; both of the longest exposure

CAMERA = (
    2.5
    * np.diag([2.65625, 1.0, 1.77344])
    @ [  # exposure, white balance, response to the colours
        [0.2995802, 0.06920322, 0.028159],
        [0.04017132, 0.9209918, 0.31265],
        [0.00217392, 0.2071558, 0.75763],
    ]
)
SEEN_ALIGNED, SEEN_CROSSED = np.array([0.29, 0.35, 0.33]), np.array([0.02, 0.08, 0.18])
RADIUS = 0.22  # of the lamp's hexagon, as a share of the side

VIEWS = ("sensors", "light", "images")


class LightTunnel(Continuous):
    r"""A lamp of three colours behind two polarisers, seen by sensors or by a camera: ``light-tunnel``.

    The simulators of the causal chambers, without noise, for a system that exists. By Malus' law the light :math:`c` of
    a colour that passes both polarisers is

    .. math:: c\, \big((T_p - T_c) \cos^2(\theta_1 - \theta_2) + T_c\big)

    The angles enter the light only by :math:`\cos^2(\theta_1 - \theta_2)`. No method can tell them from the light:
    both angles may turn together, change places or signs, and one may turn by 180 degrees. With ``view="light"`` four
    numbers can be found, the colours and this one; with "images", which show three numbers, not even these.

    Parameters
    ----------
    view : "sensors", "light" or "images"
        "sensors": infrared and visible light before, between and behind the polarisers, the lamp's current, and the
        two angles as they are measured: nine numbers. "light": without the angle sensors. "images": the lamp behind
        the polarisers, a hexagon of one colour, over-exposed where it is bright.
    image_size : int
        Side in pixels.

    References
    ----------
    Gamella, Peters, Bühlmann (2025), Causal chambers as a real-world physical testbed for AI methodology, Nature
    Machine Intelligence, model F3 (images). Gamella, Bing, Runge (2025), Sanity checking causal representation
    learning on a simple real-world system, appendix C (sensors).

    Examples
    --------
    >>> LightTunnel().observe([[255, 255, 255, 0, 90]]).round()[0, 4:]
    array([130.,  53., 157., 507., 639.])
    """

    name = "light-tunnel"
    factor_names = ("red", "green", "blue", "polariser 1", "polariser 2")
    factor_ranges = ((0.0, 255.0),) * 3 + ((-180.0, 180.0),) * 2

    def __init__(self, view: str = "sensors", image_size: int = 64):
        if view not in VIEWS:
            raise ValueError(f"view={view!r} must be one of {', '.join(VIEWS)}.")
        self.view = view
        side = image_shape(image_size)[0]
        self.shape = {"sensors": (9,), "light": (7,), "images": (side, side, 3)}[view]
        self.dtype = np.dtype(np.float32 if view == "images" else np.float64)

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        colours, angles = factors[:, :3], factors[:, 3:]
        open_ = np.cos(np.deg2rad(angles[:, :1] - angles[:, 1:])) ** 2
        if self.view == "images":
            seen = colours / 255 @ CAMERA.T * ((SEEN_ALIGNED - SEEN_CROSSED) * open_ + SEEN_CROSSED)
            image = seen.clip(0, 1)[:, None, None, :] * hexagon(self.shape[0])[:, :, None]
            return image.astype(self.dtype)
        first, second, third = (colours * (DISTANCES[0] / d) ** 2 for d in DISTANCES)
        behind = (first, second * BEHIND_ONE, third * ((ALIGNED - CROSSED) * open_ + CROSSED))
        light = np.hstack([GAINS * (c @ np.transpose([INFRARED, VISIBLE])) for c in behind])
        readings = [light, colours @ CURRENT[:, None] + IDLE_CURRENT]
        if self.view == "sensors":
            readings.append(PER_DEGREE * angles + AT_ZERO)
        return np.hstack(readings)


def hexagon(side: int) -> np.ndarray:
    """Which pixels of an image show the lamp, (side, side).

    >>> hexagon(8).sum(axis=1)
    array([0, 0, 3, 3, 3, 0, 0, 0])
    """
    x, y = np.arange(side) - side / 2, np.arange(side)[::-1, None] - side / 2
    outwards = np.deg2rad([30, 90, 150])
    far = np.abs(x[None, :, None] * np.cos(outwards) + y[:, :, None] * np.sin(outwards))
    return far.max(axis=2) <= RADIUS * side * np.cos(np.pi / 6)
