"""Do the warnings UB121 to UB125 tell evidence that identifies the factors from evidence that does not?

    python benchmarks/calibrate_evidence.py run draws.jsonl      a line for each draw; the same command goes on
    python benchmarks/calibrate_evidence.py table draws.jsonl    thresholds, alarms, misses

Good worlds meet the assumption that a figure tests, void ones violate it; two factors, a random network of two layers
into four features, 300, 1,000 or 3,000 rows. Thresholds may be set on the draws from 0 to 9; those from 100 on judge.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np
from records import add_line, read_lines

import unbraid as ub
from unbraid.datasets.mixing import RandomMLP
from unbraid.trust.table import FIGURES

SEEDS = (*range(10), *range(100, 110))
SIZES = (300, 1000, 3000)
TRAINED = {"max_steps": 600, "batch_size": 128, "null": "off"}


def walk(n, rng, steps="laplace", rates=(0.9, 0.7)):
    """Autoregressive sources of variance 1."""
    z = getattr(rng, steps)(size=(n, 2)) / (np.sqrt(2) if steps == "laplace" else 1)
    for t in range(1, n):
        z[t] = np.array(rates) * z[t - 1] + np.sqrt(1 - np.square(rates)) * z[t]
    return z


def near(n, rng, steps="laplace"):
    """Pairs of points in a box, the second moved by small steps."""
    first = rng.uniform(-1, 1, size=(n // 2, 2))
    moved = first + 0.1 * getattr(rng, steps)(size=first.shape) / (np.sqrt(2) if steps == "laplace" else 1)
    return np.concatenate([first, np.clip(moved, -1, 1)]), np.arange(n).reshape(2, -1).T


def closeness(n, rng, good):
    z, pairs = near(n, rng)
    model = ub.Contrastive(2, max_steps=1, null="off", random_state=0)
    shuffled = np.c_[pairs[:, 0], rng.permutation(pairs[:, 1])]
    return model.fit(mixed(z, rng), pairs=pairs if good else shuffled)


def kurtosis(n, rng, good):
    z, pairs = near(n, rng, "laplace" if good else "normal")
    return ub.Contrastive(2, random_state=0, **TRAINED).fit(mixed(z, rng), pairs=pairs)


def segments(n, rng, good):
    y = np.repeat(np.arange(10), n // 10)
    z = rng.normal(size=(len(y), 2)) * (rng.uniform(0.3, 1.5, size=(10, 2))[y] if good else 1)
    model = ub.Contrastive(2, objective="segments", max_steps=1, null="off", random_state=0)
    return model.fit(mixed(z, rng), y)


def effect(n, rng, good):
    y = rng.integers(10, size=n)
    z = rng.normal(size=(n, 2)) * (rng.uniform(0.3, 1.5, size=(10, 2))[y] if good else 1)
    return ub.IVAE(2, random_state=0, **TRAINED).fit(mixed(z, rng), y)


def memory(n, rng, good):
    z = walk(n, rng)
    settings = TRAINED | {"rate": "learned", "gamma": 1.0}
    model = ub.SlowVAE(2, random_state=0, **settings)
    return model.fit(mixed(z if good else rng.permutation(z), rng), time=np.arange(n))


FIGURE = {
    "UB121": (closeness, lambda model: model.figures_["positive_closeness"]),
    "UB122": (kurtosis, lambda model: model.figures_["step_kurtosis"]),
    "UB123": (segments, lambda model: model.figures_["segment_chance"]),
    "UB124": (effect, lambda model: model.condition_effect_),
    "UB125": (memory, lambda model: model.autocorrelation_.min()),
}


def mixed(z, rng):
    return RandomMLP(2, 4, n_layers=2, random_state=int(rng.integers(2**31))).forward(z)


def run(path):
    done = {(line["code"], line["n"], line["good"], line["seed"]) for line in read_lines(path)}
    for code, (draw, figure) in FIGURE.items():
        for n in SIZES if code in ("UB121", "UB123") else SIZES[1:2]:
            for seed in SEEDS:
                for good in (True, False):
                    if (code, n, good, seed) in done:
                        continue
                    started = time.process_time()
                    with warnings.catch_warnings(record=True) as caught:
                        warnings.simplefilter("always")
                        model = draw(n, np.random.default_rng([n, seed, good]), good)
                    line = {"code": code, "n": n, "good": good, "seed": seed, "figure": float(figure(model))}
                    line["warned"] = any(code in str(warning.message) for warning in caught)
                    line["cpu"] = round(time.process_time() - started, 2)
                    add_line(path, line)


def table(path):
    print("| warning | rows | threshold | good worlds: range, warned | void worlds: range, warned |")
    print("|---|---|---|---|---|")
    lines = [line for line in read_lines(path) if line["seed"] >= 100]
    for code, n in dict.fromkeys((line["code"], line["n"]) for line in lines):
        key = next(key for key, figure in FIGURES.items() if figure.code == code)
        cells = []
        for good in (True, False):
            some = [line for line in lines if (line["code"], line["n"], line["good"]) == (code, n, good)]
            values = [line["figure"] for line in some]
            cells.append(f"{min(values):.3g} to {max(values):.3g}, {sum(x['warned'] for x in some)} of {len(some)}")
        print(f"| {code} | {n:,} | {FIGURES[key].limit():g} | {cells[0]} | {cells[1]} |")


if __name__ == "__main__":
    {"run": run, "table": table}[sys.argv[1]](Path(sys.argv[2]))
