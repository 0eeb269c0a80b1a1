"""What all methods with a trained encoder share: presets, standardised rows, training, codes, export."""

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn

from unbraid.data.observations import Observations
from unbraid.data.rows import Rows
from unbraid.estimator.parameters import COUNT
from unbraid.export.graphs import Graphs
from unbraid.networks.autoencoder import initialise
from unbraid.networks.layout import as_images, joined, shape_of
from unbraid.training.batches import BLOCK, Batch, Batches, Points
from unbraid.training.devices import Accelerated, Device
from unbraid.training.estimator import TrainedEstimator, check_spread
from unbraid.training.graphs import EncoderGraph, example_rows
from unbraid.training.trainer import Group, Loss, Schedule, Trainer

CHUNK = 512  # rows that are encoded or decoded at once
SUMMARY = 10_000  # rows from which statistics of the codes are taken


@dataclass(frozen=True, kw_only=True)
class Preset:
    """An encoder and how it is trained; an estimator's own parameters take precedence.

    Attributes
    ----------
    encoder : callable ``(shape, *n_out)``
    initialisation : "glorot" or "torch"
    max_steps, learning_rate, batch_size : the loop's and Adam's
    decay : of the learning rate, "constant" or "cosine"
    for_images : whether the encoder takes images only
    """

    encoder: Callable[..., nn.Module]
    initialisation: str
    max_steps: int
    learning_rate: float
    batch_size: int = 64
    decay: str = "constant"
    for_images: bool = False


