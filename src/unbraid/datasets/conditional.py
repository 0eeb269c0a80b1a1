"""Conditional sources under a random invertible mixing: the artificial data of GIN and iVAE."""

from abc import abstractmethod

import numpy as np

from unbraid.datasets.base import Dataset, RandomState, check_room, count, generator
from unbraid.datasets.difficulty import Difficulty, difficulty
from unbraid.datasets.mixing import RandomFolds, RandomMLP, RandomRealNVP

UNBOUNDED = (-np.inf, np.inf)
MIXINGS = ("realnvp", "volume-preserving", "volume-changing")
MOST_DRAWS = 100  # of a nonlinear mixing; with two factors of ten features one in two is nonlinear enough


class Conditional(Dataset):
    """A data set whose factors are independent given a label."""

    dtype = np.dtype(np.float64)

    @abstractmethod
    def _draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Factors and labels."""

    def sample_factors(self, n: int, random_state: RandomState = None) -> np.ndarray:
        return self._draw(count(n), generator(random_state))[0]

    def sample_conditional(self, n: int, random_state: RandomState = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``n`` observations with their factors (n, n_factors) and labels (n,); the same rows as :meth:`sample`."""
        rng = generator(random_state)
        check_room(count(n), self.shape, self.dtype)
        factors, labels = self._draw(n, rng)
        return self._render(factors, rng), factors, labels


