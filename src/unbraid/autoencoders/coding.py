"""A trained autoencoder at work: codes of data, data of codes, and its state as arrays."""

import copy
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from unbraid.autoencoders import likelihood
from unbraid.autoencoders.graphs import DecoderGraph, EncoderGraph, example_rows
from unbraid.autoencoders.presets import Preset, preset_of, shape_of
from unbraid.data.rows import Rows
from unbraid.export.graphs import Graphs
from unbraid.networks.layout import as_images, as_rows
from unbraid.training.coding import Coder

CHUNK = 512  # rows that are encoded or decoded at once
SUMMARY = 10_000  # rows from which statistics of the codes are taken


class AutoencoderCoder(Coder):
    """What an estimator does with its ``weights_``; ``_networks`` builds the networks that they belong to."""

    unit_interval = True
    preset: str
    encoder: nn.Module | None
    networks_: str
    weights_: dict[str, np.ndarray]
    likelihood_: str
    center_: Any
    scale_: float

    def _networks(self, shape: tuple[int, ...], preset: Preset, generator: torch.Generator) -> nn.ModuleDict:
        raise NotImplementedError

    @property
    def _n_codes(self) -> int:
        raise NotImplementedError

    def _reconstruction(self, output: Tensor, x: Tensor) -> Tensor:
        return (likelihood.bernoulli if self.likelihood_ == "bernoulli" else likelihood.gaussian)(output, x)

    @property
    def _network_shape(self) -> tuple[int, ...]:
        return shape_of(tuple(self.row_shape_))

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
                parts.append(np.ascontiguousarray(as_rows(x, tuple(self.row_shape_)).numpy()))
        rows = np.concatenate(parts) if parts else np.empty((0, *self.row_shape_), np.float32)
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
