"""The training loop of the flows: Adam on one flat parameter tensor, plateau rule, exact resume."""

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unbraid.contract.progress import bar
from unbraid.flows.conditions import Condition
from unbraid.networks.flow import Flow

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
    max_seconds: float | None = None


@dataclass
class Progress:
    """Where a run stands; with the tensors and the random state, all that a resumed run needs."""

    step: int = 0
    dropped: bool = False
    waited: int = 0
    stopped: str = ""
    best: list[float] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)


class Trainer:
    """Trains K flows at once.

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
    forward : callable, optional
        Replaces ``flow.forward`` (a compiled or fused version of it).
    """

    def __init__(
        self,
        flow: Flow,
        condition: Condition,
        take: Callable[[np.ndarray, np.random.Generator], Tensor],
        evaluate: Callable[[Tensor, Tensor], np.ndarray],
        schedule: Schedule,
        rng: np.random.Generator,
        forward: Forward | None = None,
    ):
        self.flow, self.condition, self.take, self.evaluate = flow, condition, take, evaluate
        self.schedule, self.rng = schedule, rng
        self.forward = forward or flow.forward
        start = torch.cat((flow.initial(rng), condition.initial(rng, flow.n_models)), 1)
        self.parameters = start.requires_grad_()
        self.optimizer = torch.optim.Adam([self.parameters], lr=schedule.learning_rate, betas=BETAS, fused=True)
        self.progress = Progress()

    @property
    def theta(self) -> Tensor:
        return self.parameters.detach()[:, : self.flow.n_parameters]

    @property
    def extra(self) -> Tensor:
        return self.parameters.detach()[:, self.flow.n_parameters :]

    def run(self, checkpoint: str | os.PathLike | None = None, show: bool | None = None) -> None:
        """Train to the end; with ``checkpoint``, begin where that file stopped and write it at each evaluation."""
        if checkpoint is not None and Path(checkpoint).exists():
            self.load(checkpoint)
        p, limit = self.progress, self.schedule.max_seconds
        started = time.monotonic()
        with bar("flow", total=self.schedule.max_steps, show=show) as advance:
            advance(p.step)
            while p.step < self.schedule.max_steps and not p.stopped:
                loss = self.step()
                notes = {}
                if p.step % self.schedule.eval_every == 0 or p.step == self.schedule.max_steps:
                    notes = self._evaluate(loss, started)
                    if limit is not None and time.monotonic() - started > limit:
                        p.stopped = f"max_seconds={limit:g}"
                    if checkpoint is not None:
                        self.save(checkpoint)
                advance(1, **notes)

    def step(self) -> Tensor:
        """One step of Adam; the loss of each model before it."""
        schedule, p = self.schedule, self.progress
        if not p.dropped and p.step >= 5 * schedule.max_steps // 8:
            self._drop()
        index = self.condition.draw(self.rng)
        rows = self.take(index, self.rng)
        if schedule.noise > 0:
            rows = rows + schedule.noise * torch.from_numpy(self.rng.standard_normal(rows.shape, dtype=np.float32))
        loss = batch_loss(self.flow, self.condition, self.forward, self.parameters, rows, index)
        self.optimizer.zero_grad(set_to_none=True)
        loss.sum().backward()
        self.optimizer.step()
        p.step += 1
        return loss.detach()

    def _drop(self) -> None:
        self.progress.dropped, self.progress.waited = True, 0
        for group in self.optimizer.param_groups:
            group["lr"] = self.schedule.learning_rate / 10

    def _evaluate(self, loss: Tensor, started: float) -> dict[str, float]:
        p, tol = self.progress, self.schedule.tol * self.flow.n_features
        held_out = self.evaluate(self.theta, self.extra)
        if not (np.isfinite(held_out).any() and torch.isfinite(loss).any()):
            raise FloatingPointError(
                f"the loss is not finite after {p.step} steps (training {loss.tolist()}, held out {list(held_out)}). "
                f"Try learning_rate={self.schedule.learning_rate / 10:g}, a larger noise, or data of a smaller scale."
            )
        values = np.where(np.isfinite(held_out), held_out, np.inf)
        best = np.array(p.best or [np.inf] * len(values))
        p.waited = 0 if (values < best - tol).any() else p.waited + 1
        p.best = np.minimum(best, values).tolist()
        p.history.append(
            {
                "step": p.step,
                "loss": [float(v) for v in loss],
                "held_out": [float(v) for v in held_out],
                "learning_rate": self.optimizer.param_groups[0]["lr"],
                "seconds": round(time.monotonic() - started, 2),
            }
        )
        if p.waited >= self.schedule.patience:
            if p.dropped:
                p.stopped = "plateau"
            else:
                self._drop()
        return {"loss": float(loss.min()), "held out": float(values.min())}

    def save(self, path: str | os.PathLike) -> None:
        """Write all that :meth:`load` needs to go on exactly as if nothing had happened."""
        from safetensors.numpy import save_file

        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        adam = self.optimizer.state[self.parameters]
        arrays = {
            "parameters": self.parameters.detach().numpy(),
            "first_moment": adam["exp_avg"].numpy(),
            "second_moment": adam["exp_avg_sq"].numpy(),
            "adam_step": adam["step"].numpy().reshape(1),
            **{f"condition.{k}": v for k, v in self.condition.get_state().items()},
        }
        meta = {
            "progress": json.dumps(asdict(self.progress)),
            "rng": json.dumps(self.rng.bit_generator.state),
            "schedule": json.dumps(asdict(self.schedule)),
        }
        part = path.with_name(path.name + ".part")
        try:
            save_file({k: np.ascontiguousarray(v) for k, v in arrays.items()}, part, metadata=meta)
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise

    def load(self, path: str | os.PathLike) -> None:
        """Continue from what :meth:`save` wrote for the same data and parameters."""
        meta, arrays = _read(path)
        shape = tuple(arrays["parameters"].shape)
        if shape != tuple(self.parameters.shape):
            raise ValueError(
                f"the checkpoint {path} holds (models, parameters) = {shape} and this flow has "
                f"{tuple(self.parameters.shape)}. Use the parameters of that run, or another checkpoint path."
            )
        with torch.no_grad():
            self.parameters.copy_(torch.from_numpy(arrays["parameters"]))
        self.optimizer.state[self.parameters] = {
            "step": torch.tensor(float(arrays["adam_step"][0])),
            "exp_avg": torch.from_numpy(arrays["first_moment"]),
            "exp_avg_sq": torch.from_numpy(arrays["second_moment"]),
        }
        self.progress = Progress(**json.loads(meta["progress"]))
        if self.progress.stopped.startswith("max_seconds"):
            self.progress.stopped = ""
        self.rng.bit_generator.state = json.loads(meta["rng"])
        self.condition.set_state({k[10:]: v for k, v in arrays.items() if k.startswith("condition.")})
        if self.progress.dropped:
            for group in self.optimizer.param_groups:
                group["lr"] = self.schedule.learning_rate / 10


def _read(path: str | os.PathLike) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """Names and arrays of a checkpoint, whole or not at all."""
    from safetensors import SafetensorError, safe_open

    remedy = "Delete it to begin again, or give another checkpoint path."
    try:
        with safe_open(path, "numpy") as file:
            meta = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(f"the checkpoint {path} is damaged ({error}). {remedy}") from error
    needed = {"parameters", "first_moment", "second_moment", "adam_step", "progress", "rng"}
    missing = sorted(needed - arrays.keys() - meta.keys())
    if missing:
        raise ValueError(f"the file {path} is no checkpoint of a flow: {', '.join(missing)} is missing. {remedy}")
    return meta, arrays


def batch_loss(
    flow: Flow, condition: Any, forward: Forward, parameters: Tensor, rows: Tensor, index: np.ndarray
) -> Tensor:
    """-log-likelihood in nats per point of each model: that of the codes, less log|det J| (GIN, Eq. 10)."""
    theta = parameters[:, : flow.n_parameters]
    r, volume = forward(theta, flow.lay_out(rows))
    loss = condition.loss(r, index, parameters[:, flow.n_parameters :])
    if volume is not None:
        loss = loss - volume @ condition.point_weights(volume.dtype)
    return loss
