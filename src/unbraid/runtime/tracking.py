"""Trackers: what is trained and scored within ``tracking(...)`` goes to MLflow, Weights & Biases or TensorBoard.

One place for training and evaluation, and none of it in the parameters of a model: saved runs and checkpoints know
nothing of trackers.
"""

import json
import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from unbraid.runtime.extras import require

__all__ = ["MLflow", "TensorBoard", "Tracker", "WandB", "tracking"]

Figures = Mapping[str, float]
# The tracker, and how often each name was taken: the second VAE of a run is ``VAE-2``.
_active: ContextVar["tuple[Tracker, Counter[str]] | None"] = ContextVar("tracker", default=None)


class Tracker(Protocol):
    """What a tracker is: three methods. Those of this module have them, and so may yours."""

    def parameters(self, values: Mapping[str, Any]) -> None:
        """Settings of a model or of an evaluation, each given once."""

    def figures(self, values: Figures, step: int) -> None:
        """Numbers of one step."""

    def close(self, failed: bool) -> None:
        """The end, after an error if ``failed``."""


class MLflow:
    """Write to a run of MLflow, without touching its global state.

    Parameters
    ----------
    experiment : str
        Made if there is none of this name.
    uri : str, optional
        Of the store, such as ``"file:///data/mlruns"`` or the address of a server; by default what MLflow is set to.
    run_name : str, optional
    """

    def __init__(self, experiment: str = "unbraid", uri: str | None = None, run_name: str | None = None):
        mlflow = require("mlflow", "mlflow")
        self._entities = mlflow.entities
        self._client = mlflow.MlflowClient(tracking_uri=uri)
        found = self._client.get_experiment_by_name(experiment)
        at = self._client.create_experiment(experiment) if found is None else found.experiment_id
        self.run_id = self._client.create_run(at, run_name=run_name).info.run_id

    def parameters(self, values: Mapping[str, Any]) -> None:
        """Settings, each given once."""
        for name, value in values.items():
            self._client.log_param(self.run_id, name, value)

    def figures(self, values: Figures, step: int) -> None:
        """Numbers of one step."""
        now = int(time.time() * 1000)
        metrics = [self._entities.Metric(name, value, now, step) for name, value in values.items()]
        self._client.log_batch(self.run_id, metrics=metrics)

    def close(self, failed: bool) -> None:
        """End the run, after an error if ``failed``."""
        self._client.set_terminated(self.run_id, "FAILED" if failed else "FINISHED")


class WandB:
    """Write to a run of Weights & Biases.

    Parameters
    ----------
    project : str
    **settings
        Of ``wandb.init``, such as ``mode="offline"``, ``dir``, ``name`` and ``group``.
    """

    def __init__(self, project: str = "unbraid", **settings: Any):
        self._run = require("wandb", "wandb").init(project=project, **settings)

    def parameters(self, values: Mapping[str, Any]) -> None:
        """Settings, each given once."""
        self._run.config.update(dict(values))

    def figures(self, values: Figures, step: int) -> None:
        """Numbers of one step."""
        # Their one counter only rises, and several models are trained in a run: the step is a figure, as they advise.
        for room in {name.partition("/")[0] for name in values}:
            self._run.define_metric(f"{room}/*", step_metric=f"{room}/step")
            mine = {name: value for name, value in values.items() if name.partition("/")[0] == room}
            self._run.log({**mine, f"{room}/step": step})

    def close(self, failed: bool) -> None:
        """End the run, after an error if ``failed``."""
        self._run.finish(exit_code=int(failed))


class TensorBoard:
    """Write event files for TensorBoard.

    Parameters
    ----------
    folder : path
    """

    def __init__(self, folder: str | PathLike):
        require("tensorboard", "tensorboard")
        self._events = require("torch.utils.tensorboard", "torch").SummaryWriter(str(Path(folder)))

    def parameters(self, values: Mapping[str, Any]) -> None:
        """Settings, each given once."""
        for name, value in values.items():
            self._events.add_text(name, str(value))

    def figures(self, values: Figures, step: int) -> None:
        """Numbers of one step."""
        for name, value in values.items():
            self._events.add_scalar(name, value, step)

    def close(self, failed: bool) -> None:
        """End the run, after an error if ``failed``."""
        self._events.close()


@contextmanager
def tracking(tracker: Tracker) -> Iterator[Tracker]:
    """Send what is trained and scored within to a tracker.

    Training gives the parameters of the model and the figures of every step that is logged (``log_every``);
    :func:`unbraid.evaluate` gives every score with its interval, chance and ceiling. A training that resumes from a
    checkpoint gives the steps before it too. The tracker is closed at the end, as failed after an error.

    Parameters
    ----------
    tracker : MLflow, WandB, TensorBoard, or any object with their three methods

    Examples
    --------
    >>> class Lines:
    ...     def parameters(self, values):
    ...         print(*values)
    ...     def figures(self, values, step):
    ...         print(step, values["evaluation/mcc"])
    ...     def close(self, failed):
    ...         print("failed" if failed else "done")
    >>> import unbraid as ub
    >>> with ub.tracking(Lines()):
    ...     scores = ub.evaluate([[0.0], [1.0], [2.0]] * 20, [[0.0], [1.0], [2.0]] * 20, metrics="mcc")
    evaluation/protocol evaluation/n_samples evaluation/n_codes evaluation/n_factors evaluation/version
    0 1.0
    done
    """
    if _active.get() is not None:
        raise ValueError("tracking is on already; end it before another begins, or write one tracker that does both.")
    before = _active.set((tracker, Counter()))
    failed = True
    try:
        yield tracker
        failed = False
    finally:
        _active.reset(before)
        tracker.close(failed)


class Track:
    """What one training or evaluation reports; does nothing outside of ``tracking``."""

    def __init__(self, wanted: str, parameters: Mapping[str, Any]):
        self._tracker: Tracker | None
        self._tracker, taken = _active.get() or (None, Counter())
        taken[wanted] += 1
        self._room = wanted if taken[wanted] == 1 else f"{wanted}-{taken[wanted]}"
        if self._tracker is not None:
            self._tracker.parameters({f"{self._room}/{k}": _plain(v) for k, v in parameters.items()})

    def __call__(self, record: Mapping[str, Any], step: int) -> None:
        """Figures of one step; what is no finite number stays out, a list becomes one figure an entry.

        No name may continue another after a slash: a file store of MLflow makes folders of them.
        """
        if self._tracker is None:
            return
        found: dict[str, float] = {}
        for name, value in record.items():
            entries = {f"{name}/{i}": v for i, v in enumerate(value)} if isinstance(value, list) else {name: value}
            for entry, number in entries.items():
                if isinstance(number, int | float) and entry != "step" and math.isfinite(number):
                    found[f"{self._room}/{entry}"] = float(number)
        if found:
            self._tracker.figures(found, step)


def _plain(value: Any) -> Any:
    """Numbers and words as they are; the rest by its words, at a length that every tracker takes."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    words = json.dumps(value) if isinstance(value, list | tuple | dict) else repr(value)
    return words if len(words) <= 500 else words[:497] + "..."
