"""Few views of one turn by ``ProductManifold`` and by Isomap, and how often "verified" is wrong.

    python benchmarks/experiment_rings.py views OUT.jsonl --folder MESHES --pictures PICTURE.jpg
    python benchmarks/experiment_rings.py worlds OUT.jsonl --seeds 1000 1500
    python benchmarks/experiment_rings.py recordings OUT.jsonl --seeds 210 214 --umap PYTHON --cebra PYTHON

``views``: rings of 72 pictures of real objects before real backgrounds (``rings.py``), in random order. ``worlds``:
closed curves, turns that nearly repeat themselves after 1/2 or 1/3, and the worlds of ``products.py``. An angle is
right if its circular correlation with the truth is at least .95 (.9 in ``worlds``). One line per run is appended;
the same command goes on where it stopped. ``recordings``: spikes of 19 neurons with a preferred direction, counted in
100 and 200 ms, in order and shuffled; correlations by method. Constants were chosen on seeds below 1500.
"""

import argparse
import subprocess
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from cases import by_cebra
from products import WORLDS
from records import add_line, read_lines
from rings import Rings
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor

import unbraid as ub
from unbraid.metrics.kinds import circular_correlation
from unbraid.product.ring import error

HIDDEN = 0.95
VIEWS = {
    "plain": ("", {}), "pair": (" pair", {}), "cropped": ("", {"cropped": True}),
    "cropped pair": (" pair", {"cropped": True}), "random": ("", {"even": False}), "hard": ("", {"hard": True}),
    "hard pair": (" pair", {"hard": True}),
}  # fmt: skip


