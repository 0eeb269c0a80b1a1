"""Scores that need no labels: losses, total correlation and similar metrics, and UDR from the stored codes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from unbraid.metrics import udr
from unbraid.study.analysis.frames import SETTING, UNSUPERVISED, Floats, Scored
from unbraid.study.frames import Study

UDR_ROWS = 1000  # as in the paper
# Models compared with each other: the number of pairs grows quadratically, and the median soon settles.
MOST_SIBLINGS = 10
LOSSES = ("loss", "reconstruction", "kl", "elbo")  # training records that models could be chosen by
HIGH_IS_GOOD = ("elbo", "UDR")


def unsupervised_scores(study: Study, table: Scored) -> tuple[pd.DataFrame, list[str]]:
    """Losses, unsupervised metrics and UDR of the runs of a table.

    Parameters
    ----------
    study : Study
    table : Scored

    Returns
    -------
    criteria : DataFrame
        A column per criterion, rows in the order of the table.
    missing : list of str
        Criteria that are not known for every run, so left out.
    """
    losses = study.losses().pivot_table(index="run", columns="name", values="value").reindex(table.frame["run"])
    columns = {name: losses[name].to_numpy() for name in LOSSES if name in losses}
    columns |= {name.replace("_", " "): table.frame[name].to_numpy() for name in UNSUPERVISED if name in table.frame}
    columns["UDR"] = udr_scores(study, table)
    frame = pd.DataFrame(columns)
    missing = [name for name in frame if frame[name].isna().any()]
    return frame.drop(columns=missing), missing


def udr_scores(study: Study, table: Scored) -> Floats:
    """UDR of each run among the seeds of its setting; NaN if it is the only one.

    As in the paper, codes that carry at most .01 nats are dead. The divergence of a variational model's codes is
    estimated from its stored mean and sampled codes; codes of other models are alive unless constant.

    Parameters
    ----------
    study : Study
    table : Scored

    Returns
    -------
    array (n_runs,)
    """
    sampled = set(study.scores().query("representation == 'sampled'")["run"])
    out = np.full(len(table.frame), np.nan)
    for rows in _siblings(table):
        codes = [np.asarray(study.codes(run), np.float64)[:UDR_ROWS] for run in rows["run"]]
        kl = None
        if sampled.issuperset(rows["run"]):
            drawn = [np.asarray(study.codes(run, "sampled"), np.float64)[:UDR_ROWS] for run in rows["run"]]
            kl = [divergence(m, s) for m, s in zip(codes, drawn)]
        out[rows.index] = udr(codes, kl=kl).scores
    return out


def _siblings(table: Scored) -> Iterator[Any]:
    """Rows that differ only in their seed, in groups of two to ten."""
    for _, rows in table.frame.groupby(SETTING, dropna=False):
        n_groups = -(-len(rows) // MOST_SIBLINGS)
        for k in range(n_groups):
            group = rows.iloc[k::n_groups]
            if len(group) > 1:
                yield group


def divergence(mean: Floats, sampled: Floats) -> Floats:
    r"""KL of each code from a standard normal prior, from the means and one draw of each: nats.

    .. math:: \tfrac12 \big( E[\mu^2] + s^2 - 1 - \log s^2 \big), \qquad s^2 = E[(z - \mu)^2]

    exact if the posterior's variance is the same for all rows, otherwise a lower bound (Jensen).

    Parameters
    ----------
    mean, sampled : arrays (n, codes)

    Returns
    -------
    array (codes,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=(4000, 1))
    >>> abs(divergence(np.zeros((4000, 1)), noise)[0]) < 0.01
    np.True_
    """
    variance = np.maximum(((sampled - mean) ** 2).mean(axis=0), 1e-12)
    return (np.mean(mean**2, axis=0) + variance - 1 - np.log(variance)) / 2
