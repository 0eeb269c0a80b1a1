"""``unbraid explore``: saved runs in the browser; also what ``--open`` of other commands calls."""

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from unbraid.app.loading import Loading
    from unbraid.app.workspace import Workspace


def explore(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN [RUN2 ...]", help="Folders that `unbraid fit` wrote.")],
    port: Annotated[int, typer.Option(metavar="N", help="Port to serve on; 0 (the default) picks a free one.")] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the address without opening a browser.")] = False,
    data: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Observations to show, for a run that keeps none: a file or folder."),
    ] = None,
    key: Annotated[str | None, typer.Option(metavar="NAME", help="Which array of an .npz, .h5 or .zarr file.")] = None,
) -> None:
    """Explore runs in the browser: move a factor, see the data change.

    The page is served to this machine only, until Ctrl-C. Several runs are shown side by side, with matched factors.

    \b
    unbraid explore run
    unbraid explore run other-run --port 8000 --no-open
    """
    import unbraid as ub
    from unbraid.app.explorer import loading_of

    if key is not None and data is None:
        raise ValueError("--key needs --data. Give --data too, or leave out --key.")
    X = None if data is None else ub.datasets.open(data, key)
    show(loading_of(runs, X), port, open_browser=not no_open)


def show(workspace: "Workspace | Loading", port: int = 0, *, open_browser: bool = True) -> None:
    """Serve what is there, or on its way, until Ctrl-C."""
    from unbraid.app.explorer import Explorer

    explorer = Explorer(workspace, port)
    typer.echo(f"Explorer: {explorer.address}")
    typer.echo("Press Ctrl-C to stop. The address contains a secret; keep it to yourself.")
    if open_browser:
        webbrowser.open(explorer.address)
    try:
        explorer.run()
    except KeyboardInterrupt:
        typer.echo("Explorer stopped.")
