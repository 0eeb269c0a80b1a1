"""Progress on standard error: bars on a terminal; elsewhere nothing, or plain lines where the command line asks."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

LINE_EVERY = 10.0  # seconds between two plain lines
_style: ContextVar[str] = ContextVar("style", default="bars")


@contextmanager
def progress_style(style: str) -> Iterator[None]:
    """How progress is shown within: "bars" (on a terminal only), "lines" where there is no terminal, or "off".

    >>> with progress_style("off"), bar("fit", total=3) as advance:
    ...     advance()
    """
    before = _style.set(style)
    try:
        yield
    finally:
        _style.reset(before)


def may_speak() -> bool:
    """Whether a line on standard error is welcome: on a terminal, or where the command line asks for lines.

    >>> with progress_style("off"):
    ...     may_speak()
    False
    """
    style = _style.get()
    return style == "lines" or (style == "bars" and sys.stderr.isatty())


@contextmanager
def bar(description: str, total: float | None = None, *, show: bool | None = None) -> Iterator[Callable]:
    """A bar for work of ``total`` units; yields ``advance(amount=1, **notes)``, notes stand behind the bar.

    ``show=None`` shows the bar when standard error is a terminal.

    >>> with bar("fit", total=3, show=False) as advance:
    ...     advance(1, loss=0.25)
    """
    style = _style.get()
    if show is None and style == "lines" and not sys.stderr.isatty():
        yield _lines(description, total)
        return
    if not (sys.stderr.isatty() and style != "off" if show is None else show):
        yield lambda amount=1, **notes: None
        return
    from rich import console, progress

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        progress.TextColumn("{task.fields[notes]}"),
    )
    with progress.Progress(*columns, console=console.Console(stderr=True)) as shown:
        task = shown.add_task(description, total=total, notes="")

        def advance(amount: float = 1, **notes: float | str) -> None:
            shown.update(task, advance=amount)
            if notes:
                shown.update(task, notes=_words(notes))

        yield advance


@contextmanager
def heartbeat(description: str) -> Iterator[Callable[[str], None]]:
    """A line every ten seconds while work of unknown length is going on; yields ``now(step)``, which names the step.

    >>> with progress_style("off"), heartbeat("diagnose") as now:
    ...     now("reading")
    """
    if not may_speak():
        yield lambda step: None
        return
    started, done, steps = time.monotonic(), threading.Event(), [""]

    def beat() -> None:
        while not done.wait(LINE_EVERY):
            step = f": {steps[-1]}" if steps[-1] else ""
            print(f"{description}{step}, after {time.monotonic() - started:.0f} s", file=sys.stderr)

    thread = threading.Thread(target=beat, name=f"unbraid {description}", daemon=True)
    thread.start()
    try:
        yield steps.append
    finally:
        done.set()
        thread.join()


def _words(notes: dict[str, float | str]) -> str:
    return "  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in notes.items())


def _lines(description: str, total: float | None) -> Callable:
    """Plain lines for logs, by time: none of work that is done within ``LINE_EVERY`` seconds."""
    started = last = time.monotonic()
    done = 0.0

    def advance(amount: float = 1, **notes: float | str) -> None:
        nonlocal done, last
        done += amount
        now = time.monotonic()
        if now - last >= LINE_EVERY:
            last = now
            of = "" if total is None else f" of {total:g}"
            print(f"{description}: {done:g}{of} after {now - started:.0f} s  {_words(notes)}".rstrip(), file=sys.stderr)

    return advance