class EncoderEstimator(TrainedEstimator):
    """Base of the methods that train an encoder, with or without a decoder.

    Parameters that all of them take:

    Parameters
    ----------
    n_factors : int
        Number of codes.
    preset : str
        The networks, and how they are trained.
    encoder : torch module, optional
        Your own in place of the preset's. It takes (batch, channels, height, width) or (batch, features) and gives
        (batch, n_factors). It is copied before training.
    accelerate : bool
        Train in all processes of ``accelerate launch``.
    **settings
        See :class:`~unbraid.training.estimator.TrainedEstimator`; ``batch_size``, ``max_steps`` and ``learning_rate``
        are the preset's unless given.
    """

    unit_interval = True
    center_: Any
    scale_: Any
    _presets: ClassVar[Mapping[str, Preset]]
    _n_heads: ClassVar[int] = 1
    _trained: ClassVar[tuple[str, ...]] = ("encoder",)  # networks that the main loss trains
    _own: ClassVar[tuple[str, ...]] = ("encoder",)  # those for which a user may give a module
    _per_feature: ClassVar[bool] = False  # whether vectors are divided by a number for each feature
    _parameter_constraints = {
        "n_factors": COUNT,
        "encoder": (nn.Module, None),
        "accelerate": (bool,),
        "batch_size": (*COUNT, None),
        "max_steps": (*COUNT, None),
        "learning_rate": (*TrainedEstimator._parameter_constraints["learning_rate"], None),
    }
    _not_identity = TrainedEstimator._not_identity | {"accelerate", "encoder"}

    def __init__(
        self,
        n_factors: int = 10,
        *,
        preset: str = "small",
        encoder: nn.Module | None = None,
        accelerate: bool = False,
        **settings: Any,
    ):
        super().__init__(**settings)
        self.n_factors = n_factors
        self.preset = preset
        self.encoder = encoder
        self.accelerate = accelerate

    def _fit(self, points: Points) -> Self:
        shape = self._network_shape
        preset = self._preset_for(shape)
        seed = self._seed()
        self._before_training(points, seed)
        networks = self._networks(shape, preset, torch.Generator().manual_seed(seed))
        self._check_networks(networks)
        networks = self._whole(networks, points)
        self._train(networks, points, self._schedule(preset), preset, seed)
        self._after_training(points)
        return self

    def _read(self, X: Any, *, fewest: int = 2) -> Rows:
        rows = super()._read(X, fewest=fewest)
        shape_of(self._seen_shape)  # images of other shapes are refused first
        return rows

    def _points(self, X: Any) -> Points:
        known = self._observed(X)
        points = Points(self._read(known), self._known(known))
        if points.is_constant():
            check_spread(0.0)
        self.center_, self.scale_ = np.float64(0), 1.0
        if not points.rows.in_unit_interval:
            self._standardise(points)
        return points

    def _known(self, known: Observations) -> dict[str, np.ndarray]:
        """What batches carry of the evidence."""
        return {name: getattr(known, name) for name in known.evidence}

    def _standardise(self, points: Points) -> None:
        """Two passes: the mean of each feature, then the standard deviation, of each or of all together."""
        rows, gaps = points.rows, points.rows.gaps and points.rows.dtype.kind == "f"
        total = np.nansum if gaps else np.sum
        there: Any = sum((~np.isnan(b)).sum(0) for b in rows.stored(BLOCK)) if gaps else points.n
        self.center_ = sum(total(b, axis=0, dtype=np.float64) for b in rows.stored(BLOCK)) / there
        axis, width = (0, 1) if self._per_feature else (None, points.rows.n_features)
        squares = sum(total(np.square(b - self.center_), axis=axis) for b in rows.stored(BLOCK))
        cells = np.sum(there) if gaps and axis is None else there * width
        spread = np.sqrt(squares / cells)
        constant = spread <= 1e-12 * np.abs(self.center_) if self._per_feature else spread == 0
        points.center = self.center_
        points.scale = self.scale_ = np.where(constant, 1.0, spread) if self._per_feature else float(spread)
        check_spread(float(np.min(self.scale_)))
        check_spread(float(np.max(self.scale_)))

    def _before_training(self, points: Points, seed: int) -> None:
        """Hook: what must be computed before training."""

    def _after_training(self, points: Points) -> None:
        """Hook: statistics of the trained model."""

    def _preset_for(self, shape: tuple[int, ...]) -> Any:
        """The preset for points of this shape; convolutions need images."""
        preset = self._presets[self.preset]
        if preset.for_images and len(shape) == 1:
            others = " or ".join(repr(name) for name, other in self._presets.items() if not other.for_images)
            raise ValueError(
                f"preset={self.preset!r} needs images (n, height, width) or (n, height, width, channels); rows of X "
                f"are vectors of {math.prod(shape)} numbers. Use {others}."
            )
        return preset

    def _networks(self, shape: tuple[int, ...], preset: Any, generator: torch.Generator) -> nn.ModuleDict:
        """The networks with fresh weights, drawn from ``generator`` alone."""
        if self.encoder is not None:
            return nn.ModuleDict({name: copy.deepcopy(getattr(self, name)) for name in self._own})
        with torch.random.fork_rng(devices=[]):
            networks = nn.ModuleDict(self._parts(shape, preset))
        initialise(networks, preset.initialisation, generator)
        return networks

    def _whole(self, networks: nn.ModuleDict, points: Points | None = None) -> nn.ModuleDict:
        """Hook: the networks with what a method puts around them; ``points`` are those of the fit."""
        return networks

    def _parts(self, shape: tuple[int, ...], preset: Any) -> dict[str, nn.Module]:
        """The preset's networks by their names."""
        return {"encoder": preset.encoder(shape, *self._head_sizes)}

    @property
    def _n_codes(self) -> int:
        return int(self.n_factors)

    @property
    def _head_sizes(self) -> tuple[int, ...]:
        """How many numbers each part of the encoder's output has; the codes come first."""
        return (self._n_codes,) * self._n_heads

    def _check_networks(self, networks: nn.ModuleDict) -> None:
        """Check that the user's own encoder matches the data."""
        if self.encoder is None:
            return
        wanted = (2, sum(self._head_sizes))
        with torch.no_grad():
            codes = networks["encoder"](as_images(torch.zeros(2, *self._seen_shape), self._seen_shape))
        if tuple(codes.shape) != wanted:
            raise ValueError(
                f"the encoder returns shape {tuple(codes.shape)} for a batch of shape {(2, *self._network_shape)}; "
                f"{type(self).__name__} needs {wanted}: {' + '.join(map(str, self._head_sizes))} values a row for "
                f"n_factors={self._n_codes}."
            )

    def _schedule(self, preset: Any) -> Schedule:
        return Schedule(
            max_steps=self.max_steps or preset.max_steps,
            batch_size=self.batch_size or preset.batch_size,
            log_every=self.log_every,
            decay=preset.decay,
        )

    def _groups(self, preset: Any) -> dict[str, Group]:
        return {"model": Group(self._trained, self.learning_rate or preset.learning_rate)}

    def _objective(self, batch: Batch, networks: nn.ModuleDict, points: Points, schedule: Schedule) -> Iterator[Loss]:
        """The method: the losses of a batch, each followed by its step of Adam."""
        raise NotImplementedError

    def _device(self) -> Device:
        wants = self.accelerate or self.precision != "float32"
        return Accelerated(self.device, self.precision) if wants else super()._device()

    def _train(self, networks: nn.ModuleDict, points: Points, schedule: Schedule, preset: Any, seed: int) -> None:
        device = self._device()
        objective = partial(self._objective, networks=networks, points=points, schedule=schedule)
        own = ", ".join(type(getattr(self, name)).__name__ for name in self._own)
        self.networks_ = "" if self.encoder is None else own
        identity = self._identity(
            seed,
            points.rows,
            max_steps=schedule.max_steps,
            batch_size=schedule.batch_size,
            networks=self.networks_,
        )
        source = Batches(points, schedule.batch_size, seed, device)
        trainer = Trainer(networks, self._groups(preset), objective, source, schedule, device)
        self._run(trainer, device, schedule.max_steps, identity)
        self._keep(networks.to("cpu").eval())

    def _keep(self, networks: nn.ModuleDict) -> None:
        """The trained networks as arrays, which are what is saved, and as they are until then."""
        self.weights_ = {k: v.detach().contiguous().numpy().copy() for k, v in networks.state_dict().items()}
        self._cached = networks

    @property
    def _network_shape(self) -> tuple[int, ...]:
        return shape_of(self._seen_shape)

    @property
    def _leaves_out_constants(self) -> bool:
        return self.encoder is None  # the user's own networks are made for all columns

    def _rebuilt(self) -> nn.ModuleDict:
        if self.networks_ and self.encoder is None:
            again = ", ".join(f"{name}=..." for name in self._own)
            raise ValueError(
                f"this model was trained with your own networks ({self.networks_}); they are code, which is not saved. "
                f"Set them again: model.set_params({again})."
            )
        shape = self._network_shape
        networks = self._whole(self._networks(shape, self._preset_for(shape), torch.Generator()))
        networks.load_state_dict({k: torch.from_numpy(np.asarray(v)) for k, v in self.weights_.items()})
        return networks.to(memory_format=torch.channels_last).eval()  # type: ignore[call-overload]

    def _get_state(self) -> dict[str, Any]:
        return super()._get_state() | dict.fromkeys(self._own)

    def _to_network(self, block: np.ndarray) -> Tensor:
        """Checked rows as the encoder takes them; vectors in the precision they have."""
        if block.ndim > 2:
            return as_images(torch.from_numpy(block.astype(np.float32, copy=False)), block.shape[1:])
        return torch.from_numpy((block - np.asarray(self.center_, block.dtype)) / np.asarray(self.scale_, block.dtype))

    def _encoded(self, rows: Rows, most: int | None = None) -> np.ndarray:
        """The encoder's output, (n, n_heads * n_factors), of the first ``most`` rows if given."""
        with torch.no_grad():
            return np.concatenate([self._in_precision("encoder", x)(x).numpy() for x in self._inputs(rows, most)])

    def _inputs(self, rows: Rows, most: int | None = None) -> Iterator[Tensor]:
        """What the encoder takes of the first ``most`` rows, in chunks."""
        start = 0
        for block in rows.stored(CHUNK, most):
            x = self._to_network(rows.clean(block))
            if rows.beside is not None:
                x = joined(x, torch.from_numpy(rows.beside[start : start + len(block)]).to(x.dtype))
            start += len(block)
            yield x

    def _in_precision(self, name: str, x: Tensor) -> Any:
        network = self._network[name]
        return network if x.dtype == torch.float32 else copy.deepcopy(network).to(x.dtype)

    def _codes_of(self, rows: Rows, most: int | None = None) -> np.ndarray:
        return self._encoded(rows, most)[:, : self._n_codes]

    def _graphs(self) -> Graphs:
        return Graphs(EncoderGraph(self, self._network["encoder"], *self._code_unit), None, example_rows(self))

    @property
    def _code_unit(self) -> tuple[Any, Any]:
        """Mean and standard deviation of the codes that the networks give as mean 0 and standard deviation 1."""
        return 0.0, 1.0

    @property
    def _n_features_out(self) -> int:
        return self._n_codes
