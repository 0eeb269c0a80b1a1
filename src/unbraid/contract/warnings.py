"""The one family of warnings. Python's own filters take any of them, or all by their common parent."""

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
