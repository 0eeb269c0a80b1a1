"""``unbraid fit``: the factors of a file, a folder of images or a data set, saved as a run with a report."""

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from unbraid.report.pages import Fitted

SAMPLE = 24  # observations shown in the report


def register(app: typer.Typer) -> None:
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
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="hessian-ica, laplacian-ica, tangent-ica, pca-ica; hessian-autoencoder, autoencoder, irmae, vae, "
            "beta-vae, annealed-vae, factor-vae, beta-tcvae or dip-vae.",
        ),
    ] = "hessian-ica",
    factors: Annotated[
        str, typer.Option(metavar="N", help="Number of factors, or auto to estimate it (VAEs: 10 codes).")
    ] = "auto",
    steps: Annotated[int | None, typer.Option(metavar="N", help="Training steps of an autoencoder.")] = None,
    neighbors: Annotated[str, typer.Option(metavar="K", help="Points in a neighbourhood, or auto to choose.")] = "auto",
    out: Annotated[
        Path | None, typer.Option(metavar="RUN", help="Folder of the run; default runs/DATA-METHOD.")
    ] = None,
    key: Annotated[str | None, typer.Option(metavar="NAME", help="Which array of an .npz, .h5 or .zarr file.")] = None,
    landmarks: Annotated[
        str, typer.Option(metavar="N", help="Points that are solved for: a number, all, or auto (all up to 5000).")
    ] = "auto",
    seed: Annotated[int, typer.Option(help="Makes the run repeatable.")] = 0,
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
    unbraid fit photos/ --method beta-tcvae --steps 5000 --out run     (Ctrl-C, and the same again: it goes on)
    """
    from unbraid.cli.methods import fit_timed, method_of

    chosen = method_of(method)
    parameters: dict[str, Any] = {
        "n_factors": number(factors, "--factors", "auto"),
        "n_neighbors": number(neighbors, "--neighbors", "auto"),
        "n_landmarks": None if landmarks == "all" else number(landmarks, "--landmarks", "auto", "all"),
    }
    run = _free(out or Path("runs") / f"{Path(data).stem}-{method}")
    if chosen.is_trained:
        checkpoint = run.with_name(f"{run.name}.training.safetensors")
        parameters |= {"max_steps": steps, "checkpoint": checkpoint, "checkpoint_every": 200}
    elif steps is not None:
        raise ValueError(f"--steps is for the autoencoders; {method} has no training steps.")
    X, truth, names = _open(data, key, points, option or [], resize, skip_unreadable, seed)
    typer.echo(f"{chosen.title} of {data}: {len(X)} observations of shape {tuple(X.shape[1:])}")
    fitted = fit_timed(chosen, X, truth, **parameters, random_state=seed, progress=sys.stderr.isatty())
    _save(run, fitted, data, X, truth, names)
    if chosen.is_trained:
        checkpoint.unlink()
    _print(fitted, run)


def number(text: str, option: str, *words: str) -> int | str:
    """A positive whole number, or one of the words.

    >>> number("3", "--factors", "auto"), number("auto", "--factors", "auto")
    (3, 'auto')
    """
    if text in words:
        return text
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{option} is {text!r}; it must be a positive whole number or {' or '.join(words)}.")
    return int(text)


def _free(run: Path) -> Path:
    """Refuse a folder that is something else before any time is spent."""
    from unbraid.contract.persistence import CONFIG

    if run.exists() and not (run / CONFIG).is_file() and (not run.is_dir() or any(run.iterdir())):
        raise FileExistsError(f"{run} exists and is not a saved run; it was left alone. Give another folder by --out.")
    return run


def _open(
    data: str,
    key: str | None,
    points: int | None,
    options: list[str],
    resize: str | None,
    skip_unreadable: bool,
    seed: int,
) -> tuple[Any, Any, Any]:
    """(observations, factors or None, their names or None)."""
    import unbraid as ub

    known = ub.datasets.names()
    if Path(data).exists() or data not in known:
        if not Path(data).exists():
            raise FileNotFoundError(
                f"there is no file or folder {data}, and no data set of that name. Data sets: {', '.join(known)}."
            )
        if points is not None or options:
            raise ValueError(f"--points and --option are for data-set names; {data} is a file or folder.")
        size = None if resize is None else _size(resize)
        return ub.datasets.open(data, key, resize=size, skip_unreadable=skip_unreadable), None, None
    if key is not None or resize is not None or skip_unreadable:
        raise ValueError(f"--key, --resize and --skip-unreadable are for files; {data} is the name of a data set.")
    dataset = ub.datasets.load(data, **dict(_assignment(text) for text in options))
    X, factors = dataset.sample(3000 if points is None else points, random_state=seed)
    return X, factors, dataset.factor_names


def _assignment(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ValueError(f"--option is {text!r}; it must be name=value, for instance image_size=32.")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def _size(text: str) -> tuple[int, int]:
    height, _, width = text.partition("x")
    if not (height.isdecimal() and width.isdecimal() and int(height) and int(width)):
        raise ValueError(f"--resize is {text!r}; it must be HEIGHTxWIDTH, for instance 64x64.")
    return int(height), int(width)


def _save(run: Path, fitted: "Fitted", data: str, X: Any, truth: Any, names: Any) -> None:
    """Model, codes and report; all are ready before the first is written."""
    import numpy as np

    from unbraid.report.pages import fit_page

    rows = np.unique(np.linspace(0, len(X) - 1, SAMPLE).astype(int))
    lead = (
        f"{len(X)} observations of shape {tuple(X.shape[1:])}; {fitted.codes.shape[1]} factors found in "
        f"{fitted.seconds:.1f} s."
    )
    page = fit_page(fitted, Path(data).name, np.asarray(X[rows]), lead, truth, names)
    fitted.model.save(run)
    np.save(run / "codes.npy", fitted.codes)
    if truth is not None:
        np.save(run / "factors.npy", truth)
    page.write(run / "report.html")


def _print(fitted: "Fitted", run: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    from unbraid.cli import COMMANDS

    typer.echo(f"{fitted.codes.shape[1]} factor(s) in {fitted.seconds:.1f} s.")
    for sentence in fitted.choice():
        typer.echo(sentence)
    table = Table(show_header=False, box=None, pad_edge=False)
    for row in fitted.diagnosis():
        table.add_row(*row)
    console = Console()
    console.print(table)
    if fitted.mcc is not None:
        console.print(f"MCC with the known factors: [bold]{fitted.mcc:.4f}[/bold]")
    for concern in fitted.concerns:
        typer.secho(f"Look twice: {concern}", fg="yellow")
    for remark in fitted.remarks:
        typer.echo(f"On the way: {remark}")
    if fitted.chosen is not None and not fitted.concerns:
        typer.echo("Nothing that was measured speaks against this result.")
    typer.echo(f"\nSaved in {run}: the model, codes.npy and report.html. Next:")
    typer.echo(f"  open {run / 'report.html'} in a browser")
    typer.echo(f"  in Python: model = unbraid.load({str(run)!r}); codes = model.transform(new_observations)")
    if "evaluate" in COMMANDS and fitted.mcc is not None:
        typer.echo(f"  unbraid evaluate {run / 'codes.npy'} {run / 'factors.npy'}")
