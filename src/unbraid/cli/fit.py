"""``unbraid fit``: the factors of a file, a folder of images or a data set, saved as a run with a report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unbraid.cli.options import OFFERED, number, offered, parameters_of

if TYPE_CHECKING:
    from unbraid.report import Fitted


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(no_args_is_help=True)(fit)


def fit(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A .npy, .npz, .h5 or .zarr file, a folder (or .tar) of images, or the name of a data set. "
            "Rows are observations.",
        ),
    ],
    method: Annotated[str, typer.Option(metavar="NAME", help=f"One of {', '.join(OFFERED)}.")] = "hessian-ica",
    factors: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Number of factors, or auto (the default) to estimate it; a network does not estimate, and auto means "
            "its own default (VAEs: 10 codes).",
        ),
    ] = None,
    neighbors: Annotated[
        str | None, typer.Option(metavar="K", help="Points in a neighbourhood, or auto (the default) to choose.")
    ] = None,
    landmarks: Annotated[
        str | None,
        typer.Option(metavar="N", help="Points that are solved for: a number, all, or auto (the default)."),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|KEY",
            help="Condition for flows: a .npy, .npz or .csv file, or an array of the same file by its name. A data set "
            "with labels brings its own.",
        ),
    ] = None,
    augment: Annotated[
        str | None, typer.Option(metavar="NAME", help="Changes that matter, for self-supervised-gin: affine.")
    ] = None,
    steps: Annotated[int | None, typer.Option(metavar="N", help="Training steps at most.")] = None,
    max_seconds: Annotated[
        float | None, typer.Option(metavar="S", help="Stop training after this time; the same again goes on.")
    ] = None,
    device: Annotated[str | None, typer.Option(metavar="NAME", help="Where to train: auto, cpu, cuda, ...")] = None,
    assigned: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other parameter of the method; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="RUN", help="Folder of the run; default runs/DATA-METHOD.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Makes the run repeatable.")] = 0,
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
    """Find the factors of your data, and save the model, the codes and a report.

    \b
    unbraid fit spectra.npy --factors 3 --out run
    unbraid fit photos/ --factors auto --resize 64x64 --out run
    unbraid fit shapes-xy --points 2000 --option image_size=32 --out run
    unbraid fit cells.npz --key counts --method gin --labels batch --out run
    unbraid fit photos/ --method beta-tcvae --steps 5000 --out run     (Ctrl-C, and the same again: it goes on)
    """
    from unbraid.cli.data import Request, read_data
    from unbraid.report import measured_fit

    chosen = offered(method)
    given: dict[str, Any] = {
        "--factors": None if factors is None else number(factors, "--factors", "auto"),
        "--neighbors": None if neighbors is None else number(neighbors, "--neighbors", "auto"),
        "--landmarks": None if landmarks is None else number(landmarks, "--landmarks", "auto", "all"),
        "--steps": steps, "--max-seconds": max_seconds, "--device": device, "--augment": augment,
    }  # fmt: skip
    run = _free(out or Path("runs") / f"{Path(data).stem}-{method}")
    parameters = parameters_of(method, given, assigned or [])
    if parameters.get("n_landmarks") == "all":
        parameters["n_landmarks"] = None
    estimator = chosen.load()(**_defaults(method, run) | parameters, random_state=seed)
    request = Request(data, key, points, option or [], resize, skip_unreadable, labels, seed)
    read = read_data(request, method)
    typer.echo(f"{chosen.title} of {data}: {len(read.X)} observations of shape {tuple(read.X.shape[1:])}")
    fitted = measured_fit(estimator, read.X, read.labels, factors=read.factors, factor_names=read.factor_names)
    _save(run, fitted, Path(data).name)
    unfinished = chosen.trained and str(fitted.model.stopped_).startswith("max_seconds")
    if chosen.trained and not unfinished:
        _checkpoint(run).unlink(missing_ok=True)
    _print(fitted, run)
    if unfinished:
        typer.echo(f"Training was stopped by --max-seconds. The same command goes on from {_checkpoint(run)}.")


def _checkpoint(run: Path) -> Path:
    return run.with_name(f"{run.name}.training.safetensors")


def _defaults(method: str, run: Path) -> dict[str, Any]:
    """What the command line asks for where the user says nothing: an estimated number, and a checkpoint on the way."""
    known = OFFERED[method].load()().get_params(deep=False)
    wanted: dict[str, Any] = {"checkpoint": _checkpoint(run), "checkpoint_every": 200}
    if not OFFERED[method].trained:
        wanted = {"n_factors": "auto"}
    return {name: value for name, value in wanted.items() if name in known}


def _free(run: Path) -> Path:
    """Refuse a folder that is something else before any time is spent."""
    from unbraid.contract.persistence import CONFIG

    if run.exists() and not (run / CONFIG).is_file() and (not run.is_dir() or any(run.iterdir())):
        raise FileExistsError(f"{run} exists and is not a saved run; it was left alone. Give another folder by --out.")
    return run


def _save(run: Path, fitted: "Fitted", name: str) -> None:
    """Model, codes and report; all are ready before the first is written."""
    import numpy as np

    from unbraid.report import pages

    page = pages.page_of(fitted, title=f"{fitted.summary.title} of {name}")
    fitted.model.save(run)
    for array, file in ((fitted.codes, "codes.npy"), (fitted.factors, "factors.npy")):
        if array is None:
            (run / file).unlink(missing_ok=True)  # of an earlier run
        else:
            np.save(run / file, array)
    page.write(run / "report.html")


def _print(fitted: "Fitted", run: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    summary = fitted.summary
    found = "" if fitted.codes is None else f"{fitted.codes.shape[1]} code(s) "
    typer.echo(f"{found}in {fitted.seconds:.1f} s.")
    for sentence in summary.choices:
        typer.echo(sentence)
    table = Table(show_header=False, box=None, pad_edge=False)
    for fact in summary.facts:
        table.add_row(fact.name, fact.value, fact.meaning)
    console = Console()
    console.print(table)
    if fitted.mcc is not None:
        console.print(f"MCC with the known factors: [bold]{fitted.mcc:.4f}[/bold]")
    for concern in fitted.concerns:
        typer.secho(f"Look twice: {concern}", fg="yellow")
    for remark in fitted.remarks:
        typer.echo(f"On the way: {remark}")
    if not fitted.concerns:
        typer.echo(summary.note)
    files = "the model, codes.npy and report.html" if fitted.codes is not None else "the model and report.html"
    typer.echo(f"\nSaved in {run}: {files}. Next:")
    typer.echo(f"  open {run / 'report.html'} in a browser")
    typer.echo(f"  in Python: model = unbraid.load({str(run)!r}); model.transform(new_observations)")
    if fitted.mcc is not None:
        typer.echo(f"  unbraid evaluate {run / 'codes.npy'} {run / 'factors.npy'}")
