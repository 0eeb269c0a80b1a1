"""What ``DATA`` stands for: a file, a folder of images or a data set, with what is known about its rows."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unbraid.cli.options import AUTO, OFFERED, DatasetOptions, assignments, names_in, refusal
from unbraid.methods import EVIDENCE

if TYPE_CHECKING:
    from unbraid.data.observations import Observations

TABLES = (".csv", ".tsv", ".parquet", ".feather", ".xlsx")
DRAWN = 3000  # observations of a data set, unless --points is given
DEGREES = 50  # range of an angle above which it is not in radians


@dataclass(frozen=True)
class Data:
    """Observations, and what their factors are called and are like where they are known."""

    known: "Observations"
    factor_names: Any = None
    factor_kinds: Any = None


@dataclass(frozen=True)
class Request:
    """The options about the data; those with a help text are the same in every command that :func:`reads_data`."""

    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="An array file (.npy, .npz, .h5, .zarr, .mat, .h5ad, .nc), a table (.csv, .tsv, .parquet, .feather, "
            ".xlsx), a folder (or .tar) of images, an image stack or video, or the name of a data set. Rows are "
            "observations.",
        ),
    ]
    # What is known about the rows: a .npy, .npz or .csv file, or an array or column of the same file by its name.
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|NAME",
            help="Condition of each row: a .npy, .npz or .csv file, or an array or column of the same file by its "
            "name. A data set with labels provides its own. With --labelled-rows: known factors.",
        ),
    ] = None
    condition: Annotated[
        str | None,
        typer.Option(metavar="FILE|NAME", help="The same as --labels: the condition under which a row was observed."),
    ] = None
    labelled_rows: Annotated[
        bool,
        typer.Option(
            "--labelled-rows",
            help="--labels are the factors of some rows, one column each (A,B for several), and empty for the others.",
        ),
    ] = False
    pairs: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|NAME",
            help="Rows that share all factors but one or a few: two row numbers (from 0) a line, or a column that is "
            "the same for both rows of a pair.",
        ),
    ] = None
    time: Annotated[
        str | None, typer.Option(metavar="FILE|NAME", help="When each row was observed: numbers or dates.")
    ] = None
    sets: Annotated[
        str | None, typer.Option(metavar="FILE|NAME", help="Which set each row belongs to: augmentations of one point.")
    ] = None
    covariates: Annotated[
        str | None, typer.Option(metavar="FILE|NAMES", help="What else was measured with each row: columns or arrays.")
    ] = None
    seed: Annotated[int, typer.Option(help="Random seed, also for sampling a data set.")] = 0
    key: Annotated[str | None, typer.Option(metavar="NAME", help="Which array of an .npz, .h5 or .zarr file.")] = None
    points: Annotated[int | None, typer.Option(help="Observations to sample from a data set; default 3000.")] = None
    option: DatasetOptions = None
    resize: Annotated[str | None, typer.Option(metavar="HxW", help="Resize images to height x width.")] = None
    skip_unreadable: Annotated[bool, typer.Option("--skip-unreadable", help="Skip images that cannot be read.")] = False
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B", help="Columns of a table to use as data; default all but factors, labels and the like."
        ),
    ] = None
    divide: Annotated[
        float | None, typer.Option(metavar="N", help="Divide all values by N: 4095 scales 12-bit images to [0, 1].")
    ] = None
    factors_from: str | None = None

    @property
    def evidence(self) -> dict[str, str]:
        """Where each piece of evidence is: a file, or an array or column of the data."""
        found = {name: getattr(self, name) for name in EVIDENCE if getattr(self, name) is not None}
        return found if self.condition is None else found | {"labels": self.condition}

    def flag(self, name: str) -> str:
        """The option that gave a piece of evidence."""
        return "--condition" if name == "labels" and self.condition is not None else f"--{name}"

    def check(self) -> None:
        """Refuse options about labels that contradict each other."""
        if self.labels is not None and self.condition is not None:
            raise ValueError("--labels and --condition are both given; a row has one condition. Leave out one.")
        if self.labelled_rows and self.labels is None:
            raise ValueError(
                "--labelled-rows says what --labels are: the factors of some rows. Give --labels FILE or --labels A,B."
            )


def reads_data(command: Callable[..., None]) -> Callable[..., None]:
    """A command that takes a :class:`Request`, with the options of the request in place of that parameter."""
    shared = [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
        for field in fields(Request)
        if hasattr(field.type, "__metadata__")
    ]
    shared[0] = shared[0].replace(default=Parameter.empty)
    names = [parameter.name for parameter in shared]

    def called(**given: Any) -> None:
        command(request=Request(**{name: given.pop(name) for name in names}), **given)

    own = signature(command).parameters.values()
    split = [[p.replace(kind=Parameter.KEYWORD_ONLY)] if p.name != "request" else shared for p in own]
    parameters = [parameter for part in split for parameter in part]
    called.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    called.__doc__ = command.__doc__
    return called


def read_data(request: Request, method: str) -> Data:
    """Open the data, and what is known about its rows."""
    request.check()
    uses = None if method == AUTO else OFFERED[method].uses
    for name in request.evidence:
        if uses is not None and name not in uses:
            raise refusal(request.flag(name), method, [other for other, m in OFFERED.items() if name in m.uses])
    if Path(request.data).exists():
        found = _from_file(request)
    else:
        found = _from_dataset(request, uses is None or uses == ("labels",))
    if method != AUTO and "labels" in OFFERED[method].needs and found.known.labels is None:
        raise ValueError(
            f"{method} needs a condition: give --labels FILE (.npy, .npz or .csv, one row per observation), "
            "--labels KEY (an array of the same file), or a data set with labels of its own, such as gin-mixture."
        )
    return found


def _from_file(request: Request) -> Data:
    from unbraid.data.files import open as open_data
    from unbraid.data.observations import Observations

    if request.points is not None or request.option:
        raise ValueError(f"--points and --option are for built-in data sets; {request.data} is a file or folder.")
    size = None if request.resize is None else _size(request.resize)
    is_table = Path(request.data).suffix.lower() in TABLES
    named, kinds = (None, []) if request.factors_from is None else _named(request.factors_from)
    X = open_data(
        request.data,
        request.key,
        resize=size,
        skip_unreadable=request.skip_unreadable,
        columns=_columns(request, named or []) if is_table else request.columns and names_in(request.columns),
        divide=request.divide,
    )
    evidence = {name: _evidence(request, name, where) for name, where in request.evidence.items()}
    factors, columns, factor_kinds = (None, None, None) if named is None else _factors(request, named, kinds)
    return Data(Observations(X, factors=factors, **evidence), columns, factor_kinds)


def _named(text: str) -> tuple[list[str], list[str]]:
    """Names of known factors, and the kind of each, "" where none is declared.

    >>> _named("angle:circle, height")
    (['angle', 'height'], ['circle', ''])
    """
    from unbraid.metrics.kinds import WIDTHS

    parts = [name.rpartition(":") for name in names_in(text)]
    return (
        [name if kind in WIDTHS else f"{name}{colon}{kind}" for name, colon, kind in parts],
        [kind if name and kind in WIDTHS else "" for name, colon, kind in parts],
    )


def _evidence(request: Request, name: str, where: str) -> Any:
    """One piece of evidence; covariates and the factors of labelled rows may be several columns."""
    import numpy as np

    factors = name == "labels" and request.labelled_rows
    options = {"text": name in ("labels", "time", "sets") and not factors, "gaps": factors}
    places = names_in(where) if name == "covariates" or factors else [where]
    parts = [_array(request.data, part, request.flag(name), **options) for part in places]
    values = parts[0] if len(parts) == 1 else np.column_stack(parts)
    if factors:
        return _labelled(values)
    if name == "labels" and values.dtype.kind == "f" and np.isnan(values).any():
        raise ValueError(
            f"{request.flag(name)} {where} is empty in {int(np.isnan(values).sum())} cells. If it holds the factors of "
            "some rows, add --labelled-rows; a condition must be known for every row."
        )
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def _labelled(values: Any) -> Any:
    """The factors of some rows (n, q), NaN elsewhere."""
    import numpy as np

    table = values.reshape(len(values), -1).astype(np.float64)
    if table.shape[1] == 1 and np.isfinite(table).all():
        raise ValueError(
            f"--labelled-rows: all {len(table)} rows have a label. Give --condition if the column is a condition, or "
            "--factors-from to score the codes by it; empty cells mark rows whose factors are not known."
        )
    return table


def _columns(request: Request, factors: list[str]) -> list[str]:
    """The columns of a table that are data: those that were named, or all but factors and evidence."""
    from unbraid.data.frames import names_of

    if request.columns is not None:
        return names_in(request.columns)
    known = {*factors, *(name for where in request.evidence.values() for name in (where, *names_in(where)))}
    return [name for name in names_of(Path(request.data)) if name not in known]


def _factors(request: Request, names: list[str], kinds: list[str]) -> tuple[Any, list[str], list[str] | None]:
    """Columns of the same table, arrays beside the data, or files of their own, to be scored by; their names, and
    their kinds if some are declared."""
    import numpy as np

    from unbraid.metrics.kinds import WIDTHS

    parts = [_array(request.data, name, "--factors-from") for name in names]
    parts = [np.unique(part, return_inverse=True)[1] if part.dtype.kind == "U" else part for part in parts]
    widths = [1 if part.ndim < 2 else part.shape[1] for part in parts]
    columns = [single for name, width in zip(names, widths) for single in _each(name, width)]
    declared = []
    for name, part, kind, width in zip(names, parts, kinds, widths):
        if kind == "circle" and np.ptp(part) > DEGREES:
            raise ValueError(
                f"--factors-from {name}:circle: an angle is in radians, and this one ranges over {np.ptp(part):.4g}. "
                "Divide degrees by 57.29578."
            )
        if width % WIDTHS[kind or "interval"]:
            raise ValueError(f"--factors-from {name}:{kind}: a {kind} has {WIDTHS[kind]} columns; received {width}.")
        declared += [kind or "interval"] * (width // WIDTHS[kind or "interval"])
    return np.column_stack(parts), columns, declared if any(kinds) else None


def _each(name: str, count: int) -> list[str]:
    """A name for each of several columns: those that a table has, or the name with numbers."""
    from unbraid.data.frames import is_number, names_of

    if count == 1:
        return [name]
    path = Path(name)
    header = names_of(path) if path.suffix.lower() in TABLES and path.is_file() else []
    if len(header) == count and not any(map(is_number, header)):
        return header
    return [f"{path.stem} {number}" for number in range(1, count + 1)]


def _array(data: str, where: str, option: str, *, text: bool = False, gaps: bool = False) -> Any:
    """Of a file of its own, of an array beside the data, or of a column of the same table."""
    import numpy as np

    from unbraid.data.files import open as open_data
    from unbraid.data.frames import column_of, read_array

    if Path(where).is_file():
        return read_array(Path(where), text=text, gaps=gaps)
    if Path(data).suffix.lower() in TABLES:
        return column_of(Path(data), where, gaps=gaps)
    if not data.endswith((".npz", ".h5", ".hdf5", ".zarr", ".mat", ".nc")):
        raise FileNotFoundError(f"{option} is {where!r}: there is no such file, and {data} holds no arrays by name.")
    return np.asarray(open_data(data, where)[:])


def _from_dataset(request: Request, takes_labels: bool) -> Data:
    import unbraid as ub

    name = request.data
    if name not in (known := ub.datasets.names()):
        raise FileNotFoundError(
            f"there is no file or folder {name}, and no data set of that name. Data sets: {', '.join(known)}."
        )
    of_files = (request.key, request.resize, request.columns, request.factors_from, request.divide)
    if any(option is not None for option in of_files) or request.skip_unreadable:
        raise ValueError(
            "--key, --resize, --columns, --factors-from, --divide and --skip-unreadable are for files; "
            f"{name} is the name of a data set."
        )
    if request.evidence:
        option = next(iter(request.evidence))
        raise ValueError(f"{request.flag(option)} is for files; the data set {name} has its own labels, or none.")
    dataset = ub.datasets.load(name, **assignments(request.option, "--option", "image_size=32"))
    count = DRAWN if request.points is None else request.points
    # conditional data sets add labels to what all give
    draw = getattr(dataset, "sample_conditional", dataset.sample) if takes_labels else dataset.sample
    drawn = dict(zip(("X", "factors", "labels"), draw(count, random_state=request.seed)))
    return Data(ub.Observations(**drawn), dataset.factor_names, dataset.factor_kinds)


def _size(text: str) -> tuple[int, int]:
    height, _, width = text.partition("x")
    if not (height.isdecimal() and width.isdecimal() and int(height) and int(width)):
        raise ValueError(f"--resize is {text!r}; it must be HEIGHTxWIDTH, for instance 64x64.")
    return int(height), int(width)
