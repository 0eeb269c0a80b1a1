"""Random invertible mixings: a RealNVP with fresh weights, a folded plane, a leaky network of good condition."""

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


class _Wave:
    """One hidden layer of tanh: smooth scales in +-1 and shifts, on inputs as wide as factors are (5)."""

    def __init__(self, n_in: int, n_out: int, rng: np.random.Generator, width: int = 16):
        self.weight, self.bias = rng.standard_normal((n_in, width)) / 5, rng.uniform(-1, 1, width)
        self.out = rng.standard_normal((width, 2 * n_out)) / np.sqrt(width)

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        scale, shift = np.split(np.tanh(x @ self.weight + self.bias) @ self.out, 2, axis=1)
        return np.tanh(scale), 3 * shift


class RandomFolds:
    r"""A folded and mixed plane: shears of the factors among themselves, then rotated couplings of all dimensions.

    .. math:: z_i \leftarrow z_i e^{c \sin(z_{i+1} / \ell + \beta_i)} + 5 \sin(z_{i+1} / \ell + \alpha_i),
       \qquad \ell = 2.8

    for each factor in turn (the last one with the first), then twice a random rotation and a coupling of both halves
    whose scales and shifts are smooth (tanh), and a last rotation. With ``keep_volume`` c is 0 and the log-scales of
    a coupling sum to 0, so that log|det J| = 0 everywhere and GIN can be the inverse; otherwise c is 0.8.

    Parameters
    ----------
    n_features : int, 2 or more
    n_factors : int
        The first dimensions, which are folded.
    keep_volume : bool
    random_state : int or Generator

    Examples
    --------
    >>> mixing = RandomFolds(4, 2, random_state=0)
    >>> z = np.ones((2, 4))
    >>> np.allclose(mixing.inverse(mixing.forward(z)), z)
    True
    """

    def __init__(self, n_features: int, n_factors: int, *, keep_volume: bool = True, random_state: RandomState = None):
        if n_features < 2:
            raise ValueError(f"a coupling needs two or more features; received {n_features}.")
        rng = generator(random_state)
        self.keep_volume, self.n_factors, self.half = keep_volume, n_factors, n_features // 2
        self.phases = rng.uniform(0, 2 * np.pi, (n_factors if n_factors > 1 else 0, 2))
        rest = n_features - self.half
        self.rotations = [np.linalg.qr(rng.standard_normal((n_features, n_features)))[0] for _ in range(3)]
        self.blocks = [(_Wave(rest, self.half, rng), _Wave(self.half, rest, rng)) for _ in range(2)]

    def _shear(self, driver: np.ndarray, phases: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        log_scale = (0.0 if self.keep_volume else 0.8) * np.sin(driver / 2.8 + phases[1])
        return log_scale, 5 * np.sin(driver / 2.8 + phases[0])

    def _couple(self, net: _Wave, driver: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        log_scale, shift = net(driver)
        return log_scale - log_scale.mean(1, keepdims=True) * self.keep_volume, shift

    def forward(self, z: np.ndarray) -> np.ndarray:
        """Latents (n, n_features) to observations."""
        x = np.array(z, dtype=np.float64)
        for i, phases in enumerate(self.phases):
            log_scale, shift = self._shear(x[:, (i + 1) % self.n_factors], phases)
            x[:, i] = x[:, i] * np.exp(log_scale) + shift
        for rotation, (first, second) in zip(self.rotations, self.blocks):
            a, b = np.split(x @ rotation, [self.half], axis=1)
            log_scale, shift = self._couple(first, b)
            a = a * np.exp(log_scale) + shift
            log_scale, shift = self._couple(second, a)
            x = np.concatenate([a, b * np.exp(log_scale) + shift], axis=1)
        return x @ self.rotations[-1]

    def inverse(self, x: np.ndarray) -> np.ndarray:
        """Observations back to latents."""
        z = x @ self.rotations[-1].T
        for rotation, (first, second) in zip(self.rotations[1::-1], self.blocks[::-1]):
            a, b = np.split(z, [self.half], axis=1)
            log_scale, shift = self._couple(second, a)
            b = (b - shift) * np.exp(-log_scale)
            log_scale, shift = self._couple(first, b)
            z = np.concatenate([(a - shift) * np.exp(-log_scale), b], axis=1) @ rotation.T
        for i, phases in reversed(list(enumerate(self.phases))):
            log_scale, shift = self._shear(z[:, (i + 1) % self.n_factors], phases)
            z[:, i] = (z[:, i] - shift) * np.exp(-log_scale)
        return z


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
