"""``unbraid study``: run thousands of models from one file, inspect them, score them again."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unbraid.cli.options import Assigned, assignments, metrics_in

if TYPE_CHECKING:
    from unbraid.study import Store, Study

Spec = Annotated[str, typer.Argument(metavar="SPEC", help="A TOML file, or a built-in study: smoke, laptop, paper.")]
MaybeSpec = Annotated[
    str | None, typer.Argument(metavar="SPEC", help="The study's TOML file or built-in name; not needed with --store.")
]
StoreOption = Annotated[
    str | None,
    typer.Option("--store", metavar="PATH|URL", help="Folder of the results, or a database; default NAME.study."),
]


def store_of(spec: str | None, store: str | None) -> "Store":
    """The store that is meant: the one given, or that of the spec's name."""
    from unbraid.study import Store
    from unbraid.study.files import study_name

    if store is None and spec is None:
        raise ValueError("no study given. Give its SPEC, or --store.")
    return Store(store or f"{study_name(spec or '')}.study")


def opened(spec: str | None, store: str | None) -> "Study":
    """The study in that store; this imports pandas, which the progress of a study does not need."""
    from unbraid.study import Study

    return Study(store_of(spec, store))


def run(
    spec: Spec,
    store: StoreOption = None,
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Worker processes; default one per core; 0 uses this process."),
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Use a Dask scheduler instead, for instance tcp://host:8786.")
    ] = None,
    max_time: Annotated[
        str | None, typer.Option("--max-time", metavar="TIME", help="Stop after this time: 90s, 30m, 2h.")
    ] = None,
    only: Annotated[
        str | None, typer.Option(metavar="A:B", help="Only these tasks of `study list`: 0:100 or 7.")
    ] = None,
) -> None:
    """Run the pending tasks of a study. Ctrl-C stops it cleanly; the same command resumes it.

    \b
    unbraid study run smoke
    unbraid study run laptop --store laptop.study --workers 2 --max-time 1h
    unbraid study run paper --scheduler tcp://head:8786 --store postgresql+psycopg://me@head/paper
    """
    from unbraid.runtime.progress import progress_style
    from unbraid.study import read_spec, run_study, tasks_of

    read = read_spec(spec)
    place = store or f"{read.name}.study"
    indices = None if only is None else slice_of(only, len(tasks_of(read)))
    with progress_style("lines"):
        sitting = run_study(
            read, place, workers=workers, scheduler=scheduler, max_time=seconds_of(max_time), indices=indices
        )
    typer.echo(
        f"Runs: {sitting.done} done, {sitting.failed} failed, {sitting.left} left, in {words_of(sitting.seconds)}."
    )
    if sitting.failed:
        typer.secho(
            f"Errors: `unbraid study status --store {place} --errors`. Retry: `unbraid study retry`.", fg="yellow"
        )
    if sitting.ending == "interrupt":
        raise KeyboardInterrupt
    if sitting.left:
        typer.echo("Resume with the same command.")


def seconds_of(text: str | None) -> float | None:
    """90, 90s, 30m, 2h or 1d as seconds.

    >>> seconds_of("2h"), seconds_of("90"), seconds_of(None)
    (7200.0, 90.0, None)
    """
    if text is None:
        return None
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    number, unit = (text[:-1], units[text[-1]]) if text[-1:] in units else (text, 1)
    try:
        seconds = float(number) * unit
    except ValueError:
        seconds = -1.0
    if not seconds > 0:
        raise ValueError(f"--max-time is {text!r}; it must be a time such as 90s, 30m, 2h or 1d.")
    return seconds


def slice_of(text: str, n: int) -> list[int]:
    """Numbers of tasks: one, or from : to (without the last).

    >>> slice_of("2:4", 10), slice_of("7", 10), slice_of("8:", 10)
    ([2, 3], [7], [8, 9])
    """
    first, colon, last = text.partition(":")
    if not all(part.strip() == "" or part.strip().isdecimal() for part in (first, last)) or text.strip() in ("", ":"):
        raise ValueError(f"--only is {text!r}; it must be a number or a range of `study list`, like 7 or 0:100.")
    if not colon:
        return [int(first)]
    return list(range(int(first or 0), min(int(last or n), n)))


