"""What evidence shows in a whitened embedding: whether it says anything, and whether its halves agree."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from unbraid.data.observations import Observations
from unbraid.manifold.neighbors import Floats
from unbraid.spectral.evidence import (
    BY,
    ROTATIONS,
    UnseenDirectionError,
    by_pairs,
    by_time,
    delayed,
    given_to,
    identical,
    labelled_directions,
    unit_rows,
)
from unbraid.spectral.ica import whitening
from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import format_warning

SPECTRAL_LAGS = 40  # of cross-spectra
SPLITS, BLOCKS = 12, 8  # of the evidence, to see whether its halves agree


def autocorrelation(Z: Floats, time: NDArray[Any]) -> float:
    r"""How far whitened rows are from an order without meaning, in standard deviations.

    With :math:`C_k` the covariance of the rows with those k steps later, from :math:`m_k` pairs of rows, and K lags,
    :math:`Q = \sum_k m_k \|C_k\|^2` has the mean :math:`K d^2` and twice that variance if the rows are shuffled; the
    figure is :math:`(Q - K d^2) / \sqrt{2 K d^2}` (Hosking 1980).

    >>> walk = np.cumsum(np.random.default_rng(0).normal(size=300))[:, None]
    >>> white = (walk - walk.mean()) / walk.std()
    >>> shuffled = np.random.default_rng(0).permutation(white)
    >>> autocorrelation(white, np.arange(300)) > 100 > 3 > autocorrelation(shuffled, np.arange(300))
    True
    """
    found = delayed(Z, time)
    usual = len(found) * Z.shape[1] ** 2
    return float((sum(m * np.square(C).sum() for C, m in found) - usual) / (2 * usual) ** 0.5)


def coherence(Z: Floats, time: NDArray[Any]) -> float:
    r"""How much codes rotated by time depend on each other at any lag, relative to chance; the largest of all pairs.

    With the cross-spectra :math:`S_{ij}(f)` from 40 lags under a Parzen window w, the mean over frequencies of
    :math:`|S_{ij}|^2 / S_{ii} S_{jj}`, times :math:`n / \sum_k w_k^2`: independent codes have a mean of 1, whatever
    their own spectra are. Factors that share a cause, or of which one follows the other, stay coherent.

    >>> slow = np.convolve(np.random.default_rng(0).normal(size=2020), np.full(8, 8**-0.5), "valid")
    >>> lagged, own = np.c_[slow[10:2010], slow[:2000]], np.c_[slow[:2000], np.random.default_rng(1).normal(size=2000)]
    >>> [coherence(whitening(Z)(Z), np.arange(2000)) > 5 for Z in (lagged, own)]
    [True, False]
    """
    matrix = by_time(Z, time)
    C = np.stack([Z.T @ Z / len(Z), *(C for C, _ in delayed(Z, time, SPECTRAL_LAGS))])
    C = matrix @ C @ matrix.T
    x = np.arange(len(C)) / len(C)
    window = np.where(x <= 0.5, 1 - 6 * x**2 + 6 * x**3, 2 * (1 - x) ** 3)  # of which no spectrum is negative
    waves = window * np.exp(-1j * np.pi * np.outer(x + 0.5 / len(C), np.arange(len(C))))
    waves[:, 0] /= 2
    half = np.einsum("fk,kij->fij", waves, C)
    S = half + half.conj().transpose(0, 2, 1)
    own = np.maximum(np.einsum("fii->fi", S).real, 1e-12)
    shared = np.minimum(np.square(np.abs(S)) / (own[:, :, None] * own[:, None]), 1).mean(axis=0)
    np.fill_diagonal(shared, 0)
    return float(shared.max() * len(Z) / (2 * np.square(window).sum() - 1))


def effective_share(Z: Floats, time: NDArray[Any]) -> float:
    r"""The share of the rows that independent ones would need for the same precision: :math:`1 / (1 + 2 \sum_k r_k^2)`.

    It is that of squares of Gaussian factors with autocorrelations :math:`r_k` (Bartlett), here their mean square.

    >>> z = np.random.default_rng(0).normal(size=(2000, 1))
    >>> effective_share(z, np.arange(2000)) > 0.95
    True
    """
    squares = [np.square(C).sum() / len(C) - len(C) / m for C, m in delayed(Z, time)]
    return float(1 / (1 + 2 * sum(max(0.0, square) for square in squares)))


def evidence_turn(rotation: str, Z: Floats, given: NDArray[Any]) -> float:
    """Degrees between the codes that two halves of the evidence find: the largest angle, root mean square over splits.

    Where the evidence does not determine the codes, each half finds others. Halves of time consist of blocks, and are
    whitened by themselves: a slow factor varies less in a part of the recording.

    Parameters
    ----------
    rotation : str
    Z : array (n, d)
        Whitened.
    given : array
        The evidence.

    Returns
    -------
    float
        0 for one code; NaN if a half of the evidence is too little to rotate by. A half of the pairs that differ along
        fewer directions than there are codes counts as 90 degrees.
    """
    if Z.shape[1] == 1:
        return 0.0
    rng = np.random.RandomState(0)
    if rotation == "time":
        order = np.argsort(given, kind="stable")
    elif rotation == "labels":
        order = rng.permutation(np.flatnonzero(np.isfinite(given.reshape(len(given), -1)).any(axis=1)))
    else:
        order = rng.permutation(len(given))
    blocks, turns = np.array_split(order, BLOCKS), []
    for _ in range(SPLITS):
        mixed = rng.permutation(BLOCKS)
        halves = [np.concatenate([blocks[i] for i in half]) for half in np.split(mixed, 2)]
        try:
            turns.append(angle_between(*(_by_half(rotation, Z, given, half) for half in halves)))
        except UnseenDirectionError:
            turns.append(90.0)
        except ValueError:
            return float("nan")
    return float(np.sqrt(np.mean(np.square(turns))))


def _by_half(rotation: str, Z: Floats, given: NDArray[Any], half: NDArray[np.intp]) -> Floats:
    if rotation == "pairs":
        return by_pairs(Z, given[half])
    if rotation == "labels":  # what independence adds is no evidence
        return labelled_directions(Z[half], given[half])
    if rotation != "time":
        return BY[rotation](Z[half], given[half])
    white = whitening(Z[half])
    return unit_rows(by_time(white(Z[half]), given[half]) @ white.matrix)


def angle_between(first: Floats, second: Floats) -> float:
    """The largest angle in degrees between matched rows of two matrices with rows of length 1.

    >>> round(angle_between(np.eye(2), np.array([[0.0, -1.0], [np.cos(0.1), np.sin(0.1)]])), 3)
    5.73
    """
    cosines = np.abs(first @ second.T)
    return float(np.degrees(np.arccos(np.clip(cosines[linear_sum_assignment(-cosines)].min(), 0, 1))))


def evidence_concerns(rotation: str, Z: Floats, known: Observations) -> list[str]:
    """What is wrong with the evidence that rotates a whitened embedding, as messages of warnings."""
    if rotation not in BY or Z.shape[1] == 1:
        return []
    given, found = given_to(rotation, known, len(Z)), list[str]()
    if rotation == "pairs" and (same := int(identical(Z, given).sum())):
        found.append(format_warning("UB305", count=same, of=len(given)))
    if rotation == "time" and not FIGURES["autocorrelation"].holds(ordered := autocorrelation(Z, given)):
        return [*found, format_warning("UB108", figure=ordered, usual=FIGURES["autocorrelation"].limit())]
    turn = evidence_turn(rotation, Z, given)
    if turn > FIGURES["evidence_turn"].limit():  # NaN where there is too little to tell
        what = ROTATIONS[rotation]
        found.append(format_warning("UB109", evidence=what, turn=turn, usual=FIGURES["evidence_turn"].limit()))
    elif rotation == "time" and not FIGURES["coherence"].holds(shared := coherence(Z, given)):
        found.append(format_warning("UB120", figure=shared, usual=FIGURES["coherence"].limit()))
    return found
