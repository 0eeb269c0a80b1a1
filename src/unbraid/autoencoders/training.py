"""The one training loop: Adam, progress, logs, checkpoints, exact resume.

All randomness comes from two generators, one for rows and noise and one for data sets that draw; with the weights and
Adam's moments they make a checkpoint, so that a run that was killed ends with the bytes of one that was not.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from unbraid.autoencoders.points import Points
from unbraid.contract.progress import bar
from unbraid.training.checkpoint import read_checkpoint, write_checkpoint
from unbraid.training.devices import Single
from unbraid.training.logs import Logs


@dataclass(frozen=True)
class Schedule:
    """How long, how many at a time, and how often to write."""

    max_steps: int
    batch_size: int
    max_seconds: float | None = None
    checkpoint_every: int = 1000
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


@dataclass
class Progress:
    """Where a run stands."""

    step: int = 0
    stopped: str = ""
    history: list[dict[str, Any]] = field(default_factory=list)


class Trainer:
    """Trains networks on an objective.

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
    identity : dict
        What a checkpoint must agree with: the model, its parameters and the data.
    """

    def __init__(
        self,
        networks: nn.ModuleDict,
        groups: dict[str, Group],
        objective: Objective,
        points: Points,
        schedule: Schedule,
        seed: int,
        home: Single,
        identity: dict[str, Any],
    ):
        self.networks, self.groups, self.objective, self.points = networks, groups, objective, points
        self.schedule, self.home, self.identity = schedule, home, identity
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
        self.progress = Progress()
        self._sums: dict[str, Tensor] = {}
        self._counts: dict[str, int] = {}

    def run(self, checkpoint: Path | None, logs: Logs, show: bool | None, title: str) -> None:
        """Train to the end; with ``checkpoint``, go on where that file stopped and write it as the work goes."""
        if checkpoint is not None and checkpoint.exists():
            self.load(checkpoint)
        p, schedule = self.progress, self.schedule
        logs.begin(p.history, p.step)
        started = time.monotonic()
        with logs, postponed_interrupt() as interrupted, bar(title, total=schedule.max_steps, show=show) as advance:
            advance(p.step)
            while p.step < schedule.max_steps and not p.stopped:
                record = self.step()
                now = time.monotonic()
                if record is not None:
                    record["seconds"] = round(now - started, 3)
                    p.history.append(record)
                    logs.write(record)
                if schedule.max_seconds is not None and now - started > schedule.max_seconds:
                    p.stopped = f"max_seconds={schedule.max_seconds:g}"
                due = p.step % schedule.checkpoint_every == 0 or p.step == schedule.max_steps
                if checkpoint is not None and (due or p.stopped or interrupted()):
                    self.save(checkpoint)
                advance(1, **{k: v for k, v in (record or {}).items() if isinstance(v, float) and k != "seconds"})
                if interrupted():
                    raise KeyboardInterrupt(
                        f"stopped after {p.step} of {schedule.max_steps} steps; "
                        + (
                            f"fit again to go on from {checkpoint}."
                            if checkpoint
                            else "nothing was saved: no checkpoint."
                        )
                    )

    def step(self) -> dict[str, Any] | None:
        """One step of every group's Adam; the record of it when one is due."""
        p, schedule, home = self.progress, self.schedule, self.home
        log = (p.step + 1) % schedule.log_every == 0 or p.step + 1 == schedule.max_steps
        batch = self._batch(log)
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
        p.step += 1
        return self._record(terms, log)

    def _batch(self, log: bool) -> Batch:
        """Rows with replacement, as the study draws them; a process's share of them and of the noise."""
        home, size = self.home, self.schedule.batch_size
        every = torch.randint(self.points.n, (size,), generator=self.generator).numpy()
        share = slice(home.rank * size // home.n_processes, (home.rank + 1) * size // home.n_processes)
        rows = every[share]
        values = self.points.raw(rows, self.data_rng)
        x = self.points.to_tensor(values).to(home.device)

        def noise(*shape: int) -> Tensor:
            return torch.randn((size, *shape), generator=self.generator)[share].to(home.device)

        def permutations(count: int) -> Tensor:
            orders = [torch.randperm(len(rows), generator=self.generator) for _ in range(count)]
            return torch.stack(orders).to(home.device)

        return Batch(x, values, rows, self.progress.step, log, noise, permutations, lambda: self._batch(log))

    def _record(self, terms: dict[str, Tensor], log: bool) -> dict[str, Any] | None:
        """Means since the last record, of each term over the steps that gave it."""
        for name, value in terms.items():
            total = self._sums.get(name)
            self._sums[name] = value.detach().float() if total is None else total + value.detach()
            self._counts[name] = self._counts.get(name, 0) + 1
        if not log:
            return None
        means = {name: (total / self._counts[name]).tolist() for name, total in self._sums.items()}
        self._sums, self._counts = {}, {}
        if not np.isfinite(means["loss"]):
            raise FloatingPointError(
                f"the loss is {means['loss']} around step {self.progress.step}. Try a lower learning_rate, or data of "
                "a smaller scale. A checkpoint of an earlier step, if there is one, is intact."
            )
        return {"step": self.progress.step, **means}

    def save(self, path: Path) -> None:
        """Write all that :meth:`load` needs to go on as if nothing had happened; the first process writes."""
        if self.home.rank == 0:
            arrays = {f"network.{k}": v for k, v in self.networks.state_dict().items()}
            for name, optimizer in self.optimizers.items():
                for i, parameter in enumerate(self.parameters[name]):
                    arrays |= {f"adam.{name}.{i}.{k}": v for k, v in optimizer.state[parameter].items()}
            arrays["generator"] = self.generator.get_state()
            state = {
                "identity": self.identity,
                "progress": asdict(self.progress),
                "sums": {k: v.tolist() for k, v in self._sums.items()},
                "counts": self._counts,
                "data_rng": self.data_rng.bit_generator.state,
            }
            write_checkpoint(path, arrays, state)
        self.home.wait()

    def load(self, path: Path) -> None:
        """Go on from what :meth:`save` wrote for the same model, parameters and data."""
        arrays, state = read_checkpoint(path, self.identity)
        self.networks.load_state_dict({k[8:]: v for k, v in arrays.items() if k.startswith("network.")})
        for name, optimizer in self.optimizers.items():
            for i, parameter in enumerate(self.parameters[name]):
                start = f"adam.{name}.{i}."
                moments = {k[len(start) :]: v for k, v in arrays.items() if k.startswith(start)}
                optimizer.state[parameter] = {
                    k: v.to(parameter.device).contiguous(memory_format=_format(parameter)) if v.ndim else v
                    for k, v in moments.items()
                }
        self.generator.set_state(arrays["generator"])
        self.data_rng.bit_generator.state = state["data_rng"]
        self.progress = Progress(**state["progress"])
        if self.progress.stopped.startswith("max_seconds"):
            self.progress.stopped = ""
        self._sums = {k: torch.tensor(v, device=self.home.device) for k, v in state["sums"].items()}
        self._counts = state["counts"]


def _format(parameter: Tensor) -> torch.memory_format:
    image = parameter.ndim == 4 and parameter.is_contiguous(memory_format=torch.channels_last)
    return torch.channels_last if image else torch.contiguous_format


@contextmanager
def postponed_interrupt() -> Iterator[Callable[[], bool]]:
    """Ctrl-C waits for the end of the step; a second one does not. Yields whether it was pressed."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return
    before = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: Any) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
