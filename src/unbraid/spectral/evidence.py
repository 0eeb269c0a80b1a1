r"""Evidence other than independence for the linear map that an embedding leaves open.

Each function takes the whitened embedding Z (n, d) and returns the matrix (d, d) whose rows give the codes,
``Z @ matrix.T``. Each is the linear case of a theory of identifiability: factors of bounded support, in time, in pairs
that share factors, under conditions, or with a few labels.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from unbraid.data.observations import Observations
from unbraid.manifold.neighbors import Floats
from unbraid.manifold.reduction import inverse_root

LAGS = 10
TRIMMED = 0.01  # share of the points, at each end of a code

# What each rotation uses of the evidence.
ROTATIONS = {
    "independence": None,
    "support": None,
    "time": "time",
    "pairs": "pairs",
    "condition": "labels",
    "labels": "labels",
}


def rotation_matrix(rotation: str, Z: Floats, known: Observations) -> Floats:
    """The matrix by the named evidence, which must have been given to ``fit``."""
    if rotation == "support":
        return by_support(Z)
    if rotation == "time":
        return by_time(Z if known.time is None else Z[np.argsort(known.time, kind="stable")])
    if rotation == "pairs":
        return by_pairs(Z, known.pairs)
    return by_condition(Z, known.labels) if rotation == "condition" else by_labels(Z, known.labels)


def rotation_for(known: Observations) -> str:
    """The rotation that uses the given evidence; labels with gaps or several columns are factors of some rows.

    >>> rotation_for(Observations(np.zeros((4, 3)), time=[0, 1, 2, 3]))
    'time'
    >>> rotation_for(Observations(np.zeros((4, 3)), labels=["a", "a", "b", "b"]))
    'condition'
    """
    if not known.evidence:
        return "independence"
    if len(known.evidence) > 1:
        raise ValueError(
            f"{' and '.join(known.evidence)} were given, but only one can decide the rotation. Leave out the others."
        )
    if known.labels is None:
        return known.evidence[0]
    gaps = known.labels.dtype.kind == "f" and np.isnan(known.labels).any()
    return "labels" if gaps or (known.labels.ndim == 2 and known.labels.shape[1] > 1) else "condition"


def check_rotation(rotation: str, known: Observations) -> None:
    """Whether what the rotation needs was given to ``fit``, and nothing that it does not use."""
    used = ROTATIONS[rotation]
    unused = next((name for name in known.evidence if name != used), None)
    if unused is not None:
        right = " or ".join(repr(name) for name, evidence in ROTATIONS.items() if evidence == unused)
        raise ValueError(
            f"{unused} given, and rotation={rotation!r} does not use {unused}. Set rotation={right}, or leave out "
            f"{unused}."
        )
    if used not in (None, "time", *known.evidence):  # without time the rows are in its order
        what = {
            "pairs": "pairs, row numbers (m, 2): fit(X, pairs=pairs)",
            "condition": "labels, one per row: fit(X, y)",
            "labels": "labels, one column per factor, NaN where unknown: fit(X, y)",
        }[rotation]
        raise ValueError(f"rotation={rotation!r} needs {what}.")


def by_support(Z: Floats, n_starts: int | None = None) -> Floats:
    """The linear map under which the points fill their box best: the least volume of trimmed ranges at |det| = 1.

    Right for factors whose support is a box, however dependent they are inside it. The search starts from Z itself and
    from ``n_starts`` random rotations, by default four for each factor.
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

    Right for rows in order of time whose factors have different autocorrelations, even if they are Gaussian.
    """
    lags = range(1, min(LAGS, len(Z) // 4) + 1)
    delayed = [Z[:-lag].T @ Z[lag:] / (len(Z) - lag) for lag in lags]
    return joint_diagonaliser(np.stack([(C + C.T) / 2 for C in delayed]))


def by_pairs(Z: Floats, pairs: NDArray[np.intp]) -> Floats:
    """Directions along which pairs that share some factors differ: the sparsest differences (Locatello et al. 2020).

    The rotation that diagonalises the fourth moments of the whitened differences. Right for factors of any
    distribution if the members of a pair differ in one factor, and nearly right if they differ in a few.
    """
    if len(pairs) < 10 * Z.shape[1]:
        raise ValueError(
            f"{len(pairs)} pairs are too few for {Z.shape[1]} factors; provide at least {10 * Z.shape[1]}."
        )
    steps = Z[pairs[:, 0]] - Z[pairs[:, 1]]
    moments = steps.T @ steps / len(steps)
    white = inverse_root(moments, 1e-12 * float(np.linalg.norm(moments, 2)))
    D = steps @ white.T
    # Slices of the fourth moments: where one factor differs at a time, the right rotation diagonalises all of them.
    slices = [(D * (D[:, [a]] * D[:, [b]])).T @ D / len(D) for a in range(D.shape[1]) for b in range(a + 1)]
    return _unit_rows(joint_diagonaliser(np.stack(slices)) @ white)


def by_condition(Z: Floats, y: ArrayLike) -> Floats:
    """Joint diagonalisation of the covariances within each condition (Khemakhem et al. 2020, the linear case).

    Right for factors that are independent given the condition and whose variances change with it.
    """
    labels = np.asarray(y)
    if labels.size != len(Z):
        raise ValueError(f"labels have shape {labels.shape}; rotation='condition' needs one label per row.")
    labels = labels.ravel()
    names, counts = np.unique(labels, return_counts=True)
    large = names[counts > 5 * Z.shape[1]]
    if len(large) < 2:
        raise ValueError(
            f"labels name {len(names)} condition(s), of which {len(large)} have more than {5 * Z.shape[1]} rows; "
            "rotation='condition' needs two or more."
        )
    within = np.stack([np.cov(Z[labels == name].T) for name in large])
    white = inverse_root(np.average(within, axis=0, weights=counts[counts > 5 * Z.shape[1]]))
    return _unit_rows(joint_diagonaliser(white @ within @ white.T) @ white)


def by_labels(Z: Floats, y: ArrayLike) -> Floats:
    """Least squares from the embedding to the factors of the rows that have them; others are NaN."""
    labels = np.asarray(y, dtype=np.float64)
    if labels.shape != Z.shape:
        raise ValueError(f"labels have shape {labels.shape}; rotation='labels' needs {Z.shape}, one column per factor.")
    known = np.isfinite(labels).all(axis=1)
    if known.sum() < 2 * Z.shape[1] + 1:
        raise ValueError(
            f"{known.sum()} rows of labels are known; rotation='labels' needs {2 * Z.shape[1] + 1} or more."
        )
    design = np.c_[Z[known], np.ones(known.sum())]
    matrix = np.linalg.lstsq(design, labels[known] - labels[known].mean(axis=0), rcond=None)[0][:-1].T
    if np.linalg.cond(matrix) > 1e6:
        raise ValueError("the known labels do not span the factors: some column is constant or depends on others.")
    return _unit_rows(matrix)


def joint_diagonaliser(matrices: Floats) -> Floats:
    """Orthogonal R that makes every R M R^T as diagonal as possible.

    >>> import numpy as np
    >>> R = np.array([[0.6, 0.8], [-0.8, 0.6]])
    >>> found = joint_diagonaliser(np.stack([R.T @ np.diag(v) @ R for v in ([1.0, 2.0], [5.0, 3.0])]))
    >>> np.abs(found @ R.T).round(6).tolist() in ([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]])
    True
    """
    from unbraid.manifold.diagonalize import joint_diagonals  # compiled only if it is used

    return joint_diagonals(matrices[None])[0][0].T


def _unit_rows(matrix: Floats) -> Floats:
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
