"""``unbraid diagnose``: whether the factors of some data can be found, by which method, and why."""

from pathlib import Path
from typing import Annotated

import typer

from unbraid.cli.data import Request, read_data, reads_data, show_decisions
from unbraid.cli.options import AUTO, in_flags, number


@reads_data
def diagnose(
    request: Request,
    factors: Annotated[str, typer.Option(metavar="N", help="Number of factors, or auto to estimate it.")] = "auto",
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the result as JSON.")] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a report (HTML).")] = None,
) -> None:
    """Tell whether the factors of your data can be found: yes, with care, no or unsure, with the figures behind it.

    \b
    unbraid diagnose spectra.npy
    unbraid diagnose photos/ --resize 64x64 --report diagnosis.html
    unbraid diagnose spectra.csv --columns a,b,c
    unbraid diagnose cells.npz --key counts --labels batch --json diagnosis.json
    """
    import unbraid as ub
    from unbraid.runtime.progress import progress_style

    count = number(factors, "--factors", "auto")
    read = read_data(request, AUTO)
    show_decisions(request.data, read)
    typer.echo(f"Examining {request.data}: a few seconds, longer for large images ...", err=True)
    with progress_style("lines"):
        found = ub.diagnose(read.known, n_factors=count)
    typer.echo(f"{request.data}: {found.n_rows} observations, {found.n_used} of them examined\n")
    typer.echo(in_flags(str(found)))
    if json is not None:
        found.to_json(json)
    if report is not None:
        found.report().write(report)
    for written in (json, report):
        if written is not None:
            typer.echo(f"\nWritten: {written}")
