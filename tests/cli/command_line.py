"""The command line run inside the test's own process, the way `unbraid` starts it."""

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


def run(monkeypatch, capsys, *args):
    """What `unbraid ARGS` prints, and its exit code."""
    from unbraid.cli import main

    monkeypatch.setattr(sys, "argv", ["unbraid", *map(str, args)])
    try:
        main()
        code = 0
    except SystemExit as stop:
        code = int(stop.code or 0)
    printed = capsys.readouterr()
    return Outcome(code, printed.out, printed.err)
