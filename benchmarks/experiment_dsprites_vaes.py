"""Six VAEs on the real dSprites grid: five seeds each, the "small" preset, 10,000 steps; resumable.

    python benchmarks/experiment_dsprites_vaes.py train --data dsprites_grid_46080.npz --out FOLDER
    python benchmarks/experiment_dsprites_vaes.py rescore --models FOLDER --out OTHER
    python benchmarks/experiment_dsprites_vaes.py table --out FOLDER

They are trained on every second position and fourth orientation, and scored on images of the whole set, drawn: on the
grid alone MIG would be higher (.42 in place of .36 for one model), its factors having fewer values. A run that is
stopped goes on at its last checkpoint; a finished one is a line of FOLDER/results.jsonl. "rescore" scores the models
of a folder again without training them.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from records import add_line, read_lines

import unbraid as ub

METHODS = {
    "beta-VAE": ("BetaVAE", {"beta": 4.0}),
    "beta-TCVAE": ("BetaTCVAE", {"beta": 6.0}),
    "FactorVAE": ("FactorVAE", {"gamma": 20.0}),
    "AnnealedVAE": ("AnnealedVAE", {"c_max": 25.0}),
    "DIP-VAE-I": ("DIPVAE", {"kind": "I", "lambda_od": 10.0}),
    "DIP-VAE-II": ("DIPVAE", {"kind": "II", "lambda_od": 10.0}),
}
SCORES = ("mig", "dci", "factor_vae")


N_SCORED = 50_000


def load(path):
    with np.load(path) as file:
        return file["imgs"]


def scores(model):
    """MIG and DCI of 10,000 points (DCI: 10,000 for the trees, 5,000 to test), FactorVAE score from 50,000 codes."""
    dataset, rng = ub.datasets.load("dsprites"), np.random.default_rng(0)
    parts = []
    for _ in range(N_SCORED // 1000):
        X, v = dataset.sample(1000, rng)
        parts.append((v, model.transform(X)))
    factors, codes = (np.concatenate(column) for column in zip(*parts))
    ten, test = slice(10_000), slice(10_000, 15_000)
    dci = ub.metrics.dci(factors[ten], codes[ten], factors[test], codes[test], backend="compiled")
    return {
        "mig": float(ub.metrics.mig(factors[ten], codes[ten])),
        "dci": float(dci.disentanglement),
        "factor_vae": float(ub.metrics.factor_vae(factors, codes, random_state=0)),
    }


def name_of(method, settings, seed):
    return f"{method}-{'-'.join(str(v) for v in settings.values())}-{seed}"


def key_of(record):
    return record["method"], record["parameters"], record["seed"]


def write(path, record):
    print(json.dumps(add_line(path, record)), flush=True)


def train(args):
    torch.set_num_threads(1)
    X = load(args.data)
    args.out.mkdir(parents=True, exist_ok=True)
    results = args.out / "results.jsonl"
    for seed in args.seeds:
        for method in args.methods:
            estimator, settings = METHODS[method]
            settings = settings | (json.loads(args.settings) if args.settings else {})
            record = {"method": method, "parameters": json.dumps(settings), "seed": seed}
            if key_of(record) in map(key_of, read_lines(results)):
                continue
            name = name_of(method, settings, seed)
            where = {"checkpoint": args.out / f"{name}.safetensors", "random_state": seed}
            model = getattr(ub, estimator)(10, preset="small", max_steps=args.steps, **where, **settings)
            started = time.process_time()
            model.fit(X)
            seconds = time.process_time() - started
            last = model.history_[-1]
            record |= {"steps": model.n_steps_} | scores(model) | {k: last[k] for k in ("reconstruction", "kl")}
            record |= {"total_correlation": last["total_correlation"], "cpu_seconds": round(seconds, 1)}
            model.save(args.out / name)
            write(results, record)


def rescore(args):
    torch.set_num_threads(1)
    args.out.mkdir(parents=True, exist_ok=True)
    results = args.out / "results.jsonl"
    if results.resolve() == (args.models / "results.jsonl").resolve():
        raise SystemExit("--out is the folder of the models; give another one, so that both tables are kept.")
    for record in read_lines(args.models / "results.jsonl"):
        if key_of(record) not in map(key_of, read_lines(results)):
            name = name_of(record["method"], json.loads(record["parameters"]), record["seed"])
            write(results, record | scores(ub.load(args.models / name)))


def table(args):
    rows = read_lines(args.out / "results.jsonl")
    print(
        f"{'method':12} {'strength':34} n  " + "".join(f"{s:>26}" for s in SCORES) + f"{'reconstruction':>16}{'kl':>7}"
    )
    for method, parameters in dict.fromkeys((r["method"], r["parameters"]) for r in rows):
        of = [r for r in rows if (r["method"], r["parameters"]) == (method, parameters)]
        cells = []
        for score in SCORES:
            values = np.array([r[score] for r in of])
            cells.append(f"{np.median(values):.3f} ({values.min():.3f} to {values.max():.3f})".rjust(26))
        rest = f"{np.median([r['reconstruction'] for r in of]):16.1f}{np.median([r['kl'] for r in of]):7.1f}"
        print(f"{method:12} {parameters:34} {len(of)}  " + "".join(cells) + rest)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("train", "rescore", "table"))
    parser.add_argument("--data", type=Path, help="the grid to train on")
    parser.add_argument("--models", type=Path, help="the folder of trained models to score again")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--settings", help="JSON in place of the strengths, e.g. '{\"beta\": 8}'")
    args = parser.parse_args()
    needed = {"train": "data", "rescore": "models"}.get(args.command)
    if needed and getattr(args, needed) is None:
        parser.error(f"{args.command} needs --{needed}")
    {"train": train, "rescore": rescore, "table": table}[args.command](args)


if __name__ == "__main__":
    main()
