"""What all trained estimators share: the parameters of a run, its identity, and what it leaves behind."""

import json
import os
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unbraid.data.gaps import refuse_empty
from unbraid.data.rows import Rows
from unbraid.estimator.parameters import COUNT, RANDOM_STATE, Hint, Number
from unbraid.export.exportable import Exportable
from unbraid.runtime.determinism import seed_of
from unbraid.training.checkpoint import read_checkpoint
from unbraid.training.devices import PRECISIONS, Device
from unbraid.training.logs import Logs
from unbraid.training.run import Run
from unbraid.training.trainer import Stepper
from unbraid.trust.warnings import warn

PATH = (str, os.PathLike, None)
BLOCK = 1024  # rows that are looked at in one go for columns that vary
SPREADS = 1e-15, 1e15  # standard deviations whose squares, and those of what networks make of them, fit into float32


class TrainedEstimator(Exportable):
    """Base of the estimators that are trained step by step; a subclass says how its network encodes rows.

    Parameters that all of them take:

    Parameters
    ----------
    batch_size : int
        Points per step.
    max_steps : int
        Steps of Adam.
    learning_rate : float
        Of Adam.
    max_seconds : float, optional
        Stop after this time, with a warning; with ``checkpoint``, the next fit resumes.
    checkpoint : path, optional
        A file that is written during training, at its end, and on Ctrl-C. If it exists, ``fit`` resumes from it
        exactly; a checkpoint of another model, other parameters, another seed or other data is refused.
    checkpoint_every : int
        Steps between two checkpoints.
    log : path, optional
        A folder for ``log.jsonl``: the records of ``history_``, one per line, written during training.
    log_every : int
        Steps between two records.
    tensorboard : bool
        Write TensorBoard's event files to ``log`` as well.
    device : str
        "auto" takes a GPU if there is one.
    precision : "float32", "bf16" or "fp16"
        Mixed precision, by accelerate, where the method has it.
    progress : bool, optional
        Show a bar; by default if standard error is a terminal.
    random_state : int, RandomState, Generator or None
        Makes a run repeatable. The global random state is neither used nor changed. With None, a resumed run uses the
        seed of its checkpoint.

    Attributes
    ----------
    history_ : list of dict
        The records: ``step``, ``loss``, ``seconds`` since the fit began, and what a method adds.
    n_steps_ : int
        Steps taken.
    stopped_ : str
        Why training ended: "max_steps", "max_seconds=..." or "plateau".
    varying_ : array of int or None
        Columns of a table that vary, if some do not: the networks see these only, so constant columns do not change
        the codes. None if all do, and where rows are images, augmented, or for networks of your own.
    constants_ : array (n_features,) or None
        A row of that table; decoded rows have its numbers in the columns that do not vary.
    """

    _parameter_constraints = {
        "batch_size": COUNT,
        "max_steps": COUNT,
        "learning_rate": (Number(above=0), Hint("Try 1e-3.")),
        "max_seconds": (Number(0), None),
        "checkpoint": PATH,
        "checkpoint_every": COUNT,
        "log": PATH,
        "log_every": COUNT,
        "tensorboard": (bool,),
        "device": (str,),
        "precision": PRECISIONS,
        "progress": (bool, None),
        "random_state": RANDOM_STATE,
    }
    _not_identity: ClassVar[frozenset[str]] = frozenset(
        ("max_seconds", "checkpoint", "checkpoint_every", "log", "log_every", "tensorboard", "device", "progress")
        + ("random_state", "null")
    )
    batch_size: Any
    max_steps: Any
    learning_rate: Any
    varying_: NDArray[np.intp] | None
    constants_: NDArray | None

    def __init__(
        self,
        *,
        batch_size: int | None = None,
        max_steps: int | None = None,
        learning_rate: float | None = None,
        max_seconds: float | None = None,
        checkpoint: str | os.PathLike | None = None,
        checkpoint_every: int = 1000,
        log: str | os.PathLike | None = None,
        log_every: int = 100,
        tensorboard: bool = False,
        device: str = "auto",
        precision: str = "float32",
        progress: bool | None = None,
        random_state: Any = None,
    ):
        self.batch_size = batch_size
        self.max_steps = max_steps
        self.learning_rate = learning_rate
        self.max_seconds = max_seconds
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.log = log
        self.log_every = log_every
        self.tensorboard = tensorboard
        self.device = device
        self.precision = precision
        self.progress = progress
        self.random_state = random_state

    @property
    def _leaves_out_constants(self) -> bool:
        return True

    def _read(self, X: Any, *, fewest: int = 2) -> Rows:
        rows = super()._read(X, fewest=fewest)
        self.varying_ = self.constants_ = None
        if len(rows.row_shape) == 1 and not rows.endless and self._leaves_out_constants:
            first, varies = _varying(rows)
            if varies.any() and not varies.all():
                self.varying_, self.constants_ = np.flatnonzero(varies), first
                rows.keep(self.varying_)
        return rows

    def _read_new(self, X: Any) -> Rows:
        rows = super()._read_new(X)
        if self.varying_ is not None:
            rows.keep(self.varying_)
        return rows

    @property
    def _seen_shape(self) -> tuple[int, ...]:
        """Of a row as the networks see it."""
        return tuple(self.row_shape_) if self.varying_ is None else (len(self.varying_),)

    def _decoded(self, rows: NDArray) -> NDArray:
        if self.varying_ is None or self.constants_ is None:
            return super()._decoded(rows)
        whole = np.tile(self.constants_.astype(rows.dtype), (len(rows), 1))
        whole[:, self.varying_] = rows.reshape(len(rows), -1)
        return super()._decoded(whole)

    def _rebuilt(self) -> Any:
        """The trained network, from fitted arrays alone (so that saving needs arrays only)."""
        raise NotImplementedError

    def _codes_of(self, rows: Rows) -> np.ndarray:
        """Codes of checked rows."""
        raise NotImplementedError

    @property
    def _network(self) -> Any:
        if "_cached" not in self.__dict__:
            self._cached = self._rebuilt()
        return self._cached

    def _new_rows(self, X: Any) -> Rows:
        check_is_fitted(self, ("weights_", "theta_"), all_or_any=any)
        return self._read_new(X)

    def transform(self, X: Any) -> np.ndarray:
        """Codes (n, n_codes): of flows, the most important latent first; of variational models, the means.

        They are computed in the precision of X.
        """
        return self._codes_of(self._new_rows(X))

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in super().__getstate__().items() if k != "_cached"}

    _get_state = __getstate__

    def _device(self) -> Device:
        """Where the steps run."""
        return Device(self.device)

    def _seed(self) -> int:
        """The seed of ``random_state``; with None, that of the checkpoint to resume from, if there is one."""
        if self.random_state is None and self.checkpoint is not None and Path(self.checkpoint).exists():
            return int(read_checkpoint(Path(self.checkpoint))[1]["identity"]["seed"])
        return seed_of(self.random_state)

    def _identity(self, seed: int, rows: Rows, **more: Any) -> dict[str, Any]:
        """What makes two runs the same: all parameters except those for how long, where and how often."""
        data = "" if self.checkpoint is None else rows.fingerprint()  # it reads all rows
        shown = {k: v for k, v in self.get_params(deep=False).items() if k not in self._not_identity}
        identity = {"model": type(self).__name__, **shown, **more, **self.evidence_, "seed": seed, "data": data}
        return json.loads(json.dumps(identity, default=_plain))

    def _run(self, trainer: Stepper, device: Device, max_steps: int, identity: dict[str, Any]) -> None:
        """Train, and keep the history and why it stopped."""
        logs = Logs(None if self.log is None else Path(self.log), self.tensorboard)
        checkpoint = None if self.checkpoint is None else Path(self.checkpoint)
        run = Run(trainer, identity, max_steps, self.max_seconds, checkpoint, self.checkpoint_every, device)
        run.go(logs, self.progress, type(self).__name__)
        self.history_ = run.history
        self.n_steps_ = run.n_steps
        self.stopped_ = run.stopped or "max_steps"
        if run.stopped.startswith("max_seconds"):
            warn("UB401", stacklevel=4, done=run.n_steps, of=max_steps, by=run.stopped)


