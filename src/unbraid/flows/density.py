"""A conditional flow as a density: likelihoods, new points of a class, and points moved from class to class."""

from typing import Any

import numpy as np
import torch
from scipy.stats import norm
from sklearn.utils.validation import check_is_fitted

from unbraid.flows.base import FlowEstimator
from unbraid.flows.conditions import Continuous
from unbraid.runtime.determinism import seed_of


class Density(FlowEstimator):
    """What a flow does with the distributions of its latents given the condition."""

    condition_: str
    classes_: np.ndarray
    priors_: np.ndarray
    parameters_: np.ndarray
    extra_: np.ndarray
    _centre: np.ndarray
    _scale: np.ndarray

    def _parameters_at(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        condition = Continuous(self._family, values, 1, int(np.prod(self._seen_shape)))
        extra = torch.from_numpy(self.extra_)[None]
        p = condition.parameters_at(torch.from_numpy(values.T.astype(np.float32)), extra)
        return p[0][0].T.double().numpy(), p[1][0].T.double().numpy()

    def _parameters_of(self, labels: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The latent parameters (n, d) of each row's label or condition, in the order of transform."""
        if self.condition_ == "continuous":
            values = np.asarray(labels, float).reshape(n, -1)
            first, second = self._parameters_at((values - self._centre) / self._scale)
            return first[:, self.order_], second[:, self.order_]
        number = self._class_numbers(labels, n)
        return self.parameters_[0][number], self.parameters_[1][number]

    def _class_numbers(self, labels: Any, n: int) -> np.ndarray:
        asked = np.broadcast_to(np.asarray(labels), (n,))
        number = np.searchsorted(self.classes_, asked).clip(0, len(self.classes_) - 1)
        unknown = self.classes_[number] != asked
        if unknown.any():
            raise ValueError(
                f"{asked[unknown][0]!r} is not a class of this model. Available: {', '.join(map(str, self.classes_))}."
            )
        return number

    def score_samples(self, X: Any, labels: Any = None) -> np.ndarray:
        """log p(x | label), or log p(x) = log sum_u p(u) p(x | u) without labels; in nats, at the data noise."""
        X = self._new_rows(X).array()
        r, volume = self._encode(X)
        r = r[:, self.order_].astype(np.float64)
        if labels is None and self.condition_ == "continuous":
            raise ValueError("this model has a continuous condition: give score_samples labels, one row per point.")
        if labels is not None:
            return self._log_density(r, self._parameters_of(labels, len(X))) + volume
        logs = np.stack([self._log_density(r, p) for p in zip(*self.parameters_)])
        return np.logaddexp.reduce(logs + np.log(self.priors_)[:, None], axis=0) + volume

    def _log_density(self, r: np.ndarray, p: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Of the flow's output r (n, d), given parameters that broadcast against it."""
        q = torch.from_numpy(p[0]), torch.from_numpy(p[1])
        return -self._family.nll(torch.from_numpy(r), q).sum(1).numpy()

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood."""
        return float(self.score_samples(X, y).mean())

    def sample(
        self,
        n: int,
        label: Any = None,
        temperature: float = 1.0,
        n_factors: int | None = None,
        random_state: Any = None,
    ) -> np.ndarray:
        """n new points of a class (or condition); of classes drawn by their frequency without ``label``.

        ``temperature`` below 1 shrinks the spread; ``n_factors`` draws that many latents and keeps the others at the
        middle of the class, which leaves the noise out.
        """
        check_is_fitted(self, "theta_")
        rng = np.random.default_rng(seed_of(random_state))
        if label is None and self.condition_ == "continuous":
            raise ValueError("this model has a continuous condition: give sample a label, one value or row.")
        if label is None:
            label = self.classes_[rng.choice(len(self.classes_), n, p=self.priors_)]
        elif self.condition_ == "continuous":
            label = np.broadcast_to(np.asarray(label, float), (n, len(self._centre)))
        noise = temperature * rng.standard_normal((n, len(self.order_)))
        if n_factors is not None:
            noise[:, n_factors:] = 0
        return self.inverse_transform(self._unwhiten(noise, self._parameters_of(label, n)))

    def transfer(self, X: Any, source: Any, target: Any) -> np.ndarray:
        """Change the class of points and keep their style: the whitened code of ``source`` is read in ``target``."""
        codes = self._codes_of(self._new_rows(X))
        n = len(codes)
        style = self._whiten(codes.astype(np.float64), self._parameters_of(source, n))
        moved = self._unwhiten(style, self._parameters_of(target, n))
        return self.inverse_transform(moved.astype(codes.dtype))

    def _whiten(self, z: np.ndarray, p: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Standard normal values of latents: by mean and std, or through distribution functions of other families."""
        if self.latent == "normal":
            return (z - p[0]) / p[1]
        dist = self._family.distribution(p)
        lower = norm.ppf(np.clip(dist.cdf(z), 1e-300, 1))
        upper = -norm.ppf(np.clip(dist.sf(z), 1e-300, 1))
        return np.where(lower < 0, lower, upper)

    def _unwhiten(self, noise: np.ndarray, p: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        if self.latent == "normal":
            return p[0] + p[1] * noise
        dist = self._family.distribution(p)
        return np.where(noise < 0, dist.ppf(norm.cdf(noise)), dist.isf(norm.sf(noise)))
