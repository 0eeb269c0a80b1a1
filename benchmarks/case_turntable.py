"""An object on a turntable: 72 pictures before real backgrounds; the angle is the truth.

    python benchmarks/case_turntable.py MESHES [--umap PYTHON]

MESHES holds the meshes of the data set ``turntable``. Pictures as in ``experiment_rings.py``, seeds 6000 and on.
"""

import warnings

import numpy as np
from cases import DOCS, arguments, by_umap, save
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rings import Rings
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap

import unbraid as ub
from unbraid.metrics.kinds import circular_correlation

MESHES, SEEDS, RIGHT = ("blob", "bunny", "spot", "dragon"), (6000, 6001), 0.95


def main() -> None:
    """Print a line a ring, and write how many angles are right."""
    given = arguments(__doc__, "the folder of the meshes")
    rings = Rings(given.folder, [], list(MESHES))
    found: dict[str, list[float]] = {}
    kept: list[tuple[str, NDArray, NDArray]] = []
    for mesh in MESHES:
        for seed in SEEDS:
            X, angle = rings.draw(mesh, seed)
            flat = X.reshape(len(X), -1)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = ub.fit(X, random_state=0)
                codes = model.transform(X)
            circle = "circle" in getattr(model, "kinds_", [])
            tries = {
                "unbraid": codes[:, 0] if circle else np.zeros(len(X)),
                "Isomap (4 neighbours), arctan2": around(Isomap(n_neighbors=4, n_components=2).fit_transform(flat)),
                "PCA, arctan2": around(PCA(2).fit_transform(flat)),
                "untrained: random projection, arctan2": around(
                    flat @ np.random.default_rng(0).normal(size=(flat.shape[1], 2))
                ),
                "chance (rows permuted)": np.random.default_rng(seed).permutation(angle),
            }
            if given.umap:
                tries["UMAP, arctan2"] = around(by_umap(flat, 2, given.umap)[0])
            scores = {name: abs(circular_correlation(angle, code)) for name, code in tries.items()}
            for name, score in scores.items():
                found.setdefault(name, []).append(score)
            kept.append((mesh, angle, tries["unbraid"]))
            print(mesh, seed, type(model).__name__, {n: round(s, 2) for n, s in scores.items()}, flush=True)
    lines = ["method,right of 8 (r above .95),median r"]
    for name, values in found.items():
        lines.append(f'"{name}",{sum(v > RIGHT for v in values)},{np.median(values):.2f}')
    (DOCS / "tables" / "case-turntable.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    save(drawn(kept[:: len(SEEDS)]), "turntable")


def around(codes: NDArray) -> NDArray:
    """Angle of points around their mean."""
    x, y = (codes - codes.mean(axis=0)).T
    return np.asarray(np.arctan2(y, x))


def drawn(kept: list[tuple[str, NDArray, NDArray]]) -> Figure:
    """True angle against the code, one panel a mesh."""
    figure = Figure(figsize=(8.2, 2.4), layout="constrained")
    for ax, (mesh, angle, code) in zip(figure.subplots(1, len(kept), sharey=True), kept):
        ax.scatter(np.degrees(angle), np.degrees(code), s=6, c=angle, cmap="twilight")
        ax.set(title=mesh, xlabel="true angle", xticks=[-180, 0, 180], yticks=[-180, 0, 180])
    return figure


if __name__ == "__main__":
    main()
