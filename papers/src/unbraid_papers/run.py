"""Run the missing cells of a paper, judge its claims, and draw its figures."""

import time
import warnings
from pathlib import Path
from typing import Any

from unbraid.runtime.progress import bar
from unbraid_papers.bench import Bench
from unbraid_papers.ledger import Ledger
from unbraid_papers.page import Page, page_of
from unbraid_papers.paper import SCALES, Cell, Paper, Rows


def run_paper(paper: Paper, scale: str, out: Path, *, progress: bool | None = None) -> Page:
    """Run the cells that are not done, and write the page.

    Parameters
    ----------
    paper : Paper
    scale : "small" or "paper"
    out : Path
        Folder of the reproduction. Cells that are done there are not run again.
    progress : bool, optional
        Show a bar; by default on a terminal.

    Returns
    -------
    Page
        Written to ``out``: page.html, page.json and images.
    """
    if scale not in SCALES:
        raise ValueError(f"scale={scale!r} is not a scale. Available: {', '.join(SCALES)}.")
    if out.exists() and not out.is_dir():
        raise FileExistsError(f"{out} is a file, not a folder. Choose another folder.")
    out.mkdir(parents=True, exist_ok=True)
    bench = Bench(scale, out)
    ledger = Ledger(out / "rows.sqlite", paper.name, scale)
    try:
        results, missing = _run_cells(paper, bench, ledger, progress)
    finally:
        ledger.close()
    page = page_of(paper, scale, results, missing)
    page.draw(paper, results, bench)
    page.write(out)
    return page


def _run_cells(
    paper: Paper, bench: Bench, ledger: Ledger, progress: bool | None
) -> tuple[dict[str, Rows], dict[str, list[str]]]:
    """Rows of every experiment, and why cells could not be run."""
    orders = [(e, cell) for e in paper.experiments for cell in e.cells(bench.scale)]
    done: dict[str, list[Cell]] = {e.name: [] for e in paper.experiments}
    missing: dict[str, list[str]] = {e.name: [] for e in paper.experiments}
    with bar(f"reproduce {paper.name}", total=len(orders), show=progress) as advance:
        for experiment, cell in orders:
            advance(0, now=f"{experiment.name}: {', '.join(str(v) for v in cell.values())}")
            found = ledger.get(experiment.name, cell, experiment.version)
            if found is None:
                try:
                    found = _measured(experiment.run, cell, bench)
                except (FileNotFoundError, ModuleNotFoundError) as error:  # shown on the page, tried again next time
                    if str(error) not in missing[experiment.name]:
                        missing[experiment.name].append(str(error))
                    advance(1)
                    continue
                ledger.put(experiment.name, cell, experiment.version, found)
            done[experiment.name].append({**cell, **found})
            advance(1)
    return {name: Rows(rows) for name, rows in done.items()}, missing


def _measured(run: Any, cell: Cell, bench: Bench) -> dict[str, Any]:
    began, cpu = time.monotonic(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # experiments record what they need of a method's warnings
        found = dict(run(dict(cell), bench))
    return {**found, "seconds": time.monotonic() - began, "cpu_seconds": time.process_time() - cpu}
