"""What ``unbraid fit`` leaves behind: the run's folder, and what is printed about it."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from unbraid.cli.options import in_flags

if TYPE_CHECKING:
    from unbraid.diagnosis import Diagnosis
    from unbraid.report import Fitted

ABOUT = "fit.json"  # which data and method a run is of


@dataclass(frozen=True)
class About:
    """What a run is of: its data and method, what was decided about a table, and its columns."""

    data: str
    method: str
    decisions: tuple[str, ...] = ()
    columns: list[str] | None = None


def default_run(data: str, method: str) -> Path:
    """``runs/DATA-METHOD``, with a number appended where a run of other data has that name."""
    stem = Path(data).resolve().name.split(".")[0] or "data"
    first = Path("runs") / f"{stem}-{method}"
    names = chain([first], (first.with_name(f"{first.name}-{number}") for number in count(2)))
    return next(run for run in names if not run.exists() or _is_of(run, data))


def _is_of(run: Path, data: str) -> bool:
    """Whether a run is recorded as one of this data."""
    try:
        about = json.loads((run / ABOUT).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    return isinstance(about, dict) and about.get("data") == _place(data)


def _place(data: str) -> str:
    return str(Path(data).resolve()) if Path(data).exists() else data


def free(run: Path) -> Path:
    """Refuse a folder that holds something else or cannot be written to, before any time is spent."""
    from unbraid.saving.persistence import CONFIG

    if run.exists() and not (run / CONFIG).is_file() and (not run.is_dir() or any(run.iterdir())):
        raise FileExistsError(f"{run} exists and is not a saved run; it was not changed. Choose another --out.")
    there = next(place for place in (run, *run.absolute().parents) if place.exists())
    if not there.is_dir():
        raise NotADirectoryError(f"{run} cannot be created: {there} is a file. Choose another --out.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise PermissionError(f"{run} cannot be written: no write permission for {there}. Choose another --out.")
    return run


def save_run(run: Path, fitted: "Fitted", about: About, diagnosis: "Diagnosis | None" = None) -> None:
    """Write model, codes and report once all are ready; nothing of an earlier run remains."""
    import numpy as np

    from unbraid.app.kept import keep, keep_opening
    from unbraid.app.workspace import workspace_of
    from unbraid.report.html import sentence
    from unbraid.report.pages import page_of

    page = page_of(fitted, title=f"{fitted.summary.title} of {Path(about.data).name}")
    if about.decisions:
        page.section("The table").text("What was decided when it was read:", *map(sentence, about.decisions))
    if diagnosis is not None:
        diagnosis.add_to(page)
    if fitted.codes is not None:
        page.section("Explore the factors").text("In the browser, with a slider for each factor:")
        page.code(f"unbraid explore {run}")
    fitted.model.save(run)
    for array, file in ((fitted.codes, "codes.npy"), (fitted.factors, "factors.npy")):
        if array is None:
            (run / file).unlink(missing_ok=True)
        else:
            np.save(run / file, array)
    _write_codes(run / "codes.csv", fitted)
    keep(run, fitted.sample, fitted.sample_codes, fitted.sample_names, fitted.feature_names)
    page.write(run / "report.html")
    what = {"data": _place(about.data), "method": about.method, "columns": about.columns, "decisions": about.decisions}
    what |= {"kinds": fitted.factor_kinds, "code_kinds": fitted.factor_kinds and list(fitted.summary.kinds)}
    (run / ABOUT).write_text(json.dumps(what), encoding="utf-8")
    if fitted.sample_codes is not None:
        keep_opening(run, workspace_of([run]))


def _write_codes(path: Path, fitted: "Fitted") -> None:
    """The codes with the names of their rows, as any spreadsheet reads them; row numbers where there are no names."""
    import csv

    if fitted.codes is None:
        path.unlink(missing_ok=True)
        return
    names = range(len(fitted.codes)) if fitted.row_names is None else fitted.row_names
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["row", *(f"code {j + 1}" for j in range(fitted.codes.shape[1]))])
        lines.writerows([name, *(f"{value:.8g}" for value in code)] for name, code in zip(names, fitted.codes))


def record(fitted: "Fitted", run: Path, about: About, diagnosis: "Diagnosis | None" = None) -> str:
    """One JSON object: what was fitted, what was found, and where it is saved."""
    summary, codes = fitted.summary, fitted.codes
    found = {
        "run": str(run),
        "data": about.data,
        "method": about.method,
        "columns": about.columns,
        "decisions": list(about.decisions),
        "n_rows": fitted.n_rows,
        "row_shape": list(fitted.sample.shape[1:]),
        "n_codes": None if codes is None else codes.shape[1],
        "seconds": fitted.seconds,
        "mcc": fitted.mcc,
        "facts": {fact.name: fact.value for fact in summary.facts},
        "choices": list(summary.choices),
        "concerns": fitted.concerns,
        "remarks": fitted.remarks,
        "diagnosis": None if diagnosis is None else json.loads(diagnosis.to_json()),
        "files": sorted(item.name for item in run.iterdir()),
    }
    return json.dumps(found, default=float)


def print_outcome(fitted: "Fitted", run: Path, said: Sequence[str] = ()) -> None:
    """Print figures, warnings except those that were said before, and what to do next."""
    from rich.console import Console
    from rich.table import Table

    from unbraid.report.html import SENTENCE
    from unbraid.report.pages import SOON
    from unbraid.trust.warnings import explain_command

    summary = fitted.summary
    n_codes = 0 if fitted.codes is None else fitted.codes.shape[1]
    found = f"Found {n_codes} code{'s' * (n_codes > 1)}" if n_codes else "Fitted"
    typer.echo(f"{found} in {fitted.seconds:.1f} s." if fitted.seconds and fitted.seconds > SOON else f"{found}.")
    for sentence in summary.choices:
        typer.echo(in_flags(sentence))
    table = Table(show_header=False, box=None, pad_edge=False)
    for fact in summary.facts:
        table.add_row(fact.name, fact.value, fact.meaning if len(fact.meaning) <= SENTENCE else "")
    console = Console()
    console.print(table)
    if fitted.mcc is not None:
        console.print(f"MCC with the known factors: [bold]{fitted.mcc:.4f}[/bold]")
    for concern in (text for text in fitted.concerns if text not in said):
        typer.secho(f"Warning: {in_flags(concern)}", fg="yellow")
    for remark in fitted.remarks:
        typer.echo(f"Note: {in_flags(remark)}")
    if not fitted.concerns:
        typer.echo(summary.note)
    more = explain_command([*fitted.concerns, *fitted.remarks])
    if more:
        typer.echo(f"Causes and remedies: {more}")
    files = "the model, codes.npy and codes.csv" if fitted.codes is not None else "the model"
    typer.echo(f"\nSaved in {run}: {files}, and report.html, which explains the figures. Next:")
    typer.echo(f"  open {run / 'report.html'} in a browser")
    if fitted.codes is not None:
        typer.echo(f"  unbraid explore {run}")
    typer.echo(f"  in Python: model = unbraid.load({str(run)!r}); model.transform(new_observations)")
    if fitted.mcc is not None:
        typer.echo(f"  unbraid evaluate {run}")
