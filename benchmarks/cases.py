"""What the case studies share: the same data to every method, one score with its interval, one table.

Peers get the number of factors that the page names. UMAP runs in an interpreter of its own (``--umap PYTHON``, with
umap-learn); without it its line is left out.
"""

import argparse
import csv
import io
import json
import os
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import PCA, FastICA
from sklearn.manifold import Isomap
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unbraid as ub
from unbraid.metrics.kinds import circular_correlation

DOCS = Path(__file__).parents[1] / "docs"
UMAP = """
import sys, time, warnings; warnings.simplefilter("ignore")
import numpy as np, umap
X, start = np.load(sys.argv[1]), time.process_time()
np.save(sys.argv[2], umap.UMAP(n_components=int(sys.argv[3]), random_state=0, n_jobs=1).fit_transform(X))
print(time.process_time() - start)
"""
BOOTSTRAPS = 200


@dataclass
class Case:
    """The scores of one data set.

    Attributes
    ----------
    name : str
        Of the page.
    factors : array (n, d)
        The truth; NaN rows are not scored.
    kinds : sequence of str
        "interval" or "circle" for each factor.
    umap : path or None
        The interpreter that has umap-learn.
    block : int
        Rows that are drawn together in the bootstrap: more than one where they follow each other in time.
    """

    name: str
    factors: NDArray
    factor_names: Sequence[str]
    kinds: Sequence[str] = ()
    umap: str | None = None
    block: int = 1
    rows: list[list[str]] = field(default_factory=list)

    def add(self, method: str, codes: NDArray, *, seconds: float = np.nan, told: str = "") -> float:
        """Score codes, print the line and keep it."""
        known = np.isfinite(self.factors).all(axis=1)
        Z, C = self.factors[known], np.asarray(codes, dtype=float).reshape(len(self.factors), -1)[known]
        each = self.correlations(Z, C)
        rng = np.random.default_rng(0)
        draws = [self.correlations(*self._drawn(Z, C, rng)).mean() for _ in range(BOOTSTRAPS)]
        low, high = np.quantile(draws, [0.025, 0.975])
        line = [method, *(f"{r:.2f}" for r in each)]
        line += [f"{each.mean():.3f} [{low:.2f}, {high:.2f}]"] if len(each) > 1 else [f"[{low:.2f}, {high:.2f}]"]
        self.rows.append([*line, str(C.shape[1]), told, "" if np.isnan(seconds) else f"{seconds:.1f}"])
        print("; ".join(self.rows[-1]), flush=True)
        return float(each.mean())

    def correlations(self, Z: NDArray, C: NDArray) -> NDArray:
        """Of every factor with the code that is matched to it, absolute."""
        kinds = self.kinds or ["interval"] * Z.shape[1]
        table = np.array([[_correlation(z, c, kind) for c in C.T] for z, kind in zip(Z.T, kinds)])
        rows, columns = linear_sum_assignment(-table)
        found = np.zeros(len(table))
        found[rows] = table[rows, columns]
        return found

    def _drawn(self, Z: NDArray, C: NDArray, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
        starts = rng.integers(0, len(Z) - self.block + 1, size=-(-len(Z) // self.block))
        rows = (starts[:, None] + np.arange(self.block)).ravel()[: len(Z)]
        return Z[rows], C[rows]

    def ours(self, method: str, X: NDArray, **known: object) -> tuple[object, NDArray]:
        """``ub.fit(X)`` with its verdict and the MCC it expects; codes of every row."""
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ub.fit(X, random_state=0, **known)
            codes = model.transform(X)
        seconds, found = time.process_time() - start, getattr(model, "diagnosis_", None)
        expected = found and found.expected_mcc
        bound = f", {expected.median:.2f}, above {expected.low:.2f}" if expected else ""
        self.add(method, codes, seconds=seconds, told=f"{found.verdict}{bound} ({found.method})" if found else "")
        return model, codes

    def peers(self, X: NDArray, d: int, *, label: str = "", neighbors: int = 10) -> dict[str, NDArray]:
        """UMAP, Isomap with and without ICA, PCA+ICA, PCA, an untrained network, chance."""
        X = np.asarray(X, dtype=float).reshape(len(X), -1)
        rng = np.random.default_rng(0)

        def ica(C: NDArray) -> NDArray:
            return FastICA(C.shape[1], random_state=0, whiten="unit-variance", max_iter=1000).fit_transform(C)

        def untrained() -> NDArray:
            hidden = np.maximum(StandardScaler().fit_transform(X) @ rng.normal(size=(X.shape[1], 64)), 0)
            return hidden @ rng.normal(size=(64, d))

        recipes: dict[str, Callable[[], NDArray]] = {
            "Isomap": lambda: Isomap(n_components=d, n_neighbors=neighbors).fit_transform(X),
            "Isomap + ICA": lambda: ica(found["Isomap"]),
            "PCA + FastICA": lambda: ica(PCA(d).fit_transform(X)),
            "PCA": lambda: PCA(d).fit_transform(X),
            "untrained network": untrained,
        }
        found: dict[str, NDArray] = {}
        if self.umap:
            found["UMAP"], seconds = by_umap(X, d, self.umap)
            self.add("UMAP" + label, found["UMAP"], seconds=seconds)
        for method, recipe in recipes.items():
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[method] = recipe()
            self.add(method + label, found[method], seconds=time.process_time() - start)
        known = np.flatnonzero(np.isfinite(self.factors).all(axis=1))
        strangers = found["PCA"].copy()
        strangers[known] = strangers[rng.permutation(known)]
        self.add("chance (rows permuted)" + label, strangers)
        return found

    def nearest(self, X: NDArray, *, label: str = "k-NN with labels", components: int = 10) -> None:
        """Five nearest rows with known factors, in five folds: contiguous ones where rows follow each other."""
        known = np.isfinite(self.factors).all(axis=1)
        X = np.asarray(X, dtype=float).reshape(len(X), -1)
        reduced = PCA(min(components, *X.shape), random_state=0).fit_transform(X)
        truth = self.factors[known]
        circles = np.array([k == "circle" for k in self.kinds or ["interval"] * truth.shape[1]])
        target = np.c_[truth[:, ~circles], np.sin(truth[:, circles]), np.cos(truth[:, circles])]
        folds = KFold(5, shuffle=self.block == 1, random_state=0 if self.block == 1 else None)
        model = make_pipeline(StandardScaler(), KNeighborsRegressor(5))
        told = cross_val_predict(model, reduced[known], target, cv=folds).reshape(len(target), -1)
        plain, round_ = int((~circles).sum()), int(circles.sum())
        guess = np.empty_like(truth)
        guess[:, ~circles] = told[:, :plain]
        guess[:, circles] = np.arctan2(told[:, plain : plain + round_], told[:, plain + round_ :])
        codes = np.zeros_like(self.factors)
        codes[known] = guess
        self.add(label, codes)

    def write(self) -> None:
        """Write the table of the page."""
        score = "MCC [95 %]" if len(self.factor_names) > 1 else "95 %"
        header = ["method", *self.factor_names, score, "codes", "what it says of itself", "CPU s"]
        write_table(f"case-{self.name}", [header, *self.rows])


def write_table(name: str, rows: Sequence[Sequence[str]]) -> None:
    """Write a table of the pages."""
    with (DOCS / "tables" / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def _correlation(z: NDArray, c: NDArray, kind: str) -> float:
    if kind == "circle":
        return abs(circular_correlation(z, c))
    return abs(float(np.corrcoef(z, c)[0, 1])) if np.ptp(z) and np.ptp(c) else 0.0


def by_umap(X: NDArray, d: int, python: str) -> tuple[NDArray, float]:
    """Codes of UMAP with its defaults, and CPU seconds without imports."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder, "X.npy"), Path(folder, "codes.npy")
        np.save(data, X)
        asked = [python, "-c", UMAP, str(data), str(out), str(d)]
        printed = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
        return np.load(out), float(printed.split()[-1])


def by_cebra(
    X: NDArray, d: int, python: str, *, seed: int, steps: int, distance: str, offset: int = 1
) -> tuple[NDArray, float]:
    """Codes of CEBRA-Time, and CPU seconds of its fit."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder, "X.npy"), Path(folder, "codes.npy")
        np.save(data, X)
        script = Path(__file__).with_name("peer_cebra.py")
        asked = [python, script, data, out, d, steps, seed, distance, offset]
        alone = os.environ | {"PYTHONPATH": "", "OMP_NUM_THREADS": "1"}
        done = subprocess.run([str(a) for a in asked], capture_output=True, text=True, check=True, env=alone)
        return np.load(out), json.loads(done.stdout.splitlines()[-1])["cpu_seconds"]


def arguments(doc: str | None, folder: str = "", peers: Sequence[str] = ("umap",)) -> argparse.Namespace:
    """The options of a case: where its data are, and interpreters that have the peers."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if folder:
        parser.add_argument("folder", type=Path, help=folder)
    for name in peers:
        parser.add_argument(f"--{name}", default=None, metavar="PYTHON", help=f"an interpreter that has {name}")
    return parser.parse_args()


def save(figure: object, name: str) -> None:
    """Write a picture of a page, at double resolution and in 256 colours."""
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=200)  # type: ignore[attr-defined]
    image = Image.open(drawn).convert("RGB")
    image.quantize(palette=image.quantize(256)).save(DOCS / "images" / f"case-{name}.png", optimize=True)
