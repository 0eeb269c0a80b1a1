"""The rotation, on made worlds and on picture sets: what it loses against the best one, and whether it says so.

    python benchmarks/experiment_rotation.py worlds 200        200 made worlds, seeds from 0
    python benchmarks/experiment_rotation.py worlds 200 1000   seeds from 1000
    python benchmarks/experiment_rotation.py pictures DATA     faces (DATA/generators/digiface_dcgan64.pt) and shapes

Each line is one whole automatic fit: its MCC, that of FastICA (scikit-learn, logcosh) and of the best rotation on the
same embedding, the doubt in degrees, and whether the rotation is wrong (.05 or more below the best). Lines are written
as they come; the last one sums up.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation as Turn
from sklearn.decomposition import FastICA

import unbraid as ub
from unbraid.metrics import mcc

WRONG = 0.05
LAWS = ("uniform", "beta22", "arcsine", "triangle", "exponential", "laplace", "two humps")


def draw(law, n, rng):
    """One factor of the given law, about one unit wide."""
    if law == "uniform":
        return rng.uniform(size=n)
    if law in ("beta22", "arcsine"):
        return rng.beta(*((2, 2) if law == "beta22" else (0.5, 0.5)), size=n)
    if law == "triangle":
        return rng.triangular(0, 0.2, 1, size=n)
    if law == "exponential":
        return np.minimum(rng.exponential(size=n), 4) / 4
    if law == "laplace":
        return np.clip(rng.laplace(size=n), -4, 4) / 8 + 0.5
    return np.clip(np.where(rng.uniform(size=n) < 0.5, 0.3, 0.7) + 0.12 * rng.normal(size=n), 0, 1)


def world(seed):
    """Factors and data: sheets bent isometrically, a smooth random network, or a sheet on a hill, some with noise."""
    rng = np.random.default_rng(seed)
    d = 2 if rng.uniform() < 0.7 else 3
    n = int(rng.choice([700, 1500, 3000]))
    laws = [str(rng.choice(LAWS)) for _ in range(d)]
    z = np.stack([draw(law, n, rng) for law in laws], axis=1) * rng.uniform(0.5, 1.0, size=d)
    kind = str(rng.choice(["arcs", "network", "hill"]))
    if kind == "arcs":
        turn = rng.uniform(1.0, 3.0, size=d)
        X = np.concatenate([np.sin(z * turn) / turn, np.cos(z * turn) / turn], axis=1)
    elif kind == "network":
        X = np.tanh(z @ rng.normal(size=(d, 60)) * rng.uniform(0.7, 1.6) + 0.5 * rng.normal(size=60))
    else:
        X = np.c_[z, 0.5 * rng.uniform() * np.exp(-4 * ((z - z.mean(axis=0)) ** 2).sum(axis=1))]
    X = X @ np.linalg.qr(rng.normal(size=(80, X.shape[1])))[0].T
    noise = float(rng.choice([0, 0, 0.003]))
    return f"{kind}, {'+'.join(laws)}, n {n}, noise {noise}", X + noise * rng.normal(size=X.shape) * X.std() * 9, z


def pictures(folder):
    """Name, pictures and factors: faces of a generator by pairs of its principal components, and drawn shapes."""
    weights = Path(folder) / "generators" / "digiface_dcgan64.pt"
    for first, second in [(0, 1), (2, 3), (4, 5), (0, 2), (1, 3), (0, 4), (1, 4), (3, 5), (2, 5), (6, 7), (8, 9)]:
        faces = ub.datasets.load("gan-manifold", weights=weights, components=(first, second))
        yield f"faces {first},{second}", *faces.sample(1500, random_state=0)
    for name in ("shapes-xy", "shapes-xc"):
        yield name, *ub.datasets.load(name).sample(1500, random_state=0)


def best_turn(Z, z):
    """MCC of the best rotation of Z, by search from several starts."""
    d = Z.shape[1]
    if d == 2:
        angles = np.radians(np.arange(0, 90, 0.5))
        return max(mcc(z, Z @ np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])) for a in angles)
    starts = Turn.random(4, rng=np.random.default_rng(0)).as_rotvec()

    def loss(v):
        return -mcc(z, Z @ Turn.from_rotvec(v).as_matrix().T)

    return -min(minimize(loss, v, method="Nelder-Mead", options={"maxiter": 150}).fun for v in starts)


def judge(name, X, z):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ub.HessianICA(n_factors=z.shape[1], random_state=0)
        codes = model.fit_transform(X)
        centred = codes - codes.mean(axis=0)
        values, vectors = np.linalg.eigh(np.cov(centred.T))
        Z = centred @ vectors / np.sqrt(values)
        old = mcc(z, FastICA(whiten="unit-variance", random_state=0, max_iter=500).fit_transform(Z))
    found, best = mcc(z, codes), best_turn(Z, z)
    best = max(best, found)
    doubt, widest = model.diagnostics_.rotation_doubt, model.diagnostics_.rotation_uncertainty.max()
    wrong = "WRONG" if best - found > WRONG else ""
    print(f"{found:.3f} {old:.3f} {best:.3f} {doubt:6.1f} {widest:6.1f}  {name} {wrong}", flush=True)
    return found, old, best, doubt


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else "worlds"
    print("  mcc  FastICA best  doubt widest")
    if what == "worlds":
        count, first = int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0
        rows = [judge(*world(seed)) for seed in range(first, first + count)]
    else:
        rows = [judge(*made) for made in pictures(sys.argv[2])]
    found, old, best, doubt = np.array(rows).T
    wrong = best - found > WRONG
    print(f"{len(rows)} fits: mean MCC {found.mean():.3f}, FastICA {old.mean():.3f}, best rotation {best.mean():.3f}")
    print(f"wrong: {wrong.sum()}, FastICA {(best - old > WRONG).sum()}")
    for limit in (10, 15, 20):
        said = doubt > limit
        counts = f"{said[wrong].sum()} of {wrong.sum()} wrong, {said[~wrong].sum()} of {(~wrong).sum()} others"
        print(f"doubt > {limit}: {counts}")


if __name__ == "__main__":
    main()