class GINMixture(Conditional):
    """Gaussian clusters in a few dimensions plus small noise in the others, mixed by a random flow: ``gin-mixture``.

    Per cluster and informative dimension the mean is uniform in [-5, 5] and the spread uniform in [.5, 3]; the other
    dimensions are Gaussian of standard deviation ``noise``. The papers' mixing, eight coupling blocks with random
    weights, is nearly linear: linear regression reads the factors with an R squared of .996. The other two mixings
    are nonlinear by measure: they are drawn until :attr:`difficulty` says so.

    Parameters
    ----------
    n_clusters : int
        5 meets the theory's condition for two factors, 3 does not.
    n_factors, n_features : int
        Informative dimensions, and all.
    noise : float
        Standard deviation of the uninformative dimensions.
    spread : "std" or "variance"
        What is uniform in [.5, 3]: the authors' code draws standard deviations, the paper says variances.
    mixing : "realnvp", "volume-preserving" or "volume-changing"
        The papers' (default), or :class:`~unbraid.datasets.mixing.RandomFolds`, of which GIN can invert only the one
        that keeps the volume. Drawn again until :class:`~unbraid.datasets.difficulty.Difficulty` is nonlinear: linear
        R squared at most .85, MCC of raw columns and of PCA + ICA at most .75, nearest neighbours at least .95.
    clamp : "atan", "steep-atan" or "tanh"
        Of the log-scales s of "realnvp": ``2 * 0.636 * atan(s / 2)`` (the authors' code, default), or steeper,
        ``2 * 0.636 * atan(s)`` and ``2 * tanh(s)`` (the paper's Appendix D).
    n_blocks : int
        Of "realnvp".
    random_state : int
        Of the clusters and the mixing.

    Attributes
    ----------
    difficulty : Difficulty
        What linear regression, raw columns, PCA + ICA and nearest neighbours get on 3,000 points.

    References
    ----------
    Sorrenson, Rother, Koethe (2020), section 4.3. Augmented sets: Self-supervised GIN, section 4.2.

    Examples
    --------
    >>> X, factors, labels = GINMixture().sample_conditional(1000, random_state=0)
    >>> X.shape, factors.shape, np.unique(labels)
    ((1000, 10), (1000, 2), array([0, 1, 2, 3, 4]))
    """

    name = "gin-mixture"

    def __init__(
        self,
        n_clusters: int = 5,
        n_factors: int = 2,
        n_features: int = 10,
        noise: float = 0.01,
        spread: str = "std",
        clamp: str = "atan",
        n_blocks: int = 8,
        random_state: int = 0,
        mixing: str = "realnvp",
    ):
        if mixing not in MIXINGS:
            raise ValueError(f"unknown mixing {mixing!r}. Valid: {', '.join(MIXINGS)}.")
        if n_clusters < 1 or not 1 <= n_factors <= n_features or noise < 0:
            raise ValueError(
                "n_clusters >= 1, 1 <= n_factors <= n_features and noise >= 0; received "
                f"n_clusters={n_clusters}, n_factors={n_factors}, n_features={n_features}, noise={noise}."
            )
        if spread not in ("std", "variance"):
            raise ValueError(f"spread is 'std' or 'variance'; received {spread!r}.")
        rng = generator(random_state)
        self.n_clusters, self.noise = n_clusters, noise
        self.means = rng.uniform(-5, 5, (n_clusters, n_factors))
        spreads = rng.uniform(0.5, 3, (n_clusters, n_factors))
        self.stds = spreads if spread == "std" else np.sqrt(spreads)
        self.factor_names = tuple(f"z{i}" for i in range(n_factors))
        self.factor_ranges = (UNBOUNDED,) * n_factors
        self.shape = (n_features,)
        self.mixing: RandomRealNVP | RandomFolds
        if mixing == "realnvp":
            self.mixing = RandomRealNVP(n_features, n_blocks=n_blocks, clamp=clamp, random_state=rng)
        else:
            self.mixing = self._nonlinear_mixing(mixing == "volume-preserving", rng)

    @property
    def difficulty(self) -> Difficulty:
        X, factors = self.sample(3000, random_state=0)
        return difficulty(X, factors)

    def _nonlinear_mixing(self, keep_volume: bool, rng: np.random.Generator) -> RandomFolds:
        for _ in range(MOST_DRAWS):
            self.mixing = RandomFolds(self.shape[0], self.n_factors, keep_volume=keep_volume, random_state=rng)
            measured = self.difficulty
            if measured.is_nonlinear:
                return self.mixing
        raise ValueError(
            f"none of {MOST_DRAWS} mixings of {self.n_factors} factors and {self.shape[0]} features was nonlinear by "
            f"measure; the last one: {measured}. Use two factors, or mixing='realnvp'."
        )

    def _draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        labels = rng.integers(self.n_clusters, size=n)
        return self.means[labels] + self.stds[labels] * rng.standard_normal((n, self.n_factors)), labels

    def _latents(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        rest = self.noise * rng.standard_normal((len(factors), self.shape[0] - self.n_factors))
        return np.concatenate([factors, rest], axis=1)

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self.mixing.forward(self._latents(factors, rng))

    def sample_augmented(
        self,
        n: int,
        n_augmented: int = 10,
        dimensions: tuple[int, ...] = (0, 1),
        data_noise: float = 0.01,
        random_state: RandomState = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Observations, their factors, and a set of augmented versions of each.

        An augmented version moves the latent vector by standard Gaussian noise along ``dimensions``, mixes it, and
        adds Gaussian ``data_noise``; the paper's stable setting for one dimension needs that noise.

        Returns
        -------
        X : array (n, n_features)
        factors : array (n, n_factors)
        sets : array (n, n_augmented, n_features)
        """
        rng = generator(random_state)
        factors, _ = self._draw(count(n), rng)
        latents = self._latents(factors, rng)
        sets = np.repeat(latents[:, None], n_augmented, axis=1)
        sets[:, :, list(dimensions)] += rng.standard_normal((n, n_augmented, len(dimensions)))
        mixed = self.mixing.forward(sets.reshape(n * n_augmented, -1)).reshape(sets.shape)
        return self.mixing.forward(latents), factors, mixed + data_noise * rng.standard_normal(mixed.shape)


class Nonstationary(Conditional):
    """Sources whose spread (and mean) changes from segment to segment, mixed by a random network: ``nonstationary``.

    The labels are the segments, in the order of time. Within segment u and source i the source is Gaussian or Laplace
    with a standard deviation uniform in [.5, 3] and, with ``moving_means``, a mean uniform in [-5, 5].

    Parameters
    ----------
    n_factors : int
    n_segments : int
    n_features : int, optional
        Default: as many as factors.
    sources : "gauss" or "laplace"
    moving_means : bool
    n_layers : int
        Of the mixing network; 1 is a linear mixing.
    noise : float
        Standard deviation of Gaussian noise on every feature.
    random_state : int
        Of the segments and the mixing.

    References
    ----------
    Hyvaerinen, Morioka (2016), time-contrastive learning; Khemakhem et al. (2020), iVAE, section 5.

    Examples
    --------
    >>> X, factors, segments = Nonstationary().sample_conditional(4000, random_state=0)
    >>> X.shape, len(np.unique(segments)), bool((np.diff(segments) >= 0).all())
    ((4000, 5), 40, True)
    """

    name = "nonstationary"

    def __init__(
        self,
        n_factors: int = 5,
        n_segments: int = 40,
        n_features: int | None = None,
        sources: str = "gauss",
        moving_means: bool = False,
        n_layers: int = 3,
        noise: float = 0.0,
        random_state: int = 0,
    ):
        n_features = n_factors if n_features is None else n_features
        if n_segments < 1 or n_factors < 1 or noise < 0:
            raise ValueError(
                f"n_factors >= 1, n_segments >= 1 and noise >= 0; received {n_factors}, {n_segments}, {noise}."
            )
        if sources not in ("gauss", "laplace"):
            raise ValueError(f"sources are 'gauss' or 'laplace'; received {sources!r}.")
        rng = generator(random_state)
        self.n_segments, self.sources, self.noise = n_segments, sources, noise
        self.stds = rng.uniform(0.5, 3, (n_segments, n_factors))
        self.means = rng.uniform(-5, 5, (n_segments, n_factors)) * moving_means
        self.mixing = RandomMLP(n_factors, n_features, n_layers=n_layers, random_state=rng)
        self.factor_names = tuple(f"s{i}" for i in range(n_factors))
        self.factor_ranges = (UNBOUNDED,) * n_factors
        self.shape = (n_features,)

    def _draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        segments = np.arange(n) * self.n_segments // n
        size = (n, self.n_factors)
        unit = rng.standard_normal(size) if self.sources == "gauss" else rng.laplace(scale=np.sqrt(0.5), size=size)
        return self.means[segments] + self.stds[segments] * unit, segments

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        X = self.mixing.forward(factors)
        if self.noise:
            X = X + self.noise * rng.standard_normal(X.shape)
        return X
