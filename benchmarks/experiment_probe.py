"""Encoders of several kinds and sizes on dSprites and the room, with raw pixels and an untrained network as floor.

    python benchmarks/experiment_probe.py run --weights efficientnet-lite0-57934424.pth --dataset dsprites --out FOLDER
    python benchmarks/experiment_probe.py table --dataset dsprites --out FOLDER
    python benchmarks/experiment_probe.py plot --dataset dsprites --out FOLDER --picture probe-dsprites.png

Each finished encoder is a file of FOLDER, and one that is there is not run again. The beta-VAEs (beta 4, 10 codes, 3000
steps of 64 on endless data) have dense encoders of three widths and the decoder of the "small" preset. ``--runs`` adds
saved runs, as those of experiment_dsprites_vaes.py. Scores are of 1500 samples (1000 to train on, 500 to test on), of
encoders with more than 32 units on 32 principal components.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

import unbraid as ub
from unbraid.networks.autoencoder import dense, small_decoder
from unbraid.probing import PROTOCOL

WIDTHS, STEPS, CODES = (32, 128, 512), 3000, 10
METRICS = ("mig", "sap", "dci", "mcc")
RULES = replace(
    PROTOCOL,
    name="probe-1500",
    n_samples=1500,
    n_train=1000,
    n_test=500,
    replicates={"light": 30, "medium": 8, "heavy": 5},
)


def beta_vae(dataset, width, folder):
    """A beta-VAE whose encoder has two layers of this width; trained once, and kept."""
    path = folder / f"vae-{dataset.name}-{width}"
    shape = (dataset.shape[2] if len(dataset.shape) == 3 else 1, *dataset.shape[:2])
    n_in = shape[0] * shape[1] * shape[2]
    torch.manual_seed(0)
    encoder = nn.Sequential(nn.Flatten(), *dense([n_in, width, width], nn.ReLU), nn.Linear(width, 2 * CODES))
    networks = {"encoder": encoder, "decoder": small_decoder(shape, CODES)}
    if (path / "config.json").is_file():
        return ub.load(path).set_params(**networks)
    model = ub.BetaVAE(CODES, beta=4.0, max_steps=STEPS, random_state=0, **networks).fit(dataset)
    model.save(path)
    return model


def encoders(dataset, weights, runs, folder):
    """Names, and functions that make the encoder when its turn comes."""
    yield "pixels", lambda: "pixels"
    yield "untrained", lambda: "untrained"
    for width in WIDTHS:
        yield f"beta-VAE, width {width}", lambda width=width: beta_vae(dataset, width, folder)
    for path in runs:
        yield path.name, lambda path=path: path
    if weights is not None:
        yield "EfficientNet-Lite0", lambda: f"efficientnet-lite0:{weights}"


def run(args):
    dataset = ub.datasets.load(args.dataset)
    args.out.mkdir(parents=True, exist_ok=True)
    for name, make in encoders(dataset, args.weights, args.runs, args.out):
        file = args.out / f"{args.dataset}-{name.replace(' ', '-').replace(',', '')}.json"
        if file.is_file():
            continue
        found = ub.probe(make(), dataset, METRICS, name=name, protocol=RULES, cache=args.out / "codes")
        found.to_json(file)
        print(found, "\n", flush=True)


def table(args):
    print(f"| {args.dataset} | parameters | codes | linear probe | trees | " + " | ".join(SHOWN) + " |")
    for file in sorted(args.out.glob(f"{args.dataset}-*.json")):
        found = json.loads(file.read_text())
        scores = {s["name"]: s for s in found["evaluation"]["scores"]}
        read = [mean_share(found["factors"], kind) for kind in ("linear", "trees")]
        cells = [f"{scores[n]['value']:.3f} ({scores[n]['chance']:.3f} … {scores[n]['ceiling']:.3f})" for n in SHOWN]
        codes = f"{found['n_axes']} of {found['n_units']}"
        print(f"| {found['encoder']} | {found['n_parameters']:,} | {codes} | {read[0]:.3f} | {read[1]:.3f} | ", end="")
        print(" | ".join(cells) + " |")


SHOWN = ("mig", "sap", "dci_disentanglement", "mcc")


def mean_share(factors, kind):
    shares = [(p["score"] - p["chance"]) / (1 - p["chance"]) for p in factors if p["kind"] == kind]
    return sum(shares) / len(shares)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "table"))
    parser.add_argument("--dataset", default="dsprites", choices=("dsprites", "room"))
    parser.add_argument("--weights", type=Path, help="EfficientNet-Lite0's; it is left out without them")
    parser.add_argument("--runs", type=Path, nargs="*", default=[], help="folders of saved runs, to be probed too")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    {"run": run, "table": table}[arguments.command](arguments)
