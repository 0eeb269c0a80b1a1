"""``unbraid reproduce``: a paper's experiments, our figures beside the paper's."""

from pathlib import Path
from typing import Annotated, Any

import typer

GROUP = "unbraid.papers"
COLOURS = {"reproduced": "green", "partly": "yellow", "not reproduced": "red"}


def find_paper(name: str) -> Any:
    """The paper that an entry point of the group ``unbraid.papers`` leads to: an object with ``reproduce``."""
    from importlib.metadata import entry_points

    found = entry_points(group=GROUP)
    for point in found.select(name=name):
        return point.load()
    if not found:
        raise ModuleNotFoundError("no papers are installed. Install six with `pip install unbraid-papers`.")
    raise ValueError(f"no paper named {name!r} is installed. Available: {', '.join(sorted(found.names))}.")


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER",
            help="horan, locatello, gin, self-supervised-gin, geomancer, scale, or one that another package provides.",
        ),
    ],
    scale: Annotated[
        str, typer.Option(metavar="small|paper", help="At most half an hour, or the size of the paper.")
    ] = "small",
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the results; default reproductions/PAPER-SCALE.")
    ] = None,
) -> None:
    """Run a paper's experiments and write a page: what it claims, what came out here, and a verdict on each claim.

    Every result is saved as soon as it is computed: after Ctrl-C or a crash, resume with the same command. Files that
    cannot be downloaded (weights, MNIST) are read from UNBRAID_DATA; a claim that needs a missing file says so.

    \b
    unbraid reproduce geomancer
    unbraid reproduce horan --scale paper --out horan
    """
    from unbraid.runtime.progress import progress_style

    folder = Path(f"reproductions/{paper}-{scale}") if out is None else out
    with progress_style("lines"):
        page = find_paper(paper).reproduce(scale=scale, out=folder)
    for title, claims in ((page.title, page.claims), ("What the paper leaves open", page.beyond)):
        if claims:
            typer.secho(f"\n{title}", bold=True)
        for claim in claims:
            typer.secho(f"{claim.verdict:>24}  ", fg=COLOURS.get(claim.verdict), nl=False)
            typer.echo(f"{claim.text} Here, {claim.here}. Paper ({claim.source}): {claim.paper}.")
    typer.echo(f"\n{page.summary}. Page: {folder / 'page.html'}")
