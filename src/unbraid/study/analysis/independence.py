"""(a) Do the regularisers make the codes independent? Total correlation of mean and sampled codes over strength."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from unbraid.evaluation.interval import interval
from unbraid.report.drawing import BLUE, RED, panels, quiet
from unbraid.study.analysis.answers import Answer, Unanswerable
from unbraid.study.analysis.claims import estimated
from unbraid.study.analysis.frames import SETTING, Floats, Ints, scored
from unbraid.study.analysis.paper import PAPER, method_title
from unbraid.study.analysis.resampling import over_seeds, rank_correlations
from unbraid.study.frames import Study

TC = "total_correlation"
WEAKER = "annealed-vae"  # its strength is a capacity: more of it regularises less; the paper leaves it out as well
CLAIMS = ("mean-tc-grows", "sampled-tc-falls", "mean-codes-stay-correlated")  # in the order of _trends

NOTES = (
    "Trend: Spearman's correlation of strength and total correlation over the runs of a method; 1 is an increase.",
    "AnnealedVAE is left out of the claims: a larger capacity regularises less.",
)


@dataclass(frozen=True)
class Independence(Answer):
    """Trends of total correlation with strength; see :class:`~unbraid.study.analysis.Answer`.

    Attributes
    ----------
    levels : DataFrame
        The median total correlation of each data set, method, strength and representation, and its range over seeds.
    """

    levels: Any

    def figure(self) -> Any:
        """Total correlation over strength, a panel per data set and method; bars are the range over seeds."""
        groups = list(self.levels.groupby(["dataset", "method"], sort=True))
        fig, axes = panels(len(groups), 6 if len(groups) > 4 else 4, 2.3, 2.0)
        for ax, ((dataset, method), rows) in zip(axes, groups):
            for name, colour in (("sampled", BLUE), ("mean", RED)):
                part = rows[(rows["representation"] == name) & np.isfinite(rows["median"])]
                reach = [part["median"] - part["least"], np.minimum(part["most"], 1e300) - part["median"]]
                ax.errorbar(
                    part["strength"], part["median"], yerr=reach, color=colour, marker="o", ms=3, lw=1, label=name
                )
            ax.set_title(f"{method_title(method)}, {dataset}", fontsize=8)
            ax.set_ylim(bottom=0)
            quiet(ax)
        axes[0].legend(frameon=False, fontsize=7)
        axes[0].set_ylabel("total correlation (nats)", fontsize=8)
        fig.supxlabel("strength", fontsize=8)
        return fig


def independence(study: Study, *, n_resamples: int = 500, random_state: int = 0) -> Independence:
    """Total correlation (Gaussian) of the mean and of the sampled codes, over the strength of the regulariser.

    The trend is Spearman's correlation of strength and total correlation over the runs of a method.

    Parameters
    ----------
    study : Study
        With scores of both representations.
    n_resamples : int
        Bootstrap samples behind the intervals.
    random_state : int

    Returns
    -------
    Independence
        ``.table``, ``.levels``, ``.claims``, ``.words``, ``.figure()``.

    References
    ----------
    Locatello et al. (2019), section 5.1, figure 1.
    """
    frame = _both(study)
    cells = frame.groupby(SETTING, sort=True).ngroup().to_numpy()
    groups = frame.groupby(["dataset", "method"], sort=True).ngroup().to_numpy()
    values = frame[["strength", "mean", "sampled"]].to_numpy(np.float64)
    names = frame[["dataset", "method"]].drop_duplicates().sort_values(["dataset", "method"])
    counted = (names["method"] != WEAKER).to_numpy()
    strongest = frame["strength"] == frame.groupby(["dataset", "method"])["strength"].transform("max")
    arrays = (values, groups, strongest.to_numpy())
    found, drawn = over_seeds(_trends, cells, arrays, n_resamples, random_state)
    low, high = interval(found, drawn, (-1.0, 1.0))
    table = names.merge(pd.DataFrame({"representation": ["mean", "sampled"], "paper": ["rises", "falls"]}), how="cross")
    table = table.assign(trend=found[:, :2].ravel(), low=low[:, :2].ravel(), high=high[:, :2].ravel())
    table = table[["dataset", "method", "representation", "trend", "low", "high", "paper"]]
    table.loc[table["method"] == WEAKER, "paper"] = ""
    overall, again = (x[..., counted, :].mean(axis=-2) for x in (found, drawn))
    return Independence(
        title="Do the regularisers make the codes independent?",
        table=table,
        claims=tuple(estimated(claim, overall[k], again[:, k], (-1.0, 1.0)) for k, claim in enumerate(CLAIMS)),
        source=f"{PAPER}, section 5.1, figure 1 (Color-dSprites; the paper prints no numbers)",
        n_runs=len(frame),
        notes=NOTES[: 1 if counted.all() else 2],
        levels=_levels(frame),
    )


def _both(study: Study) -> Any:
    """One row per run with finite strength: total correlation of its mean and of its sampled codes."""
    mean, sampled = scored(study, "mean"), scored(study, "sampled")
    for name, table in (("mean", mean), ("sampled", sampled)):
        if TC not in table.metrics:
            raise Unanswerable(
                f"{TC} of the {name} codes is not scored for every run; "
                f"`unbraid study rescore --metrics {TC}` computes it."
            )
    right = sampled.frame[["run", TC]].rename(columns={TC: "sampled"})
    frame = mean.frame[["run", *SETTING, TC]].rename(columns={TC: "mean"}).merge(right, on="run")
    several = frame.groupby(["dataset", "method"])["strength"].transform("nunique") > 1
    if not several.any():
        raise Unanswerable("no method was run with two or more strengths, which a trend over strength needs.")
    return frame[several & frame["strength"].notna()].reset_index(drop=True)


def _trends(values: Floats, groups: Ints, strongest: Any) -> Floats:
    """(groups, 3): trend of the mean, trend of the sampled, how often the mean exceeds the sampled at the strongest."""
    out = np.empty((groups.max() + 1, 3))
    for k in range(len(out)):
        mine = values[groups == k]
        with_strength = rank_correlations(mine)[0, 1:]
        top = values[(groups == k) & strongest]
        out[k] = *np.nan_to_num(with_strength), np.mean(top[:, 1] > top[:, 2]) - np.mean(top[:, 1] < top[:, 2])
    return out


def _levels(frame: Any) -> Any:
    long = frame.melt(SETTING, ["mean", "sampled"], "representation", TC)
    return long.groupby([*SETTING, "representation"])[TC].agg(median="median", least="min", most="max").reset_index()
