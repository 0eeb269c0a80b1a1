"""``unbraid diagnose``: whether the factors of some data can be found, by which method, and why."""

from pathlib import Path
from typing import Annotated

import typer

from unbraid.cli.options import AUTO, number


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(no_args_is_help=True)(diagnose)


def diagnose(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A .npy, .npz, .h5 or .zarr file, a folder (or .tar) of images, or the name of a data set. "
            "Rows are observations.",
        ),
    ],
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|KEY",
            help="Conditions of the rows: a .npy, .npz or .csv file, or an array of the same file by its name.",
        ),
    ] = None,
    factors: Annotated[str, typer.Option(metavar="N", help="Number of factors, or auto to estimate it.")] = "auto",
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write everything as JSON.")] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page (HTML).")] = None,
    seed: Annotated[int, typer.Option(help="Of the rows that are drawn from a data set.")] = 0,
    key: Annotated[str | None, typer.Option(metavar="NAME", help="Which array of an .npz, .h5 or .zarr file.")] = None,
    points: Annotated[int | None, typer.Option(help="Observations to draw from a data set; default 3000.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Option of a data set as name=value, for instance image_size=32."),
    ] = None,
    resize: Annotated[str | None, typer.Option(metavar="HxW", help="Bring images to one size, height x width.")] = None,
    skip_unreadable: Annotated[
        bool, typer.Option("--skip-unreadable", help="Leave out images that cannot be read.")
    ] = False,
) -> None:
    """Say whether the factors of your data can be found: yes, no or unsure, with every figure behind it.

    \b
    unbraid diagnose spectra.npy
    unbraid diagnose photos/ --resize 64x64 --report diagnosis.html
    unbraid diagnose cells.npz --key counts --labels batch --json diagnosis.json
    """
    import unbraid as ub
    from unbraid.cli.data import Request, read_data

    count = number(factors, "--factors", "auto")
    request = Request(data, key, points, option or [], resize, skip_unreadable, labels, seed)
    read = read_data(request, AUTO)
    found = ub.diagnose(read.X, read.labels, n_factors=count)
    typer.echo(f"{data}: {found.n_rows} observations, {found.n_used} of them looked at\n")
    typer.echo(found)
    if json is not None:
        found.to_json(json)
    if report is not None:
        found.report().write(report)
    for written in (json, report):
        if written is not None:
            typer.echo(f"\nWritten: {written}")
