"""Where a rat is, from 60 place cells: a real path in a box (ten minutes), firing drawn from it.

    python benchmarks/case_rat.py FOLDER [--umap PYTHON] [--cebra PYTHON]

FOLDER is where ``unbraid datasets get place-cells`` puts sargolini.npz (MIT; the path is of Sargolini et al. 2006).
Each cell fires around its place (width 20 cm, 15 Hz at most); spikes are Poisson counts in bins of 200 ms. CEBRA-Time
sees square roots of single bins, which served it better than smoothed ones on the draw of cells that is shown (seed
100). A second table has the main lines for the draws 210 to 213.
"""

from argparse import Namespace

import numpy as np
from cases import Case, arguments, by_cebra, by_umap, save, write_table
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d
from sklearn.decomposition import FastICA

CELLS, WIDTH, PEAK, BIN = 60, 0.2, 15.0, 0.2
SMOOTH = 2.0  # bins: .4 s
SHOWN, DRAWS = 100, range(210, 214)
STEPS = 1000  # of CEBRA


def main() -> None:
    """Print and write the tables, draw the picture."""
    given = arguments(__doc__, "where sargolini.npz is", peers=("umap", "cebra"))
    case, place, shown = compared(given, SHOWN)
    case.write()
    save(drawn(place, shown), "rat")
    draws = [compared(given, seed, main=True)[0].rows for seed in DRAWS]
    table = [["method", "mean MCC", *(f"seed {seed}" for seed in DRAWS)]]
    for same in zip(*draws):
        scores = [row[3].split()[0] for row in same]
        table.append([same[0][0], f"{np.mean([float(score) for score in scores]):.3f}", *scores])
    write_table("case-rat-draws", table)


def compared(given: Namespace, seed: int, *, main: bool = False) -> tuple[Case, NDArray, dict[str, NDArray]]:
    """The scores of one draw of cells, or the main ones, the places, and the codes that are shown."""
    place, counts = recorded(given.folder / "sargolini.npz", seed)
    time = BIN * np.arange(len(place))
    case = Case("rat", place, ["x", "y"], umap=given.umap, block=50)
    smooth = gaussian_filter1d(np.sqrt(counts), SMOOTH, axis=0)
    case.ours("unbraid, counts", counts)
    found = two = case.ours("unbraid, smoothed", smooth)[1]
    if not main:
        case.ours("unbraid, counts, two factors", counts, n_factors=2)
        case.ours("unbraid, smoothed, time=", smooth, time=time)
        two = case.ours("unbraid, smoothed, two factors", smooth, n_factors=2)[1]
    peers = case.peers(smooth, 2, label=", smoothed")
    if given.umap and not main:
        case.add("UMAP, counts", by_umap(counts, 2, given.umap)[0])
    if given.cebra:
        codes, seconds = by_cebra(np.sqrt(counts), 2, given.cebra, seed=0, steps=STEPS, distance="euclidean")
        case.add("CEBRA-Time, counts", codes, seconds=seconds)
        turned = FastICA(2, random_state=0, whiten="unit-variance", max_iter=1000).fit_transform(codes)
        case.add("CEBRA-Time + ICA, counts", turned)
    case.nearest(smooth, label="k-NN with all labels, smoothed", components=30)
    shown = {"unbraid, smoothed": found if found.shape[1] == 2 else two, "Isomap": peers["Isomap"]}
    return case, place, shown | ({"UMAP": peers["UMAP"]} if "UMAP" in peers else {})


def recorded(path: object, seed: int) -> tuple[NDArray, NDArray]:
    """Mean place in each bin, and the spikes of each cell."""
    rng = np.random.default_rng(seed)
    with np.load(path) as file:  # type: ignore[arg-type]
        t, at = file["t"], file["pos"]
    edges = np.arange(t[0], t[-1], BIN)
    middle = (edges[:-1] + edges[1:]) / 2
    place = np.c_[[np.interp(middle, t, x) for x in at.T]].T
    centres = rng.uniform(size=(CELLS, 2))
    near = ((place[:, None] - centres) ** 2).sum(axis=2)
    return place, rng.poisson(PEAK * BIN * np.exp(-near / (2 * WIDTH**2))).astype(np.float64)


def drawn(place: NDArray, found: dict[str, NDArray]) -> Figure:
    """The two codes of each method, coloured by the place along x."""
    figure = Figure(figsize=(8.2, 2.9), layout="constrained")
    for ax, (name, codes) in zip(figure.subplots(1, len(found)), found.items()):
        ax.scatter(*codes[:, :2].T, c=place[:, 0], s=2, cmap="viridis", rasterized=True)
        ax.set(title=name, xticks=[], yticks=[], xlabel="code 1", ylabel="code 2")
    return figure


if __name__ == "__main__":
    main()
