"""A step of all that is trained: a batch, an objective, Adam; and the state from which a run resumes."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from unbraid.training.batches import Batch
from unbraid.training.checkpoint import adam_state, set_adam_state
from unbraid.training.devices import Device


@dataclass(frozen=True)
class Schedule:
    """Number of steps, batch size, how often to record; whether the rate is "constant" or falls to 0 by a "cosine"."""

    max_steps: int
    batch_size: int
    log_every: int = 100
    decay: str = "constant"


class Group(NamedTuple):
    """Networks that one Adam trains."""

    networks: tuple[str, ...]
    learning_rate: float
    betas: tuple[float, float] = (0.9, 0.999)


class Loss(NamedTuple):
    """A loss, the group it trains, and the terms to record."""

    group: str
    value: Tensor
    terms: dict[str, Tensor]


Objective = Callable[[Batch], Iterator[Loss]]


class Source(Protocol):
    """Where batches come from. All randomness of a training is in its state: tensors, and what JSON holds."""

    def draw(self, step: int, log: bool) -> Batch: ...

    def get_state(self) -> tuple[dict[str, Tensor], dict[str, Any]]: ...

    def set_state(self, tensors: dict[str, Tensor], state: dict[str, Any]) -> None: ...


class Stepper(Protocol):
    """What a run drives: steps, their records, why they ended, and the state from which they go on."""

    stopped: str

    def step(self, done: int) -> dict[str, Any] | None: ...

    def get_state(self) -> tuple[dict[str, Tensor], dict[str, Any]]: ...

    def set_state(self, tensors: dict[str, Tensor], state: dict[str, Any]) -> None: ...


class Trainer:
    """Trains networks on an objective, step by step.

    Parameters
    ----------
    networks : ModuleDict
    groups : dict of str to Group
        In the order in which the objective's losses come.
    objective : callable ``(batch) -> iterator of Loss``
        A generator: each loss is followed by its group's step of Adam before the next one is asked for.
    source : Source
        Draws the batches.
    schedule : Schedule
    device : Device
        One device, or accelerate's processes.

    Attributes
    ----------
    stopped : str
        Why training ended before ``max_steps``, such as "plateau"; "" until then.
    """

    def __init__(
        self,
        networks: nn.ModuleDict,
        groups: dict[str, Group],
        objective: Objective,
        source: Source,
        schedule: Schedule,
        device: Device,
    ):
        self.networks, self.objective, self.source = networks, objective, source
        self.schedule, self.device = schedule, device
        self.stopped = ""
        self.rates = {name: group.learning_rate for name, group in groups.items()}
        networks.to(device.torch_device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.parameters = {
            name: [p for n in g.networks for p in networks[n].parameters()] for name, g in groups.items()
        }
        self.optimizers = {
            name: device.prepare(torch.optim.Adam(self.parameters[name], lr=g.learning_rate, betas=g.betas, fused=True))
            for name, g in groups.items()
        }
        self._sums: dict[str, Tensor] = {}
        self._counts: dict[str, int] = {}

    def step(self, done: int) -> dict[str, Any] | None:
        """One step of every group's Adam; the record of it when one is due."""
        log = self._is_due(done + 1)
        if self.schedule.decay == "cosine":
            self._decay(done / self.schedule.max_steps)
        losses = iter(self.objective(self.source.draw(done, log)))
        terms: dict[str, Tensor] = {}
        while True:
            with self.device.autocast():
                loss = next(losses, None)
            if loss is None:
                break
            optimizer = self.optimizers[loss.group]
            optimizer.zero_grad(set_to_none=True)
            self.device.backward(loss.value)
            self.device.average(self.parameters[loss.group])
            optimizer.step()
            terms |= loss.terms
        self._add(terms)
        return self._record(done + 1) if log else None

    def _decay(self, share: float) -> None:
        """The learning rates after a share of the steps; they depend on nothing else, so that runs resume."""
        for name, optimizer in self.optimizers.items():
            optimizer.param_groups[0]["lr"] = self.rates[name] * (1 + math.cos(math.pi * share)) / 2

    def _is_due(self, step: int) -> bool:
        return step % self.schedule.log_every == 0 or step == self.schedule.max_steps

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
                f"the loss is {means['loss']} around step {step}. Try a lower learning_rate, or rescale the data. "
                "An earlier checkpoint, if there is one, is intact."
            )
        return means

    def get_state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        drawn, state = self.source.get_state()
        tensors = {f"source.{k}": v for k, v in drawn.items()}
        tensors |= {f"network.{k}": v for k, v in self.networks.state_dict().items()}
        for name, optimizer in self.optimizers.items():
            tensors |= adam_state(optimizer, name)
        sums = {k: v.tolist() for k, v in self._sums.items()}
        return tensors, {"sums": sums, "counts": self._counts, "source": state, "stopped": self.stopped}

    def set_state(self, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
        self.networks.load_state_dict(below("network.", tensors))
        for name, optimizer in self.optimizers.items():
            set_adam_state(optimizer, name, tensors)
        self.source.set_state(below("source.", tensors), state["source"])
        self._sums = {k: torch.tensor(v, device=self.device.torch_device) for k, v in state["sums"].items()}
        self._counts, self.stopped = state["counts"], state["stopped"]


def below(start: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names start with ``start``, under the rest of their names."""
    return {k[len(start) :]: v for k, v in tensors.items() if k.startswith(start)}
