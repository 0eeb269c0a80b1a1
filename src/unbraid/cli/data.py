"""What ``DATA`` stands for: a file, a folder of images or a data set, with what is known about its rows."""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unbraid.cli.options import AUTO, OFFERED, DatasetOptions, assignments, in_flags, names_in, refusal
from unbraid.methods import EVIDENCE

if TYPE_CHECKING:
    from unbraid.data.observations import Observations

TABLES = (".csv", ".tsv", ".txt", ".dat", ".parquet", ".feather", ".xlsx")
OF_FILES = (
    "key", "resize", "skip_unreadable", "columns", "exclude", "index", "header", "missing", "fill", "drop_missing",
    "factors_from", "divide", "prepare",
)  # fmt: skip
DRAWN = 3000  # observations of a data set, unless --points is given
DEGREES = 50  # range of an angle above which it is not in radians


@dataclass(frozen=True)
class Data:
    """Observations, what their factors are called and are like, what was decided about a table, and its columns."""

    known: "Observations"
    factor_names: Any = None
    factor_kinds: Any = None
    decisions: tuple[str, ...] = ()
    columns: list[str] | None = None


@dataclass(frozen=True)
class Request:
    """The options about the data; those with a help text are the same in every command that :func:`reads_data`."""

    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="An array file (.npy, .npz, .h5, .zarr, .mat, .h5ad, .nc), a table (.csv, .tsv, .txt, .dat, .parquet, "
            ".feather, .xlsx), a folder (or .tar) of images, an image stack or video, or the name of a data set. Rows "
            "are observations.",
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
        str | None,
        typer.Option(
            metavar="FILE|NAME", help="When each row was observed: numbers or dates, or a day and a time: DATE,TIME."
        ),
    ] = None
    sets: Annotated[
        str | None, typer.Option(metavar="FILE|NAME", help="Which set each row belongs to: augmentations of one point.")
    ] = None
    covariates: Annotated[
        str | None,
        typer.Option(metavar="FILE|NAMES", help="Batch, session, day: columns or arrays, whose effect is taken away."),
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
            metavar="A,B",
            help="Columns of a table to use as data, or ranges of them (400:700, a:d); default all but factors, labels "
            "and what is no data, such as row numbers, dates and names.",
        ),
    ] = None
    exclude: Annotated[
        str | None, typer.Option(metavar="A,B", help="Columns of a table to leave out, or ranges of them.")
    ] = None
    index: Annotated[str | None, typer.Option(metavar="NAME", help="Column of a table that names the rows.")] = None
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first line of a table names its columns."),
    ] = None
    missing: Annotated[
        str | None,
        typer.Option(
            metavar="A,B", help="What marks missing values in a table: -200, or ?. none: take all numbers as they are."
        ),
    ] = None
    fill: Annotated[
        str | None,
        typer.Option(
            metavar="HOW", help="Fill missing values: median, linear (between rows), neighbors, none or a number."
        ),
    ] = None
    drop_missing: Annotated[
        bool, typer.Option("--drop-missing", help="Leave out rows with missing values, and dead rows.")
    ] = False
    divide: Annotated[
        float | None, typer.Option(metavar="N", help="Divide all values by N: 4095 scales 12-bit images to [0, 1].")
    ] = None
    prepare: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="What is done to a table, in this order: log, snv (each row to mean 0 and spread 1), derivative "
            "(along the columns), spread (each column to spread 1). Spectra: derivative,spread.",
        ),
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


def show_decisions(data: str, read: Data) -> None:
    """Print what was decided about a table."""
    for decision in read.decisions:
        typer.echo(f"{Path(data).name}: {in_flags(decision)}")


