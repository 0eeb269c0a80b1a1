"""A step of the autoencoders: a batch, an objective, Adam; and all that a run needs to go on from it.

All randomness comes from two generators, one for rows and noise and one for data sets that draw.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from unbraid.autoencoders.points import Points
from unbraid.training.checkpoint import adam_state, set_adam_state
from unbraid.training.devices import Single


@dataclass(frozen=True)
class Schedule:
    """How long, how many at a time, and how often to write down."""

    max_steps: int
    batch_size: int
    log_every: int = 100


class Group(NamedTuple):
    """Networks that one Adam trains."""

    networks: tuple[str, ...]
    learning_rate: float
    betas: tuple[float, float]
    eps: float


@dataclass
class Batch:
    """What an objective sees of a step: the networks' input, and the same rows as they are stored.

    ``noise(*shape)`` draws standard normal numbers for the rows of this batch, and ``permutations(k)`` k orders
    of them, (k, batch); ``another()`` draws a second batch; ``log`` says whether this step is written down, so that
    costly terms are due.
    """

    x: Tensor
    values: np.ndarray
    rows: np.ndarray
    step: int
    log: bool
    noise: Callable[..., Tensor]
    permutations: Callable[[int], Tensor]
    another: Callable[[], "Batch"]


class Loss(NamedTuple):
    """A loss, the group it trains, and the terms to write down."""

    group: str
    value: Tensor
    terms: dict[str, Tensor]


Objective = Callable[[Batch], Iterator[Loss]]


class Trainer:
    """Trains networks on an objective, step by step; a :class:`~unbraid.training.run.Stepper`.

    Parameters
    ----------
    networks : ModuleDict
    groups : dict of str to Group
        In the order in which the objective's losses come.
    objective : callable ``(batch) -> iterator of Loss``
        A generator: each loss is followed by its group's step of Adam before the next one is asked for.
    points : Points
    schedule : Schedule
    seed : int
    home : Single
        The device, or accelerate's processes.
    """

    stopped = ""

    def __init__(
        self,
        networks: nn.ModuleDict,
        groups: dict[str, Group],
        objective: Objective,
        points: Points,
        schedule: Schedule,
        seed: int,
        home: Single,
    ):
        self.networks, self.groups, self.objective, self.points = networks, groups, objective, points
        self.schedule, self.home = schedule, home
        self.generator = torch.Generator().manual_seed(seed)
        self.data_rng = np.random.default_rng([seed, 1])
        networks.to(home.device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.parameters = {
            name: [p for n in g.networks for p in networks[n].parameters()] for name, g in groups.items()
        }
        self.optimizers = {
            name: home.prepare(
                torch.optim.Adam(self.parameters[name], lr=g.learning_rate, betas=g.betas, eps=g.eps, fused=True)
            )
            for name, g in groups.items()
        }
        self._sums: dict[str, Tensor] = {}
        self._counts: dict[str, int] = {}

    def step(self, done: int) -> dict[str, Any] | None:
        """One step of every group's Adam; the record of it when one is due."""
        schedule, home = self.schedule, self.home
        log = (done + 1) % schedule.log_every == 0 or done + 1 == schedule.max_steps
        batch = self._batch(done, log)
        terms: dict[str, Tensor] = {}
        losses = iter(self.objective(batch))
        while True:
            with home.autocast():
                loss = next(losses, None)
            if loss is None:
                break
            optimizer = self.optimizers[loss.group]
            optimizer.zero_grad(set_to_none=True)
            home.backward(loss.value)
            home.average(self.parameters[loss.group])
            optimizer.step()
            terms |= loss.terms
        self._add(terms)
        return self._record(done + 1) if log else None

    def _batch(self, done: int, log: bool) -> Batch:
        """Rows with replacement, as the study draws them; a process's share of them and of the noise."""
        home, size = self.home, self.schedule.batch_size
        every = torch.randint(self.points.n, (size,), generator=self.generator).numpy()
        share = slice(home.rank * size // home.n_processes, (home.rank + 1) * size // home.n_processes)
        rows = every[share]
        values = self.points.stored(rows, self.data_rng)
        x = self.points.to_tensor(values).to(home.device)

        def noise(*shape: int) -> Tensor:
            return torch.randn((size, *shape), generator=self.generator)[share].to(home.device)

        def permutations(count: int) -> Tensor:
            orders = [torch.randperm(len(rows), generator=self.generator) for _ in range(count)]
            return torch.stack(orders).to(home.device)

        return Batch(x, values, rows, done, log, noise, permutations, lambda: self._batch(done, log))

    def _add(self, terms: dict[str, Tensor]) -> None:
        for name, value in terms.items():
            total = self._sums.get(name)
            self._sums[name] = value.detach().float() if total is None else total + value.detach()
            self._counts[name] = self._counts.get(name, 0) + 1

    def _record(self, step: int) -> dict[str, Any]:
        """Means since the last record, of each term over the steps that gave it."""
        means = {name: (total / self._counts[name]).tolist() for name, total in self._sums.items()}
        self._sums, self._counts = {}, {}
        if not np.isfinite(means["loss"]):
            raise FloatingPointError(
                f"the loss is {means['loss']} around step {step}. Try a lower learning_rate, or data of a smaller "
                "scale. A checkpoint of an earlier step, if there is one, is intact."
            )
        return means

    def get_state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors = {f"network.{k}": v for k, v in self.networks.state_dict().items()}
        for name, optimizer in self.optimizers.items():
            tensors |= adam_state(optimizer, name)
        tensors["generator"] = self.generator.get_state()
        sums = {k: v.tolist() for k, v in self._sums.items()}
        return tensors, {"sums": sums, "counts": self._counts, "data_rng": self.data_rng.bit_generator.state}

    def set_state(self, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
        self.networks.load_state_dict({k[8:]: v for k, v in tensors.items() if k.startswith("network.")})
        for name, optimizer in self.optimizers.items():
            set_adam_state(optimizer, name, tensors)
        self.generator.set_state(tensors["generator"])
        self.data_rng.bit_generator.state = state["data_rng"]
        self._sums = {k: torch.tensor(v, device=self.home.device) for k, v in state["sums"].items()}
        self._counts = state["counts"]
