"""The light tunnel: what the default fit says of it, with and without evidence, and what simpler methods find.

    python benchmarks/experiment_light_tunnel.py [--seeds 100 101]

2,000 readings, each column brought to one spread, with all nine sensors and without those of the angles. Pairs differ
in one factor; labels are the factors of 30 rows, which are not scored. The score is the MCC with the factors that the
view shows: all five, or the three colours.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.decomposition import FastICA
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import unbraid as ub

ROWS, LABELS, SHOWN = 2000, 30, {"sensors": 5, "light": 3}


def rows_of(view, seed):
    """Readings, the factors that they show, and pairs of rows."""
    data = ub.datasets.load("light-tunnel", view=view)
    (first, z), (second, w) = data.sample_pairs(ROWS // 2, random_state=seed, changed=1)
    X = np.concatenate([first, second])
    factors = np.concatenate([z, w])[:, : SHOWN[view]]
    return (X - X.mean(axis=0)) / X.std(axis=0), factors, np.arange(ROWS).reshape(2, -1).T


def peers(X, z, seed):
    """MCC of FastICA, of the columns, and of readers that are told the factors of half of the rows."""
    half = len(X) // 2
    yield "columns", X
    yield f"FastICA, {z.shape[1]}", FastICA(z.shape[1], random_state=seed, max_iter=2000).fit_transform(X)
    for name, reader in (("linear", LinearRegression()), ("10-NN", KNeighborsRegressor(10))):
        found = np.full(z.shape, np.nan)
        found[half:] = reader.fit(X[:half], z[:half]).predict(X[half:])
        yield f"{name}, told half", found
    known = np.full(z.shape, np.nan)
    known[:LABELS] = z[:LABELS]
    rank = np.linalg.matrix_rank(X, tol=1e-6 * len(X))
    yield (
        f"PCA+ICA of all {rank} directions, {LABELS} labels",
        ub.PCAICA(rank, rotation="labels", null="off", random_state=seed).fit(X, known).transform(X),
    )
    yield f"linear, {LABELS} labels", LinearRegression().fit(X[:LABELS], z[:LABELS]).predict(X)
    yield "chance", np.random.default_rng(seed).normal(size=z.shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[100, 101])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for view in SHOWN:
        for seed in options.seeds:
            X, z, pairs = rows_of(view, seed)
            some = np.full(z.shape, np.nan)
            some[:LABELS] = z[:LABELS]
            for name, given in {"nothing": {}, "pairs": {"pairs": pairs}, f"{LABELS} labels": {"labels": some}}.items():
                started = time.process_time()
                model = ub.fit(X, random_state=0, **given)
                codes, found = model.transform(X)[LABELS:], model.diagnosis_
                seconds = time.process_time() - started
                free = " + ".join(found.free) or "nothing"
                print(
                    f"{view} {seed} | {name}: {type(model).__name__}, {codes.shape[1]} codes, {found.verdict}, free: "
                    f"{free} | {ub.metrics.mcc(z[LABELS:], codes):.3f} | {seconds:.0f} s",
                    flush=True,
                )
            for name, codes in peers(X, z, seed):
                known = np.isfinite(codes).all(axis=1)
                print(f"{view} {seed} | {name} | {ub.metrics.mcc(z[known], codes[known]):.3f}", flush=True)


if __name__ == "__main__":
    main()
