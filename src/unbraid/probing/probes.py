"""How well each factor can be predicted from the codes: a linear probe and trees, with interval and chance."""

import math
from dataclasses import dataclass

import numpy as np

from unbraid.metrics.arrays import check_factors
from unbraid.metrics.readout import downstream
from unbraid.runtime.progress import bar

KINDS = {"linear": "logistic", "trees": "compiled"}


@dataclass(frozen=True)
class FactorProbe:
    """How well one factor is predicted on held-out rows.

    Attributes
    ----------
    factor : str
    kind : {"linear", "trees"}
        Logistic or ridge regression with a penalty chosen by cross-validation; gradient-boosted trees of depth 3.
    score : float
        Accuracy for classes; R squared, at least 0, for numbers.
    low, high : float
        Ends of its 95 % interval over the held-out rows.
    chance : float
        Accuracy of the most frequent class; 0 for numbers.
    measure : {"accuracy", "R2"}
    """

    factor: str
    kind: str
    score: float
    low: float
    high: float
    chance: float
    measure: str

    @property
    def share(self) -> float:
        """Position between chance (0) and perfect (1)."""
        return (self.score - self.chance) / (1 - self.chance) if self.chance < 1 else 0.0


def wilson(share: float, n: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a share that was counted in ``n`` rows; unlike the normal one it is accurate near 0 and 1.

    >>> [round(end, 4) for end in wilson(1.0, 100)]
    [0.963, 1.0]
    """
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def around_r2(score: float, n: int, z: float = 1.96) -> tuple[float, float]:
    """Interval of R squared by its large-sample variance, 4 R^2 (1 - R^2)^2 / n (Olkin & Finn 1995).

    >>> [round(end, 3) for end in around_r2(0.5, 10_000)]
    [0.486, 0.514]
    """
    reach = z * math.sqrt(4 * score * (1 - score) ** 2 / n)
    return max(score - reach, 0.0), min(score + reach, 1.0)


def probe_factors(
    factors: np.ndarray,
    codes: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    names: tuple[str, ...],
    *,
    random_state: int,
    progress: bool | None,
) -> tuple[FactorProbe, ...]:
    """Both probes of every factor that varies, trained on the rows ``train`` and judged on ``test``."""
    found = []
    with bar("probe", total=len(names) * len(KINDS), show=progress) as advance:
        for k, name in enumerate(names):
            column = factors[:, [k]]
            truth = check_factors(column)
            varies = np.ptp(truth.values[train]) > 0
            discrete, seen = truth.discrete[0], truth.values[test, 0]
            chance = float(np.unique(seen, return_counts=True)[1].max() / len(seen)) if discrete else 0.0
            interval, measure = (wilson, "accuracy") if discrete else (around_r2, "R2")
            for kind, classifier in KINDS.items():
                if varies:
                    score = float(downstream(
                        column[train], codes[train], column[test], codes[test],
                        n_train=[len(train)], classifier=classifier, random_state=random_state,
                    ))  # fmt: skip
                    ends = interval(score, len(seen))
                    found.append(FactorProbe(name, kind, score, *ends, chance, measure))
                advance(1, factor=name)
    return tuple(found)
