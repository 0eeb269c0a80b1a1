"""An estimator that keeps the whole contract, small enough to break in one place at a time."""

import warnings
from pathlib import Path

import numpy as np

from unbraid.estimator.base import Estimator
from unbraid.estimator.summary import Fact, Section, Summary
from unbraid.runtime.determinism import seed_of
from unbraid.saving.encoding import register
from unbraid.trust.warnings import ConvergenceWarning


@register
class Exemplary(Estimator):
    """Leading principal directions by power iteration, one per step, with a checkpoint after each."""

    def __init__(self, n_factors=2, *, max_steps=4, max_seconds=None, checkpoint=None, random_state=None):
        self.n_factors = n_factors
        self.max_steps = max_steps
        self.max_seconds = max_seconds
        self.checkpoint = checkpoint
        self.random_state = random_state

    def fit(self, X, y=None):
        rows = self._read(X)
        values = rows.array().reshape(-1, self.n_features_in_).astype(np.float64)
        self.mean_ = values.mean(0)
        covariance = np.cov(values.T)
        seed = seed_of(self.random_state)
        start, axes = self._resume(f"{values.sum()!r} {seed}", np.random.default_rng(seed))
        for step in range(start, self.max_steps):
            axes = np.linalg.qr(covariance @ axes)[0]
            self.n_steps_ = step + 1
            if self.checkpoint is not None:
                identity = f"{values.sum()!r} {seed}"
                np.savez(self._file, axes=axes, step=step + 1, identity=identity)
            if self.max_seconds is not None and self.n_steps_ < self.max_steps:
                warnings.warn("stopped by max_seconds.", ConvergenceWarning, stacklevel=2)
                break
        self.axes_ = axes
        return self

    @property
    def _file(self):
        return Path(self.checkpoint).with_suffix(".npz")

    def _resume(self, identity, rng):
        if self.checkpoint is not None and self._file.exists():
            with np.load(self._file) as kept:
                if str(kept["identity"]) != identity:
                    raise ValueError("the checkpoint is of another run.")
                return int(kept["step"]), kept["axes"]
        return 0, rng.normal(size=(self.n_features_in_, self.n_factors))

    def transform(self, X):
        parts = [(b.reshape(len(b), -1) - self.mean_) @ self.axes_ for b in self._read_new(X)]
        return np.concatenate(parts)

    def inverse_transform(self, codes):
        return self._decoded(self._check_codes(codes, self.n_factors) @ self.axes_.T + self.mean_)

    def summary(self):
        facts = [Fact("steps", str(self.n_steps_), "power iterations")]
        return Summary("Exemplary", facts, sections=[Section("Axes", data={"axes": self.axes_})])

    @property
    def _n_features_out(self):
        return self.n_factors
