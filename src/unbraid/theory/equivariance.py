"""The symmetry-based definition of disentanglement, measured for an encoder and group actions on its inputs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

Action = Callable[[np.ndarray], np.ndarray]
Encoder = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Equivariance:
    """The result of :func:`equivariance`.

    Attributes
    ----------
    actions : list of str
        The factors' names.
    equivariance_error : array of shape (n_actions,)
        Part of the codes' variance after an action that no linear map of the codes before it explains: 0 for an
        encoder that turns the action into a linear one.
    invariance_error : array of shape (n_actions, n_subspaces)
        Mean square that action g moves subspace j by, as a part of what unrelated samples differ by: 0 where the
        subspace does not see the action, about 1 where the action scrambles it.
    """

    actions: list[str]
    equivariance_error: np.ndarray
    invariance_error: np.ndarray

    def leak(self) -> float:
        """Largest invariance error of a subspace to the action of another factor: entry (g, j) with g != j."""
        others = np.eye(*self.invariance_error.shape) == 0
        return float(self.invariance_error[others].max(initial=0))


def equivariance(
    encoder: Encoder,
    actions: Mapping[str, Sequence[Action]],
    X: np.ndarray,
    subspaces: Sequence[Sequence[int]] | None = None,
) -> Equivariance:
    r"""Measure how equivariant an encoder is, and what each of its subspaces sees of each factor.

    A representation :math:`f : X \to Z = Z_1 \oplus \dots \oplus Z_m` is disentangled with respect to
    :math:`G = G_1 \times \dots \times G_m` if there is an action of G on Z with :math:`f(g x) = g f(x)`, and
    :math:`Z_j` is changed by :math:`G_j` only. For each element g the linear map :math:`\rho(g)` that explains
    :math:`f(g x)` by :math:`f(x)` is fitted on one half of the samples and judged on the other.

    Use it where the group can be applied (data that can be re-rendered or rotated) to see whether the definition holds,
    and which part of the code violates it.

    Parameters
    ----------
    encoder : callable
        Maps samples to codes (n, n_codes).
    actions : mapping from a name to a sequence of callables
        Each factor's group, as some of its elements: maps of samples to samples, several of each.
    X : array of shape (n_samples, ...)
        Samples to act on, at least four times as many as codes.
    subspaces : sequence of index sequences, optional
        The columns of each :math:`Z_j`, in the order of ``actions``; one column each by default.

    Returns
    -------
    Equivariance

    References
    ----------
    Higgins et al. (2018), Towards a Definition of Disentangled Representations, section 3; Definition 1.1 of the
    literature review.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> def turned(columns):
    ...     def action(x):
    ...         y = x.copy()
    ...         y[:, columns] = x[:, columns[::-1]] * [1, -1]
    ...         return y
    ...     return action
    >>> found = equivariance(lambda x: x, {"a": [turned([0, 1])], "b": [turned([2, 3])]}, X, [[0, 1], [2, 3]])
    >>> round(found.leak(), 6), found.equivariance_error.round(6).tolist()
    (0.0, [0.0, 0.0])
    """
    X = np.asarray(X)
    codes = _codes(encoder, X)
    parts = [[j] for j in range(codes.shape[1])] if subspaces is None else [list(s) for s in subspaces]
    _check(actions, parts, codes)
    errors, moved = [], []
    for elements in actions.values():
        after = [_codes(encoder, np.asarray(g(X))) for g in elements]
        errors.append(np.mean([_unexplained(codes, a) for a in after]))
        moved.append(np.mean([[_movement(codes[:, p], a[:, p]) for p in parts] for a in after], axis=0))
    return Equivariance(list(actions), np.array(errors), np.array(moved))


def is_equivariant(
    encoder: Encoder, actions: Mapping[str, Sequence[Action]], X: np.ndarray, *, tol: float = 0.05
) -> bool:
    """Whether every action becomes a linear one on the codes, to within ``tol`` of their variance.

    Parameters
    ----------
    encoder, actions, X
        As for :func:`equivariance`.
    tol : float

    Returns
    -------
    bool

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> is_equivariant(lambda x: x, {"flip": [lambda x: -x]}, X)
    True
    """
    return bool((equivariance(encoder, actions, X).equivariance_error <= tol).all())


def is_disentangled(
    encoder: Encoder,
    actions: Mapping[str, Sequence[Action]],
    X: np.ndarray,
    subspaces: Sequence[Sequence[int]],
    *,
    tol: float = 0.05,
) -> bool:
    """Whether the encoder is equivariant and each subspace ignores the other factors' actions, both to within ``tol``.

    Parameters
    ----------
    encoder, actions, X, subspaces
        As for :func:`equivariance`.
    tol : float

    Returns
    -------
    bool

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> flips = {"x": [lambda x: x * [-1, 1]], "y": [lambda x: x * [1, -1]]}
    >>> mix = np.array([[0.8, -0.6], [0.6, 0.8]])
    >>> is_disentangled(lambda x: x, flips, X, [[0], [1]]), is_disentangled(lambda x: x @ mix, flips, X, [[0], [1]])
    (True, False)
    """
    found = equivariance(encoder, actions, X, subspaces)
    return bool((found.equivariance_error <= tol).all() and found.leak() <= tol)


def _codes(encoder: Encoder, X: np.ndarray) -> np.ndarray:
    codes = np.asarray(encoder(X), np.float64)
    if len(codes) != len(X):
        raise ValueError(f"the encoder gave {len(codes)} codes for {len(X)} samples; it must give one for each.")
    return codes.reshape(len(codes), -1)


def _check(actions: Mapping[str, Sequence[Action]], parts: list[list[int]], codes: np.ndarray) -> None:
    if not actions or not all(len(elements) for elements in actions.values()):
        raise ValueError('actions must name at least one factor, each with some group elements: {"turn": [f, g]}.')
    if len(parts) < len(actions):
        raise ValueError(
            f"{len(actions)} factors need one subspace each; received {len(parts)}. Give subspaces=[[0, 1], [2]]."
        )
    n_codes, last = codes.shape[1], max(j for p in parts for j in p)
    if last >= n_codes:
        raise ValueError(f"subspaces contain code {last}, but there are only {n_codes} codes.")
    if len(codes) < 4 * n_codes:
        raise ValueError(f"{len(codes)} samples are too few for {n_codes} codes; give {4 * n_codes}.")


def _unexplained(before: np.ndarray, after: np.ndarray) -> float:
    half = len(before) // 2
    design = np.c_[before, np.ones(len(before))]
    linear = np.linalg.lstsq(design[:half], after[:half], rcond=None)[0]
    left = after[half:] - design[half:] @ linear
    return float(np.square(left).sum() / max(np.square(after[half:] - after[half:].mean(0)).sum(), 1e-300))


def _movement(before: np.ndarray, after: np.ndarray) -> float:
    unrelated = 2 * before.var(axis=0).sum()
    return float(np.square(after - before).sum(axis=1).mean() / max(unrelated, 1e-300))
