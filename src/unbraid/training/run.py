"""The one training run: identity, checkpoint, exact resume, Ctrl-C, time limit, history, logs, progress.

A run drives a trainer, which knows what a step is and what its state is. All randomness is in that state, so a run that
was killed and resumed ends with the same bytes as one that was not.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unbraid.runtime.progress import bar
from unbraid.runtime.tracking import Track
from unbraid.training.checkpoint import check_identity, read_checkpoint, write_checkpoint
from unbraid.training.devices import Device
from unbraid.training.logs import Logs
from unbraid.training.trainer import Stepper


@dataclass
class Run:
    """A training run, from the start or from its checkpoint to the end.

    Attributes
    ----------
    trainer : Stepper
    identity : dict
        What a checkpoint must agree with: the model, its parameters, the seed and the data.
    max_steps : int
    max_seconds : float or None
    checkpoint : Path or None
        Written every ``checkpoint_every`` steps, at the end, and on Ctrl-C; if it exists, the run resumes from it.
    checkpoint_every : int
    device : Device
        The device, or accelerate's processes, of which the first writes.
    n_steps : int
        Steps taken.
    stopped : str
        Why the run ended before ``max_steps``; "" if it did not.
    history : list of dict
    """

    trainer: Stepper
    identity: dict[str, Any]
    max_steps: int
    max_seconds: float | None
    checkpoint: Path | None
    checkpoint_every: int
    device: Device
    n_steps: int = 0
    stopped: str = ""
    history: list[dict[str, Any]] = field(default_factory=list)

    def go(self, logs: Logs, show: bool | None, title: str) -> None:
        """Train to the end."""
        if self.checkpoint is not None and self.checkpoint.exists():
            self._load(self.checkpoint)
        logs.begin(self.history, self.n_steps)
        track = self._track(title)
        started = time.monotonic()
        with logs, postponed_interrupt() as interrupted, bar(title, total=self.max_steps, show=show) as advance:
            advance(self.n_steps)
            while self.n_steps < self.max_steps and not self.stopped:
                record = self.trainer.step(self.n_steps)
                self.n_steps += 1
                seconds = time.monotonic() - started
                if record is not None:
                    record = {"step": self.n_steps, **record, "seconds": round(seconds, 3)}
                    self.history.append(record)
                    logs.write(record)
                    track(record, self.n_steps)
                self.stopped = self.trainer.stopped or self._out_of_time(seconds)
                if self.checkpoint is not None and (self._is_due() or interrupted()):
                    self._save(self.checkpoint)
                advance(1, **{k: v for k, v in (record or {}).items() if isinstance(v, float) and k != "seconds"})
                if interrupted():
                    raise KeyboardInterrupt(self._interrupt_message())

    def _track(self, title: str) -> Callable[[dict[str, Any], int], None]:
        """A function that sends records to the tracker, starting with those so far; in the first process only."""
        if self.device.rank != 0:
            return lambda record, step: None
        track = Track(title, self.identity)
        for record in self.history:
            track(record, record["step"])
        return track

    def _out_of_time(self, seconds: float) -> str:
        over = self.max_seconds is not None and seconds > self.max_seconds and self.n_steps < self.max_steps
        return f"max_seconds={self.max_seconds:g}" if over else ""

    def _is_due(self) -> bool:
        return bool(self.stopped) or self.n_steps == self.max_steps or self.n_steps % self.checkpoint_every == 0

    def _interrupt_message(self) -> str:
        kept = (
            f"fit again to resume from {self.checkpoint}" if self.checkpoint else "nothing was saved (no checkpoint=)"
        )
        return f"interrupted after {self.n_steps} of {self.max_steps} steps; {kept}."

    def _save(self, path: Path) -> None:
        if self.device.rank == 0:
            tensors, state = self.trainer.get_state()
            about = {"identity": self.identity, "n_steps": self.n_steps, "history": self.history, "stepper": state}
            write_checkpoint(path, tensors, about)
        self.device.wait()

    def _load(self, path: Path) -> None:
        tensors, about = read_checkpoint(path)
        check_identity(path, about["identity"], self.identity)
        self.trainer.set_state(tensors, about["stepper"])
        self.n_steps, self.history, self.stopped = about["n_steps"], about["history"], self.trainer.stopped


@contextmanager
def postponed_interrupt() -> Iterator[Callable[[], bool]]:
    """Delay Ctrl-C until the step is done; a second one interrupts at once. Yields whether it was pressed."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return
    before = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: Any) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
