"""``unbraid evaluate``: the table of scores of a saved run, or of two array files."""

from json import loads
from pathlib import Path
from typing import Annotated, Any

import typer

from unbraid.cli.options import DatasetOptions, assignments, metrics_in, names_in


def evaluate(
    run: Annotated[
        Path, typer.Argument(help="A folder written by `unbraid fit`, or a file of codes (.npy, .npz, .csv).")
    ],
    factors: Annotated[
        Path | None, typer.Argument(help="The factors of these codes: integers are classes, floats are continuous.")
    ] = None,
    dataset: Annotated[str | None, typer.Option(help="Data set to score the run on, by its name.")] = None,
    option: DatasetOptions = None,
    kinds: Annotated[
        str | None,
        typer.Option(metavar="KINDS", help="What each factor is: interval, circle (an angle in radians) or sphere."),
    ] = None,
    code_kinds: Annotated[str | None, typer.Option(metavar="KINDS", help="The same of the codes.")] = None,
    metrics: Annotated[str, typer.Option(help="Names separated by commas, or all.")] = "all",
    protocol: Annotated[
        str, typer.Option(help="fast, or dlib-v1: the sample sizes of Locatello et al., minutes to hours.")
    ] = "fast",
    json: Annotated[Path | None, typer.Option(help="Also write the result to this JSON file.")] = None,
) -> None:
    """Score a representation: value, 95 % interval, chance level and ceiling of every metric.

    \b
    unbraid evaluate RUN                        (fitted with --factors-from: its codes and factors)
    unbraid evaluate RUN factors.npy
    unbraid evaluate RUN --dataset dsprites
    unbraid evaluate codes.npy factors.npy --kinds circle,interval --code-kinds interval,circle
    """
    import unbraid as ub
    from unbraid.cli.data import check_radians
    from unbraid.data.frames import read_array
    from unbraid.metrics.kinds import parts_of

    options = assignments(option, "--option", "image_size=32")
    if option and dataset is None:
        raise ValueError("--option needs a data set; give --dataset NAME too, or leave it out.")
    declared: dict[str, Any] = {"kinds": kinds and names_in(kinds), "code_kinds": code_kinds and names_in(code_kinds)}
    if dataset is None and (run / "codes.npy").is_file():
        kept = _of_run(run)
        if factors is not None:
            kept["kinds"] = None  # those of the factors that it was fitted with
        elif (run / "factors.npy").is_file():
            factors = run / "factors.npy"
        declared = kept | {name: given for name, given in declared.items() if given}
        run = run / "codes.npy" if factors is not None else run
    if factors is not None:
        if dataset is not None:
            raise ValueError("give either a file of factors or --dataset, not both.")
        subject: Any = read_array(run)
        truth: Any = read_array(factors)
        if declared["kinds"]:
            for kind, part in parts_of(truth.reshape(len(truth), -1), declared["kinds"], "kinds", str(factors)):
                if kind == "circle":
                    check_radians(part, f"a circle in {factors}")
    elif dataset is not None:
        subject, truth = ub.load(run), ub.datasets.load(dataset, **options)
    else:
        raise ValueError(
            f"{run} cannot be scored without factors. Add their file (`unbraid evaluate {run} factors.npy`) "
            "or the data set (`unbraid evaluate RUN --dataset NAME`)."
        )
    result = ub.evaluate(truth, subject, metrics=metrics_in(metrics), protocol=protocol, **declared)
    typer.echo(str(result))
    if json is not None:
        result.to_json(json)
        typer.echo(f"Written: {json}")


def _of_run(run: Path) -> dict[str, Any]:
    """The kinds of the factors and codes of a run, None where none were declared."""
    from unbraid.cli.outcome import ABOUT

    about = loads((run / ABOUT).read_text(encoding="utf-8")) if (run / ABOUT).is_file() else {}
    return {name: about.get(name) or None for name in ("kinds", "code_kinds")}
