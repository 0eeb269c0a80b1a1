"""Theorem 1 made to run: what `theory.entangle` keeps, and what it takes from the scores that know the factors."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from unbraid.evaluation import PROTOCOLS, evaluate
from unbraid.evaluation.claims import Part, part
from unbraid.theory import Entangle
from unbraid_papers.paper import Cell, Experiment, PaperClaim, Results

if TYPE_CHECKING:
    from unbraid_papers.bench import Bench

N_POINTS = 100_000
MIDDLE = 0.5
SIZES: dict[str, Any] = {"name": "theorem", "n_train": 5000, "n_test": 5000, "n_batches": 4000, "n_batches_test": 4000,
         "replicates": {"light": 2, "medium": 2, "heavy": 2}}  # fmt: skip
TURNS = (0.0, 0.125, 0.25, 0.375, MIDDLE, 0.75, 1.0)

# Scores that must lie at chance at the middle.
AT_CHANCE = ("mig", "sap", "dci_disentanglement", "dci_completeness", "modularity", "beta_vae", "factor_vae")
# What a bijection cannot take away: the information about the factors, and a correlation of 1 / sqrt(d).
ABOVE_CHANCE = ("mcc", "dci_informativeness")


def laws(name: str, n_factors: int) -> list[Any]:
    """The marginal distributions of a cell."""
    mixture = stats.Mixture([stats.Normal(mu=-2.0, sigma=0.5), stats.Normal(mu=1.0, sigma=1.0)], weights=[0.4, 0.6])
    known = {"uniform": stats.uniform(), "Gaussian": stats.norm(), "Laplace": stats.laplace(), "mixture": mixture}
    return [known[name]] * n_factors


def draw(name: str, n_factors: int, n: int, seed: int) -> np.ndarray:
    """Independent factors of a law (n, n_factors)."""
    rng = np.random.default_rng(seed)
    if name == "mixture":
        first = rng.random((n, n_factors)) < 0.4
        normal = rng.normal(size=(n, n_factors))
        return np.where(first, -2.0 + 0.5 * normal, 1.0 + normal)
    return laws(name, n_factors)[0].rvs(size=(n, n_factors), random_state=rng)


def map_cells(scale: str) -> list[Cell]:
    given = [("uniform", 2), ("Gaussian", 3), ("Laplace", 4), ("mixture", 2), ("uniform", 5)]
    cells = [{"law": law, "n_factors": d, "marginals": "given"} for law, d in given]
    cells += [{"law": law, "n_factors": d, "marginals": "estimated"} for law, d in (("uniform", 2), ("mixture", 4))]
    if scale == "paper":
        cells += [{"law": law, "n_factors": 10, "marginals": "given"} for law in ("uniform", "Gaussian", "Laplace")]
    return cells


def run_map(cell: Cell, bench: "Bench") -> Mapping[str, Any]:
    """Distance of the marginals, smallest derivative, likelihood and inverse at 100,000 points."""
    law, d, given = cell["law"], cell["n_factors"], cell["marginals"] == "given"
    z = draw(law, d, N_POINTS, seed=0)
    f = Entangle(laws(law, d)) if given else Entangle.estimated(z)
    found = f(z)
    # A known distribution is compared with itself; of an estimated one there are two samples.
    critical = stats.kstwobign.ppf(0.99) * np.sqrt((1 if given else 2) / N_POINTS)
    far = [
        (stats.kstest(x, laws(law, d)[0].cdf) if given else stats.ks_2samp(x, y)).statistic
        for x, y in zip(found.T, z.T)
    ]
    jacobian = f.jacobian(z)
    gap = np.linalg.slogdet(jacobian)[1] + f.log_density(found) - f.log_density(z)
    return {
        "ks": max(far) / critical,
        "smallest": float(np.abs(jacobian).min()),
        "likelihood": float(np.abs(gap).max()),
        "inverse": float(np.abs(f.inverse(found) - z).max()),
    }


def score_cells(scale: str) -> list[Cell]:
    middle = [("uniform", 2), ("Laplace", 4), ("Gaussian", 3), ("Gaussian", 5)]
    cells = [{"law": law, "n_factors": d, "turn": MIDDLE} for law, d in middle]
    return cells + [{"law": "uniform", "n_factors": 2, "turn": turn} for turn in TURNS if turn != MIDDLE]


def run_scores(cell: Cell, bench: "Bench") -> Mapping[str, Any]:
    """Scores of the entangled factors, and at the middle their chance level."""
    z = draw(cell["law"], cell["n_factors"], 10_000, seed=1)
    codes = Entangle(laws(cell["law"], cell["n_factors"]), cell["turn"])(z)
    rules = replace(PROTOCOLS["fast"], **SIZES)
    asked = ["mig", "sap", "dci", "modularity", "beta_vae", "factor_vae", "mcc"]
    rows = evaluate(z, codes, asked, protocol=rules, progress=False)
    wanted = (*AT_CHANCE, *ABOVE_CHANCE)
    return {
        **{score.name: score.value for score in rows if score.name in wanted},
        **{f"{score.name} by chance": score.chance for score in rows if score.name in wanted},
    }


MAP = Experiment(
    "theorem",
    f"theory.entangle at its middle on {N_POINTS:,} independent points of each law, marginals known or estimated.",
    map_cells,
    run_map,
)
SCORES = Experiment(
    "scores",
    "Scores of entangled factors (10,000 points, the protocol 'fast') with what other points' codes would get.",
    score_cells,
    run_scores,
)


def _name(row: Mapping[str, Any]) -> str:
    estimated = ", estimated" if row.get("marginals") == "estimated" else ""
    return f"{row['n_factors']} {row['law']}{estimated}"


def _of(column: str) -> Any:
    def figure(results: Results) -> dict[str, Part]:
        return {_name(row): part(row[column]) for row in results["theorem"]}

    return figure


def from_chance(results: Results, *, sizes: tuple[int, ...]) -> dict[str, Part]:
    """How far each score lies from chance at the middle: the law where it lies farthest."""
    rows = list(results["scores"].where(turn=MIDDLE, n_factors=sizes))
    gaps = {name: [row[name] - row[f"{name} by chance"] for row in rows] for name in AT_CHANCE}
    return {name: part(max(found, key=abs)) for name, found in gaps.items()}


SOURCE = "Theorem 1"
CLAIMS = (
    PaperClaim(
        "theorem-marginals",
        "The entangled factors have the marginals of the factors.",
        SOURCE, "the same for all u", "largest Kolmogorov-Smirnov distance over its 1 % critical value", ("theorem",),
        _of("ks"), most=1.0,
    ),
    PaperClaim(
        "theorem-dependence",
        "Every entangled factor depends on every factor, almost everywhere.",
        SOURCE, "no derivative is 0", "smallest entry of the Jacobian in size", ("theorem",), _of("smallest"),
        least=1e-9,
    ),
    PaperClaim(
        "theorem-bijection",
        "The map is a bijection of the support.",
        f"{SOURCE}, proof", "exact", "largest error of the inverse", ("theorem",), _of("inverse"), most=1e-8,
    ),
    PaperClaim(
        "theorem-likelihood",
        "The likelihood does not change.",
        f"{SOURCE}, proof", "exact", "largest |log |det J| + log p(f(z)) - log p(z)|", ("theorem",), _of("likelihood"),
        most=1e-10,
    ),
    PaperClaim(
        "theorem-scores-at-chance",
        "z and f(z) are completely entangled: scores that know the factors fall to chance.",
        SOURCE, "no figure", "score less chance, of the law where that is largest", ("scores",),
        lambda results: from_chance(results, sizes=(2, 4)), least=-0.05, most=0.05,
        why="At the middle all entries of the rotation have one size. Modularity falls below its chance, a ratio of "
        "two estimates of nothing. MCC stays at 1 / sqrt(d), and informativeness stays: a bijection loses nothing.",
    ),
)  # fmt: skip
BEYOND = (
    PaperClaim(
        "three-or-five-at-chance",
        "Three or five factors fall to chance, too.",
        "no rotation of three or five factors has entries of one size", "open",
        "score less chance, of the law where that is largest", ("scores",),
        lambda results: from_chance(results, sizes=(3, 5)), least=-0.05, most=0.05,
        why="The most even rotation of three factors has entries 2/3, 2/3 and 1/3, that of five 3/5 and 2/5.",
    ),
)  # fmt: skip
