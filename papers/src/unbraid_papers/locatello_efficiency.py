"""Do disentangled codes need fewer labels? Boosted trees on 100 and 10,000 codes of a model and of its twin."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from unbraid import metrics
from unbraid.evaluation.claims import Part
from unbraid_papers.locatello_models import DEAD, model_cells, trained, turn_of
from unbraid_papers.paper import Cell, Experiment, PaperClaim, Results, Table, mean_part
from unbraid_papers.sprites import pictures

if TYPE_CHECKING:
    from unbraid_papers.bench import Bench

FEW, MANY, N_TEST, DRAWS = 100, 10_000, 5_000, 10
SIZES = (3, 6, 40, 32, 32)  # classes of the factors of dSprites
KINDS = ("plain", "entangled")


def run_efficiency(cell: Cell, bench: "Bench") -> Mapping[str, Any]:
    """Accuracies and MIG of the mean codes, as they are and turned: the turn loses nothing, and it entangles."""
    model = trained(cell, bench)
    X, factors = pictures(cell["image_size"], MANY + N_TEST, 2)
    mean = model.encode(X)[0].astype(float)
    twin = mean @ turn_of(model.kl_ > DEAD).T
    found: dict[str, Any] = {}
    for kind, codes in zip(KINDS, (mean, twin)):
        few, many = accuracies(factors, codes)
        scores = {"mig": metrics.mig(factors, codes), "few": few, "many": many, "efficiency": few / many}
        found |= {f"{name} {kind}": value for name, value in scores.items()}
    return found


def accuracies(factors: np.ndarray, codes: np.ndarray) -> tuple[float, float]:
    """Mean over the factors with few labels (over several draws of them), and with many."""
    parts = factors[:-N_TEST], codes[:-N_TEST], factors[-N_TEST:], codes[-N_TEST:]
    few = [
        float(metrics.downstream(*parts, n_train=[FEW], classifier="compiled", random_state=draw))
        for draw in range(DRAWS)
    ]
    return float(np.mean(few)), float(metrics.downstream(*parts, n_train=[MANY], classifier="compiled"))


def gain(results: Results) -> dict[str, Part]:
    """Efficiency of the models less that of their twins."""
    rows = results["efficiency"]
    return {"": mean_part(rows["efficiency plain"] - rows["efficiency entangled"])}


def efficiency_rows(results: Results) -> Iterator[tuple[Any, ...]]:
    rows = results["efficiency"]
    for kind, title in zip(KINDS, ("models", "entangled twins")):
        names = ("mig", "few", "many", "efficiency")
        yield title, *(mean_part(rows[f"{name} {kind}"]).show() for name in names)
    yield "chance", "", *[f"{np.mean([1 / size for size in SIZES]):.3g}"] * 2, ""


EFFICIENCY = Experiment(
    "efficiency",
    "Gradient boosted trees (100 of depth 3) that tell the factors from the mean codes of the same models and of their "
    "twins: trained on 100 (the mean of ten draws) and on 10,000 of them, tested on 5,000.",
    model_cells,
    run_efficiency,
)
CLAIMS = (
    PaperClaim(
        "twin-efficiency",
        "Higher scores do not reliably lead to a higher sample efficiency: a model is no more efficient than its twin.",
        "Figure 6, section 5.5", "no figure: not observed",
        "accuracy with 100 labels over that with 10,000, of the models less that of their twins", ("efficiency",), gain,
        most=0.05,
        small="800 steps on pictures of 32 x 32. The paper compares models with each other; a twin differs in its "
        "axes alone.",
    ),
)  # fmt: skip
TABLE = Table(
    "Boosted trees with few and many labels",
    ("codes", "MIG", "accuracy, 100 labels", "accuracy, 10,000", "efficiency"), ("efficiency",), efficiency_rows,
)  # fmt: skip
