"""Sorrenson, Rother and Koethe (2020): GIN on mixtures of Gaussians, and on handwritten digits."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from unbraid.evaluation.claims import Part, part
from unbraid_papers.bench import Bench
from unbraid_papers.gin_figures import (
    DESCRIBED,
    DIGIT_COUNTS,
    PLAIN,
    described,
    digit_counts,
    draw_found,
    draw_samples,
    draw_sizes,
    draw_spectrum,
    draw_three,
    draw_transfer,
    drawings_of_variables,
    kind_of,
)
from unbraid_papers.gin_supervised import digits_cells, run_digits
from unbraid_papers.paper import Cell, Drawing, Experiment, Paper, PaperClaim, Results, Table, mean_part

SEEDS = {"small": 8, "paper": 20}
STEPS = {"small": 2400, "paper": 8000}  # the paper's 80 epochs of 100,000 points are 8,000
FOUND = 0.95  # a factor is found by one code where their correlation is this large, else it is split
SHOWN = 2000


def cells(scale: str) -> list[Cell]:
    """The paper's clusters under a nonlinear mixing, what it varies, and its own mixing, which is nearly linear."""
    kinds: list[Cell] = [
        {},
        {"mixing": "realnvp"},
        {"clusters": 3},
        {"rate": 1e-4},
        {"spread": "variance"},
        {"spread": "variance", "points": 10_000},
    ]
    return [PLAIN | kind | {"seed": seed} for seed in range(SEEDS[scale]) for kind in kinds]


