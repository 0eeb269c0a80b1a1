"""The impossibility theorem made to run: a bijection that entangles every factor and changes no distribution."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from unbraid.theory.marginals import Estimated, Given
from unbraid.theory.mixing import mixing_matrix


class Entangle:
    r"""The bijection f of the impossibility theorem, for one factorised density.

    .. math:: f = T^{-1} \circ A \circ T, \qquad T_i = \Phi^{-1} \circ F_i, \qquad T_i' = p_i / \varphi(T_i), \qquad
              \frac{\partial f_i}{\partial u_j} = A_{ij}\, \frac{T_j'(u_j)}{T_i'(f_i(u))}

    T makes the factors standard normal, the rotation A keeps that law, and the way back restores the marginals. So f(z)
    has the very law of z, and every :math:`f_i` depends on every :math:`z_j`: no look at the codes alone tells which of
    the two has the factors on its axes.

    Parameters
    ----------
    marginals : sequence of distributions
        One for each factor: continuous ones of ``scipy.stats``, or objects with ``cdf``, ``sf``, ``ppf``, ``isf`` and
        ``logpdf``. :meth:`estimated` takes them from a sample.
    turn : float
        How far A turns, from 0 (f is the identity) to 1. At .5 every factor is mixed into every code as evenly as can
        be, see :func:`mixing_matrix`.

    Attributes
    ----------
    matrix : array of shape (n_factors, n_factors)
        The rotation A.

    References
    ----------
    Locatello et al. (2019), Challenging common assumptions in the unsupervised learning of disentangled
    representations, theorem 1 and its proof (appendix A).

    Examples
    --------
    >>> from scipy import stats
    >>> f = Entangle([stats.uniform(), stats.laplace()])
    >>> z = np.array([[0.2, -1.0], [0.7, 3.0]])
    >>> np.allclose(f.inverse(f(z)), z), np.allclose(f.log_determinant(z), f.log_density(z) - f.log_density(f(z)))
    (True, True)
    """

    def __init__(self, marginals: Sequence[Any], turn: float = 0.5):
        self.turn = turn
        self.matrix = mixing_matrix(len(marginals), turn)
        self.marginals: tuple[Given | Estimated, ...] = tuple(
            m if isinstance(m, Given | Estimated) else Given.of(m, f"marginals[{i}]") for i, m in enumerate(marginals)
        )

    @classmethod
    def estimated(cls, z: ArrayLike, turn: float = 0.5) -> "Entangle":
        """With marginals estimated from a sample (n, n_factors) of continuous factors."""
        return cls([Estimated.of(column, f"factor {i}") for i, column in enumerate(_table(z).T)], turn)

    def __call__(self, z: ArrayLike) -> np.ndarray:
        """f(z) for rows z (n, n_factors)."""
        return self._back(self._normal(z) @ self.matrix.T)

    def inverse(self, z: ArrayLike) -> np.ndarray:
        """The rows that f turns into these."""
        return self._back(self._normal(z) @ self.matrix)

    def jacobian(self, z: ArrayLike) -> np.ndarray:
        """Derivatives (n, n_factors, n_factors): entry (i, j) is that of the i-th output by the j-th factor."""
        before, after = self._log_slopes(z)
        return self.matrix * np.exp(before[:, None, :] - after[:, :, None])

    def log_determinant(self, z: ArrayLike) -> np.ndarray:
        r"""The logarithm of :math:`|\det J|` of each row: what f adds to a log-likelihood, log p(z) - log p(f(z))."""
        before, after = self._log_slopes(z)
        return before.sum(axis=1) - after.sum(axis=1)

    def log_density(self, z: ArrayLike) -> np.ndarray:
        """log p of each row under the factorised density."""
        return self._log_densities(self._checked(z)).sum(axis=1)

    def _checked(self, z: ArrayLike) -> np.ndarray:
        table = _table(z)
        if table.shape[1] != len(self.marginals):
            raise ValueError(f"z has {table.shape[1]} columns, and there are {len(self.marginals)} marginals.")
        return table.astype(float)

    def _normal(self, z: ArrayLike) -> np.ndarray:
        table = self._checked(z)
        normal = np.column_stack([m.to_normal(column) for m, column in zip(self.marginals, table.T)])
        wrong = ~np.isfinite(normal)
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            raise ValueError(
                f"z[{row}, {column}] is {table[row, column]:g}, which is outside the support of its marginal "
                f"({wrong.sum()} such value(s)). Give marginals that z can have come from, or Entangle.estimated(z)."
            )
        return normal

    def _back(self, normal: np.ndarray) -> np.ndarray:
        return np.column_stack([m.from_normal(column) for m, column in zip(self.marginals, normal.T)])

    def _log_densities(self, table: np.ndarray) -> np.ndarray:
        return np.column_stack([m.log_density(column) for m, column in zip(self.marginals, table.T)])

    def _log_slopes(self, z: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """log T' of every entry of z, and of f(z)."""
        normal = self._normal(z)
        turned = normal @ self.matrix.T
        before, after = (self._log_densities(table) for table in (self._checked(z), self._back(turned)))
        return before - norm.logpdf(normal), after - norm.logpdf(turned)


def entangle(z: ArrayLike, marginals: Any = None, *, turn: float = 0.5) -> np.ndarray:
    """Codes with the same law as independent factors z, in which every code depends on every factor.

    The impossibility theorem as a function: what :class:`Entangle` does to one sample. Use it to see what a score can
    tell: every score that does not know the factors gives z and entangle(z) the same value, up to chance.

    Parameters
    ----------
    z : array of shape (n_samples, n_factors)
        Independent continuous factors, two or more.
    marginals : distribution, or sequence of one for each factor, optional
        Continuous ones of ``scipy.stats``. By default they are estimated from z.
    turn : float
        From 0 (z as it is) to 1; at .5 every code depends on all factors as evenly as can be.

    Returns
    -------
    array of shape (n_samples, n_factors)

    Examples
    --------
    >>> z = np.random.default_rng(0).uniform(size=(2000, 2))
    >>> u = entangle(z)
    >>> np.abs(np.corrcoef(z.T, u.T)[:2, 2:]).round(1)
    array([[0.7, 0.7],
           [0.7, 0.7]])
    """
    if marginals is None:
        return Entangle.estimated(z, turn)(z)
    several = isinstance(marginals, Sequence) and not isinstance(marginals, str)
    return Entangle(marginals if several else [marginals] * _table(z).shape[1], turn)(z)


def _table(z: ArrayLike) -> np.ndarray:
    table = np.asarray(z)
    if table.ndim != 2:
        raise ValueError(f"z has the shape {table.shape}; give one row per sample and one column per factor.")
    return table
