"""Draw the pictures of docs/theory: each method where its assumption holds, and where it does not.

``python docs/theory_pictures.py`` draws all of them, ``python docs/theory_pictures.py gin irmae`` some. Every score in
a picture is computed here.
"""

import io
import sys
import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image
from scipy.stats import norm

import unbraid as ub

IMAGES = Path(__file__).parent / "images"
SEED = 0
SHOWN = 1000  # points of a panel


def impossibility():
    """The construction of Locatello et al. 2019 for uniform factors: to Gaussians, turn, and back."""
    z = np.random.default_rng(SEED).uniform(size=(4000, 2))
    turned = norm.cdf(norm.ppf(z) @ turn(45))
    fig, axes = panels(3, width=2.0, extra=0.7)
    scattered(axes[0], z, z[:, 0], "two factors")
    scattered(axes[1], turned, z[:, 0], "entangled, same law")
    for label, values in (("factors", z[:, 0]), ("entangled", turned[:, 0])):
        axes[2].hist(values, bins=20, range=(0, 1), histtype="step", label=label)
    axes[2].set(xlabel="first coordinate", yticks=[], ylim=(0, None), box_aspect=1)
    axes[2].set_title(f"MCC {ub.metrics.mcc(z, turned):.2f}", fontsize=9)
    axes[2].legend(fontsize=7, loc="lower center")
    return fig


def hessian_ica():
    """A bent sheet of a square, of Gaussians, and of radius and angle."""
    rng = np.random.default_rng(SEED)
    square, bell, sector = rng.uniform(size=(1500, 2)), rng.normal(0.5, 0.15, (1500, 2)), half_disk(rng)
    worlds = {"uniform": (square, square), "both Gaussian": (bell, bell), "radius and angle": (sector, around(sector))}
    return code_maps({name: (z, hlle(bent(flat))) for name, (z, flat) in worlds.items()})


def laplacian_ica():
    """A sheet with sides in two ratios: on the long one, many waves of it come before one of the short side."""
    shown = {}
    for ratio in (1.5, 6.0):
        z = np.random.default_rng(SEED).uniform(size=(1500, 2)) * (ratio, 1.0)
        shown[f"LEM+ICA, sides 1 : {ratio:g}"] = z, quiet(ub.LaplacianICA(2, random_state=SEED), bent(z))
    shown["HLLE+ICA, sides 1 : 6"] = z, hlle(bent(z))
    return code_maps(shown)


def hessian_autoencoder():
    """A teacher that is right, and one that is wrong: the student learns either."""
    rng = np.random.default_rng(SEED)
    square, sector = rng.uniform(size=(1500, 2)), half_disk(rng)
    shown = {}
    for name, z, flat in (("uniform", square, square), ("radius and angle", sector, around(sector))):
        student = ub.HessianAutoencoder(2, max_steps=1000, random_state=SEED)
        shown[name] = z, quiet(student, bent(flat))
    return code_maps(shown)


def vae():
    """Three seeds of one beta-VAE on one set of pictures."""
    X, z = ub.datasets.load("shapes-xy", image_size=32).sample(2000, random_state=SEED)
    return code_maps({name: (z, codes) for name, codes in trained(X, ub.BetaVAE, beta=1.0)})


def irmae():
    """Three seeds of one IRMAE on the same pictures."""
    X, z = ub.datasets.load("shapes-xy", image_size=32).sample(2000, random_state=SEED)
    return code_maps({name: (z, codes) for name, codes in trained(X, ub.IRMAE)})


def trained(X, kind, **settings):
    """Seeds of a model with two codes, with the error of each."""
    for seed in range(3):
        model = kind(2, max_steps=2000, random_state=seed, **settings)
        codes = quiet(model, X)
        left = np.square(model.inverse_transform(codes) - X).mean() / X.var(axis=0).mean()
        yield f"seed {seed}, error {left:.2f}", codes


def gin():
    """Clusters that overlap, and two groups of clusters with a gap between them."""
    near = ub.datasets.load("gin-mixture", random_state=SEED)
    far = ub.datasets.load("gin-mixture", random_state=SEED)
    far.means[:2, 0] += 40.0
    fig, axes = panels(4)
    for pair, data, name in ((axes[:2], near, "clusters overlap"), (axes[2:], far, "a gap of 40")):
        X, z, labels = data.sample_conditional(5000, random_state=SEED)
        model = ub.GIN(null="off", random_state=SEED)
        codes = quiet(model, X, labels)[:, :2]
        scattered(pair[0], z, labels, f"factors, {name}", cmap="tab10")
        title = f"codes: MCC {ub.metrics.mcc(z, codes):.2f}, {model.n_informative_} found"
        scattered(pair[1], codes, labels, title, cmap="tab10")
    return fig


def self_supervised_gin():
    """Sets that move one factor only: the factor, and the factor bent by the other, have the same loss."""
    rng = np.random.default_rng(SEED)
    z = rng.uniform(-2, 2, (1000, 2))
    sets = np.repeat(z[:, None], 10, axis=1)
    sets[:, :, 0] += 0.5 * rng.normal(size=(1000, 10))
    fig, axes = panels(3, width=2.0, extra=0.7)
    for ax, name, code in (
        (axes[0], "the factor", lambda z: z[..., 0]),
        (axes[1], "bent by the other", lambda z: z[..., 0] + np.square(z[..., 1])),
    ):
        spread = code(sets).std(axis=1)
        other = np.column_stack([code(z), z[:, 1]])
        said = f"loss {np.log(spread).mean():.3f}, MCC {ub.metrics.mcc(z, other):.2f}"
        scattered(ax, z, code(z), f"{name}\n{said}")
        axes[2].hist(spread, bins=25, histtype="step", label=name, ls="-" if ax is axes[0] else ":")
    axes[2].set(xlabel="spread within a set", yticks=[], box_aspect=1)
    axes[2].legend(fontsize=7)
    return fig


