"""Encoders of several kinds and sizes on dSprites and the room, with raw pixels and an untrained network as floor.

    python benchmarks/experiment_probe.py run --weights efficientnet-lite0-57934424.pth --dataset dsprites --out FOLDER
    python benchmarks/experiment_probe.py table --dataset dsprites --out FOLDER
    python benchmarks/experiment_probe.py plot --dataset dsprites --out FOLDER --picture probe-dsprites.png

Each finished encoder is a file of FOLDER, and one that is there is not run again. The beta-VAEs (beta 4, 10 codes, 1500
steps of 64 on endless data) have dense encoders of three widths and the decoder of the "small" preset. ``--runs
NAME=FOLDER`` adds saved runs, as those of experiment_dsprites_vaes.py. Scores are of 1500 samples (1000 to train on,
500 to test on), of encoders with more than 32 units on 32 principal components.
"""

import argparse
import csv
import sys
from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

import unbraid as ub
from unbraid.contract.progress import progress_style
from unbraid.networks.autoencoder import dense, small_decoder
from unbraid.probing import PROTOCOL, Probe, plot_against_size

WIDTHS, STEPS, CODES = (32, 128, 512), 1500, 10
METRICS = ("mig", "sap", "dci", "mcc")
SHOWN = {"mig": "MIG", "sap": "SAP", "dci_disentanglement": "DCI", "mcc": "MCC"}
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
    kept = {"checkpoint": path.with_suffix(".safetensors"), "checkpoint_every": 250}
    model = ub.BetaVAE(CODES, beta=4.0, max_steps=STEPS, random_state=0, **kept, **networks).fit(dataset)
    model.save(path)
    return model


def encoders(dataset, weights, runs, folder):
    """Names, and functions that make the encoder when its turn comes."""
    yield "pixels", lambda: "pixels"
    yield "untrained", lambda: "untrained"
    for width in WIDTHS:
        yield f"beta-VAE, width {width}", lambda width=width: beta_vae(dataset, width, folder)
    for text in runs:
        name, _, path = text.rpartition("=")
        yield name or Path(path).name, lambda path=path: Path(path)
    if weights is not None:
        yield "EfficientNet-Lite0", lambda: f"efficientnet-lite0:{weights}"


def file_of(args, name):
    return args.out / f"{args.dataset}-{name.replace(' ', '-').replace(',', '')}.json"


def run(args):
    dataset = ub.datasets.load(args.dataset)
    args.out.mkdir(parents=True, exist_ok=True)
    for name, make in encoders(dataset, args.weights, args.runs, args.out):
        file = file_of(args, name)
        if file.is_file() or (args.only and name not in args.only):
            continue
        with progress_style("lines"):
            found = ub.probe(make(), dataset, METRICS, name=name, protocol=RULES, cache=args.out / "codes")
        found.to_json(file)
        print(found, "\n", flush=True)


def found_in(args):
    """What there is for this data set, in the order in which encoders were made."""
    paths = [file_of(args, name) for name, _ in encoders(None, args.weights or Path(), args.runs, args.out)]
    return [Probe.from_json(path) for path in paths if path.is_file()]


def table(args):
    """CSV: of each score its value, 95 % interval, and the way from chance to ceiling."""
    rows = csv.writer(sys.stdout, lineterminator="\n")
    rows.writerow(["encoder", "parameters", "codes", "linear probe", "trees", *SHOWN.values()])
    for p in found_in(args):
        codes = f"{p.n_axes} of {p.n_units}" if p.reduced else p.n_axes
        read = [f"{p.read(kind):.2f}" for kind in ("linear", "trees")]
        scores = [p[name] for name in SHOWN]
        cells = [f"{s.value:.2f} ({s.low:.2f}–{s.high:.2f}) of {s.chance:.2f}–{s.ceiling:.2f}" for s in scores]
        rows.writerow([p.encoder, f"{p.n_parameters:,}", codes, *read, *cells])


def plot(args):
    figure = plot_against_size(found_in(args))
    figure.savefig(args.picture, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "table", "plot"))
    parser.add_argument("--dataset", default="dsprites", choices=("dsprites", "room"))
    parser.add_argument("--weights", type=Path, help="EfficientNet-Lite0's; it is left out without them")
    parser.add_argument("--only", nargs="+", help="names of encoders; the others are passed over")
    parser.add_argument("--runs", nargs="*", default=[], metavar="[NAME=]FOLDER", help="saved runs, to be probed too")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--picture", type=Path, help="where plot puts its picture")
    arguments = parser.parse_args()
    {"run": run, "table": table, "plot": plot}[arguments.command](arguments)
