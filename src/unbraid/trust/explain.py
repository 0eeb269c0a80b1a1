"""What a warning means: the text of ``unbraid explain CODE`` and of the page of the docs, from the one list."""

import re

from unbraid.trust.codes import CODES
from unbraid.trust.warnings import KINDS


def explain(code: str) -> str:
    """What a warning says, its cause, what to do, when to ignore it and how to silence it.

    Parameters
    ----------
    code : str
        As it stands at the beginning of a warning, such as "UB203".

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
    When to ignore it: If any rotation serves.
    To silence it: warnings.filterwarnings("ignore", message=".*UB208")
    """
    name = code.upper()
    if name not in CODES:
        raise ValueError(f"there is no warning {code!r}. There are: {', '.join(CODES)}.")
    kind = KINDS[name[:3]].__name__
    lines = [f"{name}, {'an' if kind[0] in 'AEIOU' else 'a'} {kind}", "", sentence(name), ""]
    return "\n".join([*lines, *(f"{title}: {text}" for title, text in explanation(name).items())])


def sentence(code: str) -> str:
    """What a warning says, with an ellipsis for each figure.

    Parameters
    ----------
    code : str
        A name of ``CODES``.

    Returns
    -------
    str
    """
    text = _open(CODES[code].sentence)
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
        "Cause": line.cause,
        "What to do": _open(line.remedy),
        "When to ignore it": line.ignore,
        "To silence it": f'warnings.filterwarnings("ignore", message=".*{code}")',
    }


def _open(text: str) -> str:
    return re.sub(r"\{[^}]*\}", "…", text)
