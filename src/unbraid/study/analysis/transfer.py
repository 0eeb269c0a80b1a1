"""Transfer of settings: the best for one seed, metric and data set, tried with others."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from unbraid.study.analysis.frames import Floats, Ints, Scored

KINDS = (
    "same metric, same data set",
    "other metric, same data set",
    "same metric, other data set",
    "other metric, other data set",
)


@dataclass(frozen=True)
class SeedGrid:
    """The runs of a data set: a row per setting, a column per seed.

    Attributes
    ----------
    scores : array (metrics, settings, seeds)
        NaN where a setting has fewer seeds.
    run : array (settings, seeds)
        The run in each cell, -1 for none: a resample may contain a run twice.
    """

    scores: Floats
    run: Ints

    @property
    def ranks(self) -> Floats:
        """Chance that each run beats another one of the data set, drawn at random; NaN where there is none."""
        flat = self.scores.reshape(len(self.scores), -1)
        there = ~np.isnan(flat[0])
        out = np.full(flat.shape, np.nan)
        out[:, there] = (rankdata(flat[:, there], axis=1) - 1) / max(there.sum() - 1, 1)
        return out.reshape(self.scores.shape)

    def resampled(self, rng: np.random.Generator) -> "SeedGrid":
        """One run fewer per setting, drawn with replacement."""
        n_seeds = (self.run >= 0).sum(axis=1)
        width = max(int(n_seeds.max()) - 1, 2)
        drawn = (rng.random((len(n_seeds), width)) * n_seeds[:, None]).astype(np.intp)
        return SeedGrid(
            np.take_along_axis(self.scores, np.broadcast_to(drawn, (len(self.scores), *drawn.shape)), axis=2),
            np.take_along_axis(self.run, drawn, axis=1),
        )


def seed_grids(table: Scored, metrics: Sequence[str]) -> list[SeedGrid]:
    """A grid per data set; settings missing from any data set are left out of all."""
    frame = table.frame.assign(setting=table.frame.groupby(["method", "strength"], dropna=False).ngroup())
    shared = set.intersection(*(set(rows["setting"]) for _, rows in frame.groupby("dataset")))
    grids = []
    for _, rows in frame[frame["setting"].isin(shared)].groupby("dataset", sort=True):
        place = rows["setting"].rank(method="dense").astype(int).to_numpy() - 1
        column = rows.groupby("setting").cumcount().to_numpy()
        scores = np.full((len(metrics), place.max() + 1, column.max() + 1), np.nan)
        scores[:, place, column] = rows[list(metrics)].to_numpy(np.float64).T
        run = np.full(scores.shape[1:], -1)
        run[place, column] = np.arange(len(rows))
        grids.append(SeedGrid(scores, run))
    return grids


def chances(grids: Sequence[SeedGrid]) -> Floats:
    """(kinds,): chance that the setting chosen there beats a random run here; NaN for kinds without data.

    It averages over all seeds, metrics and data sets: the expectation of the paper's 10,000 random draws.
    """
    ranks = [grid.ranks for grid in grids]
    won: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for source, grid in enumerate(grids):
        best = np.where(np.isnan(grid.scores), -np.inf, grid.scores).argmax(axis=1)  # (metrics, seeds): the setting
        for target, metric, other in np.ndindex(len(grids), len(best), len(best)):
            kind = KINDS[2 * (source != target) + (metric != other)]
            own = grid.run[best[metric], np.arange(best.shape[1])] if source == target else None
            won[kind].append(_won(ranks[target][other], grids[target].run, best[metric], own))
    return np.array([np.nanmean(won[kind]) if np.isfinite(won[kind]).any() else np.nan for kind in KINDS])


def _won(ranks: Floats, run: Ints, settings: Ints, own: Ints | None) -> float:
    """Mean rank of the runs of these settings, without the run that made the choice."""
    found, there = ranks[settings], run[settings] >= 0
    if own is not None:
        there &= run[settings] != own[:, None]
    counts = there.sum(axis=1)
    sums = np.where(there, found, 0).sum(axis=1)
    return float(np.mean(sums[counts > 0] / counts[counts > 0])) if counts.any() else float("nan")
