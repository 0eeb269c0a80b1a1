"""The null of the evidence: how often it accepts evidence that says nothing, and how often it sees evidence that does.

    python benchmarks/experiment_null.py level null.jsonl     500 worlds whose evidence says nothing
    python benchmarks/experiment_null.py power power.jsonl    worlds of 1,000 rows with evidence, and the MCC of the fit
    python benchmarks/experiment_null.py table null.jsonl     a table of either file

Each line is one world: one fit and 20 short refits. Lines are written as they come, and a command that is given again
goes on where it stopped. With B = 19 the smallest p is .05, so that the event is p <= .05, which has a chance of .05
where the evidence says nothing.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import unbraid as ub
from unbraid.metrics import mcc
from unbraid.nulls.null import null_test

SPECTRAL = ("HessianICA", "TangentICA", "LaplacianICA")
TINY = {"n_init": 1, "n_blocks": 2, "hidden": 8, "batch_size": 128}
FLOWS = ("NICE", "RealNVP", "GIN", "SelfSupervisedGIN")

# (class, evidence): worlds whose evidence says nothing
LEVEL = {
    **{("HessianICA", kind): 50 for kind in ("time", "pairs", "condition", "labels")},
    **{(name, kind): 25 for name in SPECTRAL[1:] for kind in ("time", "pairs", "condition")},
    ("HessianICA", "condition beside time"): 50,
    ("HessianICA", "condition in batches"): 50,
    ("RealNVP", "classes"): 12,
    ("RealNVP", "continuous"): 8,
    ("GIN", "classes"): 10,
    ("NICE", "classes"): 5,
    ("AdaGVAE", "pairs"): 10,
    ("SelfSupervisedGIN", "sets"): 5,
}
POWER = {
    **{("HessianICA", kind): 10 for kind in ("time", "pairs", "condition", "labels")},
    ("TangentICA", "time"): 5,
    ("LaplacianICA", "pairs"): 5,
    ("RealNVP", "classes"): 3,
    ("GIN", "classes"): 3,
}
KEYWORD = {"time": "time", "pairs": "pairs", "sets": "sets"}  # all else is labels


def drift(n, rng, rates=(0.95, 0.6)):
    """Gaussian factors in time, one slow, one fast."""
    z = rng.normal(size=(n, len(rates)))
    for t in range(1, n):
        z[t] = np.array(rates) * z[t - 1] + np.sqrt(1 - np.square(rates)) * z[t]
    return z


def bent(z, rng):
    """A gently bent sheet in five dimensions."""
    Y = z / z.std(axis=0) * [1, 0.7] @ np.linalg.qr(rng.normal(size=(2, 2)))[0] / 3
    return np.c_[np.sin(Y[:, 0]), np.cos(Y[:, 0]), Y[:, 1]] @ np.linalg.qr(rng.normal(size=(5, 3)))[0].T


def nothing(kind, rng):
    """300 to 500 rows, with evidence that has nothing to do with them."""
    n = 2 * int(rng.integers(150, 251))
    z = rng.normal(size=(n, 2)) if rng.uniform() < 0.5 else rng.uniform(-1, 1, size=(n, 2))
    if kind == "time":
        return ub.Observations(bent(z, rng), time=np.arange(n))
    if kind == "pairs":
        return ub.Observations(bent(z, rng), pairs=rng.permutation(n).reshape(-1, 2))
    if kind == "sets":
        return ub.Observations(bent(z, rng), sets=rng.permutation(n) // 2)
    if kind == "continuous":
        return ub.Observations(bent(z, rng), labels=rng.normal(size=n))
    if kind == "labels":
        labels = np.full((n, 2), np.nan)
        labels[rng.permutation(n)[:40]] = rng.normal(size=(40, 2))
        return ub.Observations(bent(z, rng), labels=labels)
    if kind == "condition beside time":  # both drift: permuted labels would nearly always look better than chance
        states = drift(n, rng, (0.95,))[:, 0]
        return ub.Observations(bent(drift(n, rng), rng), labels=(states > 0).astype(int), time=np.arange(n))
    if kind == "condition in batches":  # the batch moves both: among the rows of one batch, labels say nothing
        batch = rng.integers(3, size=n)
        labels = (rng.uniform(size=n) < np.array([0.3, 0.5, 0.7])[batch]).astype(int)
        return ub.Observations(bent(z + batch[:, None], rng), labels=labels, covariates=batch)
    return ub.Observations(bent(z, rng), labels=rng.integers(int(rng.integers(2, 6)), size=n))


def something(kind, rng, n=1000):
    """Rows with evidence that identifies their Gaussian factors."""
    z = rng.normal(size=(n, 2))
    if kind == "time":
        z = drift(n, rng)
        return z, ub.Observations(bent(z, rng), time=np.arange(n))
    if kind == "pairs":
        z[n // 2 :] = z[: n // 2]
        changed = rng.integers(2, size=n // 2)
        z[n // 2 + np.arange(n // 2), changed] = rng.normal(size=n // 2)
        return z, ub.Observations(bent(z, rng), pairs=np.arange(n).reshape(2, -1).T)
    if kind == "labels":
        labels = np.full((n, 2), np.nan)
        labels[:20] = z[:20]
        return z, ub.Observations(bent(z, rng), labels=labels)
    classes = rng.integers(5, size=n)  # variances alone change with the class
    z *= rng.uniform(0.3, 1.5, size=(5, 2))[classes]
    X = bent(z, rng) if kind == "condition" else np.c_[z + 0.3 * np.sin(2 * z[:, ::-1]), 0.01 * rng.normal(size=(n, 2))]
    return z, ub.Observations(X, labels=classes)


def estimator(name, kind, seed, tiny):
    if name in SPECTRAL:
        return getattr(ub, name)(2, 15, rotation=kind.split()[0], null="off", random_state=seed)
    if not tiny:
        return getattr(ub, name)(null="off", random_state=seed)
    settings = TINY | {"max_steps": 20} if name in FLOWS else {"n_factors": 2, "max_steps": 30}
    return getattr(ub, name)(null="off", random_state=seed, **settings)


def one_world(task, name, kind, seed):
    """p, score and largest null of a world; where there is evidence, the MCC of the fit too."""
    rng = np.random.default_rng([sum(map(ord, f"{task} {name} {kind}")), seed])
    z, known = something(kind, rng) if task == "power" else (None, nothing(kind, rng))
    model = estimator(name, kind, seed, task == "level")
    model.fit(known.only(*model.uses))
    n_steps = 160 if task == "power" and hasattr(model, "n_steps_") else None
    null = null_test(model, known, seed=seed, n_steps=n_steps)
    line = {"method": name, "evidence": kind, "seed": seed, "p": null.p, "score": null.score, "most": null.nulls.max()}
    return line | ({} if z is None else {"mcc": float(mcc(z, model.transform(known.X)[:, :2]))})


def run(task, path):
    lines = read(path)
    done = {(line["method"], line["evidence"], line["seed"]) for line in lines}
    warnings.simplefilter("ignore")
    for (name, kind), count in (LEVEL if task == "level" else POWER).items():
        for seed in range(count):
            if (name, kind, seed) not in done:
                started = time.process_time()
                line = one_world(task, name, kind, seed)
                line["cpu"] = round(time.process_time() - started, 3)
                with path.open("a") as file:
                    file.write(json.dumps(line) + "\n")
    table(path)


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def table(path):
    """Cell by cell and in all: worlds, those of p <= .05, CPU seconds."""
    lines = read(path)
    power = "mcc" in lines[0]
    middle = " MCC, median | of MCC above .9 |" if power else ""
    print(f"| method | evidence | worlds |{middle} p <= .05 | CPU s a world |")
    print(f"|---|---|---|{'---|---|' if power else ''}---|---|")
    cells = dict.fromkeys((line["method"], line["evidence"]) for line in lines)
    for name, kind in [*cells, ("all", "")]:
        some = [line for line in lines if name == "all" or (line["method"], line["evidence"]) == (name, kind)]
        good = [line for line in some if line.get("mcc", 1) > 0.9]
        hits, cpu = sum(line["p"] <= 0.05 for line in good), np.mean([line["cpu"] for line in some])
        more = f" {np.median([line['mcc'] for line in some]):.3f} | {len(good)} |" if power else ""
        share = f"{hits} ({hits / max(len(good), 1):.1%})"
        print(f"| {name} | {kind} | {len(some)} |{more} {share} | {cpu:.1f} |")


if __name__ == "__main__":
    command, file = sys.argv[1], Path(sys.argv[2])
    table(file) if command == "table" else run(command, file)
