"""Two versions of the package side by side in the same run: is the new one as fast and as right as the old one?

    python benchmarks/compare_versions.py OLD_SOURCE NEW_SOURCE [--rounds 5] [--cases spectral geometry]

A source is a folder that holds ``unbraid``, such as the ``src`` of a clone. Every case runs in a fresh process, old and
new in turns, warmed up once; the best time of all rounds counts. A line shows seconds, their ratio, and the accuracy of
both, which must agree.
"""

import argparse
import json
import os
import subprocess
import sys

CASES = {
    "spectral, 3000 points, k given": (
        "X, z = sheet(3000); f = lambda: ub.HessianICA(2, 12, random_state=0).fit_transform(X)",
        "ub.metrics.mcc(z, f())",
    ),
    "spectral, 3000 points, automatic": (
        "X, z = sheet(3000); f = lambda: ub.HessianICA(2, random_state=0).fit_transform(X)",
        "ub.metrics.mcc(z, f())",
    ),
    "spectral, 3000 points, d=3": (
        "X, z = sheet(3000, 3); f = lambda: ub.HessianICA(3, 20, random_state=0).fit_transform(X)",
        "ub.metrics.mcc(z, f())",
    ),
    "spectral, 3000 uint8 images, k given": (
        "X, z = ub.datasets.load('shapes-xy').sample(3000, random_state=0); "
        "f = lambda: ub.HessianICA(2, 30, random_state=0).fit_transform(X)",
        "ub.metrics.mcc(z, f())",
    ),
    "spectral, 300,000 points, landmarks": (
        "X, z = sheet(300_000); f = lambda: ub.HessianICA(2, 12, random_state=0).fit_transform(X)",
        "ub.metrics.mcc(z, f())",
    ),
    "spectral, 100,000 new points": (
        "X, z = sheet(103_000); model = ub.HessianICA(2, 12, random_state=0).fit(X[:3000]); "
        "f = lambda: model.transform(X[3000:])",
        "ub.metrics.mcc(z[3000:], f())",
    ),
    "geometry, S2xS2, 2000 points": (
        "X, tangents = spheres(2000); f = lambda: ub.Geomancer(dim=4, random_state=0).fit(X)",
        "-ub.metrics.subspace_angle(tangents, f().subspaces_)",
    ),
    "metrics, evaluate fast protocol": (
        "rng = np.random.default_rng(0); F = rng.integers(0, 10, (10_000, 5)); "
        "C = F + .3 * rng.normal(size=F.shape); import inspect; "  # older versions take codes first
        "given = (F, C) if 'codes' in inspect.signature(ub.evaluate).parameters else (C, F); "
        "f = lambda: ub.evaluate(*given, metrics=['mig', 'sap', 'factor_vae'])",
        "ub.metrics.mig(F, C)",
    ),
    "autoencoders, beta-VAE, 300 steps": (
        "X, z = ub.datasets.load('shapes-xy').sample(3000, random_state=0); "
        "f = lambda: ub.BetaVAE(4, max_steps=300, random_state=0).fit(X)",
        "-f().history_[-1]['reconstruction']",
    ),
    "flows, GIN, 4 starts, 800 steps": (
        "X, z, y = ub.datasets.load('gin-mixture').sample_conditional(5000, random_state=0); "
        "f = lambda: ub.GIN(random_state=0).fit(X, y)",
        "ub.metrics.mcc(z, f().transform(X)[:, :2])",
    ),
    "data sets, 5000 dSprites": (
        "D = ub.datasets.load('dsprites'); f = lambda: D.sample(5000, random_state=0)",
        "float(f()[0].mean())",
    ),
}

PROGRAM = """
import json, sys, time, warnings
import numpy as np
import unbraid as ub
warnings.simplefilter("ignore")
try:
    import torch
    torch.set_num_threads(1)
except ModuleNotFoundError:
    pass

def sheet(n, d=2):
    rng = np.random.default_rng(0)
    z = rng.uniform(size=(n, d))
    bent = np.concatenate([f(2 * z) for f in (np.sin, np.cos)], axis=1)
    Q = np.linalg.qr(rng.normal(size=(100, 2 * d)))[0]
    return bent @ Q.T, z

def spheres(n):
    v = np.random.default_rng(0).normal(size=(2, n, 3))
    v /= np.linalg.norm(v, axis=2, keepdims=True)
    frames = []
    for j in range(2):
        q = np.linalg.svd(v[j][:, None, :])[2][:, 1:].transpose(0, 2, 1)
        full = np.zeros((n, 6, 2))
        full[:, 3 * j : 3 * j + 3] = q
        frames.append(full)
    return np.hstack(v), frames

SETUP
f()
times = []
for _ in range(REPEATS):
    start = time.perf_counter()
    f()
    times.append(time.perf_counter() - start)
print(json.dumps({"seconds": min(times), "accuracy": float(ACCURACY)}))
"""


def measure(source: str, setup: str, accuracy: str, repeats: int) -> dict:
    """Best seconds and accuracy of one case in a fresh process."""
    program = PROGRAM.replace("SETUP", setup).replace("ACCURACY", accuracy).replace("REPEATS", str(repeats))
    environment = os.environ | {"PYTHONPATH": source, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{source}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cases", nargs="+", default=[""], help="beginnings of the names of cases")
    args = parser.parse_args()
    print(f"{'case':40} {'old s':>8} {'new s':>8} {'new/old':>8}  accuracy old, new")
    for name, (setup, accuracy) in CASES.items():
        if not any(name.startswith(start) for start in args.cases):
            continue
        found: dict[str, list[dict]] = {args.old: [], args.new: []}
        for _ in range(args.rounds):
            for source in (args.old, args.new):
                found[source].append(measure(source, setup, accuracy, args.repeats))
        old, new = (min(m["seconds"] for m in found[s]) for s in (args.old, args.new))
        scores = ", ".join(f"{found[s][0]['accuracy']:.6f}" for s in (args.old, args.new))
        print(f"{name:40} {old:8.3f} {new:8.3f} {new / old:8.3f}  {scores}", flush=True)


if __name__ == "__main__":
    main()
