"""What the guess of the MCC adds to a fit, and what ``trust="full"`` takes: CPU seconds, in one process.

python benchmarks/bench_trust.py
"""

import time
import warnings

import numpy as np

import unbraid as ub
from unbraid.spectral import diagnostics

REPEATS = 3
spent = [0.0]


def timed(function):
    """The same function, which adds its CPU seconds to ``spent``."""

    def run(*args):
        start = time.process_time()
        found = function(*args)
        spent[0] += time.process_time() - start
        return found

    return run


def fit(X, d, k, trust):
    """CPU seconds of a fit, and of the guess in it: the least of some."""
    found = []
    for _ in range(REPEATS):
        spent[0], start = 0.0, time.process_time()
        ub.HessianICA(d, k, trust=trust, random_state=0).fit(X)
        found.append((time.process_time() - start, spent[0]))
    return min(found)


def main():
    diagnostics.figures_of, diagnostics.guess_of = timed(diagnostics.figures_of), timed(diagnostics.guess_of)
    print("factors points neighbours   fit (s)  guess (ms)  adds  full over cheap")
    for d, n in ((2, 1000), (2, 3000), (3, 1500)):
        rng = np.random.default_rng(0)
        z = rng.uniform(size=(n, d))
        X = np.c_[np.sin(2 * z), np.cos(2 * z)] @ rng.normal(size=(2 * d, 100))
        for k in (15, "auto"):
            cheap, guess = fit(X, d, k, "cheap")
            full, _ = fit(X, d, k, "full")
            share = 100 * guess / (cheap - guess)
            times = f"{cheap:9.3f} {1000 * guess:11.0f} {share:4.0f} % {full / cheap:10.1f}"
            print(f"{d:7d} {n:6d} {k!s:>10s} {times}", flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