def _varying(rows: Rows) -> tuple[NDArray, NDArray[np.bool_]]:
    """The first row of a table, and which columns differ from it in another; mostly the first block shows it."""
    blocks = (rows.clean(block) for block in rows.stored(BLOCK))
    block = next(blocks)
    first = np.fmax.reduce(block, axis=0) if rows.gaps else block[0]
    varies = _differ(block, first)
    for block in blocks:
        if varies.all():
            break
        varies |= _differ(block, first)
    refuse_empty(~varies & np.isnan(first))
    return first, varies


def _differ(block: NDArray, first: NDArray) -> NDArray[np.bool_]:
    """Columns in which a value that is there differs from that of a row."""
    return np.asarray(((block != first) & ~np.isnan(block)).any(axis=0))


def check_spread(spread: float) -> None:
    """Refuse data that do not vary, or by so little or so much that float32, in which networks are trained, fails.

    >>> check_spread(1e100)
    Traceback (most recent call last):
    ValueError: X has a standard deviation of 1e+100; networks are trained in float32, which takes 1e-15 to 1e+15. ...
    """
    if spread == 0:
        raise ValueError(
            "X is constant: all rows are the same, or differ by less than float64 can square: nothing to learn."
        )
    if not SPREADS[0] <= spread <= SPREADS[1]:
        raise ValueError(
            f"X has a standard deviation of {spread:.3g}; networks are trained in float32, which takes {SPREADS[0]:g} "
            f"to {SPREADS[1]:g}. Rescale X, for instance X / X.std()."
        )


def _plain(value: Any) -> Any:
    """Parameters that JSON cannot hold: NumPy numbers as numbers, estimators and other objects as their repr."""
    return value.item() if isinstance(value, np.generic) else repr(value)
