"""Random invertible mixings: a RealNVP with fresh weights, and a leaky network of well-conditioned matrices."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from unbraid.datasets.base import RandomState, generator

# the names and formulas of the couplings in unbraid.networks, at the authors' limit of 2
CLAMPS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "atan": lambda s: 2 * 0.636 * np.arctan(s / 2),
    "steep-atan": lambda s: 2 * 0.636 * np.arctan(s),
    "tanh": lambda s: 2 * np.tanh(s),
}


class _Subnet:
    """Linear-ReLU-Linear-ReLU-Linear to scale and shift, weights uniform in +-1/sqrt(inputs) as torch draws them."""

    def __init__(self, n_in: int, n_out: int, rng: np.random.Generator):
        widths = [n_in, 2 * n_out, 2 * n_out, 2 * n_out]
        self.layers = [
            (rng.uniform(-1, 1, (a, b)) / np.sqrt(a), rng.uniform(-1, 1, b) / np.sqrt(a)) for a, b in pairwise(widths)
        ]

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        for i, (weight, bias) in enumerate(self.layers):
            x = x @ weight + bias
            if i < len(self.layers) - 1:
                x = np.maximum(x, 0)
        scale, shift = np.split(x, 2, axis=1)
        return scale, shift


class RandomRealNVP:
    r"""Affine coupling blocks with random weights; both halves of every block are transformed.

    .. math:: y_1 = x_1 e^{c(s(x_2))} + t(x_2), \qquad y_2 = x_2 e^{c(s'(y_1))} + t'(y_1)

    with the clamp c and a random permutation before each block.

    Parameters
    ----------
    n_features : int, 2 or more
    n_blocks : int
    clamp : "atan", "steep-atan" or "tanh"
        c(s) = 2 * 0.636 * atan(s / 2), the authors' code; 2 * 0.636 * atan(s); or 2 * tanh(s), the paper's Appendix D.
    random_state : int or Generator

    Examples
    --------
    >>> mixing = RandomRealNVP(4, random_state=0)
    >>> z = np.ones((2, 4))
    >>> np.allclose(mixing.inverse(mixing.forward(z)), z)
    True
    """

    def __init__(self, n_features: int, n_blocks: int = 8, clamp: str = "atan", random_state: RandomState = None):
        if clamp not in CLAMPS:
            raise ValueError(f"unknown clamp {clamp!r}. Valid: {', '.join(CLAMPS)}.")
        if n_features < 2:
            raise ValueError(f"a coupling needs two or more features; received {n_features}.")
        rng = generator(random_state)
        self.half, self.clamp = n_features // 2, CLAMPS[clamp]
        rest = n_features - self.half
        self.blocks = [
            (rng.permutation(n_features), _Subnet(rest, self.half, rng), _Subnet(self.half, rest, rng))
            for _ in range(n_blocks)
        ]

    def forward(self, z: np.ndarray) -> np.ndarray:
        """Latents (n, n_features) to observations."""
        for order, first, second in self.blocks:
            a, b = z[:, order[: self.half]], z[:, order[self.half :]]
            scale, shift = first(b)
            a = a * np.exp(self.clamp(scale)) + shift
            scale, shift = second(a)
            z = np.concatenate([a, b * np.exp(self.clamp(scale)) + shift], axis=1)
        return z

    def inverse(self, x: np.ndarray) -> np.ndarray:
        """Observations back to latents."""
        for order, first, second in reversed(self.blocks):
            a, b = x[:, : self.half], x[:, self.half :]
            scale, shift = second(a)
            b = (b - shift) * np.exp(-self.clamp(scale))
            scale, shift = first(b)
            x = np.empty_like(x)
            x[:, order] = np.concatenate([(a - shift) * np.exp(-self.clamp(scale)), b], axis=1)
        return x


class RandomMLP:
    """Alternating random matrices and leaky ReLUs; injective, as no matrix is near singular.

    The first matrix widens (its columns orthonormal), the others are square with condition number 4 at most.

    Parameters
    ----------
    n_in, n_out : int
        n_out >= n_in.
    n_layers : int
        1 is linear.
    slope : float
        Of the leaky ReLU below 0.
    random_state : int or Generator

    Examples
    --------
    >>> RandomMLP(2, 3, random_state=0).forward(np.zeros((4, 2))).shape
    (4, 3)
    """

    def __init__(self, n_in: int, n_out: int, n_layers: int = 3, slope: float = 0.2, random_state: RandomState = None):
        if n_out < n_in or n_layers < 1:
            raise ValueError(f"n_out >= n_in and n_layers >= 1; received {n_in}, {n_out}, {n_layers}.")
        rng = generator(random_state)
        self.slope = slope
        self.matrices = [np.linalg.qr(rng.standard_normal((n_out, n_in)))[0].T]
        for _ in range(n_layers - 1):
            u, v = (np.linalg.qr(rng.standard_normal((n_out, n_out)))[0] for _ in range(2))
            self.matrices.append(u * np.exp(rng.uniform(-np.log(2), np.log(2), n_out)) @ v)

    def forward(self, z: np.ndarray) -> np.ndarray:
        """Sources (n, n_in) to observations (n, n_out)."""
        x = z @ self.matrices[0]
        for matrix in self.matrices[1:]:
            x = np.where(x > 0, x, self.slope * x) @ matrix
        return x
