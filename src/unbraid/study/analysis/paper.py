"""Figures of Locatello et al. (2019), "Challenging common assumptions in the unsupervised learning of disentangled
representations" (ICML), to hold beside those of a study here."""

import numpy as np

from unbraid.methods import METHODS

PAPER = "Locatello et al. 2019"

# The six metrics of its tables, by the names that a study here gives them.
METRIC_TITLES = {
    "beta_vae": "BetaVAE score",
    "dci_disentanglement": "DCI disentanglement",
    "factor_vae": "FactorVAE score",
    "mig": "MIG",
    "modularity": "Modularity",
    "sap": "SAP",
}

_OBJECTIVE = {
    "cars3d": (1, 36, 26, 34, 37, 13),
    "color-dsprites": (30, 39, 52, 26, 23, 29),
    "noisy-dsprites": (17, 21, 17, 11, 41, 6),
    "scream-dsprites": (89, 50, 76, 45, 60, 56),
    "shapes3d": (31, 21, 14, 20, 26, 10),
    "smallnorb": (68, 71, 58, 71, 62, 62),
    "dsprites": (29, 41, 47, 26, 29, 31),
}
_OBJECTIVE_AND_STRENGTH = {
    "cars3d": (4, 69, 42, 59, 51, 17),
    "color-dsprites": (69, 80, 61, 76, 40, 56),
    "noisy-dsprites": (26, 42, 25, 29, 50, 20),
    "scream-dsprites": (93, 74, 83, 66, 68, 75),
    "shapes3d": (61, 78, 53, 59, 49, 35),
    "smallnorb": (87, 89, 81, 88, 72, 82),
    "dsprites": (59, 77, 54, 72, 39, 56),
}
VARIANCE = {"objective": _OBJECTIVE, "objective x strength": _OBJECTIVE_AND_STRENGTH}  # per cent, table 2 a and b

# Chance that a chosen setting beats a random one: table 1. The fourth of its cells is not in the text that we have.
TRANSFER = {
    "same metric, same data set": 0.807,
    "same metric, other data set": 0.593,
    "other metric, other data set": 0.549,
}


def variance_explained_by(what: str, dataset: str, metric: str) -> float:
    """The paper's share of variance, between 0 and 1; NaN for a data set or metric that it does not have.

    >>> variance_explained_by("objective", "dsprites", "mig")
    0.26
    """
    row = VARIANCE[what].get(dataset)
    return float("nan") if row is None or metric not in METRIC_TITLES else row[list(METRIC_TITLES).index(metric)] / 100


def variance_range(what: str) -> tuple[float, float, float]:
    """(least, mean, most) of its seven data sets, each the mean over the six metrics.

    >>> [round(share, 2) for share in variance_range("objective")]
    [0.19, 0.37, 0.65]
    """
    means = np.mean(list(VARIANCE[what].values()), axis=1) / 100
    return float(means.min()), float(means.mean()), float(means.max())


def metric_title(name: str) -> str:
    """How people write a metric.

    >>> metric_title("dci_disentanglement"), metric_title("infom")
    ('DCI disentanglement', 'infom')
    """
    return METRIC_TITLES.get(name, name.replace("_", " "))


def method_title(name: str) -> str:
    """How people write a method; a name that is none of ours stays as it is.

    >>> method_title("beta-vae"), method_title("dip-vae-ii")
    ('beta-VAE', 'DIP-VAE-II')
    """
    kinds = {"dip-vae-i": "DIP-VAE-I", "dip-vae-ii": "DIP-VAE-II"}
    return METHODS[name].title if name in METHODS else kinds.get(name, name)
