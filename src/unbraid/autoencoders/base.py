"""What all autoencoders share: parameters, checked data, and the way from networks to trained weights."""

import copy
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import nn

from unbraid.autoencoders import likelihood
from unbraid.autoencoders.coding import Coder, is_table
from unbraid.autoencoders.points import Points, as_images, check_values
from unbraid.autoencoders.presets import Preset, preset_of
from unbraid.autoencoders.training import Batch, Group, Loss, Schedule, Trainer
from unbraid.contract.parameters import InheritsParameters
from unbraid.contract.persistence import Persistent
from unbraid.contract.summary import Summary
from unbraid.networks.autoencoder import initialise
from unbraid.training.devices import PRECISIONS, Accelerated, Single
from unbraid.training.logs import Logs

NOT_IDENTITY = frozenset(
    ("max_seconds", "checkpoint", "checkpoint_every", "log", "log_every", "tensorboard", "device", "progress")
    + ("accelerate", "random_state", "max_steps", "batch_size", "encoder", "decoder", "teacher")
)


class AutoencoderEstimator(
    Coder, InheritsParameters, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, Persistent
):
    """Base of the autoencoders.

    Parameters that all of them take:

    Parameters
    ----------
    n_factors : int
        Number of codes.
    preset : "small", "patches", "paper" or "paper-dense"
        "paper" is the protocol of the large study to the letter: its convolutional networks and initialisation, batch
        64, 300,000 steps, learning rate 1e-4; hours a model on a CPU. "paper-dense" has its fully connected
        networks. "small" has light networks, 10,000 steps and learning rate 1e-3; its decoder makes every place
        of an image by one small network, which favours codes for position and suits plain objects. "patches" has
        light networks for rich images such as faces.
    encoder, decoder : torch modules, optional
        Your own in place of the preset's. The encoder takes (batch, channels, height, width) or (batch, features) and
        gives (batch, n_factors), or (batch, 2 n_factors) for the variational ones: means, then log-variances. The
        decoder takes (batch, n_factors) and gives what the encoder takes; logits if the likelihood is Bernoulli. They
        are copied before training.
    likelihood : "auto", "bernoulli" or "gaussian"
        Of the data given the codes, summed over pixels. "auto" is Bernoulli for images and Gaussian for vectors in the
        variational ones, and Gaussian (squared error) in the others.
    batch_size, max_steps, learning_rate : optional
        In place of the preset's.
    max_seconds : float, optional
        Stop after this time, with a warning; with ``checkpoint`` the next fit goes on.
    checkpoint : path, optional
        A file that is written as training goes and when it is interrupted. If it exists, ``fit`` goes on from it,
        exactly.
    checkpoint_every, log_every : int
        Steps between two of them.
    log : path, optional
        A folder for ``log.jsonl``, a line every ``log_every`` steps.
    tensorboard : bool
        Write TensorBoard's event files to ``log`` as well.
    device : str
        "auto" takes a GPU if there is one.
    precision : "float32", "bf16" or "fp16"
        Mixed precision, by accelerate.
    accelerate : bool
        Train in all processes of ``accelerate launch``.
    progress : bool, optional
        Show a bar; by default if standard error is a terminal.
    random_state : int, RandomState or None
        Makes a run repeatable. The global random state is neither used nor changed.

    Notes
    -----
    Batches are drawn with replacement. Images may be uint8 (0 to 255; or 0 and 1 only), bool, or floats in [0, 1].
    Vectors are centred, and divided by one number, their overall standard deviation, on their way to the networks.
    """

    _n_heads: ClassVar[int] = 1
    _image_likelihood: ClassVar[str] = "gaussian"
    _whole_numbers: ClassVar[tuple[str, ...]] = (
        "n_factors",
        "batch_size",
        "max_steps",
        "checkpoint_every",
        "log_every",
    )

    def __init__(
        self,
        n_factors: int = 10,
        *,
        preset: str = "small",
        encoder: nn.Module | None = None,
        decoder: nn.Module | None = None,
        likelihood: str = "auto",
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
        accelerate: bool = False,
        progress: bool | None = None,
        random_state: Any = None,
    ):
        self.n_factors = n_factors
        self.preset = preset
        self.encoder = encoder
        self.decoder = decoder
        self.likelihood = likelihood
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
        self.accelerate = accelerate
        self.progress = progress
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if self.likelihood not in likelihood.LIKELIHOODS:
            allowed = ", ".join(likelihood.LIKELIHOODS)
            raise ValueError(f"likelihood={self.likelihood!r} is unknown; choose one of: {allowed}.")
        if self.precision not in PRECISIONS:
            raise ValueError(f"precision={self.precision!r} is unknown; choose one of: {', '.join(PRECISIONS)}.")
        for name in self._whole_numbers:
            value = getattr(self, name)
            unset = value is None and name in ("batch_size", "max_steps")
            if not (unset or (isinstance(value, int | np.integer) and value >= 1)):
                raise ValueError(f"{name}={value!r} must be a whole number of at least 1.")
        if self.learning_rate is not None and not self.learning_rate > 0:
            raise ValueError(f"learning_rate={self.learning_rate!r} must be above 0; the presets have 1e-4 and 1e-3.")
        if (self.encoder is None) != (self.decoder is None):
            raise ValueError("give both encoder and decoder, or neither: they must fit each other.")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on X.

        Parameters
        ----------
        X : array or memory map (n, features), (n, height, width) or (n, height, width, channels), or a Dataset
            Sides of images must be divisible by 16.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        points = self._read(X)
        preset = preset_of(self.preset, points.shape)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._before_training(points, seed)
        networks = self._networks(points.shape, preset, torch.Generator().manual_seed(seed))
        self._try_out(networks, points)
        self._train(networks, points, self._schedule(preset), preset, seed)
        self._after_training(points)
        return self

    def summary(self) -> Summary:
        """What there is to say and to show about this fitted model; pages and terminals print it."""
        check_is_fitted(self)
        from unbraid.autoencoders.summary import summary_of

        return summary_of(self)

    def _read(self, X: Any) -> Points:
        if is_table(X):
            X = validate_data(self, X, dtype=(np.float64, np.float32), ensure_min_samples=2)
        points = Points(X)
        self.row_shape_ = points.row_shape
        self.unit_ = points.unit
        self.n_features_in_ = int(np.prod(points.row_shape))
        self.likelihood_ = self.likelihood
        if self.likelihood == "auto":
            self.likelihood_ = self._image_likelihood if points.is_image else "gaussian"
        if points.is_image:
            self.center_, self.scale_ = np.float64(0), 1.0
        else:
            self._standardise(points)
        if self.likelihood_ == "bernoulli" and not points.is_image:
            for block in points.blocks(raw=True):
                check_values(block, True)
            self.center_, self.scale_ = np.float64(0), 1.0
        return points

    def _standardise(self, points: Points) -> None:
        """Two passes: the mean of each feature, then the overall standard deviation."""
        total = sum(b.double().sum(0) for b in points.blocks())
        self.center_ = (total / points.n).numpy()
        squares = sum(float((b.double() - torch.from_numpy(self.center_)).square().sum()) for b in points.blocks())
        self.scale_ = float(np.sqrt(squares / (points.n * self.n_features_in_))) or 1.0

    def _before_training(self, points: Points, seed: int) -> None:
        """A place for what must be known first."""

    def _after_training(self, points: Points) -> None:
        """A place for statistics of the trained model."""

    def _networks(self, shape: tuple[int, ...], preset: Preset, generator: torch.Generator) -> nn.ModuleDict:
        """Encoder and decoder with fresh weights, drawn from ``generator`` alone."""
        if self.encoder is not None and self.decoder is not None:
            return nn.ModuleDict({"encoder": copy.deepcopy(self.encoder), "decoder": copy.deepcopy(self.decoder)})
        with torch.random.fork_rng(devices=[]):
            encoder = preset.encoder(shape, *[self._n_codes] * self._n_heads)
            networks = nn.ModuleDict({"encoder": encoder, "decoder": preset.decoder(shape, self._n_codes)})
        initialise(networks, preset.initialisation, generator)
        return networks

    @property
    def _n_codes(self) -> int:
        return int(self.n_factors)

    def _try_out(self, networks: nn.ModuleDict, points: Points) -> None:
        """Whether the networks fit the data and each other; the user's own may not."""
        if self.encoder is None:
            return
        shape = (2, *points.shape)
        wanted = (2, self._n_heads * self._n_codes)
        with torch.no_grad():
            codes = networks["encoder"](as_images(torch.zeros(2, *points.row_shape), points.row_shape))
            if tuple(codes.shape) != wanted:
                raise ValueError(
                    f"the encoder gives {tuple(codes.shape)} for a batch of shape {shape}; {type(self).__name__} needs "
                    f"{wanted}: {self._n_heads} x n_factors={self._n_codes} numbers a point."
                )
            decoded = networks["decoder"](codes[:, : self._n_codes])
        if tuple(decoded.shape) != shape:
            raise ValueError(
                f"the decoder gives {tuple(decoded.shape)} for 2 codes; it must give {shape}, like the data."
            )

    def _schedule(self, preset: Preset) -> Schedule:
        return Schedule(
            max_steps=self.max_steps or preset.max_steps,
            batch_size=self.batch_size or preset.batch_size,
            max_seconds=self.max_seconds,
            checkpoint_every=self.checkpoint_every,
            log_every=self.log_every,
        )

    def _groups(self, preset: Preset) -> dict[str, Group]:
        rate = self.learning_rate or preset.learning_rate
        return {"model": Group(("encoder", "decoder"), rate, preset.betas, preset.eps)}

    def _objective(self, networks: nn.ModuleDict, points: Points, schedule: Schedule) -> Any:
        """The method: a generator function of a :class:`Batch`."""
        raise NotImplementedError

    def _train(self, networks: nn.ModuleDict, points: Points, schedule: Schedule, preset: Preset, seed: int) -> None:
        wants = self.accelerate or self.precision != "float32"
        home = Accelerated(self.device, self.precision) if wants else Single(self.device)
        logs = Logs(None if self.log is None else Path(self.log), self.tensorboard)
        objective = self._standardised(self._objective(networks, points, schedule), home.device)
        identity = self._identity(points, schedule, seed)
        trainer = Trainer(networks, self._groups(preset), objective, points, schedule, seed, home, identity)
        checkpoint = None if self.checkpoint is None else Path(self.checkpoint)
        trainer.run(checkpoint, logs, self.progress, type(self).__name__)
        p = trainer.progress
        self.history_ = p.history
        self.n_steps_ = p.step
        self.stopped_ = p.stopped or "max_steps"
        self.weights_ = {k: v.detach().cpu().contiguous().numpy().copy() for k, v in networks.state_dict().items()}
        self.networks_ = "" if self.encoder is None else f"{type(self.encoder).__name__}, {type(self.decoder).__name__}"
        self._cached = networks.to("cpu").eval()
        if p.stopped:
            warnings.warn(
                f"stopped after {p.step} of {schedule.max_steps} steps by {p.stopped}; give checkpoint=... and fit "
                "again to go on, or raise max_seconds.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _identity(self, points: Points, schedule: Schedule, seed: int) -> dict[str, Any]:
        """What makes two runs the same: all parameters but those that only say how long, where and how often."""
        shown = {k: v for k, v in self.get_params(deep=False).items() if k not in NOT_IDENTITY}
        shown |= {"max_steps": schedule.max_steps, "batch_size": schedule.batch_size, "seed": seed}
        if self.encoder is not None:
            shown["networks"] = f"{type(self.encoder).__name__}, {type(self.decoder).__name__}"
        return {"model": type(self).__name__, **shown, "data": points.fingerprint()}

    def _standardised(self, objective: Any, device: torch.device) -> Any:
        if self.scale_ == 1.0 and np.ndim(self.center_) == 0:
            return objective
        center = torch.from_numpy(np.asarray(self.center_)).to(torch.float32).to(device)

        def standardised(batch: Batch) -> Iterator[Loss]:
            batch.x = (batch.x - center) / self.scale_
            return objective(batch)

        return standardised
