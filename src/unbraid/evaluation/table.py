"""The table of scores that :func:`unbraid.evaluate` returns."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from unbraid.evaluation.protocol import Protocol
from unbraid.runtime.extras import require

_HEAD = ("metric", "value", "95 % interval", "chance", "ceiling", "seconds")


@dataclass(frozen=True)
class Score:
    """One row.

    Attributes
    ----------
    name : str
    value : float
    low, high : float
        Ends of the 95 % interval.
    chance : float
        Score of the same codes paired with other samples; NaN for scores that do not use factors.
    ceiling : float
        Score of codes that determine the factors, with as many samples and the same binning.
    seconds : float
        Time for the value alone.
    better : {"high", "low"}
    """

    name: str
    value: float
    low: float
    high: float
    chance: float
    ceiling: float
    seconds: float
    better: str = "high"

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True)
class Evaluation:
    """Scores of one representation. ``evaluation["mig"]`` is a row, ``print(evaluation)`` the table.

    Attributes
    ----------
    scores : tuple of Score
    protocol : Protocol
        Every setting that the scores depend on.
    n_samples, n_train, n_test, n_codes, n_factors : int
        What was scored.
    version : str
        Of unbraid.
    n_left_out : int
        Rows that were not used, as the model was fitted with their factors.
    kinds : tuple of str
        What the factors were declared to be; empty if nothing was declared.
    """

    scores: tuple[Score, ...]
    protocol: Protocol
    n_samples: int
    n_train: int
    n_test: int
    n_codes: int
    n_factors: int
    version: str
    n_left_out: int = 0
    kinds: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Score:
        for score in self.scores:
            if score.name == name:
                return score
        raise KeyError(f"{name!r} was not scored. Available: {', '.join(s.name for s in self.scores)}")

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings; NaN and infinity become None."""
        return json.loads(json.dumps(asdict(self)), parse_constant=lambda name: None)

    def to_json(self, path: str | PathLike | None = None) -> str:
        """The result as JSON text, also written to ``path`` if one is given."""
        return json_text(self.to_dict(), path)

    def to_pandas(self) -> Any:
        """A DataFrame, one row per score, indexed by its name."""
        pandas = require("pandas", "metrics")
        return pandas.DataFrame([asdict(s) for s in self.scores]).set_index("name")

    def __str__(self) -> str:
        lines = [text_table([_HEAD, *(score_cells(s) for s in self.scores)], n_left=1)]
        lines.append(
            f"\n{self.n_codes} codes, {self.n_factors} factors, {self.n_samples} samples "
            f"({self.n_train} for training, {self.n_test} for testing); protocol {self.protocol.name}, "
            f"trees: {self.protocol.dci_backend}."
        )
        if self.n_left_out:
            lines.append(f"{self.n_left_out} rows were left out: the model was fitted with their factors.")
        if set(self.kinds) - {"interval"}:
            lines.append("Only mcc and mcc_spearman compare angles; for the other metrics they are numbers that jump.")
        lines.append("chance: codes of other samples. ceiling: codes that determine the factors. * lower is better.")
        if any(math.isnan(s.value) for s in self.scores):
            lines.append("efficiency is accuracy(100) / accuracy(10000): it needs 10000 training samples.")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Evaluation of {self.n_codes} codes: {len(self.scores)} scores, protocol {self.protocol.name!r}>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{h}</th>" for h in _HEAD)
        body = "".join("<tr>" + "".join(f"<td>{c}</td>" for c in score_cells(s)) + "</tr>" for s in self.scores)
        return f"<table><tr>{head}</tr>{body}</table>"


def score_cells(s: Score) -> tuple[str, ...]:
    """Name, value, interval, chance, ceiling and seconds as text."""
    between = "–" if math.isnan(s.low) else f"{_number(s.low)} … {_number(s.high)}"
    name = s.name if s.better == "high" else f"{s.name} *"
    return name, _number(s.value), between, _number(s.chance), _number(s.ceiling), f"{s.seconds:.2f}"


def _number(x: float) -> str:
    return "–" if math.isnan(x) else f"{x:.3f}"


def text_table(rows: Sequence[Sequence[str]], n_left: int) -> str:
    """The first row above a line, the others below it; ``n_left`` columns on the left are words.

    >>> print(text_table([("metric", "value"), ("mig", "0.5")], 1))
    metric  value
    ------  -----
    mig       0.5
    """
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = [
        "  ".join(c.ljust(w) if i < n_left else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths))) for r in rows
    ]
    return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]])


def json_text(content: Any, path: str | PathLike | None) -> str:
    """JSON text, also written to ``path`` if one is given."""
    text = json.dumps(content, indent=1, allow_nan=False)
    if path is not None:
        Path(path).write_text(text + "\n", encoding="utf-8")
    return text
