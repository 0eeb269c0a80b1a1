r"""How far the codes of a fit may be turned, without labels.

Three things move a rotation that rests on independence: chance, the density weights, and dependence between the codes.
Chance shows in bootstraps, the weights in the turn between the solutions with and without them, and dependence in
halves: splitting the points at the median of one code leaves the others independent only where the codes are right, so
a rotation found again on each half must be the same one.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from unbraid.spectral.ica import (
    CONTRASTS,
    N_ANGLES,
    Contrast,
    Rotation,
    half_density_weights,
    highest,
    quarter,
    search_near,
    standardised_turns,
    turns,
    whitening,
)

Floats = NDArray[np.float64]

POINTS = 1000
N_BOOTSTRAPS = 16
FEWEST = 40  # points of a half that are worth a search


@dataclass(frozen=True)
class TurnUncertainty:
    """How far each code may be turned, in degrees.

    Attributes
    ----------
    per_code : array (d,)
        The largest turn of each code: with and without density weights, over bootstraps (90 % quantile), over halves.
    doubt : float
        (A + H) / 2, where A is the larger of the first two for the code that turns most, and H the mean over halves
        of the turn of the code that turns most. Its threshold is in :mod:`unbraid.trust.table`.
    plain, chance, halves : float
        For the code that turns most: without density weights, over bootstraps (90 % quantile), over halves (the mean).
    """

    per_code: Floats
    doubt: float
    plain: float = 0.0
    chance: float = 0.0
    halves: float = 0.0


def code_uncertainty(codes: Floats, rotation: Rotation, random_state: np.random.RandomState) -> TurnUncertainty:
    """Find the rotation again under other assumptions, on at most 1000 points.

    Parameters
    ----------
    codes : array (n, d)
        In the order that the uncertainty is wanted in; scale and sign do not matter.
    rotation : Rotation
        How they were found.
    random_state : RandomState
    """
    n, d = codes.shape
    if d == 1:
        return TurnUncertainty(np.zeros(1), 0.0)
    S = codes if n <= POINTS else codes[random_state.choice(n, POINTS, replace=False)]
    S = (S - S.mean(axis=0)) / S.std(axis=0)
    contrast, own = CONTRASTS[rotation.contrast], np.eye(d)
    even = np.full(len(S), 1 / len(S))
    weights = half_density_weights(S) if rotation.weighted else even
    plain = turns(own, search_near(S, even, contrast, own))
    # Turns by chance shrink with the root of the number of points, of which some were left out here.
    chance = _bootstrap_turns(S, weights, contrast, random_state) * np.sqrt(len(S) / n)
    halves = _half_turns(S, weights, contrast)
    assumed = np.maximum(plain, np.quantile(chance, 0.9, axis=0))
    bare, by_chance = float(plain.max()), float(np.quantile(chance.max(axis=1), 0.9))
    alone = max(bare, by_chance)
    halved = float(halves.max(axis=1).mean()) if len(halves) else alone
    per_code = np.maximum(assumed, halves.max(axis=0, initial=0.0))
    return TurnUncertainty(per_code, (alone + halved) / 2, bare, by_chance, halved)


def _bootstrap_turns(S: Floats, weights: Floats, contrast: Contrast, rng: np.random.RandomState) -> Floats:
    """Turns (bootstraps, d) of the solution under resampled weights (Bayesian bootstrap), every plane by itself.

    The contrast is evaluated once per angle; what resampling does to mean and scale is taken to first order.
    """
    n, d = S.shape
    resampled = weights[:, None] * rng.exponential(size=(n, N_BOOTSTRAPS))
    resampled /= resampled.sum(axis=0)
    generators = np.zeros((N_BOOTSTRAPS, d, d))
    angles = quarter(N_ANGLES)
    for a in range(d):
        for b in range(a):
            U = standardised_turns(S[:, [b, a]], weights, angles)
            G = contrast(U)
            slope = (contrast(U + 1e-4) - G) / 1e-4
            means = U @ resampled
            spreads = np.sqrt(np.maximum((U * U) @ resampled - means**2, 1e-12))
            first_order = means * (slope @ weights)[:, None] + (spreads - 1) * ((slope * U) @ weights)[:, None]
            squares = (G @ resampled - first_order) ** 2
            values = squares[:N_ANGLES] + squares[N_ANGLES:]  # (angles, bootstraps), periodic in the angle
            found = np.array([highest(column) for column in values.T]) * (angles[1] - angles[0]) + angles[0]
            generators[:, b, a], generators[:, a, b] = found, -found
    return np.stack([turns(np.eye(d), R) for R in scipy.linalg.expm(generators)])


def _half_turns(S: Floats, weights: Floats, contrast: Contrast) -> Floats:
    """Turns (halves, d) of the rows of the unmixing that each half of each code asks for."""
    d, found = S.shape[1], []
    middle = np.median(S, axis=0)
    for k in range(d):
        for side in (S[:, k] <= middle[k], S[:, k] > middle[k]):
            if side.sum() < FEWEST:
                continue
            half = S[side] / S[side].std(axis=0)
            white = whitening(half)
            w = weights[side] / weights[side].sum()
            R = search_near(white(half), w, contrast, np.eye(d))
            found.append(turns(np.eye(d), R @ white.matrix))
    return np.array(found).reshape(len(found), d)
