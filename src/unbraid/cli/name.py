"""``unbraid name``: which known columns go with which code of a saved run."""

import csv
from pathlib import Path
from typing import Annotated

import typer

from unbraid.cli.options import names_in


def name(
    run: Annotated[Path, typer.Argument(help="A folder written by `unbraid fit`.")],
    table: Annotated[Path, typer.Argument(help="A table with one row per row of the data: .csv, .parquet and others.")],
    columns: Annotated[str | None, typer.Option(help="Columns to try, separated by commas; all by default.")] = None,
    angles: Annotated[str | None, typer.Option(help="Columns that are angles in radians, separated by commas.")] = None,
    time: Annotated[bool, typer.Option("--time", help="Rows are in the order of time.")] = False,
) -> None:
    """Say which known columns explain which code, corrected for the number of columns tried."""
    import numpy as np

    from unbraid.data.frames import read_frame
    from unbraid.data.matching import aligned
    from unbraid.meaning import name_codes
    from unbraid.saving.persistence import load

    codes = run / "codes.npy"
    if not codes.is_file():
        raise FileNotFoundError(f"{run} holds no codes.npy; give a folder that `unbraid fit` wrote.")
    known = aligned(table, read_frame(table)[0], _row_names(run))
    if columns is not None:
        chosen = names_in(columns)
        missing = [column for column in chosen if column not in known.columns]
        if missing:
            raise ValueError(f"{table} has no column {missing[0]!r}. It has: {', '.join(map(str, known.columns))}.")
        known = known[chosen]
    kinds = load(run).summary().kinds
    found = name_codes(np.load(codes), known, kinds=kinds, angles=names_in(angles) if angles else (), time=time)
    typer.echo(str(found))


def _row_names(run: Path) -> list[str] | None:
    """Names of the rows of a run, or their numbers in its table."""
    path = run / "codes.csv"
    if not path.is_file():
        return None
    with path.open(newline="", encoding="utf-8") as file:
        return [row[0] for row in csv.reader(file)][1:]
