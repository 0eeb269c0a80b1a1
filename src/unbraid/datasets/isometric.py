"""Smooth random isometric embeddings of the unit cube."""

import numpy as np

from unbraid.datasets.base import Continuous, generator


class Isometric(Continuous):
    r"""A curved but exactly isometric image of :math:`[0, 1]^d` in :math:`R^D`.

    .. math:: f(z) = Q \left[ \tfrac{\cos(\omega_j b_j \cdot z + \phi_j)}{\omega_j},
              \tfrac{\sin(\omega_j b_j \cdot z + \phi_j)}{\omega_j} \right]_{j = 1..J}

    The rows :math:`b_j` form a matrix B with orthonormal columns, so the Jacobian obeys
    :math:`J^T J = B^T B = I` at every point; Q is a random orthonormal frame. The frequencies are random, scaled so
    that the root mean square of the normal curvature over all directions is ``curvature``, the same at every point.
    Use it where theory promises that HLLE + ICA finds the factors, and to see when curvature or noise breaks it.

    Parameters
    ----------
    n_factors : int
        d.
    n_features : int
        D; at least 2 d.
    curvature : float
        One over the radius by which the manifold bends.
    noise : float
        Standard deviation of Gaussian noise on every feature.
    random_state : int
        Of the embedding itself; :meth:`sample` has its own.

    Examples
    --------
    >>> X, z = Isometric(n_factors=2, n_features=10).sample(3, random_state=0)
    >>> X.shape, z.shape
    ((3, 10), (3, 2))
    """

    name = "isometric"
    dtype = np.dtype(np.float64)

    def __init__(
        self,
        n_factors: int = 2,
        n_features: int = 100,
        curvature: float = 1.0,
        noise: float = 0.0,
        random_state: int = 0,
    ):
        if n_factors < 1 or n_features < 2 * n_factors:
            raise ValueError(
                f"an embedding of {n_factors} factors needs n_factors >= 1 and n_features >= {2 * max(n_factors, 1)}; "
                f"received n_features={n_features}."
            )
        if curvature <= 0 or noise < 0:
            raise ValueError(f"curvature > 0 and noise >= 0; received curvature={curvature}, noise={noise}.")
        self.factor_names = tuple(f"z{i}" for i in range(n_factors))
        self.factor_ranges = ((0.0, 1.0),) * n_factors
        self.shape = (n_features,)
        self.curvature, self.noise = curvature, noise
        rng = generator(random_state)
        waves = min(n_features // 2, 4 * n_factors)
        self._directions = np.linalg.qr(rng.standard_normal((waves, n_factors)))[0]
        self._phases = rng.uniform(0, 2 * np.pi, waves)
        self._frame = np.linalg.qr(rng.standard_normal((n_features, 2 * waves)))[0]
        frequencies = rng.uniform(0.5, 1.5, waves)
        # mean over unit e of |f''(e, e)|^2 = sum_j w_j^2 (b_j . e)^4, and E (b . e)^4 = 3 |b|^4 / (d (d + 2))
        fourth = 3 * (self._directions**2).sum(axis=1) ** 2 / (n_factors * (n_factors + 2))
        self._frequencies = frequencies * curvature / np.sqrt(frequencies**2 @ fourth)

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        angle = self._frequencies * (factors @ self._directions.T) + self._phases
        waves = np.concatenate([np.cos(angle), np.sin(angle)], axis=1) / np.tile(self._frequencies, 2)
        X = waves @ self._frame.T
        if self.noise:
            X += self.noise * rng.standard_normal(X.shape)
        return X
