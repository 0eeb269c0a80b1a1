"""What ``DATA`` stands for: a file, a folder of images or a data set, with its labels where a method asks for them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unbraid.cli.options import AUTO, OFFERED, assignment, refusal

TABLES = (".csv", ".tsv", ".parquet", ".feather", ".xlsx")
DRAWN = 3000  # observations of a data set, unless --points says otherwise


@dataclass(frozen=True)
class Data:
    """Observations, and what is known about them."""

    X: Any
    factors: Any = None
    factor_names: Any = None
    labels: Any = None
    factor_kinds: Any = None


@dataclass(frozen=True)
class Request:
    """What the command line says about the data."""

    data: str
    key: str | None
    points: int | None
    options: list[str]
    resize: str | None
    skip_unreadable: bool
    labels: str | None
    seed: int
    columns: str | None = None
    factors_from: str | None = None
    divide: float | None = None


def read_data(request: Request, method: str) -> Data:
    """Open the data, and the labels for a method that takes them."""
    import unbraid as ub

    takes = method == AUTO or OFFERED[method].takes_labels
    if request.labels is not None and not takes:
        raise refusal("--labels", method, [name for name, m in OFFERED.items() if m.takes_labels])
    if Path(request.data).exists():
        found = _from_file(request)
    elif request.data in (known := ub.datasets.names()):
        found = _from_dataset(request, takes)
    else:
        raise FileNotFoundError(
            f"there is no file or folder {request.data}, and no data set of that name. Data sets: {', '.join(known)}."
        )
    if method != AUTO and "labels" in OFFERED[method].needs and found.labels is None:
        raise ValueError(
            f"{method} needs a condition: give --labels FILE (.npy, .npz or .csv, one row per observation), "
            "--labels KEY (an array of the same file), or a data set with labels of its own, such as gin-mixture."
        )
    return found


def _from_file(request: Request) -> Data:
    import unbraid as ub

    if request.points is not None or request.options:
        raise ValueError(f"--points and --option are for data-set names; {request.data} is a file or folder.")
    size = None if request.resize is None else _size(request.resize)
    is_table = Path(request.data).suffix.lower() in TABLES
    named = None if request.factors_from is None else _names(request.factors_from)
    X = ub.datasets.open(
        request.data,
        request.key,
        resize=size,
        skip_unreadable=request.skip_unreadable,
        columns=_columns(request, named or []) if is_table else request.columns and _names(request.columns),
        divide=request.divide,
    )
    labels = None if request.labels is None else _labels(request.data, request.labels)
    if named is None:
        return Data(X, labels=labels)
    return Data(X, *_factors(request, named), labels)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _columns(request: Request, factors: list[str]) -> list[str]:
    """The columns of a table that are data: those that were named, or all but labels and factors."""
    from unbraid.data.frames import names_of

    if request.columns is not None:
        return _names(request.columns)
    return [name for name in names_of(Path(request.data)) if name not in {*factors, request.labels}]


def _factors(request: Request, names: list[str]) -> tuple[Any, list[str]]:
    """Columns of the same table, arrays beside the data, or files of their own, to be scored by; and their names."""
    import numpy as np

    parts = [np.asarray(_labels(request.data, name, "--factors-from")) for name in names]
    parts = [np.unique(part, return_inverse=True)[1] if part.dtype.kind == "U" else part for part in parts]
    told = [single for name, part in zip(names, parts) for single in _each(name, 1 if part.ndim < 2 else part.shape[1])]
    return np.column_stack(parts), told


def _each(name: str, count: int) -> list[str]:
    """A name for each of several columns: those that a table has, or the name with numbers."""
    from unbraid.cli.evaluate import is_number
    from unbraid.data.frames import names_of

    if count == 1:
        return [name]
    path = Path(name)
    header = names_of(path) if path.suffix.lower() in TABLES and path.is_file() else []
    if len(header) == count and not any(map(is_number, header)):
        return header
    return [f"{path.stem} {number}" for number in range(1, count + 1)]


def _labels(data: str, labels: str, option: str = "--labels") -> Any:
    """Of a file of their own, of an array beside the data, or of a column of the same table."""
    import unbraid as ub
    from unbraid.cli.evaluate import read_array
    from unbraid.data.frames import column_of

    if Path(labels).is_file():
        return read_array(Path(labels))
    if Path(data).suffix.lower() in TABLES:
        return column_of(Path(data), labels)
    if not data.endswith((".npz", ".h5", ".hdf5", ".zarr", ".mat", ".nc")):
        raise FileNotFoundError(f"{option} is {labels!r}: there is no such file, and {data} holds no arrays by name.")
    return ub.datasets.open(data, labels)[:]


def _from_dataset(request: Request, takes_labels: bool) -> Data:
    import unbraid as ub

    name = request.data
    of_files = (request.key, request.resize, request.columns, request.factors_from, request.divide)
    if any(option is not None for option in of_files) or request.skip_unreadable:
        raise ValueError(
            "--key, --resize, --columns, --factors-from, --divide and --skip-unreadable are for files; "
            f"{name} is the name of a data set."
        )
    if request.labels is not None:
        raise ValueError(f"--labels is for files; the data set {name} brings its labels itself where it has some.")
    options = dict(assignment(text, "--option", "image_size=32") for text in request.options)
    dataset = ub.datasets.load(name, **options)
    count = DRAWN if request.points is None else request.points
    conditional = getattr(dataset, "sample_conditional", None)  # conditional data sets add it to the contract
    if takes_labels and conditional is not None:
        X, factors, labels = conditional(count, random_state=request.seed)
        return Data(X, factors, dataset.factor_names, labels, dataset.factor_kinds)
    X, factors = dataset.sample(count, random_state=request.seed)
    return Data(X, factors, dataset.factor_names, factor_kinds=dataset.factor_kinds)


def _size(text: str) -> tuple[int, int]:
    height, _, width = text.partition("x")
    if not (height.isdecimal() and width.isdecimal() and int(height) and int(width)):
        raise ValueError(f"--resize is {text!r}; it must be HEIGHTxWIDTH, for instance 64x64.")
    return int(height), int(width)
