"""Networks on faces of StyleGAN2, by training, network and beta: MCC of faces that were learned from and of others.

    python benchmarks/experiment_face_networks.py OUT.jsonl --faces 800 --passes 100 --networks patches horan

Two codes; 64 x 64 faces of one pair of components, of which each seed leaves 200 unseen. A pass is every face once on
average, in batches of 64. "horan" is the paper's network, which it took from IRMAE: four convolutions of stride 2 and
one dense layer, and the same backwards; "patches" and "paper" are presets. A model is a class and, of BetaVAE, its
beta; HAE's teacher is HLLE+ICA. "untrained" has the weights of the start. A line of JSON for each result; those that
are there already are not computed again. The weights of the generator come by `unbraid datasets get ffhq`.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from records import add_line, read_lines
from torch import nn

import unbraid as ub

UNSEEN, BATCH, WIDTHS = 200, 64, (32, 64, 128, 256)
LEARNING_RATE = 1e-3


def horan(n_heads):
    """Encoder and decoder of the paper for 64 x 64 faces."""
    down, up, channels = [], [], 3
    for width in WIDTHS:
        down += [nn.Conv2d(channels, width, 4, 2, 1), nn.ReLU()]
        up = [nn.ConvTranspose2d(width, channels, 4, 2, 1), nn.ReLU(), *up]
        channels = width
    size = WIDTHS[-1] * 4 * 4
    encoder = nn.Sequential(*down, nn.Flatten(), nn.Linear(size, 2 * n_heads))
    decoder = nn.Sequential(nn.Linear(2, size), nn.ReLU(), nn.Unflatten(1, (WIDTHS[-1], 4, 4)), *up[:-1])
    return {"encoder": encoder, "decoder": decoder}


def model_of(name, network, steps, seed):
    """An estimator; BetaVAE-16 has a beta of 16."""
    kind, _, beta = name.partition("-")
    options = {"random_state": seed, "max_steps": steps, "learning_rate": LEARNING_RATE, "batch_size": BATCH}
    if name == "untrained":
        kind, options = "AE", options | {"max_steps": 1, "learning_rate": 1e-12}
    torch.manual_seed(seed)
    options |= horan(2 if "VAE" in kind else 1) if network == "horan" else {"preset": network}
    if kind == "HAE":
        teacher = ub.HessianICA(2, selection="closest", units="given", random_state=seed)
        return ub.HessianAutoencoder(2, teacher=teacher, **options)
    if kind == "BetaVAE":
        return ub.BetaVAE(2, beta=float(beta), **options)
    return {"AE": ub.Autoencoder, "IRMAE": ub.IRMAE, "VAE": ub.VAE}[kind](2, **options)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--components", nargs="+", default=["0,1"])
    parser.add_argument("--faces", type=int, default=800)
    parser.add_argument("--passes", type=int, default=100)
    parser.add_argument("--networks", nargs="+", default=["patches"], choices=["patches", "paper", "horan"])
    parser.add_argument("--models", nargs="+", default=["HAE", "AE", "IRMAE", "VAE", "BetaVAE-4", "untrained"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    done = {tuple(line["cell"]) for line in read_lines(options.out)}
    steps = options.passes * options.faces // BATCH
    for words in options.components:
        components = tuple(int(word) for word in words.split(","))
        data = ub.datasets.load("gan-manifold", generator="ffhq", components=components, image_size=64)
        X, factors = data.sample(options.faces + UNSEEN, random_state=0)
        X = np.rint(255 * X).astype(np.uint8)
        for seed in options.seeds:
            order = np.random.default_rng(seed).permutation(len(X))
            seen, new = order[: options.faces], order[options.faces :]
            for network in options.networks:
                for name in options.models:
                    cell = (words, options.faces, options.passes, network, name, seed)
                    if cell in done:
                        continue
                    started = time.process_time()
                    model = model_of(name, network, steps, seed).fit(X[seen])
                    row = {"cell": cell, "cpu": time.process_time() - started}
                    row["mcc"], row["unseen"] = (ub.metrics.mcc(factors[s], model.transform(X[s])) for s in (seen, new))
                    back = np.asarray(model.reconstruct(X[new]), float).reshape(len(new), -1)
                    truth = X[new].reshape(len(new), -1) / 255
                    row["error"] = float(np.square(back - truth).sum() / np.square(truth - truth.mean(0)).sum())
                    if "VAE" in name:
                        row["dead"] = int((np.asarray(model.kl_) < 0.05).sum())
                    add_line(options.out, row)


if __name__ == "__main__":
    main()
