"""``unbraid datasets list`` and ``get``."""

from pathlib import Path
from typing import Annotated

import typer


def show() -> None:
    """List all data sets and weights: factors, size, origin, and whether each is on this machine."""
    from rich.console import Console
    from rich.table import Table

    from unbraid.datasets.registry import ELSEWHERE, WEIGHTS, entry, names
    from unbraid.datasets.storage import data_folder

    table = Table(title=None, show_lines=False)
    for column in ("name", "factors", "size", "from", "here"):
        table.add_column(column, no_wrap=column in ("name", "size"))
    for found in (*map(entry, names()), *WEIGHTS):
        table.add_row(found.name, found.factors, found.size, found.origin, found.here())
    Console().print(table)
    for name in ELSEWHERE.keys() - set(names()):
        typer.echo(f"{name}: not installed. Install it with `pip install {ELSEWHERE[name]}`.")
    typer.echo(f"Data folder: {data_folder()} (UNBRAID_DATA). Download one with `unbraid datasets get NAME`.")


def fetch(
    name: Annotated[
        str, typer.Argument(help="A data set that comes from a file, or weights; see `unbraid datasets list`.")
    ],
    folder: Annotated[Path | None, typer.Option(help="Folder to save to; default the data folder.")] = None,
) -> None:
    """Download the original files of a data set, or weights; checksums are verified, partial downloads resumed."""
    from unbraid import datasets

    for path in datasets.get(name, folder):
        typer.echo(f"{path}")


HELP = "List the data sets and weights, or download them."
COMMANDS = {"list": show, "get": fetch}
