"""Figures of Locatello et al. (2019), "Challenging common assumptions in the unsupervised learning of disentangled
representations" (ICML), for comparison with those of a study; they are in ``paper.toml``."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.methods import METHODS

PAPER = "Locatello et al. 2019"
FIGURES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("paper.toml").read_text(encoding="utf-8"))
METRIC_TITLES: dict[str, str] = FIGURES["metrics"]
VARIANCE: dict[str, dict[str, list[int]]] = FIGURES["variance"]
TRANSFER: dict[str, float] = FIGURES["transfer"]


def variance_explained_by(what: str, dataset: str, metric: str) -> float:
    """The paper's share of variance, between 0 and 1; NaN for a data set or metric that it does not have.

    >>> variance_explained_by("objective", "dsprites", "mig")
    0.26
    """
    row = VARIANCE[what].get(dataset)
    return float("nan") if row is None or metric not in METRIC_TITLES else row[list(METRIC_TITLES).index(metric)] / 100


def variance_range(what: str) -> tuple[float, float, float]:
    """(least, mean, most) over its seven data sets, each the mean over the six metrics.

    >>> [round(share, 2) for share in variance_range("objective")]
    [0.19, 0.37, 0.65]
    """
    means = np.mean(list(VARIANCE[what].values()), axis=1) / 100
    return float(means.min()), float(means.mean()), float(means.max())


def metric_title(name: str) -> str:
    """The usual spelling of a metric.

    >>> metric_title("dci_disentanglement"), metric_title("infom")
    ('DCI disentanglement', 'infom')
    """
    return METRIC_TITLES.get(name, name.replace("_", " "))


def method_title(name: str) -> str:
    """The usual spelling of a method; an unknown name stays as it is.

    >>> method_title("beta-vae"), method_title("dip-vae-ii")
    ('beta-VAE', 'DIP-VAE-II')
    """
    kinds = {"dip-vae-i": "DIP-VAE-I", "dip-vae-ii": "DIP-VAE-II"}
    return METHODS[name].title if name in METHODS else kinds.get(name, name)