def main() -> None:
    """Run what is missing, and print a table of what is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["views", "worlds", "recordings"])
    parser.add_argument("out", type=Path)
    parser.add_argument("--folder", type=Path, default=None, help="where the meshes are")
    parser.add_argument("--pictures", type=Path, nargs="*", default=[], help="more pictures for backgrounds")
    parser.add_argument("--meshes", nargs="+", default=["bunny", "spot", "dragon"])
    parser.add_argument("--kinds", nargs="+", default=list(VIEWS), choices=list(VIEWS), help="of views")
    parser.add_argument("--seeds", type=int, nargs=2, default=[100, 107], metavar=("FIRST", "END"))
    parser.add_argument("--bins", type=float, nargs="+", default=[0.1, 0.2], help="of recordings, in seconds")
    for peer in ("umap", "cebra"):
        parser.add_argument(f"--{peer}", default=None, metavar="PYTHON", help=f"an interpreter that has {peer}")
    args = parser.parse_args()
    if args.what == "recordings":
        return recordings(args)
    there = {(line["world"], line["seed"]) for line in read_lines(args.out)}
    runs = views(args) if args.what == "views" else worlds(args)
    for world, seed, draw in runs:
        if (world, seed) not in there:
            add_line(args.out, {"world": world, "seed": seed} | measure(*draw(), args.what == "views"))
    show(read_lines(args.out), 0.95 if args.what == "views" else 0.9)


def recordings(args: argparse.Namespace) -> None:
    """Print the mean and the least correlation of every method; one line per recording is written."""
    there = {(line["step"], line["seed"]) for line in read_lines(args.out)}
    for step in args.bins:
        for seed in range(*args.seeds):
            if (step, seed) not in there:
                line = {"step": step, "seed": seed} | directions(*spikes(step, seed), args.umap, args.cebra)
                add_line(args.out, line)
    for step in args.bins:
        own = [line for line in read_lines(args.out) if line["step"] == step]
        for name in own[0]:
            if name not in ("step", "seed"):
                values = [line[name] for line in own]
                print(f"{1000 * step:.0f} ms  {name:32s} {np.mean(values):.3f}  {np.min(values):.3f}")


def spikes(step: float, seed: int, n: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """Counts of 19 neurons while an animal turns to and fro and its arousal drifts, and the direction of its head."""
    rng = np.random.default_rng(seed)
    speed, keep = np.zeros(n), np.exp(-step / 0.8)
    for i in range(1, n):
        speed[i] = keep * speed[i - 1] + 1.5 * np.sqrt(1 - keep**2) * rng.normal()
    angle = np.cumsum(speed * step)
    preferred, sharp = rng.uniform(0, 2 * np.pi, 19), rng.uniform(1.5, 6, 19)
    rate = rng.uniform(0.2, 2, 19) + rng.gamma(4, 5, 19) * np.exp(sharp * (np.cos(angle[:, None] - preferred) - 1))
    drift = np.exp(0.05 * np.sqrt(step) * np.cumsum(rng.normal(size=(n, 1)), axis=0))
    return rng.poisson(rate * np.clip(drift, 0.5, 2) * step).astype(float), np.angle(np.exp(1j * angle))


UMAP = """
import sys, numpy as np, umap
np.save(sys.argv[2], umap.UMAP(n_neighbors=30, random_state=0).fit_transform(np.load(sys.argv[1])))
"""


def directions(X: np.ndarray, angle: np.ndarray, umap: str | None, cebra: str | None) -> dict[str, float]:
    """Correlation of the angle that each method finds with the truth; 0 where it finds no circle."""
    found = {}
    rng = np.random.default_rng(0)
    mixed = rng.permutation(len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, rows, kinds in (
            ("automatic", np.arange(len(X)), "auto"),
            ("kinds=circle", np.arange(len(X)), "circle"),
            ("kinds=circle, shuffled", mixed, "circle"),
        ):
            model = ub.ProductManifold(kinds=kinds, random_state=0)
            begin = time.process_time()
            codes = model.fit_transform(X[rows])
            if kinds == "circle":
                found[f"{name}, CPU seconds"] = time.process_time() - begin
            own = [codes[:, c[0]] for kind, c in zip(model.kinds_, model.columns_) if kind == "circle"]
            found[name] = max((abs(circular_correlation(angle[rows], code)) for code in own), default=0.0)
        for name, rows in (("Isomap", X), ("Isomap of square roots", np.sqrt(X))):
            plane = Isomap(n_neighbors=15, n_components=2).fit_transform(rows)
            found[name] = in_plane(plane, angle)
    if umap:
        with TemporaryDirectory() as place:
            np.save(f"{place}/rows.npy", np.sqrt(X))
            subprocess.run([umap, "-W", "ignore", "-c", UMAP, f"{place}/rows.npy", f"{place}/plane.npy"], check=True)
            found["UMAP of square roots"] = in_plane(np.load(f"{place}/plane.npy"), angle)
    if cebra:
        codes = by_cebra(np.sqrt(X), 2, cebra, seed=0, steps=1000, distance="cosine")[0]
        found["CEBRA-Time of square roots"] = around(codes, angle)
    untrained = np.maximum(np.sqrt(X) @ rng.normal(size=(X.shape[1], 64)), 0) @ rng.normal(size=(64, 2))
    found["untrained network"] = in_plane(untrained, angle)
    found["PCA of square roots"] = in_plane(PCA(2).fit_transform(np.sqrt(X)), angle)
    told = cross_val_predict(KNeighborsRegressor(20), np.sqrt(X), np.c_[np.cos(angle), np.sin(angle)], cv=KFold(5))
    found["k-NN with labels"] = around(told, angle)
    found["chance"] = abs(circular_correlation(angle, angle[mixed]))
    return found


def in_plane(plane: np.ndarray, angle: np.ndarray) -> float:
    """Correlation of the angle around the middle of a plane with the truth."""
    return around(plane - plane.mean(axis=0), angle)


def around(plane: np.ndarray, angle: np.ndarray) -> float:
    """Correlation of the angle around the origin of a plane with the truth."""
    return abs(circular_correlation(angle, np.arctan2(plane[:, 1], plane[:, 0])))


def views(args: argparse.Namespace):
    """Kinds of views, seeds and how to draw them."""
    rings = Rings(args.folder, args.pictures, args.meshes)
    for kind in args.kinds:
        name, options = VIEWS[kind]
        for seed in range(*args.seeds):
            for mesh in args.meshes:
                yield f"{kind}: {mesh}", seed, lambda m=mesh + name, s=seed, o=options: rings.draw(m, s, **o)


def worlds(args: argparse.Namespace):
    """Two in five are one turn, two in five nearly repeat themselves, and the rest is of another shape."""
    others = [name for name in WORLDS if name != "anything"]
    for seed in range(*args.seeds):
        kind = ("turn", "double", "turn", "repeated", "other")[seed % 5]
        name = f"other: {others[seed // 5 % len(others)]}" if kind == "other" else kind
        yield name, seed, lambda k=kind, s=seed, n=name[7:]: world(k, n, np.random.default_rng(s))


def world(kind: str, name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
    """Rows, and their angle if they are one turn."""
    n = int(np.exp(rng.uniform(np.log(36), np.log(700))))
    if kind == "other":
        drawn = WORLDS[name](n, rng)
        return drawn.X, drawn.factors[:, 0] if drawn.kinds == ("circle",) else None
    even = bool(rng.integers(2))
    angle = 2 * np.pi * (rng.permutation(n) / n if even else rng.uniform(size=n))
    features, period = int(rng.integers(3, 60)), 1 if kind == "turn" else int(rng.choice([2, 2, 3]))
    faint = 1.0 if kind == "turn" else 10 ** rng.uniform(-2 if kind == "double" else -3, -0.3)
    X = np.zeros((n, features))
    for k in range(1, 7):
        size = (1.0 if k % period == 0 else faint) / k ** rng.uniform(0.5, 1.5)
        X += size * np.outer(np.cos(k * angle), rng.normal(size=features))
        X += size * np.outer(np.sin(k * angle), rng.normal(size=features))
    noise = X.std() * 10 ** rng.uniform(-2.5, -0.2)
    return X + noise * rng.normal(size=X.shape), np.angle(np.exp(1j * angle))


def measure(X: np.ndarray, angle: np.ndarray | None, isomap: bool) -> dict:
    """One fit, and Isomap with 3, 4 and 5 neighbours beside it."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ub.ProductManifold(random_state=0).fit(X)
        found = model.transform(X)
    line = {"n": len(X), "kinds": model.kinds_, "verified": bool(model.verified_.all()), "circle": angle is not None}
    line["seconds"] = time.process_time() - begin
    line["checks"] = {c.name: round(c.figure, 3) for c in model.checks_[0]} if model.kinds_ == ["circle"] else {}
    if angle is not None:
        own = found[:, 0] if model.kinds_ == ["circle"] else np.zeros(len(X))
        line["score"] = abs(circular_correlation(angle, own))
        flat = X.reshape(len(X), -1)
        folds = [error(flat[np.argsort(angle)]) / error(flat[np.argsort(m * angle % (2 * np.pi))]) for m in (2, 3)]
        line["visible"] = max(folds)  # error in the true order over that of a turn laid on itself
    if isomap and angle is not None:
        line["isomap"] = []
        line["ends"] = next(f.holds for f in ub.diagnose(X).findings if f.key == "edge") is True
        for k in (3, 4, 5):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                plane = Isomap(n_neighbors=k, n_components=2).fit_transform(X.reshape(len(X), -1))
            line["isomap"].append(abs(circular_correlation(angle, np.arctan2(plane[:, 1], plane[:, 0]))))
    return line


