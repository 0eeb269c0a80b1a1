"""AdaGVAE on pairs of pictures, with its baselines in the same run: disentanglement (DCI) and CPU seconds.

    python benchmarks/experiment_pairs.py OUT.jsonl [--data dsprites room] [--seeds 100 101 102] [--steps 6000]

30,000 pairs that differ in one factor to all but one (``changed="some"``) or in one; which ones is not said. AdaGVAE
has either threshold; beta-VAE (beta 4) learns from the same pictures, with the same networks, learning rate and batches
of as many pictures. Beside them an encoder that was not trained, the ten leading principal components, and these with
their rows permuted (chance). DCI by boosted trees, on 10,000 pictures that no model was fitted on. "10-NN" and "linear"
predict the factors of half of these from 50 principal components, having seen the other half: their informativeness
stands beside that of the codes. A line of JSON for each result; those that are there already are not computed again.
"""

import argparse
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import torch
from records import add_line, read_lines
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

import unbraid as ub

PAIRS, SCORED, CODES, BLOCK = 30_000, 10_000, 10, 2000


def stored(X):
    """Pictures in a quarter of the memory."""
    return np.round(255 * X).astype(np.uint8)


def pairs_of(data, seed, changed):
    """Pairs, drawn in blocks; the first pictures of all pairs before the second ones."""
    rng = np.random.default_rng(seed)
    drawn = [data.sample_pairs(BLOCK, random_state=rng, changed=changed) for _ in range(PAIRS // BLOCK)]
    X = np.concatenate([stored(pair[side][0]) for side in range(2) for pair in drawn])
    return ub.Observations(X, pairs=np.arange(2 * PAIRS).reshape(2, -1).T)


def models(seed, steps):
    """Estimators by name; a step of beta-VAE takes as many pictures as one of pairs."""
    common = {"random_state": seed, "learning_rate": 2e-3, "max_steps": steps}
    return {
        "AdaGVAE, log": ub.AdaGVAE(CODES, threshold="log", batch_size=32, null="off", **common),
        "beta-VAE": ub.BetaVAE(CODES, beta=4.0, batch_size=64, **common),
        "AdaGVAE, mean": ub.AdaGVAE(CODES, batch_size=32, null="off", **common),
        "untrained": ub.VAE(CODES, max_steps=1, random_state=seed, learning_rate=1e-12),
        "PCA": PCA(CODES, random_state=seed),
    }


def scores(factors, codes):
    """DCI's three parts."""
    found = ub.metrics.dci(factors, np.asarray(codes, float), backend="compiled")
    return {"dci": found.disentanglement, "completeness": found.completeness, "informativeness": found.informativeness}


def readers(factors, X, seed):
    """Mean accuracy of what predicts the factors of half of the pictures, having seen those of the other half."""
    half = len(X) // 2
    components = PCA(50, random_state=seed).fit_transform(X.reshape(len(X), -1).astype(np.float32))
    for name, reader in (("10-NN", KNeighborsClassifier(10)), ("linear", LinearDiscriminantAnalysis())):
        right = [reader.fit(components[:half], y[:half]).score(components[half:], y[half:]) for y in factors.T]
        yield name, {"informativeness": float(np.mean(right))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", nargs="+", default=["dsprites", "room"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[100, 101, 102])
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--changed", nargs="+", default=["some"], help='"some", or a number of factors')
    parser.add_argument("--methods", nargs="+", choices=models(0, 1), default=list(models(0, 1)))
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    done = {tuple(line["cell"]) for line in read_lines(options.out)}

    def write(cell, result):
        print(add_line(options.out, {"cell": cell} | result), flush=True)

    for name, seed, changed in product(options.data, options.seeds, options.changed):
        data = ub.datasets.load(name)
        X, factors = data.sample(SCORED, random_state=seed + 10_000)
        X = stored(X)
        known = pairs_of(data, seed, int(changed) if changed.isdigit() else changed)
        for title, model in models(seed, options.steps).items():
            cell = (name, changed, title, seed, options.steps)
            if cell in done or title not in options.methods:
                continue
            flat = title == "PCA"
            rows, new = (v.reshape(len(v), -1) if flat else v for v in (known.X[: SCORED if flat else None], X))
            started = time.process_time()
            model.fit(known if title.startswith("AdaGVAE") else rows)
            seconds = time.process_time() - started
            codes = model.transform(new)
            write(cell, scores(factors, codes) | {"cpu": seconds})
            if flat:
                write(
                    (name, changed, "chance", seed, options.steps),
                    scores(factors, np.random.default_rng(seed).permutation(codes)),
                )
                for reader, result in readers(factors, X, seed):
                    write((name, changed, reader, seed, options.steps), result)


if __name__ == "__main__":
    main()
