r"""Other evidence than independence for the linear map that an embedding leaves open.

Each function takes the whitened embedding Z (n, d) and returns the matrix (d, d) whose rows give the codes,
``Z @ matrix.T``. Each is the linear twin of a theory of identifiability: factors of bounded support, in time, in pairs
that share factors, under conditions, or with a few labels.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

Floats = NDArray[np.float64]

LAGS = 10
TRIMMED = 0.01  # of the points, at either end of a code
MAX_SWEEPS, STILL = 200, 1e-10

ROTATIONS = ("independence", "support", "time", "pairs", "condition", "labels")


def rotation_matrix(rotation: str, Z: Floats, y: Any, pairs: Any) -> Floats:
    """The matrix by the named evidence, which must have come with ``fit``."""
    if rotation == "support":
        return by_support(Z)
    if rotation == "time":
        return by_time(Z)
    if rotation == "pairs":
        return by_pairs(Z, pairs)
    return by_condition(Z, y) if rotation == "condition" else by_labels(Z, y)


def check_evidence(rotation: str, y: Any, pairs: Any) -> None:
    """Whether the rotation is known, and what it needs was given to ``fit``."""
    if rotation not in ROTATIONS:
        raise ValueError(f"rotation is {rotation!r}; it must be one of {', '.join(map(repr, ROTATIONS))}.")
    if rotation in ("condition", "labels") and y is None:
        what = "one label per row" if rotation == "condition" else "one column per factor, NaN where it is not known"
        raise ValueError(f"rotation={rotation!r} needs y, {what}: fit(X, y).")
    if rotation == "pairs" and pairs is None:
        raise ValueError("rotation='pairs' needs pairs, an array (m, 2) of row numbers: fit(X, pairs=pairs).")
    if rotation != "pairs" and pairs is not None:
        raise ValueError(f"pairs were given, but rotation={rotation!r} does not look at them; take rotation='pairs'.")


def by_support(Z: Floats, n_starts: int | None = None) -> Floats:
    """The linear map under which the points fill their box best: the least volume of trimmed ranges at |det| = 1.

    Right for factors whose support is a box, however dependent they are inside it. It is climbed from Z itself and from
    ``n_starts`` random rotations, by default four for each factor.
    """
    d = Z.shape[1]

    def volume(entries: Floats) -> float:
        B = entries.reshape(d, d)
        low, high = np.quantile(Z @ B.T, [TRIMMED, 1 - TRIMMED], axis=0)
        return float(np.log(np.maximum(high - low, 1e-300)).sum() - np.linalg.slogdet(B)[1])

    rng = np.random.RandomState(0)
    starts = [
        np.eye(d),
        *(np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in range(4 * d if n_starts is None else n_starts)),
    ]
    ends = [minimize(volume, B.ravel(), method="Powell", options={"xtol": 1e-4, "ftol": 1e-7}) for B in starts]
    return _unit_rows(min(ends, key=lambda end: end.fun).x.reshape(d, d))


def by_time(Z: Floats) -> Floats:
    """Joint diagonalisation of the covariances between times t and t + 1, ..., t + 10 (SOBI, Belouchrani 1997).

    Right for rows in the order of time whose factors have different autocorrelations, Gaussian ones too.
    """
    lags = range(1, min(LAGS, len(Z) // 4) + 1)
    delayed = [Z[:-lag].T @ Z[lag:] / (len(Z) - lag) for lag in lags]
    return joint_diagonaliser(np.stack([(C + C.T) / 2 for C in delayed]))


def by_pairs(Z: Floats, pairs: ArrayLike) -> Floats:
    """Directions along which pairs that share some factors differ: the sparsest differences (Locatello et al. 2020).

    The rotation that diagonalises the fourth moments of the whitened differences. Right, whatever the law of the
    factors, where the members of a pair differ in one factor, and nearly so where they differ in few.
    """
    index = np.asarray(pairs)
    if index.ndim != 2 or index.shape[1] != 2 or index.dtype.kind not in "iu":
        raise ValueError(f"pairs have shape {index.shape} and type {index.dtype}; they must be row numbers (m, 2).")
    if len(index) < 10 * Z.shape[1]:
        raise ValueError(f"{len(index)} pairs are too few for {Z.shape[1]} factors; give {10 * Z.shape[1]} or more.")
    if index.min() < 0 or index.max() >= len(Z):
        raise ValueError(f"pairs name rows {index.min()} to {index.max()}; X has the rows 0 to {len(Z) - 1}.")
    steps = Z[index[:, 0]] - Z[index[:, 1]]
    values, vectors = np.linalg.eigh(steps.T @ steps / len(steps))
    white = (vectors / np.sqrt(np.maximum(values, 1e-12 * values[-1]))) @ vectors.T
    D = steps @ white.T
    # Slices of the fourth moments: where one factor differs at a time, the right rotation diagonalises all of them.
    slices = [(D * (D[:, [a]] * D[:, [b]])).T @ D / len(D) for a in range(D.shape[1]) for b in range(a + 1)]
    return _unit_rows(joint_diagonaliser(np.stack(slices)) @ white)


def by_condition(Z: Floats, y: ArrayLike) -> Floats:
    """Joint diagonalisation of the covariances within each condition (Khemakhem et al. 2020, the linear case).

    Right for factors that are independent given the condition and whose variances change with it.
    """
    labels = np.asarray(y).ravel()
    if len(labels) != len(Z):
        raise ValueError(f"y has {len(labels)} labels for {len(Z)} rows; give one per row.")
    names, counts = np.unique(labels, return_counts=True)
    large = names[counts > 5 * Z.shape[1]]
    if len(large) < 2:
        raise ValueError(
            f"y has {len(names)} condition(s), of which {len(large)} have more than {5 * Z.shape[1]} rows; "
            "rotation='condition' needs two or more."
        )
    within = np.stack([np.cov(Z[labels == name].T) for name in large])
    values, vectors = np.linalg.eigh(np.average(within, axis=0, weights=counts[counts > 5 * Z.shape[1]]))
    white = (vectors / np.sqrt(values)) @ vectors.T
    return _unit_rows(joint_diagonaliser(white @ within @ white.T) @ white)


def by_labels(Z: Floats, y: ArrayLike) -> Floats:
    """Least squares from the embedding to the factors of the rows that have them; others are NaN."""
    labels = np.asarray(y, dtype=np.float64)
    if labels.shape != Z.shape:
        raise ValueError(f"y has shape {labels.shape}; rotation='labels' needs {Z.shape}, one column per factor.")
    known = np.isfinite(labels).all(axis=1)
    if known.sum() < 2 * Z.shape[1] + 1:
        raise ValueError(f"{known.sum()} rows of y are known; rotation='labels' needs {2 * Z.shape[1] + 1} or more.")
    design = np.c_[Z[known], np.ones(known.sum())]
    matrix = np.linalg.lstsq(design, labels[known] - labels[known].mean(axis=0), rcond=None)[0][:-1].T
    if np.linalg.cond(matrix) > 1e6:
        raise ValueError("the known labels do not span the factors: some column is constant or depends on others.")
    return _unit_rows(matrix)


def joint_diagonaliser(matrices: Floats) -> Floats:
    """Orthogonal R that makes every R M R^T as diagonal as can be, by Jacobi turns (Cardoso, Souloumiac 1996).

    >>> import numpy as np
    >>> R = np.array([[0.6, 0.8], [-0.8, 0.6]])
    >>> found = joint_diagonaliser(np.stack([R.T @ np.diag(v) @ R for v in ([1.0, 2.0], [5.0, 3.0])]))
    >>> np.abs(found @ R.T).round(6).tolist() in ([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]])
    True
    """
    M, d = matrices.copy(), matrices.shape[1]
    R = np.eye(d)
    for _ in range(MAX_SWEEPS):
        moved = 0.0
        for a in range(d):
            for b in range(a):
                h = np.stack([M[:, b, b] - M[:, a, a], 2 * M[:, b, a]])
                G = h @ h.T
                angle = 0.5 * np.arctan2(2 * G[0, 1], G[0, 0] - G[1, 1] + np.hypot(G[0, 0] - G[1, 1], 2 * G[0, 1]))
                c, s = np.cos(angle), np.sin(angle)
                J = np.array([[c, s], [-s, c]])
                M[:, [b, a]] = J @ M[:, [b, a]]
                M[:, :, [b, a]] = M[:, :, [b, a]] @ J.T
                R[[b, a]] = J @ R[[b, a]]
                moved = max(moved, abs(s))
        if moved < STILL:
            break
    return R


def _unit_rows(matrix: Floats) -> Floats:
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
