"""The null of the evidence: how often it accepts evidence that says nothing, and how often it sees evidence that does.

    python benchmarks/experiment_null.py level null.jsonl     worlds whose evidence says nothing
    python benchmarks/experiment_null.py power power.jsonl    worlds of 1,000 rows with evidence, and the MCC of the fit
    python benchmarks/experiment_null.py weak weak.jsonl      the same with weaker evidence: .5, .25, .1 of its strength
    python benchmarks/experiment_null.py table null.jsonl     a table of one of these files

Each line is one world: one fit and 20 short refits. Lines are written as they come, and a command that is given again
goes on where it stopped. With B = 19 the smallest p is .05, so that the event is p <= .05, which has a chance of .05
where the evidence says nothing.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np
from records import add_line, read_lines

import unbraid as ub
from unbraid.metrics import mcc
from unbraid.nulls.null import null_test

SPECTRAL = ("HessianICA", "TangentICA", "LaplacianICA", "PCAICA")
TINY = {"n_init": 1, "n_blocks": 2, "hidden": 8, "batch_size": 128}
FLOWS = ("NICE", "RealNVP", "GIN", "SelfSupervisedGIN")
FIRST = {"level": 1000, "power": 2000, "weak": 3000}  # seeds
KINDS = ("time", "pairs", "condition", "labels")

# (class and objective, evidence): worlds whose evidence says nothing
LEVEL = {
    **{("HessianICA", kind): 40 for kind in KINDS},
    **{(name, kind): 15 for name in SPECTRAL[1:3] for kind in KINDS[:3]},
    **{("PCAICA", kind): 20 for kind in KINDS},
    ("HessianICA", "condition beside time"): 40,
    ("HessianICA", "condition in batches"): 40,
    **{(name, "classes"): 10 for name in ("RealNVP", "GIN", "NICE", "IVAE", "Contrastive segments")},
    **{(name, "continuous"): 10 for name in ("RealNVP", "GIN", "IVAE")},
    **{(name, "pairs"): 10 for name in ("AdaGVAE", "Contrastive infonce", "Contrastive permutation")},
    **{(f"Contrastive {name}", "time"): 10 for name in ("infonce", "permutation", "segments")},
    **{("Contrastive infonce", kind): 10 for kind in ("classes", "continuous", "sets")},
    ("SlowVAE", "time"): 10,
    ("SelfSupervisedGIN", "sets"): 10,
}
POWER = {
    **{("HessianICA", kind): 10 for kind in KINDS},
    **{("PCAICA", kind): 5 for kind in KINDS},
    ("TangentICA", "time"): 5,
    ("LaplacianICA", "pairs"): 5,
    **{(name, "classes"): 3 for name in ("RealNVP", "GIN", "IVAE", "Contrastive segments")},
    **{(name, "continuous"): 3 for name in ("RealNVP", "GIN", "IVAE")},
    ("AdaGVAE", "pairs"): 3,
    ("SelfSupervisedGIN", "sets"): 3,
    ("SlowVAE", "sparse steps"): 3,
    **{(f"Contrastive {name}", "sparse steps"): 10 for name in ("infonce", "permutation")},
    **{("Contrastive infonce", kind): 10 for kind in ("near pairs", "near sets", "near labels")},
    ("Contrastive permutation", "near pairs"): 10,
}
WEAK = {(f"HessianICA at {strength:g}", kind): 10 for kind in KINDS for strength in (0.5, 0.25, 0.1)}
TASKS = {"level": LEVEL, "power": POWER, "weak": WEAK}


def drift(n, rng, rates=(0.95, 0.6), steps=np.random.Generator.normal):
    """Factors in time, one slow, one fast; Gaussian if their steps are."""
    z = steps(rng, size=(n, len(rates)))
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


def something(kind, rng, strength=1.0, n=1000):
    """Rows with evidence that identifies their factors; at less strength, it is this near to saying nothing."""
    z = rng.normal(size=(n, 2))
    if kind == "time":  # autocorrelations of the strength 1 apart are .35 apart
        z = drift(n, rng, 0.775 + strength * np.array([0.175, -0.175]))
        return z, ub.Observations(bent(z, rng), time=np.arange(n))
    if kind == "sparse steps":
        z = drift(n, rng, (0.9, 0.7), np.random.Generator.laplace)
        return z, ub.Observations(bent(z, rng), time=np.arange(n))
    if kind == "pairs":  # a share of them is related
        first, changed = z[: n // 2], rng.integers(2, size=n // 2)
        related = rng.uniform(size=n // 2) < strength
        keep = related[:, None] & (np.arange(2) != changed[:, None])
        z[n // 2 :] = np.where(keep, first, z[n // 2 :])
        return z, ub.Observations(bent(z, rng), pairs=np.arange(n).reshape(2, -1).T)
    if kind == "sets":  # each of ten rows around a point, by steps of two sizes
        z = np.repeat(z[: n // 10], 10, axis=0) + rng.normal(size=(n, 2)) * [0.1, 0.4]
        return z, ub.Observations(square(z, rng), sets=np.repeat(np.arange(n // 10), 10))
    if kind in ("near pairs", "near sets"):  # around a point, by Laplace steps
        size = 2 if kind == "near pairs" else 10
        z = np.repeat(rng.uniform(-1, 1, size=(n // size, 2)), size, axis=0) + rng.laplace(scale=0.1, size=(n, 2))
        rows = np.arange(n)
        together = {"pairs": rows.reshape(-1, 2)} if kind == "near pairs" else {"sets": rows // 10}
        return z, ub.Observations(bent(z, rng), **together)
    if kind == "near labels":  # the factors with Laplace errors
        z = rng.uniform(-1, 1, size=(n, 2))
        return z, ub.Observations(bent(z, rng), labels=z + rng.laplace(scale=0.1, size=(n, 2)))
    if kind == "labels":  # correlated with the factors by the strength
        labels = np.full((n, 2), np.nan)
        labels[:20] = strength * z[:20] + (1 - strength**2) ** 0.5 * rng.normal(size=(20, 2))
        return z, ub.Observations(bent(z, rng), labels=labels)
    if kind == "continuous":
        u = rng.uniform(-1, 1, size=(n, 2))
        z *= np.exp(u)
        return z, ub.Observations(square(z, rng), labels=u)
    classes = rng.integers(5, size=n)  # variances alone change with the class
    z *= rng.uniform(0.3, 1.5, size=(5, 2))[classes] ** strength
    return z, ub.Observations((bent if kind == "condition" else square)(z, rng), labels=classes)


def square(z, rng):
    """As many features as flows have codes to spare: two that bend, two of noise."""
    return np.c_[z + 0.3 * np.sin(2 * z[:, ::-1]), 0.01 * rng.normal(size=(len(z), 2))]


def estimator(title, kind, seed, tiny):
    name, _, objective = title.partition(" at")[0].partition(" ")
    cls, settings = getattr(ub, name), {"null": "off", "random_state": seed}
    if name == "PCAICA":
        return cls(2, rotation=kind, **settings)
    if name in SPECTRAL:
        return cls(2, 15, rotation=kind.split()[0], **settings)
    if name in FLOWS:
        return cls(**settings, **(TINY | {"max_steps": 20} if tiny else {}))
    if objective:
        settings |= {"objective": objective, "n_segments": 5}
        settings |= {} if objective == "segments" else {"batch_size": 128}  # a batch costs as its square
    if name == "SlowVAE":
        settings |= {"rate": "learned", "gamma": 1.0}
    steps = {"max_steps": 30, "batch_size": 64} if tiny else {"max_steps": 3200}
    return cls(2, **settings | steps)


def one_world(task, title, kind, seed):
    """p, score and largest null of a world; where there is evidence, the MCC of the fit too."""
    rng = np.random.default_rng([sum(map(ord, f"{task} {title} {kind}")), seed])
    strength = float(title.partition(" at ")[2] or 1)
    z, known = (None, nothing(kind, rng)) if task == "level" else something(kind, rng, strength)
    model = estimator(title, kind, seed, task == "level")
    model.fit(known.only(*model.uses))
    n_steps = 160 if task != "level" and hasattr(model, "n_steps_") else None
    null = null_test(model, known, seed=seed, n_steps=n_steps)
    line = {"method": title, "evidence": kind, "seed": seed, "p": null.p, "score": null.score, "most": null.nulls.max()}
    if z is None:
        return line
    promised = np.square if "segments" in title else np.asarray  # of the factors
    return line | {"mcc": float(mcc(promised(z), model.transform(known.X)[:, :2]))}


def run(task, path):
    lines = read_lines(path)
    done = {(line["method"], line["evidence"], line["seed"]) for line in lines}
    warnings.simplefilter("ignore")
    for (name, kind), count in TASKS[task].items():
        for seed in range(FIRST[task], FIRST[task] + count):
            if (name, kind, seed) not in done:
                started = time.process_time()
                line = one_world(task, name, kind, seed)
                line["cpu"] = round(time.process_time() - started, 3)
                add_line(path, line)
    table(path)


def table(path):
    """Cell by cell and in all: worlds, those of p <= .05, CPU seconds."""
    lines = read_lines(path)
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
