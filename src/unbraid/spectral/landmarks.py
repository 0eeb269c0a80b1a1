"""Embedding every point, or a random subset that grows until the others are placed well enough."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unbraid.manifold.neighbors import Floats
from unbraid.manifold.reduction import Look
from unbraid.spectral.eigen import DENSE_POINTS
from unbraid.spectral.extension import LocalMaps
from unbraid.spectral.trial import Advance, Choice, Settings, choose

DIRECT = 5000  # up to this many points, all are embedded
FIRST_LANDMARKS = {1: 1000, 2: 3000, 3: 5000}
MOST_LANDMARKS = 20_000
HELD_OUT = 1000
ICA_POINTS = 20_000
POOL = MOST_LANDMARKS + HELD_OUT + ICA_POINTS  # points that are drawn from a large data set
ENOUGH = 0.01  # error on held-out points, in standard deviations of a code, below which no more landmarks are needed


@dataclass(frozen=True)
class Embedded:
    """The chosen embedding, its local maps, and the embedding of as many points as ICA should see.

    ``tried`` are the numbers of landmarks with their errors on held-out points; empty if every point was embedded.
    """

    choice: Choice
    maps: LocalMaps
    fresh: Floats
    tried: list[dict[str, Any]] = field(default_factory=list)


def embed_points(
    look: Look, n_landmarks: int | str | None, settings: Settings, rng: np.random.RandomState, advance: Advance
) -> Embedded:
    """Embed every point or, if there are too many or ``n_landmarks`` is set, landmarks among them."""
    if n_landmarks is None or look.n <= (DIRECT if n_landmarks == "auto" else int(n_landmarks)):
        return solved(look.points, settings, rng, advance)
    pool = look.points[rng.permutation(len(look.points))]
    rest, held = _hold_out(pool)
    auto = n_landmarks == "auto"
    count = min(FIRST_LANDMARKS.get(settings.n_factors, 8000), len(rest)) if auto else int(n_landmarks)
    first = choose(rest[:count], settings, rng, advance)
    return _grown(first, rest, held, auto, rng, advance)


def solved(points: Floats, settings: Settings, rng: np.random.RandomState, advance: Advance) -> Embedded:
    """Embed every one of these points."""
    choice = choose(points, settings, rng, advance)
    return Embedded(choice, choice.maps(), choice.vectors)


def embed_more(first: Choice, look: Look, pool: Floats, rng: np.random.RandomState, advance: Advance) -> Embedded:
    """Extend the embedding of some rows: they are the first landmarks, and their setting is kept.

    Parameters
    ----------
    first : Choice
        The embedding of the points of ``look``.
    look : Look
    pool : array (m, components)
        All rows in their order, or as many as are drawn from a large data set.
    rng, advance
        As of :func:`embed_points`.

    Returns
    -------
    Embedded
    """
    others = pool if look.rows is None or len(pool) < look.n else np.delete(pool, look.rows, axis=0)
    others = others[np.isfinite(others[:, 0])]  # outliers have no place
    rest, held = _hold_out(others[rng.permutation(len(others))])
    found = _grown(first, np.concatenate([look.points, rest]), held, look.n > DIRECT, rng, advance)
    if look.n > DIRECT or found.tried[0]["held_out_error"] <= ENOUGH:
        return found
    return solved(pool, first.settings.at(first.candidate), rng, advance)


def _hold_out(pool: Floats) -> tuple[Floats, Floats]:
    count = max(1, min(HELD_OUT, len(pool) // 4))
    return pool[:-count], pool[-count:]


def _grown(
    first: Choice, points: Floats, held: Floats, auto: bool, rng: np.random.RandomState, advance: Advance
) -> Embedded:
    """Twice as many of the points each time, until those held out are placed well enough; ``first`` is solved."""
    settings, count, d = first.settings, len(first.points), first.settings.n_factors
    count += first.n_merged + first.n_outside
    # With four factors and more the solver is dense: its memory grows with the square of the number.
    most = min(MOST_LANDMARKS if d < 4 else DENSE_POINTS, len(points))
    tried: list[dict[str, Any]] = []
    best: tuple[float, Choice, LocalMaps, int] | None = None
    choice = first
    while True:
        maps = choice.maps()
        error = float(np.median(maps.error(held[:, : choice.points.shape[1]])))
        tried.append({"n_landmarks": count, "held_out_error": error})
        if best is None or error < best[0]:
            best = (error, choice, maps, count)
        slow = len(tried) > 1 and error > 0.8 * tried[-2]["held_out_error"]
        if not auto or error <= ENOUGH or slow or count >= most:
            break
        count, settings = min(2 * count, most), settings.at(choice.candidate)
        choice = choose(points[:count], settings, rng, advance)
    _, choice, maps, count = best
    # Many points show independence more clearly than the landmarks alone.
    fresh = maps(points[: ICA_POINTS + count, : choice.points.shape[1]])
    return Embedded(choice, maps, fresh, tried)
