"""``unbraid demo``: the main job on built-in data, with an HTML report."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from unbraid.report import Fitted

SHOWN = ("pca-ica", "laplacian-ica", "hessian-ica")


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("demo"),
    points: Annotated[int, typer.Option(help="Number of images, at least 200.")] = 3000,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    open_: Annotated[bool, typer.Option("--open", help="Open the best model in the explorer afterwards.")] = False,
) -> None:
    """Draw images of a moving square, find their two factors, and write a report.

    Three methods see only the pixels: PCA+ICA (linear), LEM+ICA and HLLE+ICA. The table shows how well each found x
    and y (MCC, 1 is perfect). The first run compiles some kernels, which takes a few seconds; later runs do not.
    """
    import unbraid as ub
    from unbraid.methods import METHODS
    from unbraid.report import measured_fit
    from unbraid.report.pages import demo_page
    from unbraid.runtime.progress import bar

    if points < 200:
        raise ValueError(f"--points is {points}; it must be at least 200.")
    if out.exists() and not out.is_dir():
        raise FileExistsError(f"{out} is a file; it was not changed. Give another folder with --out.")
    with bar("demo", total=len(SHOWN) + 3) as advance:
        advance(0, now=f"drawing {points} images")
        dataset = ub.datasets.load("shapes-xy")
        X, factors = dataset.sample(points, random_state=seed)
        advance(1, now="compiling kernels (first run only)")
        _warm_up(X[:200])
        advance(1)
        fits = []
        for name in SHOWN:
            advance(0, now=f"fitting {METHODS[name].title}")
            model = METHODS[name].load()(n_factors=2, random_state=seed)
            fits.append(measured_fit(model, X, factors=factors, factor_names=dataset.factor_names))
            advance(1)
        advance(0, now="writing the report")
        lead = f"unbraid demo: data set shapes-xy, {points} images of 64 x 64 pixels, seed {seed}."
        path = demo_page(fits, lead).write(out / "report.html")
        advance(1, now="done")
    _print(fits, path)
    if open_:
        from unbraid.app.workspace import workspace_of
        from unbraid.cli.explore import show

        show(workspace_of([max(fits, key=lambda fit: fit.mcc or 0.0).model], X))


def _warm_up(X: Any) -> None:
    """Compile what the methods need, so that their times are their own."""
    import unbraid as ub

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ub.PCAICA(2, random_state=0).fit_transform(X)
        for kind in (ub.LaplacianICA, ub.HessianICA):
            kind(2, 12, random_state=0).fit_transform(X)


def _print(fits: Sequence["Fitted"], path: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    from unbraid.report.pages import demo_row

    table = Table(title="Two factors of a moving square, found from pixels alone", title_justify="left")
    table.add_column("method")
    for name in ("MCC", "local isometry", "seconds", "k chosen"):
        table.add_column(name, justify="right")
    best = max(fits, key=lambda fit: fit.mcc or 0.0)
    for fit in fits:
        row = map(str, demo_row(fit, ["neighbours k"]))
        table.add_row(*row, style="bold green" if fit is best else None)
    Console().print(table)
    typer.echo("MCC is the agreement with the true position, which the methods did not see; 1 is perfect.")
    for fit in fits:
        for concern in fit.concerns:
            typer.echo(f"{fit.summary.title}: {concern}")
    typer.echo(f"Report: {path.resolve()}")
    typer.echo("Open it in a browser. With your own data: unbraid diagnose DATA, then unbraid fit DATA --out RUN")
