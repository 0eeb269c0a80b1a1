"""Dates and times of day as tables write them, brought to one kind of number."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DAY = re.compile(r"(\d{1,2})[./-](\d{1,2})[./-](\d{4})")  # 31/05/2024, or 05/31/2024
CLOCK = re.compile(r"(\d{1,2})[.:](\d{2})(?:[.:](\d{2}))?")


def moments(texts: Sequence[str]) -> NDArray[np.datetime64]:
    """Dates from text: ISO 8601, or a day with a four-digit year, with or without a time of day.

    Whether the day or the month stands first is told by a number above 12, or else by which reading rises.

    >>> moments(["30/01/2004 18.00.00", "31/01/2004 07.30.00"]).astype("datetime64[m]").tolist()[1].isoformat()
    '2004-01-31T07:30:00'
    >>> moments(["2024-05-31T12:00"]).astype(str).tolist()
    ['2024-05-31T12:00']
    """
    parts = [text.strip().partition(" ") for text in texts]
    days = [DAY.fullmatch(day) for day, _, _ in parts]
    if not all(days):
        return np.asarray(texts, dtype=str).astype("datetime64")
    seconds = np.array([_seconds(clock) for _, _, clock in parts])
    numbers = np.array([[int(part) for part in day.groups()] for day in days if day])
    readings = []
    for first, second in ((0, 1), (1, 0)):
        day, month = numbers[:, first], numbers[:, second]
        if day.max() <= 31 and month.max() <= 12:
            iso = [f"{y:04d}-{m:02d}-{d:02d}" for y, m, d in zip(numbers[:, 2], month, day)]
            readings.append(np.array(iso, dtype="datetime64[s]") + seconds.astype("timedelta64[s]"))
    rising = [found for found in readings if (np.diff(found) >= np.timedelta64(0, "s")).all()]
    known = readings if len(readings) == 1 else rising
    if len(known) != 1:
        raise ValueError(f"{texts[0]!r} and the others could have the day or the month first")
    return known[0]


def _seconds(clock: str) -> int:
    found = CLOCK.fullmatch(clock.strip()) if clock.strip() else None
    if clock.strip() and not found:
        raise ValueError(f"{clock.strip()!r} is no time of day")
    return 0 if not found else 3600 * int(found[1]) + 60 * int(found[2]) + int(found[3] or 0)
