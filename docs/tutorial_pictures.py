"""Draw the pictures of the quick start, the tutorials and the pages on trust: ``python docs/tutorial_pictures.py``.

The data are those of the pages: the scripts that a tutorial shows are run in a temporary folder. Every score in a
picture is computed here.
"""

import os
import re
import sys
import tempfile
import textwrap
import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from theory_pictures import IMAGES, bent, code_maps, matched, panels, quiet, scattered, shrunk

import unbraid as ub
from unbraid.report.drawing import BLUE, GREY, RED

DOCS = Path(__file__).parent


def blocks(page):
    """The Python blocks of a tutorial."""
    text = (DOCS / "tutorials" / f"{page}.rst").read_text(encoding="utf-8")
    found = re.findall(r"code-block:: python\n((?:   :.*\n)*)\n((?:(?:   .*)?\n)+)", text)
    return [textwrap.dedent(block) for _, block in found]


def make(page, names):
    """Run the first script of a tutorial in an empty folder, and return some of its variables."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            scope = {}
            exec(blocks(page)[0], scope)
            pictures = ub.datasets.open("squares")[:] if page == "images" else None
        finally:
            os.chdir(here)
    return pictures if names is None else [scope[name] for name in names]


def quickstart():
    """Frames, codes over the truth, and what moves with each code."""
    X, factors = ub.datasets.load("shapes-xy", image_size=32).sample(1000, random_state=0)
    model = ub.HessianICA(n_factors="auto", random_state=0)
    codes = quiet(model, X)
    fig = Figure(figsize=(8.2, 2.3), layout="constrained")
    left, right = fig.subfigures(1, 2, width_ratios=(4.4, 5))
    for number, ax in enumerate(left.subplots(1, 2)):
        scattered(ax, factors, codes[:, number], f"code {number + 1}")
        ax.set(xlabel="true x", ylabel="true y")
    left.suptitle(f"codes over the truth: MCC {ub.metrics.mcc(factors, codes):.3f}", fontsize=10)
    strips(right, model, codes, X.shape[1:])
    right.suptitle("one code moved, decoded", fontsize=10)
    return fig


def strips(part, model, codes, shape, steps=6):
    """Decoded pictures along each code."""
    axes = part.subplots(codes.shape[1], steps)
    for k, row in enumerate(axes):
        ends = np.quantile(codes[:, k], [0.03, 0.97])
        along = np.repeat(np.median(codes, axis=0)[None], steps, axis=0)
        along[:, k] = np.linspace(*ends, steps)
        for ax, picture in zip(row, model.inverse_transform(along).reshape(steps, *shape)):
            ax.imshow(picture, cmap="gray")
            ax.set(xticks=[], yticks=[])
        row[0].set_ylabel(f"code {k + 1}", fontsize=9)


def images():
    pictures = make("images", None)
    model = ub.HessianICA(2, random_state=0)
    codes = quiet(model, pictures)
    fig = Figure(figsize=(8.2, 2.3), layout="constrained")
    left, right = fig.subfigures(1, 2, width_ratios=(4, 5))
    for ax, picture in zip(left.subplots(2, 4).ravel(), pictures):
        ax.imshow(picture, cmap="gray")
        ax.set(xticks=[], yticks=[])
    left.suptitle("eight of 300 pictures", fontsize=10)
    strips(right, model, codes, pictures.shape[1:])
    right.suptitle("one code moved, decoded", fontsize=10)
    return fig


def spectra():
    spectra, lines, wavelengths = make("spectra", ["spectra", "lines", "wavelengths"])
    model = ub.PCAICA(2, random_state=0).fit(spectra)
    found = model.mixing_ * np.sign(model.mixing_.sum(axis=0))
    fig, (data, result) = panels(2, width=3.9, extra=-1.2)
    data.plot(wavelengths, spectra[:12].T, color=GREY, lw=0.8)
    data.set_title("twelve of 400 mixtures", fontsize=10)
    order = np.argsort(wavelengths[found.argmax(axis=0)])
    for colour, k, line in zip((BLUE, RED), order, lines):
        result.plot(wavelengths, found[:, k] / found[:, k].max(), color=colour)
        result.plot(wavelengths, line, ":", color="k")
    result.set_title("spectra of the two codes; dotted: the truth", fontsize=10)
    for ax in (data, result):
        ax.set(xlabel="wavelength (nm)", yticks=[])
        ax.spines[["top", "right"]].set_visible(False)
    return fig


def recordings():
    sensors, sources = make("recordings", ["sensors", "sources"])
    shown = {}
    for rotation in ("independence", "time"):
        shown[rotation] = sources, quiet(ub.HessianICA(2, rotation=rotation, null="off", random_state=0), sensors)
    return code_maps(shown)


def encoder():
    scope = {}
    code = blocks("encoder")[0].replace("print(found)", "")
    exec(code, scope)
    fig = ub.probing.plot_factors(scope["found"].factors)
    fig.set_size_inches(6.5, 2.6)
    return fig


def researcher():
    """Scores with their intervals, chance and ceiling."""
    scope, rows = {"print": lambda *a, **k: None}, {}
    code = blocks("researcher")[0].replace("    shown = [", "    rows[name] = scores\n    shown = [")
    with warnings.catch_warnings():
        exec(code, scope | {"rows": rows})
    fig, axes = panels(2, width=3.9, extra=-1.4)
    for ax, metric in zip(axes, ("mcc", "mig")):
        scores = [scores[metric] for scores in rows.values()]
        place = np.arange(len(scores))
        spread = [[s.value - s.low for s in scores], [s.high - s.value for s in scores]]
        ax.errorbar([s.value for s in scores], place, xerr=np.maximum(spread, 0), fmt="o", color=BLUE, ms=5)
        for value, style in ((scores[-1].chance, ":"), (scores[-1].ceiling, "--")):
            ax.axvline(value, color=GREY, ls=style, lw=1)
        ax.set(
            xlim=(-0.03, 1.03), yticks=place, yticklabels=list(rows) if metric == "mcc" else [], title=metric.upper()
        )
        ax.title.set_size(10)
        ax.invert_yaxis()
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_xlabel("dotted: chance")
    axes[1].set_xlabel("dashed: ceiling")
    return fig


def diagnosis():
    """Three sheets that look alike in the data: the diagnosis tells which of them can be taken apart."""
    rng = np.random.default_rng(1)
    square, bell = rng.uniform(size=(1500, 2)), rng.normal(0.5, 0.15, (1500, 2))
    x = rng.uniform(size=1500)
    wedge = np.column_stack([x, x * rng.uniform(size=1500)])
    fig, axes = panels(3, width=2.4, extra=0.75)
    for ax, name, z in zip(axes, ("a filled box", "Gaussian factors", "one limits the other"), (square, bell, wedge)):
        found = ub.diagnose(bent(z), n_factors=2, random_state=0)
        codes = matched(z, quiet(ub.HessianICA(2, random_state=0), bent(z)))
        scattered(ax, z, codes[:, 0], f"{name}\n“{found.verdict}”: MCC {ub.metrics.mcc(z, codes):.2f}")
        ax.set(xlabel="factor 1", ylabel="factor 2")
    return fig


def trust():
    """MCC of fresh simulated data sets beside what was told of each."""
    sys.path.insert(0, str(DOCS.parent / "benchmarks"))
    from guess_worlds import simulate

    rows = []
    for seed in range(300_000, 300_060):
        world = simulate(seed)
        model = ub.HessianICA(world.n_factors, n_neighbors=world.n_neighbors, random_state=0)
        try:
            codes = quiet(model, world.X)
        except ValueError:
            continue  # refused: separate pieces
        told = model.diagnostics_.expected_mcc
        if told is not None:
            kept = np.delete(np.arange(len(codes)), model.outliers_)
            rows.append((told.median, told.low, ub.metrics.mcc(world.factors[kept], codes[kept])))
    median, low, true = np.array(sorted(rows)).T
    fig = Figure(figsize=(7.6, 2.8), layout="constrained")
    ax = fig.subplots()
    ax.vlines(np.arange(len(median)), low, median, color=GREY, lw=3, alpha=0.5, label="low to median, as told")
    held = true >= low
    ax.plot(
        np.flatnonzero(held), true[held], "o", color=BLUE, ms=4, label=f"MCC, above low in {held.sum()} of {len(held)}"
    )
    ax.plot(np.flatnonzero(~held), true[~held], "o", color=RED, ms=4, label="MCC below low")
    ax.set(xlabel="simulated data sets, by what was told", ylabel="MCC", xticks=[])
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8)
    return fig


PICTURES = {
    "quickstart": quickstart,
    "images": images,
    "spectra": spectra,
    "recordings": recordings,
    "encoder": encoder,
    "researcher": researcher,
    "diagnosis": diagnosis,
    "trust": trust,
}
DRAWN = ("spectra", "encoder", "researcher", "trust")  # lines and few points: as SVG


if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        path = IMAGES / f"tutorial-{name}.{'svg' if name in DRAWN else 'png'}"
        figure = PICTURES[name]()
        figure.savefig(path, metadata={"Date": None}) if name in DRAWN else shrunk(figure, path)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB", flush=True)
