"""The Hessian autoencoder beside its baselines, on images that none of them saw; like figures 6 to 8 of its paper.

    python benchmarks/experiment_hessian_autoencoder.py train --weights GENERATOR --out FOLDER
    python benchmarks/experiment_hessian_autoencoder.py table --out FOLDER
    python benchmarks/experiment_hessian_autoencoder.py pictures --weights GENERATOR --out FOLDER

GENERATOR is a DCGAN of faces. Five data sets of two factors; 3,000 images to learn from, 1,000 to test on. Every
autoencoder has the same networks (preset "patches"). A stopped run goes on where it was.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from sklearn.decomposition import FastICA

import unbraid as ub

SETS = ("shapes-xy", "shapes-xc", "faces-01", "faces-23", "faces-45")
MODELS = ("HAE", "AE-2", "IRMAE-2", "VAE-2", "AE-128", "IRMAE-128", "VAE-128")
N_TRAIN, N_TEST = 3000, 1000


def load(name, weights):
    """Images and factors: the first 3,000 to learn from, 1,000 to test on."""
    if name.startswith("faces"):
        components = tuple(int(c) for c in name[-2:])
        dataset = ub.datasets.load("gan-manifold", weights=weights, components=components)
    else:
        dataset = ub.datasets.load(name)
    X, factors = dataset.sample(N_TRAIN + N_TEST, random_state=0)
    return X[:N_TRAIN], factors[:N_TRAIN], X[N_TRAIN:], factors[N_TRAIN:]


def build(model, steps, checkpoint):
    kind, _, width = model.partition("-")
    common = {"preset": "patches", "max_steps": steps, "checkpoint": checkpoint, "random_state": 0}
    if kind == "HAE":
        return ub.HessianAutoencoder(2, **common)
    return {"AE": ub.Autoencoder, "IRMAE": ub.IRMAE, "VAE": ub.VAE}[kind](int(width), **common)


def two_codes(codes, codes_test):
    """A bottleneck of 128 is brought to two dimensions by fastICA, fitted on the training images."""
    if codes.shape[1] == 2:
        return codes_test
    ica = FastICA(2, whiten="unit-variance", random_state=0, max_iter=2000).fit(codes.astype(float))
    return ica.transform(codes_test.astype(float))


def squared_error(X, reconstruction):
    """Mean squared error over pixels, as a share of the images' variance."""
    return float(np.square(X - reconstruction).mean() / X.var(axis=0).mean())


def record_of(model, X, X_test, factors_test):
    codes = two_codes(model.transform(X), model.transform(X_test))
    return {
        "mcc": float(ub.metrics.mcc(factors_test, codes)),
        "error": squared_error(X_test, model.reconstruct(X_test)),
        "error_train": squared_error(X, model.reconstruct(X)),
    }


def train(args):
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    args.out.mkdir(parents=True, exist_ok=True)
    results = args.out / "results.jsonl"
    done = {(r["set"], r["model"], r["steps"]) for r in read(results)}
    for name in args.sets:
        X, factors, X_test, factors_test = load(name, args.weights)
        runs = [(m, args.steps) for m in args.models] + (
            [("HAE", s) for s in args.more] if "HAE" in args.models else []
        )
        for kind, steps in runs:
            if (name, kind, steps) in done:
                continue
            started = time.process_time()
            model = build(kind, steps, args.out / f"{name}-{kind}-{steps}.safetensors").fit(X)
            seconds = time.process_time() - started
            record = {"set": name, "model": kind, "steps": steps} | record_of(model, X, X_test, factors_test)
            if kind == "HAE":
                teacher = model.teacher_
                record["teacher_train"] = float(ub.metrics.mcc(factors, teacher.transform(X)))
                record["teacher_test"] = float(ub.metrics.mcc(factors_test, teacher.transform(X_test)))
            record["cpu_seconds"] = round(seconds, 1)
            model.save(args.out / f"{name}-{kind}-{steps}")
            append(results, record)
        if (name, "PCA+ICA", 0) not in done:
            codes = ub.PCAICA(n_factors=2, random_state=0).fit(X).transform(X_test)
            append(
                results,
                {"set": name, "model": "PCA+ICA", "steps": 0, "mcc": float(ub.metrics.mcc(factors_test, codes))},
            )


def append(path, record):
    with path.open("a") as file:
        file.write(json.dumps(record) + "\n")
    print(json.dumps(record), flush=True)


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def table(args):
    rows = read(args.out / "results.jsonl")
    models = list(dict.fromkeys((r["model"], r["steps"]) for r in rows))
    for column, title in (("mcc", "MCC on unseen images"), ("error", "squared error on unseen images / variance")):
        print(f"\n{title:28}" + "".join(f"{s:>12}" for s in SETS))
        if column == "mcc":
            cells = {r["set"]: r["teacher_test"] for r in rows if "teacher_test" in r}
            print(f"{'HLLE+ICA (the teacher)':28}" + "".join(f"{cells.get(s, np.nan):12.3f}" for s in SETS))
        for model, steps in models:
            cells = {r["set"]: r.get(column) for r in rows if (r["model"], r["steps"]) == (model, steps)}
            if any(v is not None for v in cells.values()):
                label = f"{model}, {steps} steps" if steps else model
                print(f"{label:28}" + "".join(f"{cells.get(s, np.nan):12.3f}" for s in SETS))


def pictures(args):
    """Interpolation strips (figure 8) and grids (figure 7) of HAE beside the baselines with two codes."""
    from unbraid.report import plot_grid, plot_interpolation

    most = max([args.steps, *args.more])
    for name in args.sets:
        _, _, X_test, factors_test = load(name, args.weights)
        corners = [np.quantile(factors_test, q, axis=0) for q in (0.1, 0.9)]
        low, high = (np.argmin(np.square(factors_test - c).sum(1)) for c in corners)
        runs = {"HAE": f"{name}-HAE-{most}", **{m: f"{name}-{m}-2-{args.steps}" for m in ("AE", "IRMAE", "VAE")}}
        models = {k: ub.load(args.out / run) for k, run in runs.items()}
        decoders = {k: m.inverse_transform for k, m in models.items()}
        codes = {k: m.transform(X_test) for k, m in models.items()}
        figure = plot_interpolation(
            decoders, {k: c[low] for k, c in codes.items()}, {k: c[high] for k, c in codes.items()}, n_steps=9,
            ends=(X_test[low], X_test[high]), codes=codes, factors=factors_test,
        )  # fmt: skip
        figure.savefig(args.out / f"hae-{name}-strip.png", dpi=80)
        for k in ("HAE", "AE"):
            first, last = np.quantile(codes[k], (0.15, 0.85), axis=0)
            shown = {"codes": codes[k], "factors": factors_test, "title": f"{k}, {name}"}
            plot_grid(decoders[k], first, tuple((last - first) / 5), 6, **shown).savefig(
                args.out / f"hae-{name}-grid-{k}.png", dpi=70
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("train", "table", "pictures"))
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--more", type=int, nargs="*", default=[6000], help="further steps for HAE alone")
    args = parser.parse_args()
    {"train": train, "table": table, "pictures": pictures}[args.command](args)


if __name__ == "__main__":
    main()
