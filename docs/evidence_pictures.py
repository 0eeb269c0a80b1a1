"""Draw the pictures of docs/tutorials/evidence.rst: ``python docs/evidence_pictures.py``.

The rows are those of the tutorial: its script is run in a temporary folder.
"""

import re
import tempfile
import textwrap
import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from theory_pictures import IMAGES, matched, quiet, scattered, shrunk

import unbraid as ub

PAGE = Path(__file__).parent / "tutorials" / "evidence.rst"


def main():
    rows = make_rows()
    shrunk(codes(**rows), IMAGES / "evidence-codes.png")
    shrunk(null(**rows), IMAGES / "evidence-null.png")


def make_rows():
    """What ``make_rows.py`` of the tutorial writes."""
    script = re.search(r":caption: make_rows.py\n\n((?:(?:   .*)?\n)+)", PAGE.read_text(encoding="utf-8"))[1]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npz"
        exec(textwrap.dedent(script).replace('"rows.npz"', repr(str(file))), {})
        with np.load(file) as arrays:
            return dict(arrays)


def codes(X, factors, again, paired, day, labels):
    """Both codes as colours over the factors, without evidence and with each kind."""
    pairs = np.column_stack([paired, len(X) + np.arange(len(again))])
    fits = {
        "no evidence": ("independence", X, {}),
        "time": ("time", X, {"time": np.arange(len(X))}),
        "pairs": ("pairs", np.vstack([X, again]), {"pairs": pairs}),
        "condition": ("condition", X, {"y": day}),
        "20 labels": ("labels", X, {"y": labels}),
    }
    fig = Figure(figsize=(9.0, 4.0), layout="constrained")
    for pair, (name, (rotation, seen, evidence)) in zip(fig.subplots(2, len(fits)).T, fits.items()):
        model = ub.HessianICA(2, rotation=rotation, null="off", random_state=0)
        found = quiet(model, seen, **evidence)[: len(X)]
        for number, (ax, code) in enumerate(zip(pair, matched(factors, found).T)):
            scattered(ax, factors, code, "")
            ax.set_ylabel(f"code {number + 1}" if name == "no evidence" else "", fontsize=9)
        pair[0].set_title(f"{name}: MCC {ub.metrics.mcc(factors, found):.2f}", fontsize=9)
    return fig


def null(X, **_):
    """Scores of 99 shuffled orders beside that of the order as it was, and of one that was shuffled beforehand."""
    order = np.arange(len(X))
    fig = Figure(figsize=(7.0, 2.4), layout="constrained")
    for ax, name, time in zip(
        fig.subplots(1, 2, sharex=True, sharey=True),
        ("the order as it was", "an order shuffled beforehand"),
        (order, np.random.default_rng(0).permutation(order)),
    ):
        model = ub.HessianICA(2, rotation="time", null="off", random_state=0)
        quiet(model, X, time=time)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # UB251, which is the point
            found = model.null_test(X, time=time, n_null=99)
        ax.hist(found.nulls, bins=15, color="0.7", label="99 shuffled orders")
        ax.axvline(found.score, color="C3", label="the order given")
        ax.set_title(f"{name}: p = {found.p:.2f}", fontsize=9)
        ax.set(xlabel="chance that a row is nearer to the next one", yticks=[])
        ax.legend(fontsize=7, loc="upper center")
    return fig


if __name__ == "__main__":
    main()
