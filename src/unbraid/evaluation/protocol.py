"""Protocols: every number that a score depends on, frozen under a name and stored with the result."""

from dataclasses import asdict, dataclass, field
from typing import Any

from unbraid.metrics.arrays import choose


@dataclass(frozen=True)
class Protocol:
    """How scores are computed. Change one with ``dataclasses.replace``, and give it a name of its own.

    Attributes
    ----------
    name : str
    n_samples : int
        Most rows for metrics that train nothing.
    n_train, n_test : int
        Most rows to train and to test predictors on; of fewer rows, a third is for testing.
    n_bins : int
        Bins of equal width of codes, and of continuous factors.
    n_batches, n_batches_test, batch_size : int
        Batches of the BetaVAE and FactorVAE scores.
    prune : float
        Codes of smaller standard deviation do not vote in the FactorVAE score.
    dci_backend : str
        Trees of DCI and of downstream accuracy.
    downstream_sizes : tuple of int
        Training sizes of the downstream tasks.
    replicates : dict
        Half-samples behind the interval, by how costly a metric is: light, medium, heavy.
    ceiling_marginal : {"codes", "gaussian", "uniform"}
        Distribution of the codes that determine the factors, which give the ceiling: that of the given codes, each
        matched with a factor, or a fixed one.
    random_state : int
    """

    name: str
    n_samples: int = 10_000
    n_train: int = 10_000
    n_test: int = 5_000
    n_bins: int = 20
    n_batches: int = 10_000
    n_batches_test: int = 5_000
    batch_size: int = 64
    prune: float = 0.05
    irs_quantile: float = 0.99
    svm_C: float = 0.01
    logistic_C: float = 1.0
    infomec_neighbors: int = 10
    dci_backend: str = "gbt"
    downstream_sizes: tuple[int, ...] = (10, 100, 1000, 10_000)
    replicates: dict[str, int] = field(default_factory=lambda: {"light": 100, "medium": 30, "heavy": 10})
    chance_draws: dict[str, int] = field(default_factory=lambda: {"light": 5, "medium": 2, "heavy": 1})
    ceiling_marginal: str = "codes"
    random_state: int = 0

    def __post_init__(self) -> None:
        choose(self.ceiling_marginal, ("codes", "gaussian", "uniform"), "ceiling_marginal")

    @property
    def pool(self) -> int:
        """Samples to encode."""
        return max(self.n_samples, self.n_train + self.n_test)

    @property
    def sizes(self) -> dict[str, Any]:
        """Settings of :func:`draw_sample`."""
        names = ("n_samples", "n_train", "n_test", "random_state")
        return {name: getattr(self, name) for name in names}

    @property
    def batches(self) -> dict[str, int]:
        """Settings of the scores that compare batches."""
        sizes = {"n_train": self.n_batches, "n_test": self.n_batches_test, "batch_size": self.batch_size}
        return sizes | {"n_bins": self.n_bins}

    def training_sizes(self, available: int) -> list[int]:
        """Training sizes of the downstream tasks that this many rows allow; all rows if none is small enough."""
        return [n for n in self.downstream_sizes if n <= available] or [available]

    def to_dict(self) -> dict[str, Any]:
        """All settings by name."""
        return asdict(self)


PROTOCOLS = {
    "dlib-v1": Protocol(name="dlib-v1"),
    "fast": Protocol(
        name="fast",
        n_train=2_000,
        n_test=1_000,
        n_batches=2_000,
        n_batches_test=1_000,
        dci_backend="compiled",
        downstream_sizes=(100, 1000),
        replicates={"light": 50, "medium": 20, "heavy": 5},
        chance_draws={"light": 3, "medium": 1, "heavy": 1},
    ),
}


def find_protocol(protocol: str | Protocol) -> Protocol:
    """A protocol by its name, or the one given."""
    if isinstance(protocol, Protocol):
        return protocol
    return PROTOCOLS[choose(protocol, tuple(PROTOCOLS), "protocol")]
