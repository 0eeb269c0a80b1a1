"""Sources that remember, under a random network: the artificial recordings of PCL and of contrastive learning."""

import numpy as np
from scipy.signal import lfilter

from unbraid.datasets.base import Dataset, RandomState, count, generator
from unbraid.datasets.conditional import UNBOUNDED
from unbraid.datasets.mixing import RandomMLP

RUN_IN = 400  # steps before the first row; of the slowest source, .95 ** 400 of the start is left
SLOWEST = (0.6, 0.95)  # range of the autoregression


class TemporalSources(Dataset):
    r"""Autoregressive sources, mixed by a random network: ``temporal-sources``.

    .. math:: z_i(t) = a_i z_i(t - 1) + e_i(t), \qquad a_i \sim U(.6, .95)

    with independent Laplace (or Gaussian) steps e, scaled so that each source has variance 1. Rows follow each other in
    time. :meth:`sample_recording` gives the times too.

    How hard it is (10,000 rows, means over seeds 0 to 4): linear regression reads the factors with an R2 of .86 from
    two layers, .74 from three (the default) and .62 from three with ``slope=0.05``; 10 nearest neighbours with .88, .79
    and .68; FastICA has an MCC of .81, .69 and .62. With two factors and three layers: .80, .99 and .75.

    Parameters
    ----------
    n_factors : int
    n_features : int, optional
        Default: as many as factors.
    steps : "laplace" or "gauss"
        Laplace steps are sparse, which identifies the sources. Gaussian ones leave what only different autoregressions
        can decide.
    n_layers : int
        Of the mixing network; 1 is a linear mixing.
    slope : float
        Of its leaky ReLUs below 0: the smaller, the farther from linear.
    noise : float
        Standard deviation of Gaussian noise on every feature.
    random_state : int
        Of the autoregressions and the mixing.

    Attributes
    ----------
    autoregressions : array (n_factors,)

    References
    ----------
    Hyvarinen, Morioka (2017), Nonlinear ICA of temporally dependent stationary sources, section 5.

    Examples
    --------
    >>> X, factors, time = TemporalSources().sample_recording(1000, random_state=0)
    >>> X.shape, factors.shape, time[:3]
    ((1000, 5), (1000, 5), array([0, 1, 2]))
    """

    name = "temporal-sources"
    dtype = np.dtype(np.float64)

    def __init__(
        self,
        n_factors: int = 5,
        n_features: int | None = None,
        steps: str = "laplace",
        n_layers: int = 3,
        slope: float = 0.2,
        noise: float = 0.0,
        random_state: int = 0,
    ):
        if n_factors < 1 or noise < 0:
            raise ValueError(f"n_factors >= 1 and noise >= 0; received {n_factors} and {noise}.")
        if steps not in ("laplace", "gauss"):
            raise ValueError(f"steps are 'laplace' or 'gauss'; received {steps!r}.")
        rng = generator(random_state)
        self.steps, self.noise = steps, noise
        self.autoregressions = rng.uniform(*SLOWEST, n_factors)
        n_features = n_factors if n_features is None else n_features
        self.mixing = RandomMLP(n_factors, n_features, n_layers=n_layers, slope=slope, random_state=rng)
        self.factor_names = tuple(f"s{i}" for i in range(n_factors))
        self.factor_ranges = (UNBOUNDED,) * n_factors
        self.shape = (n_features,)

    def sample_factors(self, n: int, random_state: RandomState = None) -> np.ndarray:
        rng, size = generator(random_state), (count(n) + RUN_IN, self.n_factors)
        unit = rng.laplace(scale=np.sqrt(0.5), size=size) if self.steps == "laplace" else rng.standard_normal(size)
        sources = [lfilter([np.sqrt(1 - a**2)], [1, -a], e) for a, e in zip(self.autoregressions, unit.T)]
        return np.stack(sources, axis=1)[RUN_IN:]

    def sample_recording(self, n: int, random_state: RandomState = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``n`` consecutive observations, their factors (n, n_factors) and times (n,); the rows of :meth:`sample`."""
        return (*self.sample(n, random_state), np.arange(n))

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        X = self.mixing.forward(factors)
        return X + self.noise * rng.standard_normal(X.shape) if self.noise else X
