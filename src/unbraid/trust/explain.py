"""What a warning or a figure means: the text of ``unbraid explain`` and of the docs."""

import re

from unbraid.trust.table import ASSUMPTIONS, FIGURES
from unbraid.trust.warnings import CODES, kind_of


def explain(name: str) -> str:
    """Explain a warning (cause, remedy, when to ignore it) or a figure (meaning, threshold, remedy).

    Parameters
    ----------
    name : str
        The code at the beginning of a warning, such as "UB203", or a figure, such as "eigengap" or "filled box".

    Returns
    -------
    str

    Examples
    --------
    >>> print(explain("UB208"))
    UB208, a TrustWarning
    <BLANKLINE>
    ICA did not converge from any start; the codes are the last iterate.
    <BLANKLINE>
    Cause: No rotation stands out, as with Gaussian factors or very few points.
    What to do: Raise n_init or try the other contrast.
    When to ignore it: If any rotation is good enough.
    To silence it: warnings.filterwarnings("ignore", message=".*UB208")
    >>> print(explain("eigengap").splitlines()[-2])
    What to do: Check n_factors, or use more points.
    """
    code = name.upper()
    if code in CODES:
        kind = kind_of(code).__name__
        head, text, parts = f"{code}, {'an' if kind[0] in 'AEIOU' else 'a'} {kind}", sentence(code), explanation(code)
    else:
        key = key_of(name)
        head, text, parts = f"{key}, a figure: {FIGURES[key].name}", FIGURES[key].meaning, about_figure(key)
    return "\n".join([head, "", text, "", *(f"{title}: {part}" for title, part in parts.items())])


def key_of(name: str) -> str:
    """The key of a figure, by itself, by the name of the figure or by that of the assumption it tests.

    Parameters
    ----------
    name : str

    Returns
    -------
    str
        A key of ``FIGURES``.

    Examples
    --------
    >>> key_of("eigengap"), key_of("Local isometry"), key_of("filled box"), key_of("non-gaussian")
    ('eigengap', 'local_isometry', 'emptiness', 'separability')
    """
    by_name = {figure.name: key for key, figure in reversed(FIGURES.items())}  # of figures that share one, the first
    names = by_name | ASSUMPTIONS | {key: key for key in FIGURES}
    keys = {_bare(known): key for known, key in names.items()}
    if _bare(name) not in keys:
        known = f"Warnings: {', '.join(CODES)}. Figures: {', '.join(FIGURES)}."
        raise ValueError(f"there is no warning or figure {name!r}. {known}")
    return keys[_bare(name)]


def _bare(name: str) -> str:
    return name.lower().replace("-", " ").replace("_", " ")


def about_figure(key: str) -> dict[str, str]:
    """Formula, threshold, calibration, assumption, remedy and warning of a figure, by their titles.

    Parameters
    ----------
    key : str
        A key of ``FIGURES``.

    Returns
    -------
    dict of str
        Those that the figure has.
    """
    line = FIGURES[key]
    parts = {
        "Formula": re.sub(r":math:`([^`]*)`", r"\1", line.formula),
        "In doubt": line.doubt,
        "Calibration": line.calibrated,
        "Assumption of the diagnosis": line.assumption,
        "What to do": _with_ellipses(line.remedy),
        "Warning": line.code,
    }
    return {title: part for title, part in parts.items() if part}


def sentence(code: str) -> str:
    """The sentence of a warning, with an ellipsis for each figure.

    Parameters
    ----------
    code : str
        A name of ``CODES``.

    Returns
    -------
    str
    """
    text = _with_ellipses(CODES[code].sentence)
    begins_with_a_name = any(sign in text.partition(" ")[0] for sign in "_=")
    return text if begins_with_a_name else text[0].upper() + text[1:]


def explanation(code: str) -> dict[str, str]:
    """Cause, remedy, when to ignore it and how to silence it, by their titles.

    Parameters
    ----------
    code : str
        A name of ``CODES``.

    Returns
    -------
    dict of str
    """
    line = CODES[code]
    return {
        **({"Figure": f"{FIGURES[line.figure].name}. {FIGURES[line.figure].meaning}"} if line.figure else {}),
        "Cause": line.cause,
        "What to do": _with_ellipses(line.remedy),
        "When to ignore it": line.ignore,
        "To silence it": f'warnings.filterwarnings("ignore", message=".*{code}")',
    }


def _with_ellipses(text: str) -> str:
    return re.sub(r"\{[^}]*\}", "…", text)
