"""Where a rat is, from 60 place cells: a real path in a box (ten minutes), firing drawn from it.

    python benchmarks/case_rat.py FOLDER [--umap PYTHON]

FOLDER is where ``unbraid datasets get place-cells`` puts sargolini.npz (MIT; the path is of Sargolini et al. 2006).
Each cell fires around its place (width 20 cm, 15 Hz at most); spikes are Poisson counts in bins of 200 ms.
"""

import numpy as np
from cases import Case, arguments, by_umap, save
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

CELLS, WIDTH, PEAK, BIN = 60, 0.2, 15.0, 0.2
SMOOTH = 2.0  # bins: .4 s


def main() -> None:
    """Print and write the table, draw the picture."""
    given = arguments(__doc__, "where sargolini.npz is")
    place, counts = recorded(given.folder / "sargolini.npz", seed=100)
    time = BIN * np.arange(len(place))
    case = Case("rat", place, ["x", "y"], umap=given.umap, block=50)
    smooth = gaussian_filter1d(np.sqrt(counts), SMOOTH, axis=0)
    case.ours("unbraid, counts", counts)
    case.ours("unbraid, counts, two factors", counts, n_factors=2)
    found = case.ours("unbraid, smoothed", smooth)[1]
    case.ours("unbraid, smoothed, time=", smooth, time=time)
    two = case.ours("unbraid, smoothed, two factors", smooth, n_factors=2)[1]
    peers = case.peers(smooth, 2, label=", smoothed")
    if given.umap:
        case.add("UMAP, counts", by_umap(counts, 2, given.umap)[0])
    case.nearest(smooth, label="k-NN with all labels, smoothed", components=30)
    case.write()
    shown = {"unbraid, smoothed": found if found.shape[1] == 2 else two, "Isomap": peers["Isomap"]}
    save(drawn(place, shown | ({"UMAP": peers["UMAP"]} if "UMAP" in peers else {})), "rat")


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
