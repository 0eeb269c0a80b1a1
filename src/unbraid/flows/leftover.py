"""What a flow has left in its codes: within a condition those of the right factors are independent and normal."""

from itertools import combinations_with_replacement

import numpy as np

from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import warn

FARTHEST = 3.0  # in standard deviations: few far points do not decide
FEWEST = 100  # members of a class whose moments count
MOST_CODES = 6  # with six codes there are 200 moments


def leftover(codes: np.ndarray, labels: np.ndarray) -> float:
    r"""Nats per code by which the codes of a class differ from independent normal ones, averaged over classes.

    With the codes of a class standardised, and the normalised Hermite polynomials :math:`h_k`,

    .. math:: J = \frac{1}{2 d} \sum_{2 \le |a| \le 4} \left( \bar{h}_a^2 - \frac{1}{m} \right),
       \qquad h_a(w) = \prod_i h_{a_i}(w_i)

    over the products of order 2 (of two codes), 3 and 4, and the m members of the class: the divergence from the
    normal to second order. The squared means of independent normal codes are 1 / m. Codes beyond 3 standard deviations
    are moved to 3. NaN where no class has 100 members.

    Parameters
    ----------
    codes : array (n, d)
    labels : int array (n,)

    References
    ----------
    Comon (1994), Independent component analysis, a new concept?, on the Edgeworth expansion of negentropy.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z, labels = rng.normal(size=(4000, 2)), np.arange(4000) % 4
    >>> bent = np.column_stack([z[:, 0], z[:, 1] + z[:, 0] ** 2])
    >>> leftover(z, labels) < 0.01, leftover(bent, labels) > 0.2
    (True, True)
    """
    d = codes.shape[1]
    products = [p for order in (2, 3, 4) for p in combinations_with_replacement(range(d), order)]
    powers = [np.bincount(p, minlength=d) for p in products if len(p) > 2 or p[0] != p[1]]
    left, members = [], []
    for label in np.unique(labels):
        own = codes[labels == label]
        if len(own) >= FEWEST:
            h = _hermite(np.clip((own - own.mean(0)) / np.maximum(own.std(0), 1e-300), -FARTHEST, FARTHEST))
            means = [np.prod([h[k, :, i] for i, k in enumerate(a) if k], axis=0).mean() for a in powers]
            left.append(np.sum(np.square(means) - 1 / len(own)) / (2 * d))
            members.append(len(own))
    return float(np.average(left, weights=members)) if left else float("nan")


def _hermite(w: np.ndarray) -> np.ndarray:
    """Of orders 0 to 4, with mean square 1 under a standard normal."""
    square = w**2
    raw = np.stack([np.ones_like(w), w, square - 1, w * (square - 3), square * (square - 6) + 3])
    return raw / np.sqrt([1, 1, 2, 6, 24])[:, None, None]


def warn_of_leftover(left: float) -> None:
    """Warn where the codes of a class are not those of a right fit."""
    if not np.isnan(left) and not FIGURES["leftover"].holds(left):
        warn("UB252", stacklevel=4, left=left, usual=FIGURES["leftover"].limit())  # the caller of fit
