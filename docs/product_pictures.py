"""Draw the pictures of docs/product-manifold.rst from real results: ``python docs/product_pictures.py``.

1,000 pictures of the built-in blob on a turntable under a lamp that swings, seen by four methods.
"""

import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from theory_pictures import shrunk

import unbraid as ub
from unbraid.metrics.kinds import circular_correlation

IMAGES = Path(__file__).parent / "images"


def main():
    data = ub.datasets.load("turntable", image_size=32)
    X, factors = data.sample(1000, random_state=0)
    model = ub.ProductManifold(random_state=0)
    codes = model.fit_transform(X)
    print("ProductManifold", model.kinds_, model.verified_.tolist(), mcc(data, factors, codes, model.kinds_))
    others = {"HLLE+ICA": ub.HessianICA(2, random_state=0), "VAE": ub.VAE(2, max_steps=1500, random_state=0)}
    found = {"ProductManifold": (codes, model.kinds_)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, other in others.items():
            found[name] = other.fit_transform(X), ["interval"] * 2
            print(name, mcc(data, factors, *found[name]))
        split = ub.Geomancer(dim=2, random_state=0).fit(X)
    print("GEOMANCER", split.n_submanifolds_, split.dims_)
    shrunk(compared(data, factors, found), IMAGES / "product-turntable.png", dpi=180)


def mcc(data, factors, codes, kinds):
    """Angles compared as angles."""
    return round(ub.metrics.mcc(factors, codes, kinds=data.factor_kinds, code_kinds=kinds), 3)


def compared(data, factors, found):
    """One row of factor maps for each method."""
    fig = Figure(figsize=(5.4, 2.7 * len(found)), layout="constrained")
    for part, (name, (codes, kinds)) in zip(fig.subfigures(len(found), 1), found.items()):
        part.suptitle(f"{name}: MCC {mcc(data, factors, codes, kinds)}", fontsize=10)
        for ax, code, kind in zip(part.subplots(1, 2), codes.T, kinds):
            angle = kind == "circle"
            colours = {"cmap": "twilight", "vmin": -np.pi, "vmax": np.pi} if angle else {"cmap": "viridis"}
            ax.scatter(*factors.T, c=code, s=5, linewidths=0, **colours)
            words = f"circle, r = {circular_correlation(factors[:, 0], code):+.2f}" if angle else "a number"
            ax.set_title(words, fontsize=9)
            ax.set(
                xlabel="true yaw", ylabel="true light", xticks=[-np.pi, 0, np.pi], xticklabels=["-180°", "0", "180°"]
            )
            ax.tick_params(labelsize=7)
            ax.set_box_aspect(1)
    return fig


if __name__ == "__main__":
    main()