def read_data(request: Request, method: str) -> Data:
    """Open the data, and what is known about its rows."""
    request.check()
    uses = None if method == AUTO else OFFERED[method].uses
    for name in request.evidence:
        if uses is not None and name not in uses:
            raise refusal(request.flag(name), method, [other for other, m in OFFERED.items() if name in m.uses])
    if Path(request.data).exists():
        found = _from_file(request, method)
    else:
        found = _from_dataset(request, uses is None or uses == ("labels",))
    if method != AUTO and "labels" in OFFERED[method].needs and found.known.labels is None:
        raise ValueError(
            f"{method} needs a condition: give --labels FILE (.npy, .npz or .csv, one row per observation), "
            "--labels KEY (an array of the same file), or a data set with labels of its own, such as gin-mixture."
        )
    return found


def _from_file(request: Request, method: str) -> Data:
    from unbraid.data.files import open as open_data

    if request.points is not None or request.option:
        raise ValueError(f"--points and --option are for built-in data sets; {request.data} is a file or folder.")
    size = None if request.resize is None else _size(request.resize)
    named, kinds = (None, []) if request.factors_from is None else _named(request.factors_from)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*UB404")  # the command prints what was decided
        X = open_data(
            request.data,
            request.key,
            resize=size,
            skip_unreadable=request.skip_unreadable,
            divide=request.divide,
            prepare=() if request.prepare is None else names_in(request.prepare),
            **_about_table(request, method, named or []),
        )
    evidence = {name: _evidence(request, name, where) for name, where in request.evidence.items()}
    factors = _Known() if named is None else _factors(request, named, kinds, X)
    known = _observed(X, evidence, factors)
    return Data(known, factors.names, factors.kinds, (*X.decisions, *factors.decisions), X.names)


def _about_table(request: Request, method: str, factors: list[str]) -> dict[str, Any]:
    """The options about a table; columns that are factors or evidence are none of its data.

    Missing values stay as they are for a method that takes them, unless the user says what to do with them.
    """
    from unbraid.data.frames import names_of

    data = Path(request.data)
    is_table = data.suffix.lower() in TABLES and data.is_file()
    exclude = [] if request.exclude is None else names_in(request.exclude)
    if is_table and request.columns is None:
        known = {*factors, *(name for where in request.evidence.values() for name in (where, *names_in(where)))}
        exclude += [name for name in names_of(data, request.header) if name in known]
    said: dict[str, Any] = {"index": request.index, "header": request.header, "fill": request.fill}
    unsaid = is_table and request.fill is None and not request.drop_missing
    if unsaid and (method == AUTO or OFFERED[method].load().takes_gaps):
        said["fill"] = "none"
    if request.columns is not None:
        said["columns"] = names_in(request.columns)
    if request.missing is not None:
        said["missing"] = "none" if request.missing == "none" else names_in(request.missing)
    return said | ({"exclude": exclude} if exclude else {}) | {"drop_missing": request.drop_missing}


def _observed(X: Any, evidence: dict[str, Any], factors: "_Known") -> "Observations":
    """Data with what is known of its rows; what a table says of rows that were left out is left out too."""
    import numpy as np

    from unbraid.data.observations import Observations

    if len(X) == X.n_read:
        return Observations(X, factors=factors.values, names=X.row_names, **evidence)
    names = X.numbers.astype(str) if X.row_names is None else X.row_names
    if not factors.matched:
        evidence["factors"] = factors.values
    kept = Observations(np.empty((X.n_read, 1)), **evidence).subset(X.numbers)
    known = replace(kept, X=X, names=names)
    return replace(known, factors=factors.values) if factors.matched else known


def _named(text: str) -> tuple[list[str], list[list[str]]]:
    """Names of known factors, and the kinds declared of each: none, one for all of its columns, or one a factor.

    >>> _named("angle:circle, height, turns.npy:circle:interval")
    (['angle', 'height', 'turns.npy'], [['circle'], [], ['circle', 'interval']])
    """
    from unbraid.metrics.kinds import WIDTHS

    kind = f"(?:{'|'.join(WIDTHS)})"
    parts = [re.split(f":(?=(?:{kind}:)*{kind}$)", name) for name in names_in(text)]
    return [name for name, *_ in parts], [kinds for _, *kinds in parts]


