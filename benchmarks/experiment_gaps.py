"""A fifth of all values missing: how much of the MCC is lost, linear and curved, over ten seeds.

Linear worlds (three uniform factors, twelve columns, noise .1) by PCA+ICA, which takes the gaps; curved ones
(isometric, two factors, thirty columns, noise of 1 %, of curvature 1 and 3) by HLLE+ICA, which takes the gaps, and
after filling from the nearest rows. All beside complete data, the usual fill, and PCA+ICA.

    python benchmarks/experiment_gaps.py
"""

import warnings

import numpy as np

import unbraid as ub
from unbraid.data.gaps import filled

SEEDS = range(100, 110)
MISSING = 0.2


def linear(seed):
    rng = np.random.default_rng(seed)
    z = rng.uniform(-1, 1, size=(1000, 3))
    X = z @ rng.normal(size=(3, 12)) + 0.1 * rng.normal(size=(1000, 12))
    gappy = np.where(rng.random(X.shape) < MISSING, np.nan, X)
    return z, {"complete": X, "gaps": gappy, "medians": filled(gappy, "median")}, ub.PCAICA(3, random_state=0)


def curved(seed, curvature=1.0):
    X, z = ub.datasets.load("isometric", n_features=30, curvature=curvature).sample(1000, random_state=seed)
    rng = np.random.default_rng(seed)
    X = X + 0.01 * X.std() * rng.normal(size=X.shape)
    gappy = np.where(rng.random(X.shape) < MISSING, np.nan, X)
    tables = {"complete": X, "gaps": gappy, "neighbors": filled(gappy, "neighbors"), "medians": filled(gappy, "median")}
    return z, tables, ub.HessianICA(2, random_state=0)


def bent(seed):
    return curved(seed, 3.0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for world in (linear, curved, bent):
        scores = {}
        for seed in SEEDS:
            z, tables, model = world(seed)
            for name, table in tables.items():
                scores.setdefault(name, []).append(ub.metrics.mcc(z, model.fit_transform(table)))
            linear_codes = ub.PCAICA(z.shape[1], random_state=0).fit_transform(tables["gaps"])
            scores.setdefault("PCA+ICA", []).append(ub.metrics.mcc(z, linear_codes))
            shuffled = np.random.default_rng(seed).permutation(z)
            scores.setdefault("chance", []).append(ub.metrics.mcc(z, shuffled))
        for name, found in scores.items():
            print(f"{world.__name__:7} {name:10} MCC mean {np.mean(found):.4f}, least {np.min(found):.4f}")
