"""``unbraid evaluate``: the table of scores of a saved run, or of two array files."""

from pathlib import Path
from typing import Annotated, Any

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


def read_array(path: Path) -> Any:
    """The array of a .npy file, the only array of a .npz file, or the columns of a .csv file."""
    import numpy as np

    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file.")
    if path.suffix == ".npy":
        return np.load(path, allow_pickle=False)
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            if len(file.files) != 1:
                raise ValueError(f"{path} holds the arrays {', '.join(file.files)}; give a file with one array.")
            return file[file.files[0]]
    if path.suffix == ".csv":
        return _read_csv(path)
    raise ValueError(f"{path} has the extension {path.suffix!r}; allowed are .npy, .npz and .csv.")


def _read_csv(path: Path) -> Any:
    """Columns without a decimal point are whole numbers, so classes; a header line is skipped."""
    import csv

    import numpy as np

    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row]
    if rows and not all(is_number(cell) for cell in rows[0]):
        rows = rows[1:]
    if not rows or len({len(row) for row in rows}) > 1 or not all(is_number(cell) for row in rows for cell in row):
        raise ValueError(f"{path} is not a table of numbers separated by commas, all rows of one length.")
    whole = all(cell.strip().lstrip("+-").isdigit() for row in rows for cell in row)
    return np.array(rows, dtype=float).astype(np.int64 if whole else np.float64)


def is_number(cell: str) -> bool:
    """Whether the cell of a table is a number.

    >>> is_number("1e-3"), is_number("dye")
    (True, False)
    """
    try:
        float(cell)
    except ValueError:
        return False
    return True
