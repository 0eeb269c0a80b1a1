"""Isomap + ICA beside HLLE + ICA on 300 to 700 pictures, and whether a score without labels tells which is better.

    python benchmarks/experiment_geodesics.py FOLDER --out geodesics.jsonl [--sets heads --seeds 10 14]

FOLDER holds generators/ and meshes/. ``heads``: 698 pictures of 32 x 32 of four meshes, two angles and light;
``lights``: 300, one angle and light; ``faces``: 400 of a DCGAN; ``digits``: 300 or 600 of a decoder. Both methods
choose their neighbourhood and PCA without labels; ``score`` is the figure by which they do. Beside them: Isomap with 6
neighbours, and with ICA. A line per set is appended; the same command goes on where it stopped.
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from guess_pictures import Pictures, _about_x, _about_y, _decoder, decoded, faces
from records import add_line, read_lines
from sklearn.decomposition import FastICA
from sklearn.manifold import Isomap
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsRegressor

import unbraid as ub
from unbraid.spectral.selection import score

MESHES = ("bunny", "spot", "dragon", "blob")
ROWS = {"heads": 698, "lights": 300}


def pictures(kind: str, seed: int, folder: Path) -> Iterator[Pictures]:
    """Names, pictures and factors of the sets of a kind."""
    if kind in ROWS:
        yield from ((f"{kind}: {mesh}", *rendered(kind, mesh, seed, folder / "meshes")) for mesh in MESHES)
    elif kind == "faces":
        yield from faces(folder / "generators" / "digiface_dcgan64.pt", (seed,))
    else:
        weights = _decoder(folder / "generators" / "csinva_mnist_vae.pth", "fc3", "fc4")
        for name, X, factors in decoded("digits", weights, 20, range(seed, seed + 1)):
            yield name, X.reshape(-1, 28, 28), factors


def rendered(kind: str, mesh: str, seed: int, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """An object that turns by part of a circle (and tilts) under a moving light."""
    n, rng = ROWS[kind], np.random.default_rng([seed, *mesh.encode()])
    factors = rng.uniform(-1, 1, size=(n, 3)) * [1.0, 0.3 if kind == "heads" else 0.0, 0.9]
    yaw, tilt, sun = factors.T
    light = np.stack([np.sin(sun), 0.3 * np.ones(n), np.cos(sun)], axis=1)
    light /= np.linalg.norm(light, axis=1, keepdims=True)
    data = ub.datasets.load("rendered-object", mesh=mesh, image_size=32, folder=folder)
    X = data.observe(np.c_[(_about_x(tilt) @ _about_y(yaw)).reshape(n, 9), light])
    return X, factors if kind == "heads" else factors[:, [0, 2]]


def scores(X: np.ndarray, factors: np.ndarray) -> dict[str, float]:
    """MCC of each method, and the score of its choice."""
    d, found = factors.shape[1], {}
    for name, method in (("HLLE+ICA", ub.HessianICA), ("Isomap+ICA", ub.spectral.GeodesicICA)):
        model = method(d, random_state=0, progress=False).fit(X)
        found[name] = ub.metrics.mcc(factors, model.transform(X))
        found[f"{name} score"] = score("combined", model.selection_.chosen)
    plain = Isomap(n_components=d, n_neighbors=6).fit_transform(X.reshape(len(X), -1).astype(float))
    turned = FastICA(d, random_state=0, whiten="unit-variance", max_iter=1000).fit_transform(plain)
    found |= {"Isomap, 6": ub.metrics.mcc(factors, plain), "Isomap, 6, FastICA": ub.metrics.mcc(factors, turned)}
    return found | baselines(X.reshape(len(X), -1).astype(float), factors)


def baselines(X: np.ndarray, factors: np.ndarray) -> dict[str, float]:
    """Linear codes, an untrained network, neighbours with labels of other rows, and rows at random."""
    d, rng = factors.shape[1], np.random.default_rng(0)
    codes = {
        "PCA+ICA": ub.PCAICA(d, random_state=0).fit_transform(X),
        "untrained": np.maximum(X @ rng.normal(size=(X.shape[1], 64)), 0) @ rng.normal(size=(64, d)),
        "k-NN with labels": cross_val_predict(KNeighborsRegressor(5), X, factors, cv=5),
        "chance": rng.permutation(factors),
    }
    return {name: ub.metrics.mcc(factors, code) for name, code in codes.items()}


def main() -> None:
    """Run what is missing and print the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path("geodesics.jsonl"))
    parser.add_argument("--sets", nargs="+", default=["heads"], choices=["heads", "lights", "faces", "digits"])
    parser.add_argument("--seeds", type=int, nargs=2, default=[10, 14], metavar=("FIRST", "END"))
    args = parser.parse_args()
    lines = read_lines(args.out)
    done = {(line["kind"], line["seed"], line["set"]) for line in lines}
    warnings.simplefilter("ignore")
    for kind in args.sets:
        for seed in range(*args.seeds):
            for name, X, factors in pictures(kind, seed, args.folder):
                if (kind, seed, name) not in done:
                    line = {"kind": kind, "seed": seed, "set": name, **scores(X, factors)}
                    lines.append(add_line(args.out, line))
        here = [line for line in lines if line["kind"] == kind]
        for name in [key for key in here[0] if key not in ("kind", "seed", "set")]:
            values = [line[name] for line in here]
            print(f"{kind:8} {name:20} mean {np.mean(values):.3f}, least {np.min(values):.3f}")


if __name__ == "__main__":
    main()
