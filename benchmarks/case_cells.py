"""Cells of many kinds: what this library says of clusters, how well its codes keep them, and what batches do to them.

    python benchmarks/case_cells.py FOLDER [--umap PYTHON] [--harmony PYTHON]

FOLDER holds 10x_pbmc68k_reduced.h5ad of ``scanpy==1.11.5`` (BSD-3; kinds by sorting cells on markers) and
lca_subset.h5ad of ``popv==0.4.0``'s source distribution (MIT; dataset/test): lung cells of Travaglini et al. (2020),
whose kinds the authors named, read by two machines.
"""

import argparse
import subprocess
import tempfile
import warnings
from pathlib import Path

import anndata
import numpy as np
from cases import arguments, by_umap, save, write_table
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import unbraid as ub

GENES, FEWEST = 1000, 15  # genes of the largest variance; cells of a kind that is scored
HARMONY = """
import sys, numpy as np, pandas, harmonypy
C, batch = np.load(sys.argv[1]), np.load(sys.argv[2])
found = harmonypy.run_harmony(C, pandas.DataFrame({"batch": batch}), ["batch"], random_state=0).Z_corr
np.save(sys.argv[3], found.T if found.shape[0] == C.shape[1] else found)
"""


def main() -> None:
    """Write both tables and draw the picture."""
    given = arguments(__doc__, "where the two .h5ad files are", ("umap", "harmony"))
    warnings.simplefilter("ignore")
    blood(given)
    lung(given)


def blood(given: argparse.Namespace) -> None:
    """700 blood cells of ten kinds, 765 genes."""
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
    write_table("case-cells", [["codes of", "accuracy of 15-NN (sd of folds)", "codes"], *rows])
    shown = {name: tries[name] for name in list(tries)[1:3]}
    save(drawn(kinds, shown), "cells")


def lung(given: argparse.Namespace) -> None:
    """1,000 lung cells, read in droplets (10X) or one by one (Smart-seq2), with 170 times as many reads each."""
    cells = anndata.read_h5ad(given.folder / "lca_subset.h5ad")
    counts = cells.X.toarray().astype(float)
    logs = np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True))
    X = logs[:, np.argsort(-logs.var(axis=0))[:GENES]]
    kinds, batch, donor = (cells.obs[name].to_numpy(dtype=str) for name in ("cell_ontology_type", "method", "donor"))
    names, place, count = np.unique(kinds, return_inverse=True, return_counts=True)
    scored = count[place] >= FEWEST
    print(scored.sum(), "cells scored, kinds:", (count >= FEWEST).sum(), "Smart-seq2:", (batch[scored] != "10X").sum())
    rng = np.random.default_rng(0)
    rows = []

    def add(name: str, codes: NDArray, told: str = "") -> None:
        found = codes[scored]
        rows.append([name, accuracy(found, kinds[scored]), *(balanced(found, y[scored]) for y in (batch, donor))])
        rows[-1] += [str(codes.shape[1]), told]
        print("; ".join(rows[-1]), flush=True)

    for wanted in ("auto", 2, 10):
        for known in ({}, {"covariates": batch}):
            model = ub.fit(X, n_factors=wanted, random_state=0, **known)
            codes = model.transform(ub.Observations(X, **known))
            about = "" if wanted == "auto" else f", {wanted} factors"
            verdict = f"{model.diagnosis_.verdict} ({model.diagnosis_.method})"
            add(f"unbraid{about}{', covariates=batch' if known else ''}", codes, verdict)
    for d in (2, 10):
        components = PCA(d, random_state=0).fit_transform(X)
        add("PCA", components)
        if given.umap:
            add("UMAP", by_umap(X, d, given.umap)[0])
    if given.harmony:
        add("PCA, Harmony", by_harmony(components, batch, given.harmony))
    add("untrained: random projection", X @ rng.normal(size=(GENES, 10)))
    add("all 1,000 genes", X)
    add("chance (cells permuted)", components[rng.permutation(len(X))])
    header = ["codes of", "kinds: accuracy (sd of folds)", "batch", "donor", "codes", "what it says of itself"]
    write_table("case-cells-batches", [header, *rows])


def balanced(codes: NDArray, groups: NDArray) -> str:
    """Accuracy of 15 nearest neighbours, the mean over the groups."""
    scaled = codes / np.where(codes.std(axis=0) > 0, codes.std(axis=0), 1)
    scores = cross_val_score(KNeighborsClassifier(15), scaled, groups, cv=5, scoring="balanced_accuracy")
    return f"{scores.mean():.2f}"


def by_harmony(components: NDArray, batch: NDArray, python: str) -> NDArray:
    """Principal components that Harmony has moved together."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, name)) for name in ("C.npy", "batch.npy", "out.npy")]
        np.save(paths[0], components)
        np.save(paths[1], batch)
        subprocess.run([python, "-c", HARMONY, *paths], check=True, capture_output=True)
        return np.load(paths[2])


def accuracy(codes: NDArray, kinds: NDArray) -> str:
    """Of 15 nearest neighbours, five folds."""
    scaled = codes / np.where(codes.std(axis=0) > 0, codes.std(axis=0), 1)
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
