"""VAEs of counts, of tables with gaps and under batches: what the likelihood, the mask and the covariates are worth.

``counts``: two factors whose spread changes with one of 20 conditions, mixed by two layers into the log-rates of 50
columns, 2,000 rows. IVAE with the likelihoods of counts, and with the Gaussian one of the counts, of their roots and of
log(1 + x). ``clean`` is that of the log-rates themselves, ``start`` IVAE after one step, the linear solution.
What encoders see of counts was chosen on seeds 0 to 4, and is judged on 110 to 119.

``gaps``: two factors, 30 curved columns (isometric, curvature 3, noise of 1 %), 1,000 rows, a fifth of the values
missing. A VAE is not identifiable, so errors of the missing values are compared, in standard deviations of a column.

``batches``: the worlds of ``experiment_covariates.py``. Scores are the correlation of the factors, regressed by k-NN on
the codes of the other half of the rows, and how often k-NN on the codes tells the batch (chance is .25).

Networks, steps and worlds were fixed before the first look at seeds 100 and 101, which all else has.

    python benchmarks/experiment_vaes.py counts|gaps|batches --out vaes.jsonl
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from experiment_covariates import world as batch_world
from records import add_line, read_lines
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import unbraid as ub
from unbraid.data.gaps import filled
from unbraid.spectral.gaps import Filling

SEEDS = {"counts": range(110, 120), "gaps": range(100, 102), "batches": range(100, 102)}
MEANS = (0.3, 1.0, 3.0, 10.0)
SEGMENTS, N, COLUMNS = 20, 2000, 50
MISSING = 0.2
STEPS = 600


def regressed(codes: np.ndarray, z: np.ndarray) -> float:
    """Correlation of factors of the other half, by k-NN regression on codes with labels."""
    half = len(z) // 2
    found = KNeighborsRegressor(20).fit(codes[:half], z[:half]).predict(codes[half:])
    return float(np.mean([np.corrcoef(z[half:, j], found[:, j])[0, 1] for j in range(z.shape[1])]))


def conditions(seed: int, mean: float) -> tuple[np.ndarray, ...]:
    """Factors, conditions and rates."""
    rng = np.random.default_rng(seed)
    segment = np.arange(N) % SEGMENTS
    z = rng.laplace(size=(N, 2)) * rng.uniform(0.2, 2.0, (SEGMENTS, 2))[segment]
    hidden = np.tanh(z @ rng.normal(size=(2, 20)) * 0.5 + 0.5 * rng.normal(size=20))
    log_rates = hidden @ rng.normal(size=(20, COLUMNS)) / 2
    rates = np.exp(log_rates) * rng.lognormal(0, 0.5, COLUMNS)
    return z, segment, mean * rates / rates.mean()


def counts(seed: int, mean: float) -> dict[str, float]:
    z, segment, rates = conditions(seed, mean)
    rng = np.random.default_rng(seed + 1)
    X = rng.poisson(rates)
    run = {"max_steps": STEPS, "learning_rate": 5e-3, "random_state": 0, "null": "off"}
    tables = {
        "clean": (np.log(rates), "gaussian", STEPS),
        "negative binomial": (X, "negative-binomial", STEPS),
        "poisson": (X, "poisson", STEPS),
        "gaussian": (X, "gaussian", STEPS),
        "gaussian of roots": (np.sqrt(X), "gaussian", STEPS),
        "gaussian of logs": (np.log1p(X), "gaussian", STEPS),
        "start": (X, "poisson", 1),
    }
    found = {}
    for name, (table, likelihood, steps) in tables.items():
        model = ub.IVAE(2, likelihood=likelihood, **run | {"max_steps": steps}).fit(table, segment)
        codes = model.transform(table)
        found[name] = ub.metrics.mcc(z, codes)
    found["PCA+ICA"] = ub.metrics.mcc(z, ub.PCAICA(2, random_state=0).fit_transform(X))
    found["k-NN with labels"] = regressed(ub.PCAICA(5, random_state=0).fit_transform(X), z)
    return found | {"chance": ub.metrics.mcc(z, rng.permutation(z))}


def gaps(seed: int, _: float) -> dict[str, float]:
    X, z = ub.datasets.load("isometric", n_features=30, curvature=3.0).sample(1000, random_state=seed)
    rng = np.random.default_rng(seed)
    X = X + 0.01 * X.std() * rng.normal(size=X.shape)
    hole = rng.random(X.shape) < MISSING
    gappy, spread = np.where(hole, np.nan, X), X.std(axis=0)

    def error(table: np.ndarray) -> float:
        return float(np.sqrt(np.square((table - X) / spread)[hole].mean()))

    median = filled(gappy, "median")
    run = {"max_steps": 2 * STEPS, "learning_rate": 5e-3, "random_state": 0}
    noisy = ["gaussian"] * 29 + ["student"]  # a list of unlike ones has a learned noise for each column
    mask, fixed, blind = (
        ub.VAE(5, likelihood=noisy, **run),
        ub.VAE(5, **run),
        ub.VAE(5, likelihood=noisy, **run),
    )
    found = {
        "masked, learned noise": error(mask.fit(gappy).reconstruct(gappy)),
        "masked, noise of 1": error(fixed.fit(gappy).reconstruct(gappy)),
        "of medians, learned noise": error(blind.fit(median).reconstruct(median)),
        "principal components": error(Filling.of(gappy)(gappy)),
        "neighbours": error(filled(gappy, "neighbors")),
        "medians": error(median),
    }
    whole = ub.VAE(5, likelihood=noisy, **run).fit(X)
    return found | {
        "k-NN on codes, masked": regressed(mask.transform(gappy), z),
        "k-NN on codes, of medians": regressed(blind.transform(median), z),
        "k-NN on codes, complete": regressed(whole.transform(X), z),
    }


def batches(seed: int, share: float) -> dict[str, float]:
    z, clean, X, batch = batch_world(seed, share, gains=False)
    run = {"max_steps": 2 * STEPS, "learning_rate": 5e-3, "random_state": 0}
    noisy = ["gaussian"] * (X.shape[1] - 1) + ["student"]
    models = {
        "clean": (ub.VAE(3, likelihood=noisy, **run), clean, None),
        "no covariates": (ub.VAE(3, likelihood=noisy, **run), X, None),
        "covariates": (ub.VAE(3, likelihood=noisy, **run), X, batch),
        "untrained": (ub.VAE(3, likelihood=noisy, **run | {"max_steps": 1}), X, batch),
    }
    found, half = {}, len(z) // 2
    for name, (model, table, known) in models.items():
        codes = model.fit(table, covariates=known).transform(table)
        told = KNeighborsClassifier(20).fit(codes[:half], batch[:half]).score(codes[half:], batch[half:])
        found |= {f"factors, {name}": regressed(codes, z), f"batch, {name}": float(told)}
    return found | {"factors, k-NN of the columns": regressed(X, z)}


SETTINGS = {"counts": (counts, MEANS), "gaps": (gaps, (0.0,)), "batches": (batches, (0.0,))}


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("world", choices=SETTINGS)
    parser.add_argument("--out", type=Path, default=Path("vaes.jsonl"))
    parser.add_argument("--seeds", type=int, nargs="*")
    args = parser.parse_args()
    lines = read_lines(args.out)
    done = {(line["world"], line["value"], line["seed"]) for line in lines}
    warnings.simplefilter("ignore")
    score, values = SETTINGS[args.world]
    for value in values:
        for seed in args.seeds or SEEDS[args.world]:
            if (args.world, value, seed) not in done:
                line = {"world": args.world, "value": value, "seed": seed, **score(seed, value)}
                lines.append(add_line(args.out, line))
        here = [line for line in lines if (line["world"], line["value"]) == (args.world, value)]
        for name in [key for key in here[0] if key not in ("world", "value", "seed")]:
            scores = [line[name] for line in here]
            print(
                f"{args.world} {value:4g} {name:28} mean {np.mean(scores):.3f}, {min(scores):.3f} to {max(scores):.3f}"
            )


if __name__ == "__main__":
    main()
