"""A step of the flows: Adam on one flat parameter tensor for all starts, and the plateau rule."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unbraid.flows.conditions import Condition
from unbraid.networks.flow import Flow
from unbraid.training.checkpoint import adam_state, set_adam_state

BETAS = (0.9, 0.99)  # the second moment forgets in 100 steps; 0.999 is slow for runs of 800

Forward = Callable[[Tensor, Tensor], tuple[Tensor, Tensor | None]]


@dataclass(frozen=True)
class Schedule:
    """How long and how fast.

    The learning rate drops to a tenth when the held-out likelihood of no model has risen by ``tol`` nats per feature
    for ``patience`` evaluations, and at 5/8 of ``max_steps`` at the latest (the papers' epoch 50 of 80); a second
    plateau ends the training.
    """

    max_steps: int = 800
    learning_rate: float = 1e-2
    noise: float = 0.01
    patience: int = 5
    tol: float = 1e-3
    eval_every: int = 50
    log_every: int = 100


class FlowTrainer:
    """Trains K flows at once, step by step; a :class:`~unbraid.training.run.Stepper`.

    Parameters
    ----------
    flow : Flow
    condition : Condition
    take : callable ``(index, rng) -> rows``
        Rows of a batch, (batch, *shape) float32.
    evaluate : callable ``(theta, extra) -> array (K,)``
        Held-out -log-likelihood of each model, in nats per point.
    schedule : Schedule
    rng : numpy Generator
        The only source of randomness.
    forward : callable
        ``flow.forward``, or a compiled or fused version of it.
    device : torch device
    """

    def __init__(
        self,
        flow: Flow,
        condition: Condition,
        take: Callable[[np.ndarray, np.random.Generator], Tensor],
        evaluate: Callable[[Tensor, Tensor], np.ndarray],
        schedule: Schedule,
        rng: np.random.Generator,
        forward: Forward,
        device: torch.device,
    ):
        self.flow, self.condition, self.take, self.evaluate = flow, condition, take, evaluate
        self.schedule, self.rng, self.forward, self.device = schedule, rng, forward, device
        start = torch.cat((flow.initial(rng), condition.initial(rng, flow.n_models)), 1)
        self.parameters = start.to(device).requires_grad_()
        self.optimizer = torch.optim.Adam([self.parameters], lr=schedule.learning_rate, betas=BETAS, fused=True)
        self.stopped = ""
        self._dropped, self._waited = False, 0
        self._best = np.full(flow.n_models, np.inf)

    @property
    def theta(self) -> Tensor:
        return self.parameters.detach()[:, : self.flow.n_parameters]

    @property
    def extra(self) -> Tensor:
        return self.parameters.detach()[:, self.flow.n_parameters :]

    def step(self, done: int) -> dict[str, Any] | None:
        """One step of Adam; the record of it at each evaluation and every ``log_every`` steps."""
        schedule, number = self.schedule, done + 1
        if not self._dropped and done >= 5 * schedule.max_steps // 8:
            self._drop()
        index, rows = self.draw()
        losses = batch_losses(self.flow, self.condition, self.forward, self.parameters, rows, index)
        self.optimizer.zero_grad(set_to_none=True)
        losses.sum().backward()
        self.optimizer.step()
        if number % schedule.eval_every == 0 or number == schedule.max_steps:
            return self._evaluated(losses.detach().cpu().numpy(), number)
        return self._record(losses.detach().cpu().numpy()) if number % schedule.log_every == 0 else None

    def draw(self) -> tuple[np.ndarray, Tensor]:
        """Row numbers and rows of the next batch, with noise, on the device."""
        index = self.condition.draw(self.rng)
        rows = self.take(index, self.rng)
        if self.schedule.noise > 0:
            rows = rows + self.schedule.noise * torch.from_numpy(self.rng.standard_normal(rows.shape, dtype=np.float32))
        return index, rows.to(self.device)

    def _drop(self) -> None:
        self._dropped, self._waited = True, 0
        self.condition.settle()
        for group in self.optimizer.param_groups:
            group["lr"] = self.schedule.learning_rate / 10

    def _record(self, losses: np.ndarray, held_out: np.ndarray | None = None) -> dict[str, Any]:
        """The loss is that of the best start: by held-out likelihood where it was taken, else by the loss itself."""
        judged = losses if held_out is None else held_out
        best = int(np.argmin(np.where(np.isfinite(judged), judged, np.inf)))
        record: dict[str, Any] = {"loss": float(losses[best]), "losses": losses.tolist()}
        if held_out is not None:
            record["held_out"] = held_out.tolist()
        return record | {"learning_rate": self.optimizer.param_groups[0]["lr"]}

    def _evaluated(self, losses: np.ndarray, number: int) -> dict[str, Any]:
        """The record with held-out likelihoods, by which the plateau rule goes."""
        schedule = self.schedule
        held_out = np.asarray(self.evaluate(self.theta, self.extra))
        if not (np.isfinite(held_out).any() and np.isfinite(losses).any()):
            raise FloatingPointError(
                f"the loss is not finite after {number} steps (training {losses.tolist()}, held out "
                f"{held_out.tolist()}). Try learning_rate={schedule.learning_rate / 10:g}, a larger noise, or data of "
                "a smaller scale."
            )
        record = self._record(losses, held_out)
        values = np.where(np.isfinite(held_out), held_out, np.inf)
        better = (values < self._best - schedule.tol * self.flow.n_features).any()
        self._waited = 0 if better else self._waited + 1
        self._best = np.minimum(self._best, values)
        if self._waited >= schedule.patience:
            if self._dropped:
                self.stopped = "plateau"
            else:
                self._drop()
        return record

    def get_state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors = {"parameters": self.parameters.detach(), "best": torch.from_numpy(self._best)}
        tensors |= adam_state(self.optimizer, "flow")
        tensors |= {f"condition.{k}": torch.from_numpy(v) for k, v in self.condition.get_state().items()}
        state = {"dropped": self._dropped, "waited": self._waited, "stopped": self.stopped}
        return tensors, state | {"rng": self.rng.bit_generator.state}

    def set_state(self, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
        with torch.no_grad():
            self.parameters.copy_(tensors["parameters"])
        set_adam_state(self.optimizer, "flow", tensors)
        self.condition.set_state({k[10:]: v.numpy() for k, v in tensors.items() if k.startswith("condition.")})
        self._best = tensors["best"].numpy()
        self.rng.bit_generator.state = state["rng"]
        if state["dropped"]:
            self._drop()
        self._waited, self.stopped = state["waited"], state["stopped"]


def encode_elsewhere(flow: Flow, theta: Tensor, rows: Tensor, batch_size: int = 1000) -> tuple[Tensor, Tensor]:
    """Codes and log|det J| of rows on the CPU, computed on the device of ``theta``."""
    codes, volume = flow.to(theta.device).encode(theta, rows.to(theta.device), batch_size=batch_size)
    return codes.cpu(), volume.cpu()


def batch_losses(
    flow: Flow, condition: Condition, forward: Forward, parameters: Tensor, rows: Tensor, index: np.ndarray
) -> Tensor:
    """-log-likelihood in nats per point of each model: that of the codes, less log|det J| (GIN, Eq. 10)."""
    theta = parameters[:, : flow.n_parameters]
    r, volume = forward(theta, flow.lay_out(rows))
    loss = condition.loss(r, index, parameters[:, flow.n_parameters :])
    if volume is not None:
        loss = loss - volume @ condition.point_weights().to(volume)
    return loss
