r"""Evidence other than independence for the linear map that an embedding leaves open.

Each function takes the whitened embedding Z (n, d) and returns the matrix (d, d) whose rows give the codes,
``Z @ matrix.T``. Each is the linear case of a theory of identifiability: factors of bounded support, in time, in pairs
that share factors, under conditions, or with a few labels.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import null_space
from scipy.optimize import minimize

from unbraid.data.observations import Observations
from unbraid.data.order import steps
from unbraid.estimator.summary import counted
from unbraid.manifold.neighbors import Floats
from unbraid.manifold.reduction import inverse_root
from unbraid.spectral.ica import best_rotation

LAGS = 10
LEAST = 0.25  # share of the rows that must have a successor at a lag, for the lag to count
ALIKE = 5.0  # condition number of the codes that pairs find, above which some direction is that of no pair
N_INIT = 3  # starts of the rotation of codes that have no labels
TRIMMED = 0.01  # share of the points, at each end of a code
INDEPENDENT = ("independence", "fastica")  # rotations by independence: our search, and the paper's algorithm

# What each rotation uses of the evidence.
ROTATIONS = {
    "independence": None,
    "fastica": None,
    "support": None,
    "time": "time",
    "pairs": "pairs",
    "condition": "labels",
    "labels": "labels",
}


def rotation_matrix(rotation: str, Z: Floats, known: Observations) -> Floats:
    """The matrix by the named evidence, which must have been given to ``fit``."""
    return by_support(Z) if rotation == "support" else BY[rotation](Z, given_to(rotation, known, len(Z)))


def given_to(rotation: str, known: Observations, n: int) -> NDArray[Any]:
    """What a rotation uses of the evidence; without times the rows are in their order."""
    given = getattr(known, ROTATIONS[rotation] or "")
    return np.arange(n) if given is None else given


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
    return unit_rows(min(ends, key=lambda end: end.fun).x.reshape(d, d))


def by_time(Z: Floats, time: NDArray[Any]) -> Floats:
    """Joint diagonalisation of the covariances between times t and t + 1, ..., t + 10 (SOBI, Belouchrani 1997).

    Right for rows whose factors have different autocorrelations, even if they are Gaussian. No step crosses a gap in
    time; lags that fewer than a quarter of the rows have are left out.
    """
    return joint_diagonaliser(np.stack([(C + C.T) / 2 for C, _ in delayed(Z, time)]))


def delayed(Z: Floats, time: NDArray[Any], lags: int = LAGS) -> list[tuple[Floats, int]]:
    """Covariances with the rows 1, 2, ... steps later, and from how many pairs of rows each is."""
    found = []
    for lag in range(1, min(lags, len(Z) - 1) + 1):
        try:
            earlier, later = steps(time, lag).T
        except ValueError:
            if lag == 1:  # times that are equal, or no two rows without a gap between them
                raise
            break
        if lag > 1 and len(earlier) < LEAST * len(Z):
            break
        found.append((Z[earlier].T @ Z[later] / len(earlier), len(earlier)))
    return found


class UnseenDirectionError(ValueError):
    """The pairs differ along fewer directions than there are factors."""


def by_pairs(Z: Floats, pairs: NDArray[np.intp]) -> Floats:
    """Directions along which pairs that share some factors differ: the sparsest differences (Locatello et al. 2020).

    The rotation that diagonalises the fourth moments of the whitened differences. Right for factors of any
    distribution if the members of a pair differ in one factor, and nearly right if they differ in a few.
    """
    pairs = pairs[~identical(Z, pairs)]
    if len(pairs) < 10 * Z.shape[1]:
        raise ValueError(
            f"{len(pairs)} pairs of rows that differ are too few for {Z.shape[1]} factors; provide at least "
            f"{10 * Z.shape[1]}."
        )
    moves = Z[pairs[:, 0]] - Z[pairs[:, 1]]
    moments = moves.T @ moves / len(moves)
    white = inverse_root(moments, 1e-12 * float(np.linalg.norm(moments, 2)))
    D = moves @ white.T
    # Slices of the fourth moments: where one factor differs at a time, the right rotation diagonalises all of them.
    slices = [(D * (D[:, [a]] * D[:, [b]])).T @ D / len(D) for a in range(D.shape[1]) for b in range(a + 1)]
    found = unit_rows(joint_diagonaliser(np.stack(slices)) @ white)
    if np.linalg.cond(found) > ALIKE:  # noise along a direction in which no pair differs decides all codes
        raise UnseenDirectionError(
            f"the pairs differ along fewer than {Z.shape[1]} directions, so that they cannot tell {Z.shape[1]} factors "
            "apart. Add pairs that differ in the other factors."
        )
    return found


def identical(Z: Floats, pairs: NDArray[np.intp]) -> NDArray[np.bool_]:
    """The pairs whose two rows are the same point, which say nothing about the factors."""
    same = Z[pairs[:, 0]] - Z[pairs[:, 1]]
    return np.abs(same).max(axis=1, initial=0.0) < 1e-9


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
            f"labels name {counted(len(names), 'condition')}, of which {len(large)} have more than {5 * Z.shape[1]} "
            "rows; rotation='condition' needs two or more."
        )
    within = np.stack([np.cov(Z[labels == name].T) for name in large])
    white = inverse_root(np.average(within, axis=0, weights=counts[counts > 5 * Z.shape[1]]))
    return unit_rows(joint_diagonaliser(white @ within @ white.T) @ white)


def linear_codes(x: Floats, n_codes: int, rotation: str, given: Any) -> tuple[Floats, Floats]:
    """The matrix (n_codes, features) and the shift that make codes of x: its principal components, unmixed by evidence.

    A linear start for networks. Components are left as they are where the evidence is too little to unmix them; codes
    beyond the rank of x are 0.

    >>> z = np.random.default_rng(0).laplace(size=(2000, 2)) * np.where(np.arange(2000) < 1000, 1, [[3], [0.5]]).T
    >>> matrix, shift = linear_codes(z @ [[1, 1, 0], [0, 1, 1]], 2, "condition", np.arange(2000) // 1000)
    >>> matrix.shape, shift.shape
    ((2, 3), (2,))
    """
    mean = x.mean(axis=0)
    _, spread, axes = np.linalg.svd(x - mean, full_matrices=False)
    rank = min(n_codes, int((spread > 1e-6 * spread[0]).sum()))
    components = axes[:rank] / spread[:rank, None] * np.sqrt(len(x))
    matrix = np.zeros((n_codes, x.shape[1]))
    try:
        matrix[:rank] = BY[rotation]((x - mean) @ components.T, given) @ components
    except ValueError:
        matrix[:rank] = components
    return matrix, -matrix @ mean


def by_labels(Z: Floats, y: ArrayLike) -> Floats:
    """Least squares from the embedding to the known factors; what is uncorrelated with them is made independent.

    A column of y is a factor, NaN where it is not known. There may be fewer columns than factors, and columns that are
    known in too few rows count as unknown: the rest of the codes is found by independence.
    """
    told = labelled_directions(Z, y)
    if len(told) == Z.shape[1]:
        return told
    others = null_space(told).T
    left = Z @ others.T
    found = best_rotation(left, contrast="auto", n_init=N_INIT, random_state=np.random.RandomState(0))
    return np.vstack([told, found.matrix @ others])


def labelled_directions(Z: Floats, y: ArrayLike) -> Floats:
    """Unit vectors (q, d) along which the known factors change, q of them known in 2 d + 1 rows or more.

    >>> Z = np.random.default_rng(0).normal(size=(100, 2))
    >>> y = np.where(np.arange(100) < 9, Z @ [0.6, -0.8], np.nan)
    >>> labelled_directions(Z, y).round(6).tolist()
    [[0.6, -0.8]]
    """
    labels, d = np.asarray(y, dtype=np.float64), Z.shape[1]
    labels = labels.reshape(len(labels), -1)
    if len(labels) != len(Z) or labels.shape[1] > d:
        raise ValueError(
            f"labels have shape {labels.shape}; rotation='labels' needs {Z.shape}, or fewer columns: one per factor."
        )
    known = np.isfinite(labels)
    counts = known.sum(axis=0)
    if counts.max(initial=0) < 2 * d + 1:
        raise ValueError(
            f"the columns of labels are known in {', '.join(map(str, counts))} rows; rotation='labels' needs a column "
            f"that is known in {2 * d + 1} or more."
        )
    design, found = np.c_[Z, np.ones(len(Z))], []
    for values, has in zip(labels.T, known.T):
        if has.sum() > 2 * d:
            found.append(np.linalg.lstsq(design[has], values[has] - values[has].mean(), rcond=None)[0][:-1])
    matrix = np.stack(found)
    if np.linalg.cond(matrix) > 1e6 or not matrix.any(axis=1).all():
        raise ValueError("the known labels do not span the factors: some column is constant or depends on others.")
    return unit_rows(matrix)


BY: dict[str, Callable[[Floats, Any], Floats]] = {
    "time": by_time,
    "pairs": by_pairs,
    "condition": by_condition,
    "labels": by_labels,
}


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


def unit_rows(matrix: Floats) -> Floats:
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
