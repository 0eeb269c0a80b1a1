"""Correlations of circular and spherical factors with each other and with plain numbers."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

WIDTHS = {"interval": 1, "circle": 1, "sphere": 3}


def columns_of(kind: str, kinds: Sequence[str]) -> list[int]:
    """First columns of the factors of a kind.

    >>> columns_of("circle", ["sphere", "circle", "interval", "circle"])
    [3, 5]
    """
    starts = np.cumsum([0, *(WIDTHS[k] for k in kinds)]).tolist()
    return [start for start, k in zip(starts, kinds) if k == kind]


def circular_correlation(first: ArrayLike, second: ArrayLike) -> float:
    r"""Correlation of two angles in radians, between -1 and 1; rotating either does not change it.

    .. math:: \rho = \frac{\sum_{i<j} \sin(a_i - a_j) \sin(b_i - b_j)}
        {\sqrt{\sum_{i<j} \sin^2(a_i - a_j) \sum_{i<j} \sin^2(b_i - b_j)}}

    1 if the second angle is the first one rotated; -1 if it is mirrored; 0 for an angle that runs twice as fast.

    Parameters
    ----------
    first, second : arrays (n,)

    Returns
    -------
    float
        0 where one of them does not vary.

    References
    ----------
    Fisher & Lee 1983, "A correlation coefficient for circular data", eq. 2, by the sums of their section 2.

    Examples
    --------
    >>> angle = np.linspace(0, 6, 50)
    >>> round(circular_correlation(angle, 1 - angle), 6)
    -1.0
    """
    a, b = np.exp(1j * np.asarray(first, float)), np.exp(1j * np.asarray(second, float))
    n = len(a)
    # the four sums of products of cosines and sines are those of a b and a conj(b)
    total, difference = np.abs(np.sum(a * b)) ** 2, np.abs(np.sum(a * b.conj())) ** 2
    spread = (n**2 - np.abs(np.sum(a * a)) ** 2) * (n**2 - np.abs(np.sum(b * b)) ** 2)
    if spread <= (1e-9 * n * n) ** 2:
        return 0.0
    return float(np.clip((difference - total) / np.sqrt(spread), -1, 1))


def spherical_correlation(first: ArrayLike, second: ArrayLike) -> float:
    r"""Correlation of two unit vectors up to a rotation or mirroring: :math:`\|A^T B\|_* / (\|A\| \|B\|)`, 0 to 1.

    Rows are centred first, so that a direction that does not vary has 0.

    Parameters
    ----------
    first, second : arrays (n, 3)

    Returns
    -------
    float

    Examples
    --------
    >>> v = np.random.default_rng(0).normal(size=(50, 3))
    >>> round(spherical_correlation(v, -v[:, ::-1]), 6)
    1.0
    """
    a, b = np.asarray(first, float), np.asarray(second, float)
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    size = np.linalg.norm(a) * np.linalg.norm(b)
    return float(np.linalg.svd(a.T @ b, compute_uv=False).sum() / size) if size > 1e-12 * len(a) else 0.0


def kind_correlations(
    factors: np.ndarray,
    codes: np.ndarray,
    kinds: Sequence[str],
    code_kinds: Sequence[str] | None,
    linear: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Correlation of every factor with every code, (number of factors, number of codes); 0 for other kinds.

    ``linear`` compares intervals, as columns.
    """
    truth = parts_of(factors, kinds, "kinds", "factors")
    found = parts_of(codes, ["interval"] * codes.shape[1] if code_kinds is None else code_kinds, "code_kinds", "codes")
    compare: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
        "interval": lambda v, z: float(linear(v, z)[0, 0]),
        "circle": lambda v, z: circular_correlation(v[:, 0], z[:, 0]),
        "sphere": spherical_correlation,
    }
    return np.array([[compare[k](v, z) if k == other else 0.0 for other, z in found] for k, v in truth])


def parts_of(values: np.ndarray, kinds: Sequence[str], name: str, what: str) -> list[tuple[str, np.ndarray]]:
    """The columns of each factor with its kind; ``name`` and ``what`` are for messages."""
    unknown = [kind for kind in kinds if kind not in WIDTHS]
    if unknown:
        raise ValueError(f"{name} has {unknown[0]!r}; allowed are {', '.join(map(repr, WIDTHS))}.")
    widths = [WIDTHS[kind] for kind in kinds]
    if sum(widths) != values.shape[1]:
        raise ValueError(
            f"{name}={list(kinds)} are {sum(widths)} columns, and {what} have {values.shape[1]}. An interval and a "
            "circle (an angle in radians) have one column, a sphere (a unit vector) three."
        )
    return list(zip(kinds, np.split(values, np.cumsum(widths)[:-1], axis=1)))
