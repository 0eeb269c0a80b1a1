"""A training in two parts as one run: flows that find a surface, then flows of the codes on the best of them."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from unbraid.flows.training import FlowTrainer
from unbraid.networks.flow import Flow
from unbraid.networks.unfolding import off_surface, with_part
from unbraid.training.batches import Batch
from unbraid.training.trainer import Loss, below


class SurfaceTrainer(FlowTrainer):
    """Trains K surface flows to be near the data; ``evaluate`` gives the share of the variance off the surface."""

    def _objective(self, batch: Batch) -> Iterator[Loss]:
        losses = off_surface(self.flow, self._values, self.flow.lay_out(batch.x))
        yield Loss("flow", losses.sum(), {"losses": losses})


class PartTrainer(FlowTrainer):
    """Trains K flows of the first codes of a trained flow.

    Parameters
    ----------
    flow : Flow
        One model, of the data, on the CPU.
    theta : Tensor (1, n_parameters)
        Its parameters.
    *of_part
        The arguments of :class:`~unbraid.flows.training.FlowTrainer`.
    """

    def __init__(self, flow: Flow, theta: Tensor, *of_part: Any):
        super().__init__(*of_part)
        self.whole = with_part(flow, self.whole)
        self._below = theta

    @property
    def whole_theta(self) -> Tensor:
        """Parameters of ``whole``: the trained flow, followed by each of the K."""
        return torch.cat((self._below.expand(len(self.theta), -1), self.theta), 1)


class Stages:
    """What a :class:`~unbraid.training.run.Run` drives in place of one trainer.

    Parameters
    ----------
    first : FlowTrainer
    begin : callable ``(first) -> PartTrainer``
        The second trainer, once the first has ended. A run that is resumed calls it again, so what it returns must
        depend on the parameters of ``first`` alone.

    Attributes
    ----------
    second : PartTrainer or None
        None until it begins.
    stopped : str
        Why training ended; "" until then.
    """

    def __init__(self, first: FlowTrainer, begin: Callable[[FlowTrainer], PartTrainer]):
        self.first, self.begin = first, begin
        self.second: PartTrainer | None = None
        self.stopped = ""
        self._began = 0

    def step(self, done: int) -> dict[str, Any] | None:
        """A step of the trainer whose turn it is."""
        trainer = self.second or self.first
        taken = done - self._began
        record = trainer.step(taken)
        ended = trainer.stopped or ("max_steps" if taken + 1 == trainer.schedule.max_steps else "")
        if ended and self.second is None:
            self.second, self._began, ended = self.begin(self.first), done + 1, ""
        self.stopped = ended
        return record

    def get_state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors: dict[str, Tensor] = {}
        state: dict[str, Any] = {"stopped": self.stopped, "began": self._began}
        for name, trainer in (("first", self.first), ("second", self.second)):
            if trainer is not None:
                own, state[name] = trainer.get_state()
                tensors |= {f"{name}.{k}": v for k, v in own.items()}
        return tensors, state

    def set_state(self, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
        self.first.set_state(below("first.", tensors), state["first"])
        self.stopped, self._began = state["stopped"], state["began"]
        if "second" in state:
            self.second = self.begin(self.first)
            self.second.set_state(below("second.", tensors), state["second"])
