"""Every paper's experiment by one command: our figures beside theirs, and verdicts that are computed.

A paper is a module of this folder with a ``PAPER``; adding one is a file and a line of ``PAPERS``.
"""

import os
from importlib import import_module
from pathlib import Path

from unbraid.reproduce.page import Page
from unbraid.reproduce.paper import Paper
from unbraid.reproduce.run import run_paper

__all__ = ["PAPERS", "Page", "Paper", "load_paper", "reproduce"]

# Name on the command line, and module of this folder.
PAPERS: dict[str, str] = {
    "gin": "gin",
    "self-supervised-gin": "self_supervised_gin",
}


def load_paper(name: str) -> Paper:
    """The paper of this name."""
    if name not in PAPERS:
        raise ValueError(f"there is no paper {name!r} here; there are {', '.join(PAPERS)}.")
    paper: Paper = import_module(f"unbraid.reproduce.{PAPERS[name]}").PAPER
    return paper


def reproduce(
    name: str, *, scale: str = "small", out: str | os.PathLike | None = None, progress: bool | None = None
) -> Page:
    """Run the experiments of a paper, and write a page with both figures and the verdicts.

    Parameters
    ----------
    name : str
        One of ``PAPERS``.
    scale : "small" or "paper"
        Small takes less than half an hour on two cores; "paper" is the paper's own size, where that is possible.
    out : path, optional
        Folder of the results; default ``reproductions/NAME-SCALE``. What is done there is not run again.
    progress : bool, optional
        Show a bar; by default on a terminal.

    Returns
    -------
    Page
        With ``claims``, each with its ``verdict``, figures and reason; written to page.html in ``out``.
    """
    paper = load_paper(name)
    return run_paper(paper, scale, Path(f"reproductions/{name}-{scale}" if out is None else out), progress=progress)
