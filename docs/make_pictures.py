"""Draw the pictures of the first page, of spectral methods and of flows: ``python docs/make_pictures.py``."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from theory_pictures import shrunk

import unbraid as ub
from unbraid.report.drawing import BLUE

IMAGES = Path(__file__).parent / "images"


def main():
    X, factors = ub.datasets.load("shapes-xy").sample(3000, random_state=0)
    linear = ub.PCAICA(n_factors=2, random_state=0).fit_transform(X)
    model = ub.HessianICA(n_factors=2, random_state=0)
    codes = model.fit_transform(X)
    shrunk(overview(X, factors, linear, codes), IMAGES / "shapes-xy.png", dpi=200)
    strips = ub.report.plot_traversals(model.inverse_transform, codes, span="quantiles", base="median")
    shrunk(strips, IMAGES / "traversal.png", dpi=180)
    shrunk(clusters(), IMAGES / "flows-artificial.png", dpi=200)


def overview(X, factors, linear, codes):
    """The data, then what a linear method and HLLE+ICA make of them."""
    fig = Figure(figsize=(10, 2.9), layout="constrained")
    data, left, right = fig.subfigures(1, 3, width_ratios=(1, 2, 2))
    data.suptitle("3000 pictures", fontsize=10)
    for image, ax in zip(X, data.subplots(4, 3).ravel()):
        ax.imshow(image, cmap="gray", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
    for part, found, name in ((left, linear, "PCA + ICA"), (right, codes, "HLLE + ICA, unbraid.HessianICA")):
        part.suptitle(f"{name}: MCC {ub.metrics.mcc(factors, found):.4f}", fontsize=10)
        order = ub.metrics.match(factors, found).code
        for number, ax in zip(order, part.subplots(1, 2)):
            ax.scatter(*factors.T, c=found[:, number], cmap="viridis", s=3, linewidths=0)
            ax.set(xticks=[], yticks=[], xlabel="true x", ylabel="true y", title=f"code {number + 1}")
            ax.title.set_size(9)
            ax.set_box_aspect(1)
    return fig


def clusters():
    """Two factors in five clusters, the first two codes of GIN, and its spectrum."""
    X, z, labels = ub.datasets.load("gin-mixture", random_state=0).sample_conditional(10_000, random_state=0)
    model = ub.GIN(random_state=0).fit(X, labels)
    codes = model.transform(X)
    match = ub.metrics.match(z, codes[:, :2])
    found = codes[:, match.code] * np.sign([np.corrcoef(z[:, i], codes[:, j])[0, 1] for i, j in enumerate(match.code)])
    fig = Figure(figsize=(9, 3), layout="constrained")
    axes = fig.subplots(1, 3)
    for ax, points, name in zip(axes, (z, found), ("factors", f"codes: MCC {ub.metrics.mcc(z, found):.3f}")):
        ax.scatter(*points[::3].T, c=labels[::3], cmap="tab10", s=3, linewidths=0)
        ax.set(title=name, xticks=[], yticks=[])
    axes[2].semilogy(np.arange(1, len(model.stds_) + 1), np.sort(model.stds_)[::-1], "o-", ms=4, color=BLUE)
    axes[2].set(title="spectrum: two stand out", xlabel="code", ylabel="std")
    axes[2].spines[["top", "right"]].set_visible(False)
    return fig


if __name__ == "__main__":
    main()
