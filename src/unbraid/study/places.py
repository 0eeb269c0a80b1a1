"""Where in a TOML text a key stands, so that an error can name its line."""

import tomllib
from collections.abc import Sequence
from typing import Any


def line_of(text: str, key: Sequence[Any]) -> int:
    """The line, from 1, of the longest beginning of ``key`` that a valid text has: where it first stands.

    >>> line_of('name = "a"\\n[[methods]]\\nname = "vae"\\n[[methods]]\\nname = "pca"', ("methods", 1, "name"))
    5
    """
    lines = text.splitlines()
    best, line, first = 0, 1, 1
    for number in range(1, len(lines) + 1):
        try:
            content = tomllib.loads("\n".join(lines[:number]))
        except tomllib.TOMLDecodeError:
            continue  # the statement that began on line ``first`` goes on
        depth = _depth(content, key)
        if depth > best:
            best, line = depth, first
        first = number + 1
    return line


def _depth(content: Any, key: Sequence[Any]) -> int:
    """How many parts of the key lead into the content."""
    for depth, part in enumerate(key):
        try:
            content = content[part]
        except (KeyError, IndexError, TypeError):
            return depth
    return len(key)
