"""700 blood cells of ten kinds, 765 genes: what this library says of clusters, and how well its codes keep them.

    python benchmarks/case_cells.py FOLDER [--umap PYTHON]

FOLDER holds 10x_pbmc68k_reduced.h5ad of ``scanpy==1.11.5`` (BSD-3). The kinds were found by sorting cells on markers.
"""

import csv
import warnings

import anndata
import numpy as np
from cases import DOCS, arguments, by_umap, save
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import unbraid as ub


def main() -> None:
    """Print and write the accuracy of a k-NN classifier on the codes of each method."""
    given = arguments(__doc__, "where 10x_pbmc68k_reduced.h5ad is")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cells = anndata.read_h5ad(given.folder / "10x_pbmc68k_reduced.h5ad")
        X, kinds = np.asarray(cells.X, dtype=float), cells.obs["bulk_labels"].to_numpy(dtype=str)
        model = ub.fit(X, random_state=0)
        two = ub.fit(X, n_factors=2, random_state=0)
    print(model.diagnosis_)
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(kinds)
    tries = {
        f"unbraid: {model.diagnosis_.verdict} ({model.diagnosis_.method})": model.transform(X),
        f"unbraid, two factors: {two.diagnosis_.verdict} ({two.diagnosis_.method})": two.transform(X),
        **({"UMAP": by_umap(X, 2, given.umap)[0]} if given.umap else {}),
        "Isomap": Isomap(n_components=2, n_neighbors=10).fit_transform(X),
        "PCA": PCA(2).fit_transform(X),
        "untrained: random projection": X @ rng.normal(size=(X.shape[1], 2)),
        "all genes (no reduction)": X,
    }
    rows = [[name, accuracy(codes, kinds), str(codes.shape[1])] for name, codes in tries.items()]
    rows.append(["chance (kinds permuted)", accuracy(tries["PCA"], shuffled), "2"])
    rows.append(["the largest kind", f"{np.unique(kinds, return_counts=True)[1].max() / len(kinds):.2f}", ""])
    for row in rows:
        print("; ".join(row))
    with (DOCS / "tables" / "case-cells.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [["codes of", "accuracy of 15-NN (sd of folds)", "codes"], *rows]
        )
    shown = {name: tries[name] for name in list(tries)[1:3]}
    save(drawn(kinds, shown), "cells")


def accuracy(codes: NDArray, kinds: NDArray) -> str:
    """Of 15 nearest neighbours, five folds."""
    scaled = codes / codes.std(axis=0)
    scores = cross_val_score(KNeighborsClassifier(15), scaled, kinds, cv=5)
    return f"{scores.mean():.2f} ({scores.std():.2f})"


def drawn(kinds: NDArray, found: dict[str, NDArray]) -> Figure:
    """Two codes of each method, coloured by kind."""
    figure = Figure(figsize=(8.2, 3.2), layout="constrained")
    for ax, (name, codes) in zip(figure.subplots(1, len(found)), found.items()):
        for number, kind in enumerate(np.unique(kinds)):
            ax.scatter(*codes[kinds == kind, :2].T, s=4, color=f"C{number}", label=kind)
        ax.set(title=name, xticks=[], yticks=[])
        ax.title.set_fontsize(9)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right center", fontsize=7, frameon=False, markerscale=2)
    return figure


if __name__ == "__main__":
    main()
