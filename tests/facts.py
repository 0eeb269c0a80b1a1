"""What a message must say, in any words and any order: codes, names, values."""

import re


def facts(*parts):
    """A pattern for ``match=`` that finds every part, each as a word of its own, wherever it stands.

    >>> bool(re.search(facts("n_factors", 0), "n_factors must be 1 or more; received 0."))
    True
    >>> bool(re.search(facts("n_factors", 0), "n_factors must be 1 or more; received 20."))
    False
    """
    return "(?s)" + "".join(f"(?=.*{_word(str(part))})" for part in parts)


def _word(text):
    before = r"(?<!\w)(?<!\d\.)" if re.match(r"\w", text) else ""
    after = r"(?!\w)(?!\.\d)" if re.search(r"\w$", text) else ""
    return before + re.escape(text) + after
