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

    from unbraid.datasets.registry import ELSEWHERE, entry, names
    from unbraid.datasets.storage import data_folder

    table = Table(title=None, show_lines=False)
    for column in ("name", "factors", "size", "from", "here"):
        table.add_column(column, no_wrap=column in ("name", "size"))
    for found in map(entry, names()):
        table.add_row(found.name, found.factors, found.size, found.origin, found.here())
    Console().print(table)
    for name in ELSEWHERE.keys() - set(names()):
        typer.echo(f"{name}: not installed; `pip install {ELSEWHERE[name]}` brings it.")
    typer.echo(f"Files are looked for in {data_folder()} (UNBRAID_DATA). `unbraid datasets get NAME` fetches one.")


def fetch(
    name: Annotated[str, typer.Argument(help="A data set that comes from a file; see `unbraid datasets list`.")],
    folder: Annotated[Path | None, typer.Option(help="Where to put it; default the data folder.")] = None,
) -> None:
    """Download the original files of a data set, checked and resumed."""
    from unbraid import datasets

    for path in datasets.get(name, folder):
        typer.echo(f"{path}")
