"""``unbraid diagnose``: whether the factors of some data can be found, by which method, and why."""

from pathlib import Path
from typing import Annotated

import typer

from unbraid.cli.options import (
    AUTO,
    COLUMNS,
    COVARIATES,
    DATA,
    DIVIDE,
    KEY,
    LABELS,
    OPTION,
    PAIRS,
    POINTS,
    RESIZE,
    SETS,
    SKIP_UNREADABLE,
    TIME,
    evidence_of,
    in_flags,
    number,
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(no_args_is_help=True)(diagnose)


def diagnose(
    data: DATA,
    labels: LABELS = None,
    pairs: PAIRS = None,
    time: TIME = None,
    sets: SETS = None,
    covariates: COVARIATES = None,
    factors: Annotated[str, typer.Option(metavar="N", help="Number of factors, or auto to estimate it.")] = "auto",
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the result as JSON.")] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a report (HTML).")] = None,
    seed: Annotated[int, typer.Option(help="Random seed for sampling a data set.")] = 0,
    key: KEY = None,
    points: POINTS = None,
    option: OPTION = None,
    resize: RESIZE = None,
    skip_unreadable: SKIP_UNREADABLE = False,
    columns: COLUMNS = None,
    divide: DIVIDE = None,
) -> None:
    """Tell whether the factors of your data can be found: yes, no or unsure, with the figures behind the answer.

    \b
    unbraid diagnose spectra.npy
    unbraid diagnose photos/ --resize 64x64 --report diagnosis.html
    unbraid diagnose spectra.csv --columns a,b,c
    unbraid diagnose cells.npz --key counts --labels batch --json diagnosis.json
    """
    import unbraid as ub
    from unbraid.cli.data import Request, read_data

    count = number(factors, "--factors", "auto")
    evidence = evidence_of(labels=labels, pairs=pairs, time=time, sets=sets, covariates=covariates)
    request = Request(
        data,
        key,
        points,
        option or [],
        resize,
        skip_unreadable,
        seed,
        columns=columns,
        divide=divide,
        evidence=evidence,
    )
    read = read_data(request, AUTO)
    typer.echo(f"Examining {data}: a few seconds, longer for large images ...", err=True)
    found = ub.diagnose(read.known, n_factors=count)
    typer.echo(f"{data}: {found.n_rows} observations, {found.n_used} of them examined\n")
    typer.echo(in_flags(str(found)))
    if json is not None:
        found.to_json(json)
    if report is not None:
        found.report().write(report)
    for written in (json, report):
        if written is not None:
            typer.echo(f"\nWritten: {written}")
