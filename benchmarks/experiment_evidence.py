"""Factors from evidence: worlds of stated nonlinearity, methods that learn from time, pairs or segments, and baselines.

    python benchmarks/experiment_evidence.py                          every world and method, seeds 100 to 104
    python benchmarks/experiment_evidence.py --seeds 0 1 --worlds ar  some

Every world has five factors, 20,000 rows and a mixing of three layers of leaky ReLUs. The score is the MCC with the
factors, or with what the theorem promises (the squares of the factors for time-contrastive learning). A line gives the
mean over the seeds, each of them, and the CPU seconds of a fit. Beside each world: how well linear regression and 10
nearest neighbours, which see the factors of half of the rows, predict those of the others (R2), and the MCC of linear
ICA and of an encoder that was not trained.

A world or a method is a line of WORLDS or METHODS.
"""

import argparse
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.decomposition import FastICA
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import unbraid as ub
from unbraid.datasets.mixing import RandomMLP
from unbraid.metrics import mcc

N, ROWS = 5, 20_000


@dataclass
class World:
    """Data, factors, and the evidence by its keyword in ``fit``."""

    X: np.ndarray
    factors: np.ndarray
    evidence: dict[str, Any]


def box(seed):
    """Uniform factors in a box; the second row of a pair differs by Laplace steps of scale .05, within the box."""
    rng = np.random.default_rng(seed)
    first = rng.uniform(size=(ROWS // 2, N))
    second = first + rng.laplace(scale=0.05, size=first.shape)
    while (outside := (second < 0) | (second > 1)).any():
        second[outside] = (first + rng.laplace(scale=0.05, size=first.shape))[outside]
    factors = np.concatenate([first, second])
    X = RandomMLP(N, N, random_state=seed).forward(2 * factors - 1)
    return World(X, factors, {"pairs": np.arange(ROWS).reshape(2, -1).T})


def ar(seed):
    """Autoregressive sources with Laplace steps."""
    data = ub.datasets.load("temporal-sources", n_factors=N, random_state=seed)
    X, factors, times = data.sample_recording(ROWS, random_state=seed)
    return World(X, factors, {"time": times})


def whitened(seed):
    """The same, as principal components of variance 1."""
    world = ar(seed)
    left = np.linalg.svd(world.X - world.X.mean(0), full_matrices=False)[0]
    return World(left * ROWS**0.5, world.factors, world.evidence)


def nonstationary(seed):
    """Gaussian sources whose variances change between 40 segments."""
    data = ub.datasets.load("nonstationary", n_factors=N, random_state=seed)
    X, factors, segments = data.sample_conditional(ROWS, random_state=seed)
    return World(X, factors, {"y": segments})


def same(factors):
    return factors


VAE_STEPS = {"max_steps": 6000, "batch_size": 256, "learning_rate": 3e-3, "null": "off"}  # chosen on seeds 0 and 1
SLOW_STEPS = VAE_STEPS | {"max_steps": 18_000}  # chosen on seeds 301 and 305, with gamma and the whitening
WORLDS = {"box": box, "ar": ar, "ar-whitened": whitened, "nonstationary": nonstationary}
# (name, worlds, estimator of a seed, what the theorem promises of the factors)
METHODS = [
    ("Contrastive, infonce l1", ("box", "ar"), lambda s: ub.Contrastive(N, random_state=s, null="off"), same),
    ("Contrastive, permutation", ("ar",),
     lambda s: ub.Contrastive(N, objective="permutation", random_state=s, null="off"), same),
    ("SlowVAE", ("ar-whitened",), lambda s: ub.SlowVAE(N, rate="learned", random_state=s, **SLOW_STEPS), same),
    ("RealNVP", ("nonstationary",), lambda s: ub.RealNVP(random_state=s, null="off"), same),
    ("IVAE", ("nonstationary",), lambda s: ub.IVAE(N, random_state=s, **VAE_STEPS), same),
    ("Contrastive, segments", ("nonstationary",),
     lambda s: ub.Contrastive(N, objective="segments", random_state=s, null="off"), np.square),
]  # fmt: skip


def baselines(world, seed, promises):
    """R2 of linear regression and of k-NN; MCC of FastICA and of an untrained encoder, by what is promised."""
    X, z = ((v - v.mean(0)) / v.std(0) for v in (world.X, world.factors))
    order = np.random.default_rng(seed).permutation(len(X))
    seen, new = order[: len(X) // 2], order[len(X) // 2 :]
    readers = {"linear R2": LinearRegression(), "k-NN R2": KNeighborsRegressor(10)}
    found = {name: reader.fit(X[seen], z[seen]).score(X[new], z[new]) for name, reader in readers.items()}
    untrained = ub.Contrastive(N, max_steps=1, learning_rate=1e-12, random_state=seed, null="off").fit(
        world.X, **world.evidence
    )
    codes = {"FastICA": FastICA(N, random_state=seed, max_iter=1000).fit_transform(X)}
    codes["untrained"] = untrained.transform(world.X)
    for promised in promises:
        for name, values in codes.items():
            title = name if promised is same else f"{name}, {promised.__name__}"
            found[title] = mcc(promised(world.factors), promised(values - values.mean(0)))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[100, 101, 102, 103, 104])
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--methods", nargs="+", help="parts of their names; default all")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for name in options.worlds:
        methods = [m for m in METHODS if name in m[1] and any(p in m[0] for p in options.methods or [""])]
        beside: dict[str, list[float]] = {}
        scores: dict[str, list[float]] = {m[0]: [] for m in methods}
        seconds: dict[str, list[float]] = {m[0]: [] for m in methods}
        for seed in options.seeds:
            world = WORLDS[name](seed)
            for known, value in baselines(world, seed, {m[3] for m in methods}).items():
                beside.setdefault(known, []).append(value)
            for title, _, make, promised in methods:
                started = time.process_time()
                model = make(seed).fit(world.X, **world.evidence)
                seconds[title].append(time.process_time() - started)
                scores[title].append(mcc(promised(world.factors), model.transform(world.X)))
                print(f"  {name} {seed} {title}: {scores[title][-1]:.4f}", flush=True)
        print(f"{name}: " + ", ".join(f"{known} {np.mean(values):.3f}" for known, values in beside.items()))
        for title, values in scores.items():
            each = ", ".join(f"{value:.3f}" for value in values)
            print(f"  {title:28s} {np.mean(values):.3f} ({each}), {np.mean(seconds[title]):.0f} CPU s", flush=True)


if __name__ == "__main__":
    main()