def run_mixture(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """One fit of GIN to ten dimensions with two factors, and what it takes no training to get."""
    from unbraid.datasets.conditional import GINMixture
    from unbraid.flows import GIN
    from unbraid.metrics import match, mcc

    seed = cell["seed"]
    data = GINMixture(
        n_clusters=cell["clusters"], spread=cell["spread"], mixing=cell["mixing"], random_state=seed
    )  # fmt: skip
    X, factors, labels = data.sample_conditional(cell["points"], random_state=1000 + seed)
    settings = {"noise": 0.01, "n_init": 1, "learning_rate": cell["rate"], "random_state": seed, "null": "off"}
    model = GIN(**settings, max_steps=STEPS[bench.scale], progress=bench.progress).fit(X, labels)
    untrained = GIN(**settings, max_steps=1, progress=False).fit(X[:2000], labels[:2000])
    codes = model.transform(X[:10_000])
    found = np.abs(match(factors[:10_000], codes[:, :2]).correlation)
    simple = data.difficulty
    some = slice(SHOWN)
    bench.keep(
        cell, X=X[some].astype(np.float32), factors=factors[some].astype(np.float32), labels=labels[some],
        codes=codes[some, :2].astype(np.float32),
    )  # fmt: skip
    return {
        "mcc": float(found.mean()),
        "worst": float(found.min()),
        "untrained": float(mcc(factors[:10_000], untrained.transform(X[:10_000])[:, :2])),
        "linear": simple.linear,
        "pca_ica": simple.pca_ica,
        "neighbors": simple.neighbors,
        "n_informative": model.n_informative_,
        "low": model.n_informative_interval_[0],
        "high": model.n_informative_interval_[1],
        "steps": model.n_steps_,
        "stds": np.sort(model.stds_)[::-1].tolist(),
        "above_noise": np.sort(model.above_noise_)[::-1].tolist(),
    }


def share_part(hits: Iterable[bool], level: float = 1.96) -> Part:
    """A share of trials with Wilson's 95 % interval.

    >>> share_part([True] * 8).show()
    '1 (0.676 to 1)'
    """
    found = np.asarray(list(hits), dtype=float)
    n, share = len(found), float(found.mean())
    middle = (share + level**2 / (2 * n)) / (1 + level**2 / n)
    half = level / (1 + level**2 / n) * np.sqrt(share * (1 - share) / n + level**2 / (4 * n**2))
    return Part(share, max(float(middle - half), 0.0), min(float(middle + half), 1.0))


FIVE: dict[str, Cell] = {"five clusters": {}, "of less overlap": {"spread": "variance"}}
THREE: dict[str, Cell] = {"three clusters": {"clusters": 3}}


def counts(kinds: Mapping[str, Mapping[str, Any]]) -> Any:
    """Share of trials whose count of informative latents is 2."""
    return lambda results: {k: share_part(kind_of(results, **v)["n_informative"] == 2) for k, v in kinds.items()}


def scores(kinds: Mapping[str, Mapping[str, Any]]) -> Any:
    """Mean correlation of factors and codes over trials."""
    return lambda results: {k: mean_part(kind_of(results, **v)["mcc"]) for k, v in kinds.items()}


def splits(results: Results) -> Mapping[str, Part]:
    """How much more often 10,000 points split a factor than 100,000, trial by trial."""
    few, many = (kind_of(results, spread="variance", points=n)["worst"] < FOUND for n in (10_000, 100_000))
    return {"": mean_part(few.astype(float) - many)}


def slow_rate(results: Results) -> Mapping[str, Part]:
    return {"": mean_part(kind_of(results)["mcc"] - kind_of(results, rate=1e-4)["mcc"])}


def found_by(results: Results) -> Iterable[tuple[Any, ...]]:
    columns = ("mixing", "clusters", "points", "spread", "rate")
    for kind, rows in results["artificial"].groups(*columns):
        share = f"{(rows['n_informative'] == 2).sum()} of {len(rows)}"
        split = f"{(rows['worst'] < FOUND).sum()} of {len(rows)}"
        simple = (float(np.median(rows[name])) for name in ("linear", "neighbors", "pca_ica", "untrained"))
        yield *kind[:4], f"{kind[4]:g}", *simple, float(rows["mcc"].min()), float(np.median(rows["mcc"])), share, split


def of_digits(column: str) -> Any:
    """A figure of each data set of digits."""
    return lambda results: {row["data"]: part(row[column]) for row in results["digits"]}


def interval_of_digits(column: str) -> Any:
    return lambda results: {row["data"]: Part(*row[column]) for row in results["digits"]}


ARTIFICIAL = Experiment(
    "artificial",
    "Two factors of 5 (or 3) clusters and 8 dimensions of noise, under a mixing that keeps the volume and is "
    "nonlinear by measure: linear regression has an R squared of at most .85, PCA + ICA an MCC of at most .75, "
    "nearest neighbours an R squared of at least .95. The authors' mixing (a random RealNVP, their clamp 1.27 "
    "atan(s / 2)), which is nearly linear, stands beside it. The paper's recipe: one start, noise 0.01, batches of "
    "1,000, rate 0.01 and then a tenth of it, here up to 2,400 steps (paper scale: 8,000). The authors' code draws "
    "the spreads of clusters as standard deviations, the paper says variances, which overlap less: those are used "
    "where few points are compared with many.",
    cells,
    run_mixture,
    version=2,
)
DIGITS = Experiment(
    "digits",
    "The paper's network (2,620,192 parameters) with labels, batches of 240, noise 0.01, rate 0.001 and then a tenth. "
    "MNIST (60,000) in place of EMNIST (240,000), and EMNIST too where its file is given. Small scale trains for four "
    "minutes, or a few steps on from a checkpoint; see the table for the number of epochs. The paper has 95.",
    digits_cells,
    run_digits,
    version=3,
)
VARIABLES = {
    1: "Figures 4 and 10", 5: "Figures 4 and 11", 9: "Figures 5 and 12", 13: "Figures 5 and 13", 17: "Figure 14",
    21: "Figure 15",
}  # fmt: skip
EARLY = (
    "60,000 digits of MNIST in place of 240,000 of EMNIST; the paper has 95 epochs, the table says how many these are."
)

PAPER = Paper(
    name="gin",
    title="GIN: disentanglement by nonlinear ICA with general incompressible-flow networks",
    reference="Sorrenson, Rother and Koethe (2020), ICLR",
    about="Artificial data as in the paper, over eight mixtures where the paper shows one, under nonlinear mixings. "
    "Digits are those of MNIST, a quarter of EMNIST's; see the table for the length of training.",
    experiments=(ARTIFICIAL, DIGITS),
    claims=(
        PaperClaim(
            "two-of-ten-count",
            "GIN gives importance to only two of its ten latent variables.",
            "Figures 2 and 6, section 4.3.1", "two of ten", "share of trials that count two", ("artificial",),
            counts(FIVE), least=0.5,
        ),
        PaperClaim(
            "two-reconstructed",
            "GIN reconstructs the two informative latent variables.",
            "Figures 2 and 6", "no figure", "mean MCC", ("artificial",), scores(FIVE), least=0.95,
        ),
        PaperClaim(
            "few-points-split",
            "With 10,000 points in place of 100,000, GIN splits a variable into two.",
            "Figures 6 and 7", "one trial each: split with 10,000, not with 100,000",
            "share of trials split by 10,000 points less that by 100,000", ("artificial",), splits, least=0.0,
            exclusive=True,
        ),
        PaperClaim(
            "three-clusters-reconstructed",
            "Three clusters, too few for the theory, give essentially the same reconstruction.",
            "Figure 8, section 4.3.2", "no figure", "mean MCC", ("artificial",), scores(THREE), least=0.95,
        ),
        PaperClaim(
            "three-clusters-spectrum",
            "Three clusters give a clear spectrum of two variables too.",
            "Figure 8", "two of ten", "share of trials that count two", ("artificial",), counts(THREE), least=0.5,
        ),
        PaperClaim(
            "low-rate-splits",
            "With too low a learning rate the training gets stuck, and single variables are split.",
            "Section 4.3.1", "no figure", "MCC at rate 0.01 less that at 0.0001", ("artificial",), slow_rate,
            least=0.0, exclusive=True,
        ),
        PaperClaim(
            "digits-22-variables",
            "22 latent variables encode the shape of a digit, the rest noise.",
            "Figure 3, abstract", "exactly 22", "n_informative_", ("digits",), of_digits("n_informative"), least=22,
            most=22,
            small=EARLY,
        ),
        PaperClaim(
            "digits-sharp-knee",
            "The nonlinear spectrum has a sharp knee that PCA does not have.",
            "Figure 3", "no figure, read off the plot: a fall by about ten between the 11th and the 44th variable",
            "fall of GIN's spectrum from the 11th to the 44th, over that of PCA's", ("digits",), of_digits("fall"),
            least=1.0,
            small=EARLY,
        ),
        PaperClaim(
            "digits-eight-change-all",
            "The first eight variables change all digits alike, the following 14 only some.",
            "Section 4.4.2, Figures 4 and 5", "no figure",
            "unevenness over digits of variables 9 to 22 less that of 1 to 8", ("digits",),
            interval_of_digits("unevenness"), least=0.0,
            small=EARLY,
        ),
        PaperClaim(
            "digits-style-transfer",
            "A code moved into the distribution of another digit keeps its style.",
            "Section 4.4.2, Figure 9", "no figure",
            "correlation of a digit's style with that of the digit made from it", ("digits",),
            lambda results: {
            f"{row['data']}, {what}": part(row[what]) for row in results["digits"] for what in ("slant", "ink")
            }, least=0.5,
            small=EARLY,
        ),
        PaperClaim(
            "digits-noise-removed",
            "Sampling 22 variables and keeping the others at their mean takes out the noise.",
            "Figure 9", "no figure", "noise at the border, over that of all variables sampled", ("digits",),
            of_digits("speckle"), most=0.5,
            small=EARLY,
        ),
        PaperClaim(
            "digits-variability-kept",
            "It preserves the full variability of digit shapes.",
            "Figure 9", "no figure", "spread of the pixels of samples, over that of real digits", ("digits",),
            of_digits("variability"), least=0.8,
            small=EARLY,
        ),
    ),
    drawings=(
        Drawing(
            "found", "Figure 2: factors, data, codes and spectrum of the trial of median score (five "
            "clusters, 100,000 points; spectrum grey: the truth).", ("artificial",), draw_found,
        ),
        Drawing(
            "few-points", "Figures 6 and 7: the mixture on which 10,000 points (below) do worst against 100,000 "
            "(above).", ("artificial",), draw_sizes,
        ),
        Drawing("three-clusters", "Figure 8: three clusters, the trial of median score.", ("artificial",), draw_three),
        Drawing(
            "spectrum", "Figure 3: the spectrum of GIN on digits, and that of PCA. The dotted line is at "
            "n_informative_.", ("digits",), draw_spectrum,
        ),
        *drawings_of_variables(VARIABLES),
        Drawing(
            "samples", "Figure 9: samples of 22 variables at full and at reduced temperature, one style a row.",
            ("digits",), draw_samples,
        ),
        Drawing(
            "transfer", "Real digits (left column), and each moved into the distribution of the ten digits.",
            ("digits",), draw_transfer,
        ),
    ),
    tables=(
        Table(
            "Artificial data (medians, but for the worst)", ("mixing", "clusters", "points", "spread of clusters",
            "rate", "linear R2", "neighbours R2", "PCA + ICA", "untrained", "worst MCC", "median MCC", "two counted",
            "split"), ("artificial",), found_by,
        ),
        Table("Digits", DIGIT_COUNTS, ("digits",), digit_counts),
        Table("What each variable changes from -2 to 2 (styles in standard deviations of real digits of a class)",
              DESCRIBED, ("digits",), described),
    ),
)  # fmt: skip