def geomancer():
    """Eigenvalues of a product of spheres, and of a flat torus, which is a product too."""
    rng = np.random.default_rng(SEED)
    spheres = np.hstack([unit(rng.normal(size=(2000, 3))) for _ in range(2)])
    torus = np.hstack([unit(rng.normal(size=(2000, 2))) for _ in range(2)])
    fig, axes = panels(2, width=3.0, extra=0.1)
    for ax, name, X in ((axes[0], "two spheres", spheres), (axes[1], "two circles (flat)", torus)):
        model = ub.Geomancer(random_state=SEED)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X)
        ax.semilogy(1 + np.arange(len(model.spectrum_)), np.maximum(model.spectrum_, 1e-6), "o-", ms=4)
        words = f"{model.n_submanifolds_} submanifolds" if model.determined_ else "undetermined"
        ax.set_title(f"{name}: {words}", fontsize=9)
        ax.set(xlabel="eigenfield", ylabel="eigenvalue", ylim=(1e-7, 10), box_aspect=1)
    return fig


def product_manifold():
    """A patch that turns and moves, which is a product, and a disk, which is none."""
    X, z = ub.datasets.load("turning-patch").sample(3000, random_state=SEED)
    disk = np.random.default_rng(SEED).uniform(-1, 1, (3800, 2))
    disk = disk[np.linalg.norm(disk, axis=1) < 1]
    fig, axes = panels(4, extra=0.7)
    for pair, rows, truth in ((axes[:2], X, z), (axes[2:], disk, disk)):
        model = ub.ProductManifold(random_state=SEED)
        codes = quiet(model, rows)
        for ax, columns, kind, sure in zip(pair, model.columns_, model.kinds_, model.verified_):
            colours = {"cmap": "twilight"} if kind == "circle" else {}
            said = "verified" if sure else "not verified"
            scattered(ax, truth, codes[:, columns].ravel(), f"{kind},\n{said}", **colours)
    axes[0].set(xlabel="angle", ylabel="position")
    return fig


def half_disk(rng):
    """Radius and angle, uniform and independent."""
    return rng.uniform((0.2, 0.0), (1.0, 3.0), (1500, 2))


def around(sector):
    """The points of the plane that they stand for."""
    return sector[:, :1] * np.column_stack([np.cos(sector[:, 1]), np.sin(sector[:, 1])])


def bent(z):
    """A sheet rolled up along its first coordinate, by about 100 degrees: exactly isometric."""
    radius = 0.6 * np.ptp(z[:, 0])
    return np.column_stack([radius * np.cos(z[:, 0] / radius), radius * np.sin(z[:, 0] / radius), z[:, 1:]])


def hlle(X):
    return quiet(ub.HessianICA(2, random_state=SEED), X)


def quiet(model, X, *labels, **evidence):
    """Codes; the warnings of a fit that is meant to fail are left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(model.fit_transform(X, *labels, **evidence))


def code_maps(shown):
    """Both codes of each fit as colours over the true factors."""
    fig, axes = panels(2 * len(shown))
    for i, (name, (z, codes)) in enumerate(shown.items()):
        for ax, code in zip(axes[2 * i : 2 * i + 2], matched(z, codes).T):
            scattered(ax, z, code, "")
        axes[2 * i].set_title(f"{name}: MCC {ub.metrics.mcc(z, codes):.2f}", fontsize=9, loc="left")
    return fig


def matched(z, codes):
    """The codes in the order and with the signs of the factors that they follow most."""
    found = np.corrcoef(z.T, codes.T)[:2, 2:]
    order = [0, 1] if abs(found[0, 0]) + abs(found[1, 1]) >= abs(found[0, 1]) + abs(found[1, 0]) else [1, 0]
    return codes[:, order] * np.sign(found[[0, 1], order])


def panels(n, width=1.75, extra=0.35):
    """Square panels in a row; ``extra`` inches are left for titles and labels."""
    fig = Figure(figsize=(width * n, width + extra), layout="constrained")
    return fig, list(fig.subplots(1, n))


def scattered(ax, points, colour, title, cmap="viridis"):
    ax.scatter(*points[:SHOWN].T, c=colour[:SHOWN], s=4, linewidths=0, cmap=cmap)
    ax.set_title(title, fontsize=9)
    ax.set(xticks=[], yticks=[], box_aspect=1)


def turn(degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, -s], [s, c]])


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


PICTURES = {
    "impossibility": impossibility,
    "hessian-ica": hessian_ica,
    "laplacian-ica": laplacian_ica,
    "hessian-autoencoder": hessian_autoencoder,
    "vae": vae,
    "irmae": irmae,
    "gin": gin,
    "self-supervised-gin": self_supervised_gin,
    "geomancer": geomancer,
    "product-manifold": product_manifold,
}


def shrunk(fig, path, dpi=160):
    """A PNG of double resolution and 64 colours, which is small."""
    drawn = io.BytesIO()
    fig.savefig(drawn, dpi=dpi)
    Image.open(drawn).convert("RGB").quantize(64).save(path, optimize=True)


if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        shrunk(PICTURES[name](), IMAGES / f"theory-{name}.png")
        print(f"{name}: {(IMAGES / f'theory-{name}.png').stat().st_size / 1000:.0f} kB", flush=True)
