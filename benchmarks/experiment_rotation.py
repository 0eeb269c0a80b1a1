"""The rotation, on made worlds and on picture sets: what it loses against the best one, and whether it says so.

    python benchmarks/experiment_rotation.py worlds 200        200 made worlds, seeds from 0
    python benchmarks/experiment_rotation.py worlds 200 1000   seeds from 1000
    python benchmarks/experiment_rotation.py worlds 200 0 20   neighbourhoods of 20 points, a tenth of the time
    python benchmarks/experiment_rotation.py pictures DATA     faces (DATA/generators/digiface_dcgan64.pt) and shapes
    python benchmarks/experiment_rotation.py pictures DATA 6 3 three of these sets, from the seventh on

Each line is one fit with automatic settings: its MCC, that of FastICA (scikit-learn, logcosh) and of the best rotation
on the same embedding, the doubt in degrees, and whether the rotation is wrong (.05 or more below the best). Lines are
written as they come; the last ones sum up, kind by kind.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation as Turn
from sklearn.decomposition import FastICA
from torch.nn import ReLU

import unbraid as ub
from unbraid.metrics import mcc
from unbraid_papers.generators.manifold import GANManifold, load_generator

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


def pictures(folder, first, count):
    """Name, pictures and factors: faces of a generator by layer, centre and pair of components, and drawn shapes."""
    weights = Path(folder) / "generators" / "digiface_dcgan64.pt"
    generator = load_generator(weights)
    layers = [name for name, module in generator.named_modules() if isinstance(module, ReLU)]
    places = [(layer, "mean") for layer in (1, 2, 0)] + [(seed % 3, seed) for seed in range(9)]
    sets = [(layer, centre, pair) for layer, centre in places for pair in ((0, 1), (2, 3), (4, 5))]
    for layer, centre, pair in sets[first : first + count]:
        faces = GANManifold(generator=generator, components=pair, layer=layers[layer], centre=centre, n_samples=2000)
        name = f"faces, activation {layer + 1}, centre {centre}, components {pair[0]} and {pair[1]}"
        yield name, *faces.sample(1500, random_state=0)
    for name in ("shapes-xy", "shapes-xc")[max(0, first - len(sets)) : max(0, first + count - len(sets))]:
        yield name, *ub.datasets.load(name).sample(1500, random_state=0)


def best_turn(Z, z):
    """MCC of the best rotation of whitened Z, climbed from the one nearest to the whitened factors."""
    values, vectors = np.linalg.eigh(np.cov(z.T))
    left, _, right = np.linalg.svd(Z.T @ ((z - z.mean(axis=0)) @ (vectors / np.sqrt(values)) @ vectors.T))
    start = Z @ (left @ right)
    if Z.shape[1] == 2:
        angles = np.radians(np.arange(-10, 10.5, 0.5))
        return max(mcc(z, start @ np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])) for a in angles)

    def loss(v):
        return -mcc(z, start @ Turn.from_rotvec(v).as_matrix().T)

    return -minimize(loss, np.zeros(3), method="Nelder-Mead", options={"maxiter": 60}).fun


def judge(name, X, z, n_neighbors="auto"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ub.HessianICA(n_factors=z.shape[1], n_neighbors=n_neighbors, random_state=0)
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
    return name.split(",")[0], found, old, best, doubt


def main():
    what, given = sys.argv[1], sys.argv[2:]
    print("  mcc  FastICA best  doubt widest")
    if what == "worlds":
        count, first, k = (int(a) for a in (given + ["0", "0"][len(given) - 1 :])[:3])
        rows = [judge(*world(seed), k or "auto") for seed in range(first, first + count)]
    else:
        first, count = (int(a) for a in (given[1:] + ["0", "100"][len(given) - 1 :])[:2])
        rows = [judge(*made) for made in pictures(given[0], first, count)]
    kinds = np.array([row[0] for row in rows])
    found, old, best, doubt = np.array([row[1:] for row in rows]).T
    for kind in [*np.unique(kinds), ""]:
        some = np.char.startswith(kinds, kind)
        means = f"mean MCC {found[some].mean():.4f}, FastICA {old[some].mean():.4f}, best {best[some].mean():.4f}"
        lost = [int((best - mccs > WRONG)[some].sum()) for mccs in (found, old)]
        print(f"{kind or 'all'}: {some.sum()} fits, {means}; wrong {lost[0]}, FastICA {lost[1]}")
    wrong = best - found > WRONG
    for limit in (10, 15, 20):
        said = doubt > limit
        counts = f"{said[wrong].sum()} of {wrong.sum()} wrong, {said[~wrong].sum()} of {(~wrong).sum()} others"
        print(f"doubt > {limit}: {counts}")


if __name__ == "__main__":
    main()
