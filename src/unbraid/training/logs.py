"""The log of a training run: one JSON object a line, and TensorBoard's events if wanted."""

import json
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from unbraid.runtime.extras import require


class Logs:
    """Writes records to ``folder/log.jsonl`` and, with ``tensorboard``, to event files beside it.

    A resumed run first truncates the log to its checkpoint, so that every step is logged once.
    """

    def __init__(self, folder: Path | None, tensorboard: bool = False):
        if tensorboard and folder is None:
            raise ValueError("tensorboard=True needs a folder: set log='FOLDER' as well.")
        self.folder = folder
        self._writes_events = tensorboard
        if tensorboard:
            require("tensorboard", "tensorboard")
        self._file: Any = None
        self._events: Any = None

    def begin(self, history: list[dict[str, Any]], step: int) -> None:
        """Open the files and bring them to ``history``."""
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        self._file = (self.folder / "log.jsonl").open("w", encoding="utf-8")
        for record in history:
            self._line(record)
        if self._writes_events:
            from torch.utils.tensorboard import SummaryWriter

            self._events = SummaryWriter(str(self.folder), purge_step=step + 1)

    def write(self, record: dict[str, Any]) -> None:
        if self._file is None:
            return
        self._line(record)
        if self._events is not None:
            for name, value in record.items():
                parts = {f"{name}/{i}": v for i, v in enumerate(value)} if isinstance(value, list) else {name: value}
                for tag, number in parts.items():
                    if tag != "step":
                        self._events.add_scalar(tag, number, record["step"])

    def _line(self, record: dict[str, Any]) -> None:
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for opened in (self._file, self._events):
            if opened is not None:
                opened.close()
        self._file = self._events = None
