"""What the latent distribution is conditioned on: classes, sets of augmentations, soft labels, continuous values.

A condition draws batches and turns codes into a loss: the negative log-likelihood of GIN's Eq. 10 with the
statistics of the batch (Eq. 11 and 12), or of a small network where the condition is continuous.
"""

import numpy as np
import torch
from torch import Tensor

from unbraid.flows.families import FLOOR, Normal


class Condition:
    """Base: batches, the loss of their codes, and the parameters that the condition itself may learn.

    Parameters
    ----------
    family : Normal
    groups : list of arrays of int
        Row numbers. A batch holds equally many of each group, and the next batches take those that are left.
    batch_size : int
    """

    n_parameters = 0

    def __init__(self, family: Normal, groups: list[np.ndarray], batch_size: int):
        self.family, self.groups = family, groups
        counts = np.array([len(group) for group in groups])
        self.size = min(batch_size // len(groups), int(counts.max()))
        self.shares = torch.from_numpy((counts / counts.sum()).astype(np.float32))
        self._queues = [np.empty(0, int) for _ in groups]

    def initial(self, rng: np.random.Generator, n_models: int) -> Tensor:
        return torch.zeros(n_models, 0)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Row numbers of a batch."""
        for i, group in enumerate(self.groups):
            while len(self._queues[i]) < self.size:
                self._queues[i] = np.concatenate((self._queues[i], rng.permutation(group)))
        batch = [queue[: self.size] for queue in self._queues]
        self._queues = [queue[self.size :] for queue in self._queues]
        return np.concatenate(batch)

    def loss(self, r: Tensor, index: np.ndarray, extra: Tensor) -> Tensor:
        """Mean -log density of codes r (K, features, batch) for each of K models."""
        raise NotImplementedError

    def settle(self) -> None:
        """The learning rate has dropped: what a condition asks of the last part of a training starts here."""

    def point_weights(self) -> Tensor:
        """Of the points of a batch, summing to 1."""
        return (self.shares / self.size).repeat_interleave(self.size)

    def get_state(self) -> dict[str, np.ndarray]:
        """What a resumed run needs."""
        return {"queue": np.concatenate(self._queues), "lengths": np.array([len(q) for q in self._queues])}

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        self._queues = np.split(state["queue"], np.cumsum(state["lengths"])[:-1])

    def _grouped(self, r: Tensor) -> Tensor:
        """-log density averaged over the last axis and summed over features: (K, features, groups, members) in."""
        if type(self.family) is Normal:
            return _normal_nll((r - r.mean(-1, keepdim=True)).square().mean(-1))
        p = self.family.fit(r)
        return self.family.nll(r, (p[0].unsqueeze(-1), p[1].unsqueeze(-1))).mean(-1).sum(1)


def _normal_nll(variances: Tensor) -> Tensor:
    """Mean -log density under a normal with these maximum-likelihood variances (K, features, ...), over features."""
    return 0.5 * (variances + FLOOR).log().sum(1) + 0.5 * variances.shape[1] * (1 + np.log(2 * np.pi))


class Classes(Condition):
    """Hard labels; every batch holds the same number of points of each class, weighted by the class frequencies.

    Parameters
    ----------
    labels : array of int, (n,)
        0 to C - 1, every class with at least two members.
    batch_size : int
        Rounded to C times the same number (at least two) of points.
    """

    def __init__(self, family: Normal, labels: np.ndarray, batch_size: int):
        groups = [np.flatnonzero(labels == c) for c in range(labels.max() + 1)]
        super().__init__(family, groups, max(batch_size, 2 * len(groups)))

    def loss(self, r: Tensor, index: np.ndarray, extra: Tensor) -> Tensor:
        return self._grouped(r.unflatten(2, (len(self.groups), self.size))) @ self.shares.to(r)


class Sets(Condition):
    """Each point's augmentations are its own class: statistics over the set (self-supervised GIN, Eq. 7).

    The codes of a batch come point by point, ``n_members`` rows each. ``marginal`` weighs a second term, the sum over
    latents of the log std over the whole batch, and ``shared_spread`` gives all sets the same std of a latent once the
    training settles: both decide what the sets leave free.
    """

    def __init__(
        self,
        family: Normal,
        n: int,
        batch_size: int,
        n_members: int,
        marginal: float = 0.0,
        shared_spread: bool = False,
    ):
        super().__init__(family, [np.arange(n)], batch_size)
        self.n_members, self.marginal, self.shared_spread = n_members, marginal, shared_spread
        self._settled = False

    def settle(self) -> None:
        self._settled = True

    def loss(self, r: Tensor, index: np.ndarray, extra: Tensor) -> Tensor:
        sets = r.unflatten(2, (len(index), self.n_members))
        if self.shared_spread and self._settled:
            loss = _normal_nll((sets - sets.mean(-1, keepdim=True)).square().mean((-1, -2)))
        else:
            loss = self._grouped(sets).mean(-1)
        if self.marginal == 0:
            return loss
        var = (r - r.mean(-1, keepdim=True)).square().mean(-1) + FLOOR
        return loss + 0.5 * self.marginal * var.log().sum(1)

    def point_weights(self) -> Tensor:
        return super().point_weights().repeat_interleave(self.n_members) / self.n_members


class SoftLabels(Condition):
    """Posterior class weights (n, C): every point counts in each class by its weight."""

    def __init__(self, family: Normal, weights: np.ndarray, batch_size: int):
        super().__init__(family, [np.arange(len(weights))], batch_size)
        self.weights = torch.from_numpy(np.ascontiguousarray(weights, dtype=np.float32))

    def loss(self, r: Tensor, index: np.ndarray, extra: Tensor) -> Tensor:
        weights = self.weights[torch.from_numpy(index)].to(r)
        total = r.new_zeros(len(r))
        for w in weights.T:
            if w.sum() > 1e-3:
                p = self.family.fit(r, w)
                nll = self.family.nll(r, (p[0].unsqueeze(-1), p[1].unsqueeze(-1)))
                total = total + (nll.sum(1) * w).sum(-1)
        return total / len(index)


class Continuous(Condition):
    """Continuous conditions (n, q): mean and log std of a normal latent by a network with one hidden layer.

    mu(u), log sigma(u) = W2 tanh(W1 u + b1) + b2, learned with the flow.
    """

    hidden = 32

    def __init__(self, family: Normal, values: np.ndarray, batch_size: int, n_features: int):
        super().__init__(family, [np.arange(len(values))], batch_size)
        self.values = torch.from_numpy(np.ascontiguousarray(values.T, dtype=np.float32))
        q, h, d = len(self.values), self.hidden, n_features
        self.shapes = [(h, q), (h, 1), (2 * d, h), (2 * d, 1)]
        self.sizes = [a * b for a, b in self.shapes]
        self.n_parameters = sum(self.sizes)

    def initial(self, rng: np.random.Generator, n_models: int) -> Tensor:
        q = self.shapes[0][1]
        first = rng.uniform(-1, 1, (n_models, sum(self.sizes[:2]))) / np.sqrt(q)
        return torch.from_numpy(np.pad(first, ((0, 0), (0, sum(self.sizes[2:])))).astype(np.float32))

    def parameters_at(self, values: Tensor, extra: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and std (K, features, batch) at conditions (q, batch)."""
        w1, b1, w2, b2 = (p.unflatten(1, s) for p, s in zip(extra.split(self.sizes, 1), self.shapes))
        h = torch.tanh(w1 @ values + b1)
        mean, log_std = (w2 @ h + b2).chunk(2, 1)
        return mean, log_std.clamp(-12, 12).exp()

    def loss(self, r: Tensor, index: np.ndarray, extra: Tensor) -> Tensor:
        p = self.parameters_at(self.values[:, torch.from_numpy(index)].to(r), extra)
        return self.family.nll(r, p).sum(1).mean(-1)
