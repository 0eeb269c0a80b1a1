"""The questions, in the order in which a report answers them."""

from collections.abc import Callable

from unbraid.study.analysis.agreement import agreement
from unbraid.study.analysis.answers import Answer
from unbraid.study.analysis.independence import independence
from unbraid.study.analysis.selection import selection
from unbraid.study.analysis.spread import spread
from unbraid.study.analysis.usefulness import usefulness
from unbraid.study.analysis.variance import variance

QUESTIONS: dict[str, Callable[..., Answer]] = {
    "independence": independence,
    "agreement": agreement,
    "spread": spread,
    "variance": variance,
    "selection": selection,
    "usefulness": usefulness,
}
