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


class UnbraidWarning(UserWarning):
    """Parent of all warnings of this package."""


class AssumptionWarning(UnbraidWarning):
    """The data do not meet what the method assumes, so its promise does not hold (UB1..)."""


class TrustWarning(UnbraidWarning):
    """The fit finished, but a figure says that its result should be looked at before it is used (UB2..)."""


class DataWarning(UnbraidWarning):
    """Some of the data were left out, or stand in the way: constant features, classes of one member (UB3..)."""


class ConvergenceWarning(UnbraidWarning, _ConvergenceWarning):
    """A solver or a training run ended before it was done (UB4..)."""


KINDS: dict[str, type[UnbraidWarning]] = {
    "UB1": AssumptionWarning,
    "UB2": TrustWarning,
    "UB3": DataWarning,
    "UB4": ConvergenceWarning,
}


@dataclass(frozen=True)
class Code:
    """A line of the list of warnings.

    Attributes
    ----------
    sentence : str
        What is said, with room for figures.
    remedy : str
        What to do, said with it; it may have room for figures too.
    cause : str
        What it comes from, for the page of the docs.
    ignore : str
        When it does no harm, for the page of the docs.
    figure : str
        The key of the figure that it is about, in :mod:`unbraid.trust.table`; empty where it is about none.
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


def say(code: str, **figures: object) -> str:
    """The text of a code with its figures: the code, the sentence, the remedy.

    Parameters
    ----------
    code : str
        A name of ``CODES``.
    **figures
        What the sentence has room for.

    Returns
    -------
    str

    Examples
    --------
    >>> say("UB301", count=3, of=10).partition(";")[0]
    'UB301: 3 of 10 rows are duplicates of others'
    """
    known = CODES[code]
    return f"{code}: {known.sentence} {known.remedy}".format(**figures)


def give(text: str, *, stacklevel: int = 2) -> None:
    """Give the warning of a text that :func:`say` made, or of several of one kind; it ends with where to read on.

    Parameters
    ----------
    text : str
    stacklevel : int
        As of :func:`warnings.warn`: 2 points at the caller of the function that calls this one.
    """
    warnings.warn(f"{text}{_MORE}{read_on([text])}", KINDS[text[:3]], stacklevel=stacklevel + 1)


def warn(code: str, *, stacklevel: int = 2, **figures: object) -> None:
    """Give the warning of a code, with its figures.

    Parameters
    ----------
    code : str
        A name of ``CODES``.
    stacklevel : int
        As of :func:`warnings.warn`: 2 points at the caller of the function that calls this one.
    **figures
        What the sentence has room for.
    """
    give(say(code, **figures), stacklevel=stacklevel + 1)


_MORE = " More: "


def read_on(texts: Iterable[str]) -> str:
    """The command that explains the codes in some texts; empty where they have none.

    Parameters
    ----------
    texts : iterable of str

    Returns
    -------
    str

    Examples
    --------
    >>> read_on([say("UB208"), say("UB301", count=3, of=10), "The data are curved."])
    'unbraid explain UB208 UB301'
    """
    codes = dict.fromkeys(code for text in texts for code in re.findall(r"\b(UB\d{3}):", text))
    return " ".join(["unbraid explain", *codes]) if codes else ""


def told(text: str) -> str:
    """The text of a warning without where to read on.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> told("UB208: ICA did not converge. More: unbraid explain UB208")
    'UB208: ICA did not converge.'
    """
    return text.partition(f"{_MORE}unbraid explain ")[0]
