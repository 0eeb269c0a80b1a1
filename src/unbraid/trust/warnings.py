"""The one family of warnings; their texts are in ``warnings.toml`` beside this file.

Python's own filters take any warning by its class, all by their common parent, or one by its code:
``warnings.filterwarnings("ignore", message=".*UB204")``.
"""

import re
import tomllib
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files

from sklearn.exceptions import ConvergenceWarning as _ConvergenceWarning

from unbraid.trust.table import FIGURES

__all__ = ["AssumptionWarning", "Code", "ConvergenceWarning", "DataWarning", "TrustWarning", "UnbraidWarning"]


class UnbraidWarning(UserWarning):
    """Parent of all warnings of this package."""


class AssumptionWarning(UnbraidWarning):
    """The data do not meet the assumptions of the method, so its guarantee does not hold (UB1..)."""


class TrustWarning(UnbraidWarning):
    """The fit finished, but a figure says that the result should be checked before it is used (UB2..)."""


class DataWarning(UnbraidWarning):
    """Some of the data were left out or cause problems: constant features, classes with one member (UB3.., UB404)."""


class ConvergenceWarning(UnbraidWarning, _ConvergenceWarning):
    """A solver or a training run stopped before it converged (UB4..)."""


KINDS: dict[str, type[UnbraidWarning]] = {
    "UB1": AssumptionWarning,
    "UB2": TrustWarning,
    "UB3": DataWarning,
    "UB4": ConvergenceWarning,
    "UB404": DataWarning,
}


def kind_of(code: str) -> type[UnbraidWarning]:
    """The class of the warnings of a code.

    >>> kind_of("UB203").__name__, kind_of("UB404").__name__
    ('TrustWarning', 'DataWarning')
    """
    return KINDS[max((start for start in KINDS if code.startswith(start)), key=len)]


@dataclass(frozen=True)
class Code:
    """An entry of the list of warnings.

    Attributes
    ----------
    sentence : str
        The message, with placeholders for figures.
    remedy : str
        What to do; it follows the sentence, and may have placeholders too.
    cause : str
        For the page in the docs.
    ignore : str
        When it can be ignored, for the page in the docs.
    figure : str
        The key of the figure it is about, in :mod:`unbraid.trust.table`; empty if there is none.
    """

    sentence: str
    remedy: str
    cause: str
    ignore: str
    figure: str = ""


def _codes() -> dict[str, Code]:
    table = tomllib.loads((files("unbraid.trust") / "warnings.toml").read_text(encoding="utf-8"))
    remedies = {code: FIGURES[entry["figure"]].remedy for code, entry in table.items() if "figure" in entry}
    return {code: Code(**{"remedy": remedies.get(code)} | entry) for code, entry in table.items()}


CODES = _codes()


def format_warning(code: str, **figures: object) -> str:
    """The message of a warning: its code, its sentence with the figures filled in, and the remedy.

    Parameters
    ----------
    code : str
        A name of ``CODES``.
    **figures
        Values for the placeholders of the message.

    Returns
    -------
    str

    Examples
    --------
    >>> format_warning("UB301", count=3, of=10).partition(";")[0]
    'UB301: 3 of 10 rows are duplicates'
    """
    known = CODES[code]
    return f"{code}: {known.sentence} {known.remedy}".format(**figures)


def emit(text: str, *, stacklevel: int = 2) -> None:
    """Issue one warning for messages of :func:`format_warning` of one kind, with the command that explains them.

    Parameters
    ----------
    text : str
    stacklevel : int
        As of :func:`warnings.warn`: 2 points at the caller of the function that calls this one.
    """
    warnings.warn(f"{text}{_HINT}{explain_command([text])}", kind_of(text[:5]), stacklevel=stacklevel + 1)


def warn(code: str, *, stacklevel: int = 2, **figures: object) -> None:
    """Issue the warning of a code, with its figures.

    Parameters
    ----------
    code : str
        A name of ``CODES``.
    stacklevel : int
        As of :func:`warnings.warn`: 2 points at the caller of the function that calls this one.
    **figures
        Values for the placeholders of the message.
    """
    emit(format_warning(code, **figures), stacklevel=stacklevel + 1)


_HINT = " More: "


def explain_command(texts: Iterable[str]) -> str:
    """The command that explains the codes in some texts; empty if there are none.

    Parameters
    ----------
    texts : iterable of str

    Returns
    -------
    str

    Examples
    --------
    >>> explain_command([format_warning("UB208"), format_warning("UB301", count=3, of=10), "The data are curved."])
    'unbraid explain UB208 UB301'
    """
    codes = dict.fromkeys(code for text in texts for code in re.findall(r"\b(UB\d{3}):", text))
    return " ".join(["unbraid explain", *codes]) if codes else ""


def without_hint(text: str) -> str:
    """The text of a warning without the command that explains it.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> without_hint("UB208: ICA did not converge. More: unbraid explain UB208")
    'UB208: ICA did not converge.'
    """
    return text.partition(f"{_HINT}unbraid explain ")[0]