def _evidence(request: Request, name: str, where: str) -> Any:
    """One piece of evidence; covariates, time and the factors of labelled rows may be several columns."""
    import numpy as np

    factors = name == "labels" and request.labelled_rows
    options = {"text": name in ("labels", "time", "sets", "covariates") and not factors, "gaps": factors}
    places = names_in(where) if name in ("covariates", "time") or factors else [where]
    parts = [_array(request, part, request.flag(name), **options) for part in places]
    if name == "time" and len(parts) > 1:
        return np.array([" ".join(map(str, row)) for row in zip(*parts)])
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


@dataclass(frozen=True)
class _Known:
    """Factors to be scored by, their names and kinds, whether rows were found by name, and what was decided."""

    values: Any = None
    names: list[str] | None = None
    kinds: list[str] | None = None
    matched: bool = False
    decisions: tuple[str, ...] = ()


def _factors(request: Request, names: list[str], kinds: list[list[str]], X: Any) -> _Known:
    """Columns of the same table, arrays beside the data, or files of their own, to be scored by."""
    import numpy as np

    if len(names) == 1 and Path(names[0]).is_file() and Path(names[0]).suffix.lower() in TABLES:
        from unbraid.data.matching import factors_of

        found = factors_of(Path(names[0]), X.row_names)
        told = tuple(f"{names[0]}: {decision}" for decision in found.decisions)
        return _Known(found.values, found.names, _declared(names, [found.values], kinds), found.matched, told)
    parts = [_array(request, name, "--factors-from") for name in names]
    parts = [np.unique(part, return_inverse=True)[1] if part.dtype.kind == "U" else part for part in parts]
    parts = [part.reshape(len(part), -1) for part in parts]
    columns = [
        name if part.shape[1] == 1 else f"{Path(name).stem} {number + 1}"
        for name, part in zip(names, parts)
        for number in range(part.shape[1])
    ]
    return _Known(np.column_stack(parts), columns, _declared(names, parts, kinds))


def _declared(names: list[str], parts: list[Any], kinds: list[list[str]]) -> list[str] | None:
    """The kind of every factor, if some are declared."""
    from unbraid.metrics.kinds import WIDTHS, parts_of

    declared = []
    for name, part, own in zip(names, parts, kinds):
        where = f"--factors-from {name}"
        if len(own) < 2:
            one = own[0] if own else "interval"
            own = [one] * max(1, part.shape[1] // WIDTHS[one])
        for kind, columns in parts_of(part, own, where, f"the columns of {name}"):
            if kind == "circle":
                check_radians(columns, where)
        declared += own
    return declared if any(kinds) else None


def check_radians(angle: Any, where: str) -> None:
    """Refuse an angle that ranges over too much to be in radians."""
    import numpy as np

    if np.ptp(angle) > DEGREES:
        raise ValueError(
            f"{where}: an angle is in radians, and this one ranges over {np.ptp(angle):.4g}. "
            "Divide degrees by 57.29578."
        )


def _array(request: Request, where: str, option: str, *, text: bool = False, gaps: bool = False) -> Any:
    """Of a file of its own, of an array beside the data, or of a column of the same table."""
    import numpy as np

    from unbraid.data.files import open as open_data
    from unbraid.data.frames import column_of, read_array

    data = request.data
    if Path(where).is_file():
        return read_array(Path(where), text=text, gaps=gaps)
    if Path(data).suffix.lower() in TABLES:
        return column_of(Path(data), where, gaps=gaps, header=request.header)
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
    given = [option for option in OF_FILES if getattr(request, option) not in (None, False)]
    if given:
        raise ValueError(f"--{given[0].replace('_', '-')} is for files; {name} is the name of a data set.")
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
