"""GIN on mixings that are nonlinear by measure: difficulty, scores before and after, and the likelihood of the truth.

python benchmarks/experiment_gin.py --out gin.jsonl --settings default unfolding --seeds 500 510
python benchmarks/experiment_gin.py --out gin.jsonl --table

Every fit is one JSON line, written when it is done; what is in the file is not run again.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from records import add_line, read_lines

import unbraid as ub
from unbraid.datasets.conditional import GINMixture
from unbraid.metrics import mcc

KINDS = {
    "realnvp": {"mixing": "realnvp"},
    "volume-preserving": {"mixing": "volume-preserving"},
    "three-clusters": {"mixing": "volume-preserving", "n_clusters": 3},
    "volume-changing": {"mixing": "volume-changing"},
    "volume-changing-plane": {"mixing": "volume-changing", "n_features": 2},
    "volume-preserving-plane": {"mixing": "volume-preserving", "n_features": 2},
}
WIDE = {"hidden": 64, "batch_size": 500, "max_steps": 2000, "n_init": 3}
UNFOLDING = {"architecture": "unfolding", "batch_size": 500}
SETTINGS = {
    "default": {},
    "paper": {"noise": 0.01, "n_init": 1, "max_steps": 2400},
    "wide": WIDE,
    "unfolding": UNFOLDING,
    "unfolding-slow": UNFOLDING | {"learning_rate": 1e-4},
    "realnvp": WIDE,
    "self-supervised": WIDE | {"batch_size": 50},
    "self-supervised-default": {},
}
HELD_OUT = 2000


def log_likelihood(codes, labels, fitted, fitted_labels):
    """Mean over points, in nats, under normals whose parameters are those of other points of the class."""
    logs = np.empty(len(codes))
    for label in np.unique(labels):
        mean, std = (f(fitted[fitted_labels == label], axis=0) for f in (np.mean, np.std))
        z = (codes[labels == label] - mean) / std
        logs[labels == label] = -(0.5 * z**2 + np.log(std) + 0.5 * np.log(2 * np.pi)).sum(1)
    return float(logs.mean())


def fit(cell, codes_folder):
    """One fit with its baselines; scores and likelihoods are those of points that were not fitted."""
    data = GINMixture(**KINDS[cell["kind"]], random_state=cell["seed"])
    X, factors, labels = data.sample_conditional(cell["points"] + HELD_OUT, random_state=1000 + cell["seed"])
    train, held = slice(cell["points"]), slice(cell["points"], None)
    settings = SETTINGS[cell["settings"]] | {"random_state": cell["seed"], "progress": False}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        untrained = ub.GIN(**settings | {"max_steps": 1, "n_init": 1, "null": "off"}).fit(X[:2000], labels[:2000])
        caught.clear()
        began = time.process_time()
        if cell["settings"].startswith("self-supervised"):
            sets = data.sample_augmented(cell["points"], random_state=1000 + cell["seed"])[2]
            model = ub.SelfSupervisedGIN(**settings).fit(sets)
        else:
            method = ub.RealNVP if cell["settings"] == "realnvp" else ub.GIN
            model = method(**settings, null="off").fit(X[train], labels[train])
        seconds = time.process_time() - began
    found, known = model.transform(X[held]), model.transform(X[train][:10_000])
    if codes_folder:
        name = "-".join(map(str, cell.values()))
        np.savez(Path(codes_folder) / f"{name}.npz", codes=found, labels=labels[held], factors=factors[held])
    measured, latents = data.difficulty, data.mixing.inverse(X)
    return cell | {
        "linear_r2": measured.linear, "raw": measured.raw, "pca_ica": measured.pca_ica, "knn_r2": measured.neighbors,
        "untrained": float(mcc(factors[held], untrained.transform(X[held])[:, :2])),
        "mcc": float(mcc(factors[held], found[:, :2])),
        "truth": log_likelihood(latents[held], labels[held], latents[train], labels[train]),
        "fit": log_likelihood(found, labels[held], known, labels[train][:10_000]),
        "leftover": getattr(model, "leftover_", None),
        "found_again": float(model.found_again_[: model.n_informative_].min()),
        "n_informative": model.n_informative_, "unfolded": model.n_unfolded_,
        "steps": model.n_steps_, "cpu_seconds": round(seconds, 1),
        "warned": sorted({str(w.message)[:5] for w in caught if str(w.message).startswith("UB")}),
    }  # fmt: skip


def show(rows):
    """One line per kind, size and settings."""
    groups = {}
    for row in rows:
        groups.setdefault((row["kind"], row["points"], row["settings"]), []).append(row)
    print("| mixing, points, settings | fits | untrained | MCC worst, median | >= .95 | fit, truth (nats) | CPU s |")
    print("|---|---|---|---|---|---|---|")
    for key, found in sorted(groups.items()):
        column = {name: np.array([row[name] for row in found]) for name in ("untrained", "mcc", "fit", "truth")}
        seconds = np.median([row["cpu_seconds"] for row in found])
        print(
            f"| {', '.join(map(str, key))} | {len(found)} | {np.median(column['untrained']):.3f} "
            f"| {column['mcc'].min():.3f}, {np.median(column['mcc']):.3f} | {(column['mcc'] >= 0.95).sum()} "
            f"| {np.median(column['fit']):.1f}, {np.median(column['truth']):.1f} | {seconds:.0f} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--kind", nargs="+", default=["volume-preserving"], choices=KINDS)
    parser.add_argument("--settings", nargs="+", default=["default", "unfolding"], choices=SETTINGS)
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 5), help="first, and the one after the last")
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--codes", help="folder for codes of held-out points")
    parser.add_argument("--table", action="store_true", help="print the table of what is in the file, run nothing")
    args = parser.parse_args()
    torch.set_num_threads(1)
    rows = read_lines(args.out)
    if args.table:
        return show(rows)
    keys = ("kind", "settings", "points", "seed")
    done = {tuple(row[key] for key in keys) for row in rows}
    for seed in range(*args.seeds):
        for kind in args.kind:
            for settings in args.settings:
                cell = dict(zip(keys, (kind, settings, args.points, seed)))
                if tuple(cell.values()) in done:
                    continue
                print(add_line(args.out, fit(cell, args.codes)), flush=True)


if __name__ == "__main__":
    main()
