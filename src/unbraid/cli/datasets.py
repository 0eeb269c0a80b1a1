"""``unbraid datasets list`` and ``get``."""

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="List the data sets, or fetch their original files.")
    group.command("list")(show)
    group.command("get")(fetch)
    app.add_typer(group, name="datasets")


def show() -> None:
    """A table of every data set: factors, size, where it comes from, and whether it is here."""
    from rich.console import Console
    from rich.table import Table

    from unbraid.datasets.registry import ENTRIES
    from unbraid.datasets.storage import data_folder

    table = Table(title=None, show_lines=False)
    for column in ("name", "factors", "size", "from", "here"):
        table.add_column(column, no_wrap=column in ("name", "size"))
    for entry in ENTRIES:
        table.add_row(entry.name, entry.factors, entry.size, entry.origin, entry.here())
    Console().print(table)
    typer.echo(f"Files are looked for in {data_folder()} (UNBRAID_DATA). `unbraid datasets get NAME` fetches one.")


def fetch(
    name: Annotated[str, typer.Argument(help="A data set that comes from a file; see `unbraid datasets list`.")],
    folder: Annotated[Path | None, typer.Option(help="Where to put it; default the data folder.")] = None,
) -> None:
    """Download the original files of a data set, checked and resumed."""
    from unbraid import datasets

    for path in datasets.get(name, folder):
        typer.echo(f"{path}")
