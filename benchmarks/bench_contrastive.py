"""Contrastive learning from time against CEBRA, in one run: the same recordings, steps, batches and width.

    python benchmarks/bench_contrastive.py CEBRA_PYTHON [--seeds 100 101 102] [--steps 3000]

``CEBRA_PYTHON`` is the interpreter of an environment with CEBRA, which needs other versions than ours. Five
autoregressive sources with Laplace steps, mixed by a network of three layers (``temporal-sources``). Beside the MCC
stands how well linear regression reads the factors from the codes on the other half of the recording, which forgives a
linear map, and beside both what linear ICA and an untrained encoder get. CPU seconds of the fit alone, one thread.
"""

import argparse
import time

import numpy as np
from cases import by_cebra
from sklearn.decomposition import FastICA
from sklearn.linear_model import LinearRegression

import unbraid as ub

N_ROWS, N_FACTORS = 20_000, 5


def main() -> None:
    """Print a line per seed and method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cebra_python")
    parser.add_argument("--seeds", type=int, nargs="+", default=[100, 101, 102])
    parser.add_argument("--steps", type=int, default=3000)
    args = parser.parse_args()
    print(f"{'seed':>4s} {'method':26s} {'MCC':>6s} {'R2':>6s} {'CPU s':>6s}", flush=True)
    for seed in args.seeds:
        data = ub.datasets.load("temporal-sources", n_factors=N_FACTORS, random_state=seed)
        X, factors, when = data.sample_recording(N_ROWS, random_state=seed)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        for name, (codes, seconds) in compared(X, when, seed, args.steps, args.cebra_python):
            line = f"{seed:4d} {name:26s} {ub.metrics.mcc(factors, codes):6.3f} {read_out(codes, factors):6.3f}"
            print(f"{line} {seconds:6.1f}", flush=True)


def compared(X: np.ndarray, when: np.ndarray, seed: int, steps: int, cebra_python: str):
    """Names, and codes with the CPU seconds of the fit."""
    yield "raw columns", (X, 0.0)
    yield "FastICA", (FastICA(N_FACTORS, random_state=0, max_iter=1000).fit_transform(X), 0.0)
    for name, n_steps in (("Contrastive, untrained", 1), ("Contrastive, L1", steps)):
        settings = {"max_steps": n_steps, "batch_size": 512, "random_state": seed, "null": "off", "progress": False}
        start = time.process_time()
        model = ub.Contrastive(N_FACTORS, **settings).fit(X, time=when)
        yield name, (model.transform(X), time.process_time() - start)
    for distance in ("cosine", "euclidean"):
        yield f"CEBRA-Time, {distance}", by_cebra(X, N_FACTORS, cebra_python, seed=seed, steps=steps, distance=distance)


def read_out(codes: np.ndarray, factors: np.ndarray) -> float:
    """R2 of the factors on the second half of the recording, by a line fitted on the first."""
    half = len(codes) // 2
    return LinearRegression().fit(codes[:half], factors[:half]).score(codes[half:], factors[half:])


if __name__ == "__main__":
    main()
