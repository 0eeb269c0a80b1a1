"""Counts of mean .1 to 10: how much of the MCC is lost to their noise, and what others make of the same counts.

200 to 2,000 columns have bumps of rates over a square of two factors (width .3, heights of log-normal sizes), counted
in 2,000 or 3,000 rows. ``clean`` is HLLE+ICA of the square roots of the rates themselves. k-NN regresses the factors
on ten principal components of the transformed counts, with the labels of half of the rows: about the best that can be
done. ``deep``: rows are counted to log-normal depths (.3), and brought to one total (``counts="depth"``). The rule was
made on seeds 0 to 3 and is judged on 100 to 109.

    python benchmarks/experiment_counts.py --out counts.jsonl
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from records import add_line, read_lines
from sklearn.neighbors import KNeighborsRegressor

import unbraid as ub
from unbraid.data.counts import scale_of

WORLDS = (
    (2000, 200, (0.1, 0.3, 1, 3, 10)),
    (3000, 300, (0.1, 0.3)),
    (2000, 1000, (0.1,)),
    (2000, 2000, (0.1,)),
)  # rows, columns, mean counts
SEEDS = range(100, 110)


def world(seed: int, mean: float, n: int, p: int) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Factors and rates."""
    rng = np.random.default_rng(seed)
    z, centres = rng.uniform(size=(n, 2)), rng.uniform(-0.5, 1.5, size=(p, 2))
    rates = (0.1 + np.exp(-np.square(z[:, None] - centres).sum(axis=2) / 0.18)) * rng.lognormal(0, 0.5, p)
    return z, mean * rates / rates.mean(), rng


def best(X: np.ndarray, z: np.ndarray) -> float:
    """Mean correlation of regressed factors of the other half."""
    X = X - X.mean(axis=0)
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    P, half = U[:, :10] * s[:10], len(z) // 2
    found = [KNeighborsRegressor(k).fit(P[:half], z[:half]).predict(P[half:]) for k in (10, 30, 60)]
    return max(float(np.mean([np.corrcoef(z[half:, j], f[:, j])[0, 1] for j in range(2)])) for f in found)


def scores(seed: int, mean: float, n: int, p: int) -> dict[str, float]:
    """MCC by method."""
    z, rates, rng = world(seed, mean, n, p)
    X, deep = rng.poisson(rates), rng.poisson(rates * rng.lognormal(0, 0.3, (n, 1)))
    hlle = {"n_factors": 2, "random_state": 0, "progress": False}
    codes = {
        "clean": ub.HessianICA(**hlle).fit_transform(np.sqrt(rates)),
        "HLLE+ICA": ub.HessianICA(**hlle).fit_transform(X),
        "deep": ub.HessianICA(counts="depth", **hlle).fit_transform(deep),
        "as given": ub.HessianICA(counts="given", **hlle).fit_transform(X),
        "log1p": ub.HessianICA(**hlle).fit_transform(np.log1p(X)),
        "PCA+ICA": ub.PCAICA(2, random_state=0).fit_transform(X),
        "chance": rng.permutation(z),
    }
    found = {name: float(ub.metrics.mcc(z, code)) for name, code in codes.items()}
    return found | {"k-NN with labels": best(scale_of(X)(X.astype(float)), z)}


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("counts.jsonl"))
    args = parser.parse_args()
    lines = read_lines(args.out)
    done = {(line["n"], line["p"], line["mean"], line["seed"]) for line in lines}
    warnings.simplefilter("ignore")
    for n, p, means in WORLDS:
        for mean in means:
            for seed in SEEDS:
                if (n, p, mean, seed) not in done:
                    line = {"n": n, "p": p, "mean": mean, "seed": seed, **scores(seed, mean, n, p)}
                    lines.append(add_line(args.out, line))
            here = [line for line in lines if (line["n"], line["p"], line["mean"]) == (n, p, mean)]
            for name in [key for key in here[0] if key not in ("n", "p", "mean", "seed")]:
                values = [line[name] for line in here]
                print(f"{n} x {p}, mean {mean:4g} {name:16} MCC mean {np.mean(values):.3f}, least {np.min(values):.3f}")


if __name__ == "__main__":
    main()