def words_of(seconds: float) -> str:
    """A duration in words.

    >>> words_of(42), words_of(3700)
    ('42 s', '1 h 02 min')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def show(
    spec: Spec,
    only: Annotated[str | None, typer.Option(metavar="A:B", help="Only these tasks, for instance 0:100 or 7.")] = None,
) -> None:
    """List the tasks of a study: number, address, data set, method, strength, seed."""
    from unbraid.study import read_spec, tasks_of

    tasks = tasks_of(read_spec(spec))
    for i in range(len(tasks)) if only is None else slice_of(only, len(tasks)):
        task = tasks[i]
        strength = "" if task.strength is None else f"{task.strength:g}"
        typer.echo(f"{task.index}\t{task.run}\t{task.dataset}\t{task.method}\t{strength}\t{task.seed}")


def status(
    spec: MaybeSpec = None,
    store: StoreOption = None,
    errors: Annotated[bool, typer.Option("--errors", help="Show why runs failed.")] = False,
) -> None:
    """Show the progress of a study; from any shell, while it runs."""
    from unbraid.study.status import status_of

    typer.echo(str(status_of(store_of(spec, store))))
    if errors:
        for row in opened(spec, store).failures().itertuples():
            typer.secho(f"\n{row.run}: {row.method} on {row.dataset}, seed {row.seed}", fg="yellow")
            typer.echo(row.error)


def watch(
    spec: MaybeSpec = None,
    store: StoreOption = None,
    every: Annotated[float, typer.Option(metavar="S", min=0.2, help="Seconds between updates.")] = 2.0,
) -> None:
    """Show the progress of a study live, until it is done or Ctrl-C."""
    from rich.console import Console
    from rich.live import Live

    from unbraid.study.status import status_of

    place = store_of(spec, store)
    with Live(console=Console(), auto_refresh=False) as live:
        while True:
            found = status_of(place)
            live.update(str(found), refresh=True)
            if not found.writer:
                break
            time.sleep(every)


def retry(spec: MaybeSpec = None, store: StoreOption = None) -> None:
    """Mark failed runs as pending; `study run` then runs them again."""
    with store_of(spec, store) as found:
        found.lock()
        typer.echo(f"Runs marked as pending for `unbraid study run`: {found.retry()}.")


def rescore(
    spec: MaybeSpec = None,
    store: StoreOption = None,
    metrics: Annotated[str, typer.Option(help="Names separated by commas, or all.")] = "all",
    protocol: Annotated[str | None, typer.Option(help="fast or dlib-v1; default the study's.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Compute scores again that exist already.")] = False,
    workers: Annotated[
        int, typer.Option(metavar="N", min=0, help="Worker processes; default 0 uses this process.")
    ] = 0,
    plugin: Annotated[
        Path | None, typer.Option(metavar="FILE.py", help="Run this file first; it registers your own metrics.")
    ] = None,
) -> None:
    """Compute metrics for all runs from their saved codes; no model is needed. The same command resumes it.

    \b
    unbraid study rescore laptop --metrics dci_es,infomec --workers 8
    unbraid study rescore --store laptop.study --metrics my_metric --plugin my_metric.py
    """
    import runpy

    from unbraid.runtime.progress import progress_style
    from unbraid.study import rescore as compute

    if plugin is not None:
        runpy.run_path(str(plugin))
    study, names = opened(spec, store), metrics_in(metrics)
    with progress_style("lines"):
        typer.echo(f"Scores added: {compute(study, names, protocol=protocol, again=again, workers=workers)}.")


def rank(
    method: Annotated[
        str, typer.Argument(metavar="METHOD", help="A method of the study by its label, any other, or module:Class.")
    ],
    spec: MaybeSpec = None,
    store: StoreOption = None,
    metric: Annotated[str, typer.Option(help="What to rank by.")] = "mig",
    seeds: Annotated[int, typer.Option(min=1, help="Fits per data set of a method that is not in the study.")] = 3,
    rows: Annotated[int | None, typer.Option(min=10, help="Observations to fit it on, if it is not trained.")] = None,
    assigned: Assigned = None,
) -> None:
    """Place a method among all methods and strengths of a study.

    \b
    unbraid study rank hessian-ica laptop --metric mcc
    unbraid study rank tangent-ica laptop --set n_factors=5 --rows 2000
    unbraid study rank sklearn.decomposition:FastICA laptop --set n_components=5 --rows 2000
    """
    from unbraid.runtime.progress import progress_style
    from unbraid.study import rank as place

    parameters = assignments(assigned, "--set", "n_factors=5")
    with progress_style("lines"):
        table = place(opened(spec, store), method, metric, parameters=parameters, seeds=seeds, rows=rows)
    for dataset, of_data in table.groupby("dataset"):
        typer.echo(f"{dataset}, by the median of {metric}:")
        for row in of_data.itertuples():
            strength = "" if row.strength != row.strength else f" {row.strength:g}"
            line = f"{row.place:4d}  {row.median:7.4f}  {row.method}{strength} ({row.runs} runs)"
            typer.secho(line, bold=row.method == method, fg="green" if row.method == method else None)


def merge(
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE...", help="Stores, or exports with codes.")],
    store: Annotated[str, typer.Option("--store", metavar="PATH|URL", help="Store to merge into; created if missing.")],
) -> None:
    """Copy the finished runs of other stores, or of exports with codes, into one store."""
    from unbraid.study import Store
    from unbraid.study import merge as join

    with Store(store, create=True) as target:
        typer.echo(f"Runs copied to {target.shown}: {join(target, sources)}.")


def export(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder to write to.")],
    spec: MaybeSpec = None,
    store: StoreOption = None,
    codes: Annotated[int, typer.Option(min=0, help="Also export the codes of this many rows, to be scored again.")] = 0,
    strips: Annotated[bool, typer.Option("--strips", help="Also export the traversal strips.")] = False,
) -> None:
    """Write runs, scores, losses and curves as Parquet and CSV."""
    from unbraid.study import export as write

    for path in write(opened(spec, store), folder, codes=codes, strips=strips):
        typer.echo(f"{path} ({path.stat().st_size / 1e6:.2f} MB)")


def report(
    spec: MaybeSpec = None,
    store: StoreOption = None,
    out: Annotated[str, typer.Option(metavar="PAGE", help="The page to write.")] = "study.html",
) -> None:
    """Write one page: the paper's claims beside this study's, sortable tables, figures, a strip per run."""
    from unbraid.study.analysis import study_report

    study = opened(spec, store)
    page = study_report(study, title=f"Study {study.name}")
    typer.echo(f"Wrote {page.write(out)}.")


HELP = "Run thousands of models from one file, and score them."
COMMANDS = {"run": run, "list": show, "status": status, "watch": watch}
COMMANDS |= {command.__name__: command for command in (retry, rescore, rank, merge, export, report)}
