"""Progress bars on standard error, shown on a terminal and silent elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(description: str, total: float | None = None, *, show: bool | None = None) -> Iterator[Callable]:
    """A bar for work of ``total`` units; yields ``advance(amount=1, **notes)``, notes stand behind the bar.

    ``show=None`` shows the bar when standard error is a terminal.

    >>> with bar("fit", total=3, show=False) as advance:
    ...     advance(1, loss=0.25)
    """
    if not (sys.stderr.isatty() if show is None else show):
        yield lambda amount=1, **notes: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[notes]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(description, total=total, notes="")

        def advance(amount: float = 1, **notes: float | str) -> None:
            text = "  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in notes.items())
            progress.update(task, advance=amount)
            if notes:
                progress.update(task, notes=text)

        yield advance
