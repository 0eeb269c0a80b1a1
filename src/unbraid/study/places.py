"""Where in a TOML text a key stands, so that an error can name its line."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

_TABLE = re.compile(r"\s*\[(?P<name>[^\[\]]+)\]\s*(#.*)?$")
_ITEM = re.compile(r"\s*\[\[(?P<name>[^\[\]]+)\]\]\s*(#.*)?$")
_KEY = re.compile(r"""\s*(?P<name>(?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_INNER = re.compile(r"""(?:[{,]|^)\s*(?P<name>[\w-]+(?:\s*\.\s*[\w-]+)*)\s*=""")


def line_of(text: str, key: Sequence[Any]) -> int:
    """The line, from 1, of the longest beginning of ``key`` that the text has.

    >>> line_of('name = "a"\\n[[methods]]\\nname = "vae"\\n[[methods]]\\nname = "pca"', ("methods", 1, "name"))
    5
    """
    best, line = 0, 1
    for number, path in _paths(text):
        same = 0
        while same < min(len(path), len(key)) and path[same] == key[same]:
            same += 1
        if same > best and same == len(path):
            best, line = same, number
    return line


def _paths(text: str) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Every line that names a key, with the whole path of it; keys of inline tables too."""
    table: tuple[Any, ...] = ()
    counts: dict[tuple[Any, ...], int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if item := _ITEM.match(line):
            name = _resolved(_split(item["name"]), counts)
            counts[name] = counts.get(name, -1) + 1
            table = (*name, counts[name])
            yield number, table
        elif header := _TABLE.match(line):
            table = _resolved(_split(header["name"]), counts)
            yield number, table
        elif found := _KEY.match(line):
            path = (*table, *_split(found["name"]))
            yield number, path
            rest = line[found.end() :]
            for inner in _INNER.finditer(rest):
                yield number, (*path, *_split(inner["name"]))


def _resolved(path: tuple[str, ...], counts: dict[tuple[Any, ...], int]) -> tuple[Any, ...]:
    """A table below the last item of an array of tables: ``[methods.sweep]`` is ("methods", 2, "sweep")."""
    done: tuple[Any, ...] = ()
    for i, part in enumerate(path):
        done = (*done, part)
        if done in counts and i < len(path) - 1:
            done = (*done, counts[done])
    return done


def _split(name: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in name.split("."))
