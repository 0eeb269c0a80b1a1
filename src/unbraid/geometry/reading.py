"""The number of submanifolds, read from the spectrum of the connection Laplacian."""

from dataclasses import dataclass

import numpy as np

NEAR_ZERO = 0.6
CLEARLY_ZERO = 0.05
CLEAR_RATIO = 2.0
ROUNDING = 1e-4


@dataclass(frozen=True)
class Reading:
    """How many submanifolds, the ratio of the eigenvalues across the gap, and, if undetermined, why."""

    n_submanifolds: int
    ratio: float
    reason: str = ""

    @property
    def determined(self) -> bool:
        return not self.reason


def read_spectrum(values: np.ndarray, scale: float, k: int, gap: float | str = "auto") -> Reading:
    r"""Count the near-zero eigenvalues :math:`\lambda_1 \le \lambda_2 \le \dots`: m submanifolds have m - 1.

    With :math:`\mu` the first nonzero eigenvalue of the graph's scalar Laplacian, the gap is the largest ratio
    :math:`\lambda_{r+1} / \lambda_r` among those with :math:`\lambda_r \le 0.6\,\mu`, and it counts from 2 on.
    Without one, :math:`\lambda_1 > 0.05\,\mu` means a single manifold, and anything else is undetermined. A number as
    ``gap`` counts the eigenvalues below it instead, and "largest" those below the largest difference of two neighbours,
    however small: the rule of the authors' code, which always finds two submanifolds or more.

    Parameters
    ----------
    values : array
        The lowest eigenvalues, ascending.
    scale : float
        The reference :math:`\mu`.
    k : int
        Dimension of the manifold; more than k - 1 near-zero values mean flat directions.
    gap : "auto", "largest" or float
        As above.

    Examples
    --------
    >>> read_spectrum(np.array([0.001, 0.06, 0.061]), 0.07, 4).n_submanifolds
    2
    >>> read_spectrum(np.array([0.03, 0.031, 0.032]), 0.07, 4).n_submanifolds
    1
    >>> read_spectrum(np.array([0.0, 0.0, 0.06]), 0.07, 2).determined
    False
    """
    if k == 1:
        return Reading(1, np.inf)
    floor = ROUNDING * scale
    lifted = np.maximum(values, floor)
    if gap == "largest":
        count = int(np.diff(values).argmax()) + 1
    elif gap == "auto":
        ratios = np.where(values[:-1] <= NEAR_ZERO * scale, lifted[1:] / lifted[:-1], 0)
        count = int(ratios.argmax()) + 1 if ratios.max(initial=0) >= CLEAR_RATIO else 0
    else:
        count = int((values < gap).sum())
    if count > k - 1 or count == len(values) or (count == 0 and values[-1] <= CLEARLY_ZERO * scale):
        return Reading(1, float(lifted[-1] / floor), flat(count if count else len(values), k))
    if count == 0:
        ratio = float(lifted[0] / (CLEARLY_ZERO * scale))
        reason = "" if ratio > 1 or gap != "auto" else _no_gap(values, scale)
        return Reading(1, ratio, reason)
    return Reading(count + 1, float(lifted[count] / lifted[count - 1]))


def flat(count: int, k: int) -> str:
    """The reason reported for flat directions."""
    return (
        f"undetermined: {count} or more eigenvalues are near zero where {k - 1} is the most that a product of curved "
        f"manifolds of total dimension {k} has. The manifold is flat, like a torus or a plane, in two or more "
        "directions: these have no holonomy, so they can be split in any way. A method that uses "
        "independence (HessianICA) can split them."
    )


def _no_gap(values: np.ndarray, scale: float) -> str:
    listed = ", ".join(f"{v / scale:.3g}" for v in values[:5])
    return (
        f"undetermined: the eigenvalues rise from near zero without a gap ({listed} times the first eigenvalue of the "
        "scalar Laplacian). The manifold is nearly flat, or the points are too few or too noisy. Provide more points."
    )
