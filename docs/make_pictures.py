"""Draw the pictures of the README and of these pages, from real results: ``python docs/make_pictures.py``."""

from pathlib import Path

from matplotlib.figure import Figure

import unbraid as ub

IMAGES = Path(__file__).parent / "images"


def main():
    X, factors = ub.datasets.load("shapes-xy").sample(3000, random_state=0)
    linear = ub.PCAICA(n_factors=2, random_state=0).fit_transform(X)
    model = ub.HessianICA(n_factors=2, random_state=0)
    codes = model.fit_transform(X)
    overview(X, factors, linear, codes).savefig(IMAGES / "shapes-xy.png", dpi=200)
    strips = ub.report.plot_traversals(model.inverse_transform, codes, span="quantiles", base="median")
    strips.savefig(IMAGES / "traversal.png", dpi=180)


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


if __name__ == "__main__":
    main()
