"""(b) How much do the metrics agree? Their rank correlation over the runs of a data set."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from unbraid.evaluation.claims import Claim
from unbraid.evaluation.interval import interval
from unbraid.report.drawing import panels
from unbraid.study.analysis.answers import Answer
from unbraid.study.analysis.claims import estimated
from unbraid.study.analysis.frames import DISENTANGLEMENT, Floats, chosen_metrics, scored
from unbraid.study.analysis.paper import METRIC_TITLES, PAPER, metric_title
from unbraid.study.analysis.resampling import by_dataset, rank_correlations
from unbraid.study.frames import Study

LIMITS = (-2.0, 2.0)  # of a difference of correlations
PAIRS = {  # strongly correlated according to the paper
    ("beta_vae", "factor_vae"): "beta-vae-with-factor-vae",
    ("mig", "dci_disentanglement"): "mig-with-dci",
}


@dataclass(frozen=True)
class Agreement(Answer):
    """Rank correlations of the metrics; see :class:`~unbraid.study.analysis.Answer`.

    Attributes
    ----------
    matrices : dict of str to DataFrame
        The correlations of each data set.
    """

    matrices: dict[str, Any]

    def figure(self) -> Any:
        """The matrix of rank correlations of each data set, in percent."""
        n = len(next(iter(self.matrices.values())))
        side = max(2.6, 0.42 * n + 1.3)
        fig, axes = panels(len(self.matrices), 1 if n > 8 else 2, side + 0.4, side)  # wide ones below each other
        for ax, (dataset, matrix) in zip(axes, self.matrices.items()):
            heat_matrix(ax, matrix, dataset)
        return fig


def heat_matrix(ax: Any, correlations: pd.DataFrame, title: str) -> None:
    """A table of correlations as coloured cells with numbers, in percent."""
    values = 100 * correlations.to_numpy()
    rows, columns = (list(map(metric_title, names)) for names in correlations.axes)
    ax.set_title(title, fontsize=9)
    ax.imshow(values, cmap="RdBu_r", vmin=-100, vmax=100, aspect="auto")
    for i, j in np.ndindex(values.shape):
        if np.isfinite(values[i, j]):
            ax.text(j, i, f"{values[i, j]:.0f}", ha="center", va="center", fontsize=7.5,
                    color="white" if abs(values[i, j]) > 60 else "black")  # fmt: skip
    ax.set_xticks(range(len(columns)), columns, rotation=45, ha="right", fontsize=8)
    ax.set_yticks(range(len(rows)), rows, fontsize=8)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def agreement(
    study: Study,
    *,
    metrics: Sequence[str] | None = None,
    representation: str = "mean",
    n_resamples: int = 500,
    random_state: int = 0,
) -> Agreement:
    """Spearman's correlation of every two metrics over the runs of each data set.

    Parameters
    ----------
    metrics : sequence of str, optional
        By default all metrics that use the factors and are scored for every run.
    study, representation, n_resamples, random_state
        As for :func:`spread`.

    Returns
    -------
    Agreement
        ``.table``, ``.matrices``, ``.claims``, ``.words``, ``.figure()``.

    References
    ----------
    Locatello et al. (2019), section 5.2, figure 2.
    """
    table = scored(study, representation)
    names = chosen_metrics(table, metrics, DISENTANGLEMENT, least=2)
    values = table.values(names)
    found, drawn = by_dataset(rank_correlations, table, values, n_resamples, random_state)
    low, high = interval(found, drawn, (-1.0, 1.0))
    rows = [
        (dataset, names[i], names[j], found[d, i, j], low[d, i, j], high[d, i, j],
         "strong" if {names[i], names[j]} in map(set, PAIRS) else "")
        for d, dataset in enumerate(table.datasets)
        for i in range(len(names))
        for j in range(i + 1, len(names))
    ]  # fmt: skip
    columns = ["dataset", "metric", "other", "correlation", "low", "high", "paper"]
    left_out = (f"Not scored for every run, so left out: {', '.join(table.left_out)}.",) if table.left_out else ()
    return Agreement(
        title="How much do the metrics agree?",
        table=pd.DataFrame(rows, columns=columns),
        claims=_claims(found.mean(axis=0), drawn.mean(axis=1), names),
        source=f"{PAPER}, section 5.2, figure 2 (Noisy-dSprites; our source has no numbers)",
        n_runs=len(values),
        notes=("Claims are about the mean over data sets.", *left_out),
        matrices={name: pd.DataFrame(m, names, names) for name, m in zip(table.datasets, found)},
    )


def _claims(mean: Floats, drawn: Floats, names: list[str]) -> tuple[Claim, ...]:
    """``mean`` (metrics, metrics), ``drawn`` (resamples, metrics, metrics): averages over data sets."""
    inside = [m for m in METRIC_TITLES if m in names]
    place = {m: names.index(m) for m in inside}
    plain = [place[m] for m in inside if m != "modularity"]
    upper = np.triu_indices(len(plain), 1)

    def others(c: Floats) -> Floats:
        return c[..., plain, :][..., plain][..., upper[0], upper[1]].mean(axis=-1)

    claims = []
    if len(plain) > 1:
        claims.append(estimated("metrics-correlated", others(mean), others(drawn), LIMITS))
    if len(plain) > 2:
        for (a, b), claim in PAIRS.items():
            if a in place and b in place:
                between, again = (c[..., place[a], place[b]] for c in (mean, drawn))
                claims.append(estimated(claim, between, again, LIMITS))
    if len(plain) > 1 and "modularity" in place:
        gap, again = (others(c) - c[..., place["modularity"], :][..., plain].mean(axis=-1) for c in (mean, drawn))
        claims.append(estimated("modularity-apart", gap, again, LIMITS))
    return tuple(claims)
