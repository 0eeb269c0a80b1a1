"""The number of factors of noisy sheets: how often ``n_factors="auto"`` is right, cannot tell, or is wrong.

    python benchmarks/experiment_dimension.py              two sheets per case, seeds from 0
    python benchmarks/experiment_dimension.py 5 100        five per case, seeds from 100

Sheets are products of d circular arcs, turned into 50 features, with noise in every feature, in units of a factor's
length. Each cell counts right / cannot tell / wrong; an interval that misses d counts as wrong, whatever the verdict.
"""

import sys

import numpy as np

from unbraid.manifold.dimension import estimate_dimension

DIMENSIONS, NOISES, SIZES = (1, 2, 3, 4), (0.0, 0.01, 0.05), (500, 2000, 10_000)
FEATURES = 50


def sheet(n, d, noise, rng):
    turn = np.pi / 2 * (1 + np.arange(d) / 4)
    z = rng.uniform(size=(n, d))
    arcs = np.concatenate([np.sin(z * turn) / turn, np.cos(z * turn) / turn], axis=1)
    return arcs @ np.linalg.qr(rng.normal(size=(FEATURES, 2 * d)))[0].T + noise * rng.normal(size=(n, FEATURES))


def judged(d, estimate):
    """0 for right, 1 for "cannot tell" with an interval that holds d, 2 for wrong."""
    low, high = estimate.interval
    if not low <= d <= high:
        return 2
    return 0 if estimate.clear and estimate.dim == d else 1


def main():
    count, first = (int(a) for a in (sys.argv[1:] + ["2", "0"][len(sys.argv) - 1 :])[:2])
    print("d  noise " + "".join(f"{f'n = {n}':>14s}" for n in SIZES))
    total = np.zeros(3, dtype=int)
    for d in DIMENSIONS:
        for noise in NOISES:
            cells = []
            for n in SIZES:
                seen = np.zeros(3, dtype=int)
                for seed in range(first, first + count):
                    X = sheet(n, d, noise, np.random.default_rng([seed, d, n]))
                    seen[judged(d, estimate_dimension(X, random_state=seed))] += 1
                total += seen
                cells.append("/".join(map(str, seen)))
            print(f"{d}  {noise:5.2f} " + "".join(f"{cell:>14s}" for cell in cells), flush=True)
    print(f"all: {total[0]} right, {total[1]} cannot tell, {total[2]} wrong")


if __name__ == "__main__":
    main()
