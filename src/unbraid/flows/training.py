"""A step of the flows: all starts as one flat parameter tensor, batches by the condition, and the plateau rule."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unbraid.flows.conditions import Condition
from unbraid.networks.flow import Flow
from unbraid.training.batches import Batch
from unbraid.training.devices import Device
from unbraid.training.trainer import Group, Loss, Schedule, Trainer

Forward = Callable[[Tensor, Tensor], tuple[Tensor, Tensor | None]]


@dataclass(frozen=True)
class FlowSchedule(Schedule):
    """How long and how fast.

    By default the learning rate drops to a tenth when the held-out likelihood of no model has risen by ``tol`` nats per
    feature for ``patience`` evaluations, and after the share ``drop`` of ``max_steps`` at the latest; a second plateau
    ends the training. With ``decay="cosine"`` it falls to 0 over all ``max_steps``.
    """

    learning_rate: float = 1e-2
    patience: int = 5
    tol: float = 1e-3
    eval_every: int = 50
    betas: tuple[float, float] = (0.9, 0.99)
    drop: float = 0.625


class ConditionBatches:
    """Batches of rows that the condition draws, with noise; ``rng`` is the only source of randomness.

    ``take(index, rng)`` gives the rows of a batch, (batch, *shape) float32. The noise begins ten times as large and
    falls by a constant factor in the first ``falls`` steps.
    """

    def __init__(
        self,
        condition: Condition,
        take: Callable[[np.ndarray, np.random.Generator], Tensor],
        noise: float,
        rng: np.random.Generator,
        device: Device,
        falls: int = 0,
    ):
        self.condition, self.take, self.noise, self.rng, self.device = condition, take, noise, rng, device
        self.falls = falls

    def draw(self, step: int = 0, log: bool = False) -> Batch:
        index = self.condition.draw(self.rng)
        rows = self.take(index, self.rng)
        if self.noise > 0:
            noise = self.noise * 10 ** max(0.0, 1 - step / self.falls) if self.falls else self.noise
            rows = rows + noise * torch.from_numpy(self.rng.standard_normal(rows.shape, dtype=np.float32))
        return Batch(rows.to(self.device.torch_device), index, step, log)

    def get_state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors = {k: torch.from_numpy(v) for k, v in self.condition.get_state().items()}
        return tensors, dict(self.rng.bit_generator.state)

    def set_state(self, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
        self.condition.set_state({k: v.numpy() for k, v in tensors.items()})
        self.rng.bit_generator.state = state


class FlowTrainer(Trainer):
    """Trains K flows at once.

    Parameters
    ----------
    flow : Flow
    source : ConditionBatches
    evaluate : callable ``(theta, extra) -> array (K,)``
        Held-out -log-likelihood of each model, in nats per point.
    schedule : FlowSchedule
    forward : callable
        ``flow.forward``, or a compiled or fused version of it.
    device : Device

    Attributes
    ----------
    whole : Flow
        What maps data to codes once this is trained, on the CPU: ``flow`` itself, or with what comes before it.
    """

    schedule: FlowSchedule

    def __init__(
        self,
        flow: Flow,
        source: ConditionBatches,
        evaluate: Callable[[Tensor, Tensor], np.ndarray],
        schedule: FlowSchedule,
        forward: Forward,
        device: Device,
    ):
        self.flow, self.condition, self.evaluate, self.forward = flow, source.condition, evaluate, forward
        start = torch.cat((flow.initial(source.rng), self.condition.initial(source.rng, flow.n_models)), 1)
        starts = nn.ParameterList([start])
        group = Group(("starts",), schedule.learning_rate, schedule.betas)
        networks = nn.ModuleDict({"starts": starts})
        super().__init__(networks, {"flow": group}, self._objective, source, schedule, device)
        self._values = starts[0]
        self.whole = flow.to(torch.device("cpu"))
        self._dropped, self._waited = False, 0
        self._best = np.full(flow.n_models, np.inf)

    @property
    def theta(self) -> Tensor:
        return self._values.detach()[:, : self.flow.n_parameters]

    @property
    def whole_theta(self) -> Tensor:
        """Parameters of ``whole``."""
        return self.theta

    @property
    def extra(self) -> Tensor:
        return self._values.detach()[:, self.flow.n_parameters :]

    def _objective(self, batch: Batch) -> Iterator[Loss]:
        """-log-likelihood in nats per point of each model: that of the codes, less log|det J| (GIN, Eq. 10)."""
        theta, extra = self._values.split((self.flow.n_parameters, self.condition.n_parameters), 1)
        r, volume = self.forward(theta, self.flow.lay_out(batch.x))
        losses = self.condition.loss(r, batch.rows, extra)
        if volume is not None:
            losses = losses - volume @ self.condition.point_weights().to(volume)
        yield Loss("flow", losses.sum(), {"losses": losses})

    def step(self, done: int) -> dict[str, Any] | None:
        if self._by_plateaus and not self._dropped and done >= int(self.schedule.drop * self.schedule.max_steps):
            self._drop()
        return super().step(done)

    @property
    def _by_plateaus(self) -> bool:
        return self.schedule.decay == "constant"

    def _is_due(self, step: int) -> bool:
        return super()._is_due(step) or step % self.schedule.eval_every == 0

    def _add(self, terms: dict[str, Tensor]) -> None:
        self._losses = terms["losses"].detach()

    def _drop(self) -> None:
        self._dropped, self._waited = True, 0
        self.condition.settle()
        for group in self.optimizers["flow"].param_groups:
            group["lr"] = self.schedule.learning_rate / 10

    def _record(self, step: int) -> dict[str, Any]:
        """The loss is that of the best start: by held-out likelihood where it was taken, else by the loss itself."""
        losses, held_out = self._losses.cpu().numpy(), None
        rate = self.optimizers["flow"].param_groups[0]["lr"]
        if step % self.schedule.eval_every == 0 or step == self.schedule.max_steps:
            held_out = np.asarray(self.evaluate(self.theta, self.extra))
            self._follow(losses, held_out, step)
        judged = losses if held_out is None else held_out
        best = int(np.argmin(np.where(np.isfinite(judged), judged, np.inf)))
        record: dict[str, Any] = {"loss": float(losses[best]), "losses": losses.tolist()}
        if held_out is not None:
            record["held_out"] = held_out.tolist()
        return record | {"learning_rate": rate}

    def _follow(self, losses: np.ndarray, held_out: np.ndarray, step: int) -> None:
        """The plateau rule."""
        schedule = self.schedule
        if not (np.isfinite(held_out).any() and np.isfinite(losses).any()):
            raise FloatingPointError(
                f"the loss is not finite after {step} steps (training {losses.tolist()}, held out "
                f"{held_out.tolist()}). Try learning_rate={schedule.learning_rate / 10:g}, a larger noise, or "
                "rescale the data."
            )
        values = np.where(np.isfinite(held_out), held_out, np.inf)
        better = (values < self._best - schedule.tol * self.flow.n_features).any()
        self._waited = 0 if better else self._waited + 1
        self._best = np.minimum(self._best, values)
        if self._by_plateaus and self._waited >= schedule.patience:
            if self._dropped:
                self.stopped = "plateau"
            else:
                self._drop()

    def get_state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors, state = super().get_state()
        plateau = {"dropped": self._dropped, "waited": self._waited}
        return tensors | {"best": torch.from_numpy(self._best)}, state | plateau

    def set_state(self, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
        super().set_state(tensors, state)
        self._best = tensors["best"].numpy()
        if state["dropped"]:
            self._drop()
        self._waited = state["waited"]


def encode_on_device(flow: Flow, theta: Tensor, rows: Tensor, batch_size: int = 1000) -> tuple[Tensor, Tensor]:
    """Codes and log|det J| of rows on the CPU, computed on the device of ``theta``."""
    codes, volume = flow.to(theta.device).encode(theta, rows.to(theta.device), batch_size=batch_size)
    return codes.cpu(), volume.cpu()
