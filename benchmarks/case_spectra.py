"""Glucose in a fermentation, from spectra: 1,626 of them in 34 hours, 34 samples measured by HPLC.

    python benchmarks/case_spectra.py FOLDER [--umap PYTHON]

FOLDER is where ``unbraid datasets get fermentation`` puts its tables (``chemotools==0.5.0``, MIT).
"""

import numpy as np
import pandas
from cases import Case, arguments, save
from matplotlib.figure import Figure
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import LeaveOneOut, cross_val_predict

import unbraid as ub
from unbraid.data.prepare import prepared

HOURS = 1.25 / 60  # between spectra
WAYS = ("", "spread", "derivative", "derivative,spread", "snv,derivative")  # of --prepare


def main() -> None:
    """Print and write the table, draw the picture."""
    given = arguments(__doc__, "the data of chemotools")
    spectra = np.asarray(ub.datasets.open(given.folder / "fermentation_spectra.csv", drop_missing=True)[:])
    hplc = pandas.read_csv(given.folder / "fermentation_hplc.csv")
    hours = HOURS * np.arange(len(spectra))
    at = np.searchsorted(hours, hplc["time"]).clip(0, len(hours) - 1)
    glucose = np.full((len(spectra), 1), np.nan)
    glucose[at, 0] = hplc["glucose"]
    case = Case("spectra", glucose, ["glucose"], umap=given.umap)
    codes = {}
    for way in WAYS:
        steps = way.split(",") if way else []
        codes[way] = case.ours(f"unbraid, {way or 'as they are'}", prepared(spectra, steps))[1]
    case.ours("unbraid, derivative,spread, time=", prepared(spectra, ["derivative", "spread"]), time=hours)
    half = np.isfinite(glucose[:, 0]).cumsum() % 2 == 0  # every second sample is given, the others are scored
    others = Case("spectra", np.where(half[:, None], glucose, np.nan), ["glucose"])
    given_half = np.where(half[:, None], np.nan, glucose)
    others.ours("unbraid, derivative,spread, 17 labels", prepared(spectra, ["derivative", "spread"]), labels=given_half)
    case.rows += others.rows
    case.peers(spectra, 2, label=", as they are")
    ready = prepared(spectra, ["derivative", "spread"])
    case.peers(ready, 2, label=", derivative,spread")
    case.peers(ready, 7, label=", derivative,spread, 7 codes")
    case.add("the clock", hours)
    case.nearest(ready, label="k-NN with 34 labels")
    known = np.isfinite(glucose[:, 0])
    slopes = prepared(spectra, ["derivative"])[:, _inside(given.folder)]
    told = np.zeros(len(spectra))
    told[known] = cross_val_predict(
        PLSRegression(6, scale=False), slopes[known], glucose[known], cv=LeaveOneOut()
    ).ravel()
    case.add("PLS with 34 labels (each left out)", told)
    train = pandas.read_csv(given.folder / "train_spectra.csv").to_numpy(float)
    lab = pandas.read_csv(given.folder / "train_hplc.csv").to_numpy(float)
    pls = PLSRegression(6, scale=False).fit(prepared(train, ["derivative"])[:, _inside(given.folder)], lab)
    case.add("PLS of 21 mixtures in the laboratory", pls.predict(slopes))
    case.write()
    save(drawn(hours, glucose[:, 0], codes), "spectra")


def _inside(folder: object) -> np.ndarray:
    """The range that the authors of the data use: 950 to 1550 cm-1."""
    axis = pandas.read_csv(folder / "train_spectra.csv", nrows=1).columns.astype(float)  # type: ignore[operator]
    return np.asarray((axis >= 950) & (axis <= 1550))


def drawn(hours: np.ndarray, glucose: np.ndarray, codes: dict[str, np.ndarray]) -> Figure:
    """The code nearest to glucose over time, raw and prepared, with the measured points."""
    figure = Figure(figsize=(8.2, 2.9), layout="constrained")
    known = np.isfinite(glucose)
    for ax, way in zip(figure.subplots(1, 2, sharey=True), ("", "derivative,spread")):
        related = [np.corrcoef(glucose[known], c[known])[0, 1] for c in codes[way].T]
        best = int(np.argmax(np.abs(related)))
        line = np.polynomial.Polynomial.fit(codes[way][known, best], glucose[known], 1)
        ax.plot(hours, line(codes[way][:, best]), ".", ms=2, color="#9db8d2", label="code, scaled")
        ax.plot(hours[known], glucose[known], "o", ms=4, color="#b2182b", label="glucose by HPLC (g/l)")
        ax.set(title=f"{way or 'as they are'}: |r| = {abs(related[best]):.2f}", xlabel="hours", ylim=(-15, 65))
        ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return figure


if __name__ == "__main__":
    main()
