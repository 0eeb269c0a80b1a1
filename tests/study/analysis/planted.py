"""A study in memory whose answers are known, because its scores are made of known parts."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

PAPER_METRICS = ("beta_vae", "factor_vae", "mig", "dci.disentanglement", "modularity", "sap")


@dataclass
class Planted:
    """``score(dataset, method, strength, seed, rng) -> {(representation, metric): value}`` makes the scores."""

    score: object
    datasets: tuple = ("dsprites", "room")
    methods: tuple = ("beta-vae", "factor-vae", "dip-vae")
    strengths: tuple = (1.0, 2.0, 4.0)
    n_seeds: int = 5
    loss: object = None
    stored: dict = field(default_factory=dict)
    truth: object = None
    random_state: int = 0

    def __post_init__(self):
        rng = np.random.default_rng(self.random_state)
        runs, scores, losses = [], [], []
        for dataset in self.datasets:
            for method in self.methods:
                for strength in self.strengths:
                    for seed in range(self.n_seeds):
                        run = f"{len(runs):04x}abcd"
                        runs.append((run, len(runs), dataset, method, strength, seed, "done", 2.0, 100, "{}"))
                        made = self.score(dataset, method, strength, seed, rng)
                        scores += [(run, *key, value) for key, value in made.items()]
                        if self.loss is not None:
                            losses += [(run, name, value) for name, value in self.loss(made, rng).items()]
        columns = ["run", "index", "dataset", "method", "strength", "seed", "status", "seconds", "steps", "config"]
        self._runs = pd.DataFrame(runs, columns=columns)
        self._scores = pd.DataFrame(scores, columns=["run", "representation", "metric", "value"])
        self._losses = pd.DataFrame(losses, columns=["run", "name", "value"])

    def runs(self):
        return self._runs.copy()

    def scores(self):
        return self._scores.copy()

    def losses(self):
        return self._losses.copy()

    def codes(self, run, representation="mean"):
        if run in self.stored:
            return self.stored[run][representation]
        rng = np.random.default_rng(int(run[:4], 16))
        return rng.normal(size=(400, 3)).astype(np.float16)

    def factors(self, run):
        return np.random.default_rng(0).integers(0, 3, (400, 2)) if self.truth is None else self.truth

    def strip(self, run):
        return np.full((8, 24), int(run[:4], 16) % 256, np.uint8)


def mean_scores(value):
    """All six metrics of the mean codes have this value."""
    return {("mean", metric): value for metric in PAPER_METRICS}


def whole(dataset, method, strength, seed, rng):
    """A study with something for every question: one hidden quality drives all metrics but modularity."""
    quality = {"beta-vae": 0.3, "factor-vae": 0.4, "dip-vae": 0.5}[method] + 0.03 * np.log2(strength)
    quality += 0.1 * rng.normal()
    made = {("mean", m): quality + 0.03 * rng.normal() for m in PAPER_METRICS}
    made["mean", "modularity"] = 0.8 + 0.05 * rng.normal()
    made["mean", "total_correlation"] = 0.5 + 0.4 * strength + 0.3 * rng.random()
    made["sampled", "total_correlation"] = 0.9 / strength + 0.05 * rng.random()
    made["mean", "downstream_logistic"] = quality + 0.1 * rng.normal()
    made["mean", "efficiency_logistic"] = 0.7 + 0.05 * rng.normal()
    return made


def whole_study(**options):
    def loss(made, rng):
        return {"elbo": -20 + rng.normal(), "reconstruction": 15 + rng.normal()}

    return Planted(whole, loss=loss, **options)
