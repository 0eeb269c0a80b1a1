"""A trained flow at work: codes of data, data of codes, and its state as arrays."""

from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from unbraid.data.rows import Rows
from unbraid.export.graphs import Graphs
from unbraid.flows.families import Normal, family
from unbraid.flows.graphs import DecoderGraph, EncoderGraph, example_rows
from unbraid.networks.coupling import Affine
from unbraid.networks.flow import Flow, conv_flow, dense_flow
from unbraid.networks.layout import as_images, as_rows
from unbraid.training.coding import Coder


class FlowCoder(Coder):
    """What an estimator does with its ``theta_``: the parameters of one flow."""

    _kind = "gin"
    latent: str = "normal"
    architecture: str
    clamp: str
    n_blocks: Any
    hidden: Any
    theta_: np.ndarray
    permutations_: list[np.ndarray]
    order_: np.ndarray
    middle_: np.ndarray

    @property
    def _family(self) -> Normal:
        return family(self.latent)

    @property
    def _network_shape(self) -> tuple[int, ...]:
        """Of a point for the network; images of sides divisible by 4 go to the convolutional one."""
        shape = tuple(self.row_shape_)
        n_features = int(np.prod(shape))
        image = len(shape) in (2, 3)
        fits = image and shape[0] % 4 == 0 and shape[1] % 4 == 0
        if self.architecture == "convolutional" and not image:
            raise ValueError(
                f"architecture='convolutional' needs images (n, height, width) or (n, height, width, channels); rows "
                f"of X have shape {shape}. Use architecture='dense'."
            )
        if self.architecture == "convolutional" or (self.architecture == "auto" and fits):
            return (shape[2] if len(shape) == 3 else 1, shape[0], shape[1])
        if n_features < 2:
            raise ValueError(
                f"a coupling flow splits the features in two and needs at least 2; X has n_features = {n_features}."
            )
        return (n_features,)

    def _build(self, rng: np.random.Generator, n_models: int) -> Flow:
        affine, shape = Affine(self._kind, self.clamp), self._network_shape
        if len(shape) == 3:
            blocks: Any = (4, 4, 2) if self.n_blocks is None else self.n_blocks
            hidden: Any = (16, 32, None) if self.hidden is None else self.hidden
            return conv_flow(shape, rng, n_blocks=blocks, hidden=hidden, affine=affine, n_models=n_models)
        blocks = 8 if self.n_blocks is None else self.n_blocks
        hidden = self.hidden
        return dense_flow(shape[0], rng, n_blocks=blocks, hidden=hidden, affine=affine, n_models=n_models)

    def _rebuilt(self) -> Flow:
        fixed = [torch.from_numpy(np.asarray(p))[None] for p in self.permutations_]
        return self._build(np.random.default_rng(0), 1).with_permutations(fixed)

    def _to_network(self, X: np.ndarray, dtype: torch.dtype | None = None) -> Tensor:
        """Rows as the network takes them: (n, features) or (n, channels, height, width)."""
        rows = torch.from_numpy(np.ascontiguousarray(X))
        rows = rows.to(dtype) if dtype is not None else rows
        return rows.flatten(1) if len(self._network_shape) == 1 else as_images(rows, rows.shape[1:])

    def _encode(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The flow's real output in the network's own order, and log|det J|; in the precision of X."""
        rows = self._to_network(X)
        theta = torch.from_numpy(self.theta_)[None].to(rows.dtype)
        r, volume = self._network.encode(theta, rows, batch_size=512 if rows.ndim == 4 else 8192)
        return r[0].numpy(), volume[0].numpy()

    def _decode(self, r: np.ndarray) -> np.ndarray:
        """Rows (n, *row_shape_) of the flow's real output."""
        codes = torch.from_numpy(np.ascontiguousarray(r))
        theta = torch.from_numpy(self.theta_)[None].to(codes.dtype)
        batch_size = 512 if len(self._network_shape) == 3 else 8192
        rows = self._network.decode(theta, codes[None], batch_size=batch_size)[0]
        return as_rows(rows, tuple(self.row_shape_)).numpy()

    def _codes_of(self, rows: Rows) -> np.ndarray:
        return np.concatenate([self._family.link(self._encode(block)[0][:, self.order_]) for block in rows])

    def inverse_transform(self, codes: Any) -> np.ndarray:
        """Decode codes of :meth:`transform`, or (n, m) codes of the first m latents the others at their medians."""
        check_is_fitted(self, "theta_")
        codes, d = np.asarray(codes), len(self.order_)
        if codes.ndim != 2 or not 1 <= codes.shape[1] <= d:
            raise ValueError(f"codes have shape {codes.shape}; they must be (n, m) with m from 1 to {d}.")
        codes = self._check_codes(codes, codes.shape[1])
        if codes.shape[1] < d:
            middle = np.tile(self.middle_.astype(codes.dtype), (len(codes), 1))
            middle[:, : codes.shape[1]] = codes
            codes = middle
        r = np.empty_like(codes)
        r[:, self.order_] = self._family.unlink(codes)
        return self._decoded(self._decode(r))

    def _graphs(self) -> Graphs:
        return Graphs(EncoderGraph(self), DecoderGraph(self), example_rows(self))

    @property
    def _n_features_out(self) -> int:
        return len(self.order_)