def show(found: list[dict], least: float) -> None:
    """By world: runs, right ones, verified ones, those that are verified and wrong, and of these the hidden ones; for
    views, how often the diagnosis says that all factors have ends.

    Hidden is a turn whose parts differ by less than the noise: in the true order its rows predict each other no better.
    """
    print(
        f"{'world':36s} {'runs':>5s} {'right':>6s} {'verified':>9s} {'wrong':>6s} {'hidden':>7s} {'ends':>5s}  Isomap"
    )
    names = sorted({line["world"].partition(":")[0] for line in found})
    for name in [*names, ""]:
        own = [line for line in found if name in ("", line["world"].partition(":")[0])]
        right = [line.get("score", 0) >= least for line in own]
        wrong = [line["verified"] and line["kinds"] == ["circle"] and not r for line, r in zip(own, right)]
        verified = sum(line["verified"] and line["kinds"] == ["circle"] for line in own)
        hidden = sum(w and line.get("visible", 0) > HIDDEN for w, line in zip(wrong, own))
        ends = sum(line.get("ends", False) for line in own)
        peers = np.array([line["isomap"] for line in own if "isomap" in line])
        beside = (peers >= least).sum(axis=0).tolist() if len(peers) else ""
        counted = f"{len(own):5d} {sum(right):6d} {verified:9d} {sum(wrong):6d} {hidden:7d} {ends:5d}"
        print(f"{name or 'all':36s} {counted}  {beside}")


if __name__ == "__main__":
    main()
