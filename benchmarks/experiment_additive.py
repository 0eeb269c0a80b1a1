"""Additive decoders against plain ones of the same layers, on images of two objects.

    python benchmarks/experiment_additive.py --out additive.jsonl

Worlds: two balls, and a square and a ring, that move up and down (one factor each), where at most one of them is in the
upper half; the same that move freely (two factors each). 3,000 images of 32 x 32 pixels, 3,000 steps at
rate 4e-3, seeds 300 to 304; the settings were chosen on seeds 0 to 2 of the first world, the starts on 0, 1, 100, 101
and 103.

``match`` is the matching score: the mean absolute rank correlation of factors and codes, best matching, for one factor
per object; for two, R2 of a 10-nearest-neighbour regression of each object on the codes of its block, on held-out rows,
best matching (and, for the plain decoder, best split of its codes into blocks). ``unseen`` is R2 of images of
combinations that never occurred, decoded from one code of one row and the other code of another. Beside them: PCA+ICA,
HLLE+ICA, an untrained additive autoencoder, what 10 nearest neighbours with labels say of the other rows, and rows at
random. Lines are appended; the same command goes on where it stopped.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from records import add_line, read_lines
from scipy.stats import spearmanr
from sklearn.decomposition import PCA
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsRegressor

import unbraid as ub

WORLDS = {
    "balls, up": {"support": "corner"},
    "square and ring, up": {"objects": ("square", "ring"), "support": "corner"},
    "balls, freely": {"moves": "freely"},
    "square and ring, freely": {"objects": ("square", "ring"), "moves": "freely"},
}
SPLITS = (((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)))


def methods(n_factors: int, seed: int) -> dict:
    """What is compared, by name."""
    trained = {"max_steps": 3000, "learning_rate": 4e-3, "random_state": seed}
    blocks = {"block_size": n_factors // 2}
    return {
        "AdditiveAutoencoder": ub.AdditiveAutoencoder(n_factors, **blocks, **trained),
        "Autoencoder": ub.Autoencoder(n_factors, **trained),
        "untrained": ub.AdditiveAutoencoder(n_factors, **blocks, **trained | {"max_steps": 1}),
        "PCA+ICA": ub.PCAICA(n_factors, random_state=seed),
        "HLLE+ICA": ub.HessianICA(n_factors, random_state=seed),
        "k-NN with labels": None,
        "chance": None,
    }


def match(factors: np.ndarray, codes: np.ndarray, known_blocks: bool) -> float:
    """The matching score."""
    d = factors.shape[1]
    if d == 2:
        r = np.abs(spearmanr(np.c_[factors, codes]).statistic[:2, 2:])
        return float(max(r[0, 0] + r[1, 1], r[0, 1] + r[1, 0]) / 2)
    half = len(codes) // 2
    scores = []
    for split in SPLITS[:1] if known_blocks else SPLITS:
        found = np.array([[_read(factors[:, o : o + 2], codes[:, list(b)], half) for b in split] for o in (0, 2)])
        scores.append(max(np.trace(found), np.trace(found[::-1])) / 2)
    return float(max(scores))


def _read(factors: np.ndarray, codes: np.ndarray, half: int) -> float:
    reader = KNeighborsRegressor(10).fit(codes[:half], factors[:half])
    return float(reader.score(codes[half:], factors[half:]))


def told(method: str, X: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Factors by 10 neighbours in 30 principal components, from the other folds; or those of rows at random."""
    if method == "chance":
        return np.random.default_rng(0).permutation(factors)
    reduced = PCA(30, random_state=0).fit_transform(X.reshape(len(X), -1))
    return cross_val_predict(KNeighborsRegressor(10), reduced, factors, cv=5)


def unseen(model: ub.AdditiveAutoencoder, data: ub.datasets.Dataset, factors: np.ndarray, codes: np.ndarray) -> float:
    """R2 of decoded combinations that never occurred."""
    r = np.abs(spearmanr(np.c_[factors, codes]).statistic[:2, 2:])
    order = [0, 1] if r[0, 0] + r[1, 1] >= r[0, 1] + r[1, 0] else [1, 0]
    first, second = (np.flatnonzero(factors[:, i] > 0.5)[:300] for i in (0, 1))
    n = min(len(first), len(second))
    mixed = np.empty((n, 2))
    mixed[:, order[0]], mixed[:, order[1]] = codes[first[:n], order[0]], codes[second[:n], order[1]]
    truth = data.observe(np.c_[factors[first[:n], 0], factors[second[:n], 1]])
    error = np.square(model.inverse_transform(mixed) - truth).sum()
    return float(1 - error / np.square(truth - truth.mean(axis=0)).sum())


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("additive.jsonl"))
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS), choices=list(WORLDS))
    args = parser.parse_args()
    lines = read_lines(args.out)
    done = {(line["world"], line["seed"], line["method"]) for line in lines}
    for seed in range(300, 305):
        for world in args.worlds:
            data = ub.datasets.load("two-objects", **WORLDS[world])
            X, factors = data.sample(3000, random_state=seed)
            for method, model in methods(data.n_factors, seed).items():
                if (world, seed, method) in done:
                    continue
                start = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    codes = told(method, X, factors) if model is None else np.asarray(model.fit_transform(X))
                seconds = time.process_time() - start
                line = {"world": world, "seed": seed, "method": method, "seconds": round(seconds, 1)}
                line["match"] = match(factors, codes, model is None or isinstance(model, ub.AdditiveAutoencoder))
                if method == "AdditiveAutoencoder":
                    line |= {"explained": model.explained_, "shares": model.part_shares_.tolist()}
                if data.n_factors == 2 and method in ("AdditiveAutoencoder", "Autoencoder"):
                    line["unseen"] = unseen(model, data, factors, codes)
                lines.append(add_line(args.out, line))
    for world in args.worlds:
        for method in methods(2, 0):
            found = [line for line in lines if line["world"] == world and line["method"] == method]
            scores = [round(line["match"], 3) for line in found]
            rest = [round(line["unseen"], 3) for line in found if "unseen" in line]
            print(
                f"{world:20s} {method:20s} match {scores} unseen {rest} {np.mean([f['seconds'] for f in found]):.0f} s"
            )


if __name__ == "__main__":
    main()
