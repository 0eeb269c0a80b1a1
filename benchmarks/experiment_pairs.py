"""AdaGVAE on pairs of pictures, with its baselines in the same run: disentanglement (DCI) and CPU seconds.

    python benchmarks/experiment_pairs.py OUT.jsonl [--data dsprites room] [--seeds 200] [--steps 20000]

15,000 pairs that differ in one factor to all but one (``changed="some"``) or in one; which ones is not said. Beside
AdaGVAE: beta-VAE (beta 4) on the same pictures with as many steps of as many pictures, an encoder that was not trained,
and the ten leading principal components. DCI by boosted trees, on 10,000 pictures that no model was fitted on. A line
of JSON for each result; results that are there already are not computed again.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from sklearn.decomposition import PCA

import unbraid as ub

PAIRS, SCORED, CODES = 15_000, 10_000, 10


def stored(X):
    """Pictures in a quarter of the memory."""
    return np.round(255 * X).astype(np.uint8)


def models(seed, steps):
    """Estimators by name; a step of beta-VAE takes as many pictures as one of pairs."""
    common = {"random_state": seed, "learning_rate": 1e-3}
    return {
        "AdaGVAE": ub.AdaGVAE(CODES, max_steps=steps, batch_size=32, null="off", **common),
        "beta-VAE": ub.BetaVAE(CODES, beta=4.0, max_steps=steps, batch_size=64, **common),
        "untrained": ub.VAE(CODES, max_steps=1, random_state=seed, learning_rate=1e-12),
        "PCA": PCA(CODES, random_state=seed),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", nargs="+", default=["dsprites", "room"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[200])
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--changed", nargs="+", default=["some"], help='"some", or a number of factors')
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    lines = options.out.read_text().splitlines() if options.out.exists() else []
    done = {tuple(json.loads(line)["cell"]) for line in lines}
    for name in options.data:
        data = ub.datasets.load(name)
        for seed in options.seeds:
            X, factors = data.sample(SCORED, random_state=seed + 10_000)
            X = stored(X)
            for changed in options.changed:
                count = int(changed) if changed.isdigit() else changed
                drawn = data.sample_observations(PAIRS, random_state=seed, changed=count)
                known = ub.Observations(stored(drawn.X), pairs=drawn.pairs)
                for title, model in models(seed, options.steps).items():
                    cell = (name, changed, title, seed, options.steps)
                    if cell in done:
                        continue
                    paired, flat = title == "AdaGVAE", title == "PCA"
                    rows, new = (v.reshape(len(v), -1) if flat else v for v in (known.X, X))
                    started = time.process_time()
                    model.fit(known if paired else rows)
                    seconds = time.process_time() - started
                    found = ub.metrics.dci(factors, np.asarray(model.transform(new), float), backend="compiled")
                    line = {"cell": cell, "dci": found.disentanglement, "completeness": found.completeness}
                    line |= {"informativeness": found.informativeness, "cpu": seconds}
                    with options.out.open("a") as file:
                        file.write(json.dumps(line) + "\n")
                    print(line, flush=True)


if __name__ == "__main__":
    main()
