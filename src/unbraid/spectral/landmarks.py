"""Embedding every point, or a random subset that grows until the others are placed well enough."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.spectral.eigen import DENSE_POINTS
from unbraid.spectral.extension import LocalMaps
from unbraid.spectral.trial import Choice, Embedding, Settings, choose

Floats = NDArray[np.float64]

DIRECT = 5000  # up to this many points every point is solved for
FIRST_LANDMARKS = {1: 1000, 2: 3000, 3: 5000}
MOST_LANDMARKS = 20_000
HELD_OUT = 1000
ICA_POINTS = 20_000
POOL = MOST_LANDMARKS + HELD_OUT + ICA_POINTS  # points that are drawn from a large data set
ENOUGH = 0.01  # error on held-out points, in standard deviations of a code, that needs no more landmarks


@dataclass(frozen=True)
class Embedded:
    """The chosen embedding, its local maps, and the embedding of as many points as ICA should see.

    ``tried`` are the numbers of landmarks with their errors on held-out points; empty where every point was solved for.
    """

    choice: Choice
    maps: LocalMaps
    fresh: Floats
    tried: list[dict[str, Any]] = field(default_factory=list)


def embed_points(
    pool: Floats,
    n: int,
    n_landmarks: int | str | None,
    settings: Settings,
    embed: Embedding,
    rng: np.random.RandomState,
    advance: Callable[[int], None],
) -> Embedded:
    """Solve for every point, or, where ``n`` are too many or ``n_landmarks`` says so, for landmarks of the pool."""
    if not (n_landmarks in ("auto", None) or (isinstance(n_landmarks, int | np.integer) and n_landmarks >= 10)):
        raise ValueError(
            f"n_landmarks is {n_landmarks!r}; it must be 'auto', None (every point) or an integer from 10 on."
        )
    if n_landmarks is None or n <= (DIRECT if n_landmarks == "auto" else int(n_landmarks)):
        choice = choose(pool, settings, embed, rng, advance)
        return Embedded(choice, choice.maps(), choice.vectors)
    return _embed_landmarks(pool, n_landmarks, settings, embed, rng, advance)


def _embed_landmarks(
    pool: Floats,
    n_landmarks: int | str,
    settings: Settings,
    embed: Embedding,
    rng: np.random.RandomState,
    advance: Callable[[int], None],
) -> Embedded:
    """Solve for a random subset, twice as large each time, until held-out points are placed well enough."""
    pool = pool[rng.permutation(len(pool))]
    held = pool[-min(HELD_OUT, len(pool) // 4) :]
    rest = pool[: len(pool) - len(held)]
    d, auto = settings.n_factors, n_landmarks == "auto"
    count = min(FIRST_LANDMARKS.get(d, 8000), len(rest)) if auto else int(n_landmarks)
    # With four factors and more the solver is dense: its memory grows with the square of the number.
    most = min(MOST_LANDMARKS if d < 4 else DENSE_POINTS, len(rest))
    tried: list[dict[str, Any]] = []
    best: tuple[float, Choice, LocalMaps, int] | None = None
    while True:
        choice = choose(rest[:count], settings, embed, rng, advance)
        maps = choice.maps()
        error = float(np.median(maps.error(held[:, : choice.points.shape[1]])))
        tried.append({"n_landmarks": count, "held_out_error": error})
        if best is None or error < best[0]:
            best = (error, choice, maps, count)
        slow = len(tried) > 1 and error > 0.8 * tried[-2]["held_out_error"]
        if not auto or error <= ENOUGH or slow or count >= most:
            break
        count, settings = min(2 * count, most), settings.at(choice.candidate)
    _, choice, maps, count = best
    # Many points speak more clearly about independence than the landmarks alone.
    fresh = maps(rest[: ICA_POINTS + count, : choice.points.shape[1]])
    return Embedded(choice, maps, fresh, tried)
