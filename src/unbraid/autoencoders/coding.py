"""A trained autoencoder at work: codes of data, data of codes, and its state as arrays."""

import copy
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor, nn

from unbraid.autoencoders import likelihood
from unbraid.autoencoders.points import Points, as_rows, channels_first, check_values
from unbraid.autoencoders.presets import Preset, preset_of
from unbraid.datasets.base import Dataset

CHUNK = 512  # rows that are encoded or decoded at once
SUMMARY = 10_000  # rows from which statistics of the codes are taken


class Coder:
    """What an estimator does with its ``weights_``; it says by ``_networks`` which networks they belong to."""

    preset: str
    encoder: nn.Module | None
    networks_: str
    weights_: dict[str, np.ndarray]
    row_shape_: tuple[int, ...]
    unit_: float
    likelihood_: str
    center_: Any
    scale_: float

    def _networks(self, shape: tuple[int, ...], preset: Preset, generator: torch.Generator) -> nn.ModuleDict:
        raise NotImplementedError

    @property
    def _n_codes(self) -> int:
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None) -> Any:
        raise NotImplementedError

    def _reconstruction(self, output: Tensor, x: Tensor) -> Tensor:
        return (likelihood.bernoulli if self.likelihood_ == "bernoulli" else likelihood.gaussian)(output, x)

    @property
    def _trained(self) -> nn.ModuleDict:
        """The networks with their trained weights, rebuilt from arrays (so that saving needs arrays only)."""
        cached = self.__dict__.get("_cached")
        if cached is None:
            if self.networks_ and self.encoder is None:
                raise ValueError(
                    f"this model was trained with networks of your own ({self.networks_}), which are code and are not "
                    "saved. Give them back: model.set_params(encoder=..., decoder=...)."
                )
            shape = channels_first(tuple(self.row_shape_))
            cached = self._networks(shape, preset_of(self.preset, shape), torch.Generator())
            cached.load_state_dict({k: torch.from_numpy(np.asarray(v)) for k, v in self.weights_.items()})
            cached.to(memory_format=torch.channels_last).eval()  # type: ignore[call-overload]
            self._cached = cached
        return cached

    def _get_state(self) -> dict[str, Any]:
        state = {k: v for k, v in self.__dict__.items() if k != "_cached"} | {"encoder": None, "decoder": None}
        return {k: os.fspath(v) if isinstance(v, os.PathLike) else v for k, v in state.items()}

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        state.pop("_cached", None)
        return state

    def _first(self, points: Points) -> np.ndarray:
        """Rows that stand for the data when statistics of the codes are taken."""
        return np.concatenate(list(points.blocks(raw=True, most=SUMMARY)))

    def _chunks(self, X: Any) -> Iterator[Tensor]:
        """Rows of X as the networks take them, checked; vectors in the precision they have."""
        if is_table(X):
            X = validate_data(self, X, dtype=(np.float64, np.float32), reset=False)
        points = X if isinstance(X, Points) else Points(X, fewest=1)
        if points.row_shape != tuple(self.row_shape_):
            raise ValueError(f"X has points of shape {points.row_shape}; the model was fitted on {self.row_shape_}.")
        if points.dtype == np.uint8:
            points.unit = self.unit_
        if points.is_image:
            yield from points.blocks(CHUNK)
            return
        for block in points.blocks(CHUNK, raw=True):
            if self.likelihood_ == "bernoulli":
                check_values(block, True)
            yield torch.from_numpy((block - self.center_.astype(block.dtype)) / block.dtype.type(self.scale_))

    def _encoded(self, X: Any) -> np.ndarray:
        """The encoder's output, (n, n_heads * n_factors)."""
        check_is_fitted(self, "weights_")
        with torch.no_grad():
            return np.concatenate([self._in_precision("encoder", x)(x).numpy() for x in self._chunks(X)])

    def _in_precision(self, name: str, x: Tensor) -> Any:
        network = self._trained[name]
        return network if x.dtype == torch.float32 else copy.deepcopy(network).to(x.dtype)

    def transform(self, X: Any) -> np.ndarray:
        """Codes (n, n_factors); of the variational models, the means."""
        return self._encoded(X)[:, : self._n_codes]

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, then the codes of X."""
        return self.fit(X).transform(X)

    def inverse_transform(self, codes: Any) -> np.ndarray:
        """Decoded data of codes (n, n_factors), in the shape and unit the networks saw: images in [0, 1]."""
        check_is_fitted(self, "weights_")
        codes = np.asarray(codes)
        if codes.ndim != 2 or codes.shape[1] != self._n_features_out:
            raise ValueError(f"codes have shape {codes.shape}; they must be (n, {self._n_features_out}).")
        if not np.isfinite(codes.astype(np.float64)).all():
            raise ValueError("codes contain NaN or infinity.")
        return self._decoded(torch.from_numpy(np.ascontiguousarray(codes, dtype=np.float32)))

    def _decoded(self, codes: Tensor) -> np.ndarray:
        decoder, parts = self._trained["decoder"], []
        with torch.no_grad():
            for chunk in codes.split(CHUNK):
                x = decoder(chunk)
                x = x.sigmoid() if self.likelihood_ == "bernoulli" else x
                parts.append(as_rows(x, tuple(self.row_shape_)))
        rows = np.concatenate(parts) if parts else np.empty((0, *self.row_shape_), np.float32)
        return rows if self.scale_ == 1.0 and np.ndim(self.center_) == 0 else rows * self.scale_ + self.center_

    def reconstruct(self, X: Any) -> np.ndarray:
        """``inverse_transform(transform(X))``."""
        return self.inverse_transform(self.transform(X))

    @property
    def _n_features_out(self) -> int:
        return self._n_codes


def is_table(X: Any) -> bool:
    """Rows of numbers that fit in memory: checked by scikit-learn's own rules."""
    if isinstance(X, Dataset):
        return False
    return len(X.shape if hasattr(X, "shape") else np.asarray(X).shape) < 3
