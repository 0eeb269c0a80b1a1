"""What all autoencoders share: parameters, the way to trained weights, codes of data, and data of codes."""

import copy
from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from unbraid.autoencoders import likelihood
from unbraid.autoencoders.graphs import DecoderGraph, EncoderGraph, example_rows
from unbraid.autoencoders.presets import BATCH_SIZE, PRESETS, Preset, preset_of, shape_of
from unbraid.autoencoders.summary import summary_of
from unbraid.data.rows import Rows
from unbraid.estimator.base import COUNT
from unbraid.estimator.summary import Summary
from unbraid.export.graphs import Graphs
from unbraid.networks.autoencoder import initialise
from unbraid.networks.layout import as_images, as_rows
from unbraid.training.batches import BLOCK, Batch, Batches, Points
from unbraid.training.devices import Accelerated, Device
from unbraid.training.estimator import TrainedEstimator, check_spread
from unbraid.training.trainer import Group, Loss, Schedule, Trainer

CHUNK = 512  # rows that are encoded or decoded at once
SUMMARY = 10_000  # rows from which statistics of the codes are taken


class AutoencoderEstimator(TrainedEstimator):
    """Base of the autoencoders.

    Parameters that all of them take:

    Parameters
    ----------
    n_factors : int
        Number of codes.
    preset : "small", "patches", "paper" or "paper-dense"
        "paper" is the protocol of the large study to the letter: its convolutional networks and initialisation, batch
        64, 300,000 steps, learning rate 1e-4; hours a model on a CPU. "paper-dense" has its fully connected
        networks. "small" has light networks, 10,000 steps and learning rate 1e-3; its decoder makes every patch
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
    accelerate : bool
        Train in all processes of ``accelerate launch``.
    **settings
        See :class:`~unbraid.training.estimator.TrainedEstimator`; ``batch_size``, ``max_steps`` and ``learning_rate``
        are the preset's unless given.

    Notes
    -----
    Batches are drawn with replacement. Images may be uint8 (0 to 255; or 0 and 1 only), bool, or floats in [0, 1].
    Vectors are centred, and divided by one number, their overall standard deviation, on their way to the networks.
    """

    unit_interval = True
    center_: Any
    _n_heads: ClassVar[int] = 1
    _image_likelihood: ClassVar[str] = "gaussian"
    _parameter_constraints = {
        "n_factors": COUNT,
        "preset": tuple(PRESETS),
        "encoder": (nn.Module, None),
        "decoder": (nn.Module, None),
        "likelihood": likelihood.LIKELIHOODS,
        "accelerate": (bool,),
        "batch_size": (*COUNT, None),
        "max_steps": (*COUNT, None),
        "learning_rate": (*TrainedEstimator._parameter_constraints["learning_rate"], None),
    }
    _not_identity = TrainedEstimator._not_identity | {"accelerate", "encoder", "decoder"}

    def __init__(
        self,
        n_factors: int = 10,
        *,
        preset: str = "small",
        encoder: nn.Module | None = None,
        decoder: nn.Module | None = None,
        likelihood: str = "auto",
        accelerate: bool = False,
        **settings: Any,
    ):
        super().__init__(**settings)
        self.n_factors = n_factors
        self.preset = preset
        self.encoder = encoder
        self.decoder = decoder
        self.likelihood = likelihood
        self.accelerate = accelerate

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if (self.encoder is None) != (self.decoder is None):
            raise ValueError("set both encoder and decoder, or neither: they must match.")

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
        points = self._points(X)
        shape = self._network_shape
        preset = preset_of(self.preset, shape)
        seed = self._seed()
        self._before_training(points, seed)
        networks = self._networks(shape, preset, torch.Generator().manual_seed(seed))
        self._check_networks(networks)
        self._train(networks, points, self._schedule(preset), preset, seed)
        self._after_training(points)
        return self

    def _summary(self) -> Summary:
        return summary_of(self)

    def _points(self, X: Any) -> Points:
        known = self._observed(X)
        rows = self._read(known)
        is_image = len(rows.row_shape) > 1
        self.likelihood_ = self.likelihood
        if self.likelihood == "auto":
            self.likelihood_ = self._image_likelihood if is_image else "gaussian"
        rows.in_unit_interval |= self.likelihood_ == "bernoulli"
        points = Points(rows, {name: getattr(known, name) for name in known.evidence})
        shape_of(self._seen_shape)  # images of other shapes are refused first
        if points.is_constant():
            check_spread(0.0)
        self.center_, self.scale_ = np.float64(0), 1.0
        if not (is_image or self.likelihood_ == "bernoulli"):
            self._standardise(points)
        return points

    def _standardise(self, points: Points) -> None:
        """Two passes: the mean of each feature, then the overall standard deviation."""
        total = sum(b.sum(0, dtype=np.float64) for b in points.rows.stored(BLOCK))
        self.center_ = total / points.n
        squares = sum(float(np.square(b - self.center_).sum()) for b in points.rows.stored(BLOCK))
        points.center = self.center_
        points.scale = self.scale_ = float(np.sqrt(squares / (points.n * points.rows.n_features)))
        check_spread(self.scale_)

    def _before_training(self, points: Points, seed: int) -> None:
        """Hook: what must be computed before training."""

    def _after_training(self, points: Points) -> None:
        """Hook: statistics of the trained model."""

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

    def _check_networks(self, networks: nn.ModuleDict) -> None:
        """Check that the user's own networks match the data and each other."""
        if self.encoder is None:
            return
        shape = (2, *self._network_shape)
        wanted = (2, self._n_heads * self._n_codes)
        with torch.no_grad():
            codes = networks["encoder"](as_images(torch.zeros(2, *self._seen_shape), self._seen_shape))
            if tuple(codes.shape) != wanted:
                raise ValueError(
                    f"the encoder returns shape {tuple(codes.shape)} for a batch of shape {shape}; "
                    f"{type(self).__name__} needs {wanted}: {self._n_heads} x n_factors={self._n_codes} values a row."
                )
            decoded = networks["decoder"](codes[:, : self._n_codes])
        if tuple(decoded.shape) != shape:
            raise ValueError(
                f"the decoder returns shape {tuple(decoded.shape)} for 2 codes; it must return {shape}, as the data."
            )

    def _schedule(self, preset: Preset) -> Schedule:
        return Schedule(
            max_steps=self.max_steps or preset.max_steps,
            batch_size=self.batch_size or BATCH_SIZE,
            log_every=self.log_every,
        )

    def _groups(self, preset: Preset) -> dict[str, Group]:
        rate = self.learning_rate or preset.learning_rate
        return {"model": Group(("encoder", "decoder"), rate)}

    def _objective(self, batch: Batch, networks: nn.ModuleDict, points: Points, schedule: Schedule) -> Iterator[Loss]:
        """The method: the losses of a batch, each followed by its step of Adam."""
        raise NotImplementedError

    def _device(self) -> Device:
        wants = self.accelerate or self.precision != "float32"
        return Accelerated(self.device, self.precision) if wants else super()._device()

    def _train(self, networks: nn.ModuleDict, points: Points, schedule: Schedule, preset: Preset, seed: int) -> None:
        device = self._device()
        objective = partial(self._objective, networks=networks, points=points, schedule=schedule)
        self.networks_ = "" if self.encoder is None else f"{type(self.encoder).__name__}, {type(self.decoder).__name__}"
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
        self.weights_ = {k: v.detach().cpu().contiguous().numpy().copy() for k, v in networks.state_dict().items()}
        self._cached = networks.to("cpu").eval()

    def _reconstruction(self, output: Tensor, x: Tensor) -> Tensor:
        return (likelihood.bernoulli if self.likelihood_ == "bernoulli" else likelihood.gaussian)(output, x)

    @property
    def _network_shape(self) -> tuple[int, ...]:
        return shape_of(self._seen_shape)

    @property
    def _leaves_out_constants(self) -> bool:
        return self.encoder is None  # the user's own networks are made for all columns

    def _rebuilt(self) -> nn.ModuleDict:
        if self.networks_ and self.encoder is None:
            raise ValueError(
                f"this model was trained with your own networks ({self.networks_}); they are code, which is not saved. "
                "Set them again: model.set_params(encoder=..., decoder=...)."
            )
        shape = self._network_shape
        networks = self._networks(shape, preset_of(self.preset, shape), torch.Generator())
        networks.load_state_dict({k: torch.from_numpy(np.asarray(v)) for k, v in self.weights_.items()})
        return networks.to(memory_format=torch.channels_last).eval()  # type: ignore[call-overload]

    def _get_state(self) -> dict[str, Any]:
        return super()._get_state() | {"encoder": None, "decoder": None}

    def _new_rows(self, X: Any) -> Rows:
        rows = super()._new_rows(X)
        rows.in_unit_interval |= self.likelihood_ == "bernoulli"
        return rows

    def _to_network(self, block: np.ndarray) -> Tensor:
        """Checked rows as the encoder takes them; vectors in the precision they have."""
        if block.ndim > 2:
            return as_images(torch.from_numpy(block.astype(np.float32, copy=False)), block.shape[1:])
        return torch.from_numpy((block - self.center_.astype(block.dtype)) / block.dtype.type(self.scale_))

    def _encoded(self, rows: Rows, most: int | None = None) -> np.ndarray:
        """The encoder's output, (n, n_heads * n_factors), of the first ``most`` rows if given."""
        with torch.no_grad():
            chunks = (self._to_network(rows.clean(block)) for block in rows.stored(CHUNK, most))
            return np.concatenate([self._in_precision("encoder", x)(x).numpy() for x in chunks])

    def _in_precision(self, name: str, x: Tensor) -> Any:
        network = self._network[name]
        return network if x.dtype == torch.float32 else copy.deepcopy(network).to(x.dtype)

    def _codes_of(self, rows: Rows, most: int | None = None) -> np.ndarray:
        return self._encoded(rows, most)[:, : self._n_codes]

    def inverse_transform(self, codes: Any) -> np.ndarray:
        """Decoded data of codes (n, n_factors), in the shape that was given; pictures in [0, 1]."""
        check_is_fitted(self, "weights_")
        codes = self._check_codes(codes, self._n_features_out)
        return self._decode(torch.from_numpy(np.ascontiguousarray(codes, dtype=np.float32)))

    def _decode(self, codes: Tensor) -> np.ndarray:
        decoder, parts = self._network["decoder"], []
        with torch.no_grad():
            for chunk in codes.split(CHUNK):
                x = decoder(chunk)
                x = x.sigmoid() if self.likelihood_ == "bernoulli" else x
                parts.append(np.ascontiguousarray(as_rows(x, self._seen_shape).numpy()))
        rows = np.concatenate(parts) if parts else np.empty((0, *self._seen_shape), np.float32)
        standard = self.scale_ != 1.0 or np.ndim(self.center_) > 0
        return self._decoded(rows * self.scale_ + self.center_ if standard else rows)

    def reconstruct(self, X: Any) -> np.ndarray:
        """``inverse_transform(transform(X))``."""
        return self.inverse_transform(self._codes_of(self._new_rows(X)))

    def _graphs(self) -> Graphs:
        encoder, decoder = self._network["encoder"], self._network["decoder"]
        unit = self._code_unit
        return Graphs(EncoderGraph(self, encoder, *unit), DecoderGraph(self, decoder, *unit), example_rows(self))

    @property
    def _code_unit(self) -> tuple[Any, Any]:
        """Mean and standard deviation of the codes that the networks give as mean 0 and standard deviation 1."""
        return 0.0, 1.0

    @property
    def _n_features_out(self) -> int:
        return self._n_codes
