"""What all autoencoders share besides a trained encoder: a likelihood, a decoder, and data of codes."""

from typing import Any, ClassVar, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from unbraid.autoencoders import likelihood
from unbraid.autoencoders.graphs import DecoderGraph
from unbraid.autoencoders.presets import PRESETS
from unbraid.autoencoders.summary import summary_of
from unbraid.data.rows import Rows
from unbraid.estimator.summary import Summary
from unbraid.export.graphs import Graphs
from unbraid.networks.layout import as_rows
from unbraid.training.encoder import CHUNK, EncoderEstimator


class AutoencoderEstimator(EncoderEstimator):
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

    _presets = PRESETS
    _trained = ("encoder", "decoder")
    _own = ("encoder", "decoder")
    _image_likelihood: ClassVar[str] = "gaussian"
    _parameter_constraints = {
        "preset": tuple(PRESETS),
        "decoder": (nn.Module, None),
        "likelihood": likelihood.LIKELIHOODS,
    }
    _not_identity = EncoderEstimator._not_identity | {"decoder"}

    def __init__(
        self, n_factors: int = 10, *, decoder: nn.Module | None = None, likelihood: str = "auto", **settings: Any
    ):
        super().__init__(n_factors, **settings)
        self.decoder = decoder
        self.likelihood = likelihood

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
        return self._fit(self._points(X))

    def _summary(self) -> Summary:
        return summary_of(self)

    def _read(self, X: Any, *, fewest: int = 2) -> Rows:
        rows = super()._read(X, fewest=fewest)
        self.likelihood_ = self.likelihood
        if self.likelihood == "auto":
            self.likelihood_ = self._image_likelihood if len(rows.row_shape) > 1 else "gaussian"
        rows.in_unit_interval |= self.likelihood_ == "bernoulli"
        return rows

    def _new_rows(self, X: Any) -> Rows:
        rows = super()._new_rows(X)
        rows.in_unit_interval |= self.likelihood_ == "bernoulli"
        return rows

    def _parts(self, shape: tuple[int, ...], preset: Any) -> dict[str, nn.Module]:
        return super()._parts(shape, preset) | {"decoder": preset.decoder(shape, self._n_codes)}

    def _check_networks(self, networks: nn.ModuleDict) -> None:
        """Check that the user's own networks match the data and each other."""
        super()._check_networks(networks)
        if self.decoder is None:
            return
        shape = (2, *self._network_shape)
        with torch.no_grad():
            decoded = networks["decoder"](torch.zeros(2, self._n_codes))
        if tuple(decoded.shape) != shape:
            raise ValueError(
                f"the decoder returns shape {tuple(decoded.shape)} for 2 codes; it must return {shape}, as the data."
            )

    def _reconstruction(self, output: Tensor, x: Tensor) -> Tensor:
        return (likelihood.bernoulli if self.likelihood_ == "bernoulli" else likelihood.gaussian)(output, x)

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
        graphs = super()._graphs()
        return Graphs(graphs.encoder, DecoderGraph(self, self._network["decoder"], *self._code_unit), graphs.rows)
