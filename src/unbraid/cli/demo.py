"""``unbraid demo``: the main job on built-in data, with an HTML report."""

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

SHOWN = ("pca-ica", "laplacian-ica", "hessian-ica")


def register(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("demo"),
    points: Annotated[int, typer.Option(help="Pictures to draw, 200 or more.")] = 3000,
    seed: Annotated[int, typer.Option(help="Of the drawing and of the methods.")] = 0,
) -> None:
    """Draw pictures of a moving square, find their two factors, and write a report.

    Three methods see only the pixels: PCA+ICA (linear), LEM+ICA and HLLE+ICA. The table says how well each found x
    and y (MCC, 1 is perfect). The first run compiles some kernels, which takes a few seconds; later runs do not.
    """
    import unbraid as ub
    from unbraid.cli.methods import METHODS, fit_timed
    from unbraid.contract.progress import bar
    from unbraid.report.pages import demo_page

    if points < 200:
        raise ValueError(f"--points is {points}; the three methods can be compared from 200 pictures on.")
    if out.exists() and not out.is_dir():
        raise FileExistsError(f"{out} is a file; it was left alone. Give another folder by --out.")
    with bar("demo", total=len(SHOWN) + 3) as advance:
        advance(0, now=f"drawing {points} pictures")
        dataset = ub.datasets.load("shapes-xy")
        X, factors = dataset.sample(points, random_state=seed)
        advance(1, now="compiling kernels (first run only)")
        _warm_up(X[:200])
        advance(1)
        fits = []
        for name in SHOWN:
            advance(0, now=f"fitting {METHODS[name].title}")
            fits.append(fit_timed(METHODS[name], X, factors, n_factors=2, random_state=seed))
            advance(1)
        advance(0, now="writing the report")
        lead = f"unbraid demo: data set shapes-xy, {points} pictures of 64 x 64 pixels, seed {seed}."
        page = demo_page(fits, X, factors, dataset.factor_names, lead)
        path = page.write(out / "report.html")
        advance(1, now="done")
    _print(fits, path)


def _warm_up(X: Any) -> None:
    """Compile what the methods need, so that their times are their own."""
    from unbraid.cli.methods import METHODS

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in SHOWN:
            METHODS[name].make(n_factors=2, n_neighbors=12, random_state=0).fit_transform(X)


def _print(fits: Any, path: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Two factors of a moving square, found from pixels alone", title_justify="left")
    table.add_column("method")
    for name in ("MCC", "local isometry", "seconds", "k chosen"):
        table.add_column(name, justify="right")
    best = max(fit.mcc for fit in fits)
    for fit in fits:
        k = "" if fit.chosen is None else str(fit.chosen.n_neighbors)
        style = "bold green" if fit.mcc == best else None
        table.add_row(fit.title, f"{fit.mcc:.4f}", f"{fit.isometry:.3f}", f"{fit.seconds:.2f}", k, style=style)
    Console().print(table)
    for fit in fits:
        for concern in fit.concerns:
            typer.echo(f"{fit.title}: {concern}")
    typer.echo(f"The report, with pictures: {path.resolve()}")
    typer.echo("Open it in a browser. On your own data: unbraid fit DATA --factors 2 --out RUN")
