"""``unbraid evaluate``: the table of scores of a saved run, or of two array files."""

from pathlib import Path
from typing import Annotated

import typer

from unbraid.cli.options import DatasetOptions, assignments, metrics_in


def evaluate(
    run: Annotated[
        Path, typer.Argument(help="A folder written by `unbraid fit`, or a file of codes (.npy, .npz, .csv).")
    ],
    factors: Annotated[
        Path | None, typer.Argument(help="The factors of these codes: integers are classes, floats are continuous.")
    ] = None,
    dataset: Annotated[str | None, typer.Option(help="Data set to score the run on, by its name.")] = None,
    option: DatasetOptions = None,
    metrics: Annotated[str, typer.Option(help="Names separated by commas, or all.")] = "all",
    protocol: Annotated[
        str, typer.Option(help="fast, or dlib-v1: the sample sizes of Locatello et al., minutes to hours.")
    ] = "fast",
    json: Annotated[Path | None, typer.Option(help="Also write the result to this JSON file.")] = None,
) -> None:
    """Score a representation: value, 95 % interval, chance level and ceiling of every metric.

    Two forms: `unbraid evaluate codes.npy factors.npy`, and `unbraid evaluate RUN --dataset dsprites`.
    """
    import unbraid as ub
    from unbraid.data.frames import read_array

    options = assignments(option, "--option", "image_size=32")
    if option and dataset is None:
        raise ValueError("--option needs a data set; give --dataset NAME too, or leave it out.")
    if factors is not None:
        if dataset is not None:
            raise ValueError("give either a file of factors or --dataset, not both.")
        subject, truth = read_array(run), read_array(factors)
    elif dataset is not None:
        subject, truth = ub.load(run), ub.datasets.load(dataset, **options)
    else:
        raise ValueError(
            f"{run} cannot be scored without factors. Add their file (`unbraid evaluate codes.npy factors.npy`) "
            "or the data set (`unbraid evaluate RUN --dataset NAME`)."
        )
    result = ub.evaluate(truth, subject, metrics=metrics_in(metrics), protocol=protocol)
    typer.echo(str(result))
    if json is not None:
        result.to_json(json)
        typer.echo(f"Written: {json}")
