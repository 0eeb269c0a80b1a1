"""``unbraid reproduce``: a paper's experiments, our figures beside the paper's."""

from pathlib import Path
from typing import Annotated

import typer

COLOURS = {"reproduced": "green", "partly": "yellow", "not reproduced": "red"}


def register(app: typer.Typer) -> None:
    app.command()(reproduce)


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(metavar="PAPER", help="horan, locatello, gin, self-supervised-gin, geomancer or scale."),
    ],
    scale: Annotated[
        str, typer.Option(metavar="small|paper", help="Half an hour at most, or the paper's own size.")
    ] = "small",
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the results; default reproductions/PAPER-SCALE.")
    ] = None,
) -> None:
    """Run a paper's experiments and write a page: what it claims, what came out here, and a verdict on each claim.

    What is done is kept at once: after Ctrl-C or a crash the same command goes on. Files that cannot be fetched
    (weights, MNIST) are looked for in UNBRAID_DATA; a claim that needs one which is not there says so.

    \b
    unbraid reproduce geomancer
    unbraid reproduce horan --scale paper --out horan
    """
    from unbraid.reproduce import reproduce as run
    from unbraid.runtime.progress import progress_style

    folder = Path(f"reproductions/{paper}-{scale}") if out is None else out
    with progress_style("lines"):
        page = run(paper, scale=scale, out=folder)
    for title, claims in ((page.title, page.claims), ("What the paper leaves open", page.beyond)):
        if claims:
            typer.secho(f"\n{title}", bold=True)
        for claim in claims:
            typer.secho(f"{claim.verdict:>24}  ", fg=COLOURS.get(claim.verdict), nl=False)
            typer.echo(f"{claim.text} Here, {claim.here}. Paper ({claim.source}): {claim.paper}.")
    typer.echo(f"\n{page.summary}. Page: {folder / 'page.html'}")
