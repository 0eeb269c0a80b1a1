"""The blocks of a tutorial: scripts to be written, commands to be typed, Python to be run, and what they print."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    kind: str
    caption: str
    text: str


def blocks(page):
    """Every ``code-block`` of a page, in its order."""
    found = re.findall(r"^\.\. code-block:: (\w+)\n((?:   :.*\n)*)\n((?:(?:   .*)?\n)+)", page, flags=re.M)
    for kind, options, body in found:
        caption = re.search(r":caption: (.*)", options)
        text = re.sub(r"^   ", "", body, flags=re.M).strip("\n") + "\n"
        yield Block(kind, caption[1] if caption else "", text)


def commands(text):
    """(command, what it prints) of a console block; "..." stands for any lines."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, printed = part.partition("\n")
        yield command, printed


def says(printed, shown):
    """Whether the lines shown were printed, in their order; numbers may differ, and "..." stands for any lines.

    >>> says("a 1.5\\nb 2\\nc 3\\n", "a 1.4\\n...\\nc 3\\n")
    True
    >>> says("a 1.5\\nb 2\\nc 3\\n", "a 1.4\\nc 3\\n")
    False
    """
    lines = [re.escape(line) if line != "..." else None for line in map(_plain, shown.split("\n")) if line]
    pattern = r"\A" + "".join(r"(?:.*\n)*?" if line is None else line + r"\n" for line in lines)
    everything = "\n".join(line for line in map(_plain, printed.split("\n")) if line) + "\n"
    return re.match(pattern, everything) is not None


def _plain(line):
    """Without numbers, and with single spaces."""
    return re.sub(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?|(?<=[ \[])\.\d+", "#", " ".join(line.split()))
