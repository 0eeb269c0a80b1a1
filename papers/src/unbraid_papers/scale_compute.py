"""MIG along the training of a VAE and a beta-VAE on dSprites."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unbraid.autoencoders import BetaVAE
from unbraid.metrics import mig
from unbraid_papers.bench import Bench
from unbraid_papers.paper import Cell
from unbraid_papers.sprites import pictures
from unbraid_papers.watching import EVERY, seen, watched

MARKS = (100, 200, 300, 500, 1_000, 2_000, 3_000, 5_000, 7_000, 10_000, 15_000, 20_000, 30_000)
BETAS = {"VAE": 1.0, "beta-VAE (4)": 4.0}
N_SEEDS, N_TRAINED, N_SCORED = 5, 50_000, 3_000
SIZES: Mapping[str, Cell] = {"small": {"image_size": 32, "steps": 5_000}, "paper": {"image_size": 64, "steps": 30_000}}


def compute_cells(scale: str) -> Sequence[Cell]:
    """A training each."""
    return [{"method": method, "seed": seed, **SIZES[scale]} for seed in range(N_SEEDS) for method in BETAS]


def run_compute(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """MIG after each number of steps of one training; pictures that are scored are not those of the training."""
    X, _ = pictures(cell["image_size"], N_TRAINED, 0)
    others, factors = (part[:N_SCORED] for part in pictures(cell["image_size"], 5_000, 1))

    def look(means: np.ndarray, _: np.ndarray) -> Mapping[str, float]:
        return {"mig": mig(factors, means)}

    model = watched(BetaVAE, MARKS, others / np.float32(255), look)(
        10, beta=BETAS[cell["method"]], max_steps=cell["steps"], random_state=cell["seed"], log_every=EVERY,
        checkpoint=bench.checkpoint(cell), checkpoint_every=500, progress=bench.progress,
    ).fit(X)  # fmt: skip
    curve = [[found["steps"], round(found["mig"], 5)] for found in seen(model, others, look)]
    parameters = sum(w.size for name, w in model.weights_.items() if name.startswith("encoder."))
    return {"curve": curve, "parameters": parameters}
