"""The one family of warnings. Python's own filters take any of them, or all by their common parent."""

import warnings
from dataclasses import dataclass

from sklearn.exceptions import ConvergenceWarning as _ConvergenceWarning


class UnbraidWarning(UserWarning):
    """Parent of all warnings of this package."""


class TrustWarning(UnbraidWarning):
    """The fit finished, but a figure says that its result should be looked at before it is used."""


class AssumptionWarning(UnbraidWarning):
    """The data do not meet what the method assumes, so its promise does not hold."""


class DataWarning(UnbraidWarning):
    """Some of the data were left out, or stand in the way: constant features, classes of one member."""


class ConvergenceWarning(UnbraidWarning, _ConvergenceWarning):
    """A solver or a training run ended before it was done."""


@dataclass(frozen=True)
class Code:
    """A line of the list of warnings: what kind, the sentence with room for figures, and what to do."""

    category: type[UnbraidWarning]
    sentence: str
    remedy: str


CODES = {
    "UB101": Code(
        AssumptionWarning,
        "the diagnosis of these data says no ({causes}); {method} was fitted all the same, as the best guess. Its "
        "codes are not to be taken for the factors.",
        "print(model.diagnosis_) says what fails and what would help.",
    ),
}


def warn(code: str, *, stacklevel: int = 2, **figures: object) -> None:
    """Give the warning of a code, with its figures.

    Parameters
    ----------
    code : str
        A name of ``CODES``.
    stacklevel : int
        As of :func:`warnings.warn`: 2 points at the caller of this function.
    **figures
        What the sentence has room for.
    """
    known = CODES[code]
    text = f"{code}: {known.sentence.format(**figures)} {known.remedy}"
    warnings.warn(text, known.category, stacklevel=stacklevel + 1)
