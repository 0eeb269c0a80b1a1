"""What all autoencoders share besides a trained encoder: a likelihood, a decoder, and data of codes."""

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from unbraid.autoencoders.columns import COUNTED, OF_COLUMNS, SCALED, OfColumns, check_values, likelihood_of, recognised
from unbraid.autoencoders.counted import Poisson
from unbraid.autoencoders.graphs import DecoderGraph
from unbraid.autoencoders.likelihood import Gaussian, Likelihood
from unbraid.autoencoders.presets import PRESETS
from unbraid.autoencoders.summary import summary_of
from unbraid.data.counts import SEEN
from unbraid.data.covariates import Design, Remembered
from unbraid.data.gaps import refuse_empty_rows, share_missing
from unbraid.data.observations import Observations, data_of
from unbraid.data.rows import Rows
from unbraid.estimator.parameters import check_parameter
from unbraid.estimator.summary import Summary
from unbraid.export.graphs import Graphs
from unbraid.networks.layout import as_rows, parted
from unbraid.networks.seen import Seen
from unbraid.training.batches import Points
from unbraid.training.encoder import CHUNK, SUMMARY, EncoderEstimator
from unbraid.training.graphs import EXAMPLES


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
    likelihood : str, or a list of them
        Of the data given the codes, summed over pixels or columns: "bernoulli", "gaussian" (squared error), "student"
        (heavy tails), "poisson", "negative-binomial", or a list with one for each column. In the variational ones,
        "auto" is Bernoulli for images, and for tables what each column looks like: Bernoulli for 0 and 1, negative
        binomial for counts, Gaussian for others; elsewhere it is Gaussian. Noise, degrees of freedom and dispersion are
        learned for each column, except the noise where all columns are Gaussian.
    counts : "given" or "depth"
        Whether rows of counts were counted to different depths: rates are then multiplied by the row's total.
    accelerate : bool
        Train in all processes of ``accelerate launch``.
    **settings
        See :class:`~unbraid.training.estimator.TrainedEstimator`; ``batch_size``, ``max_steps`` and ``learning_rate``
        are the preset's unless given.

    Attributes
    ----------
    likelihood_ : str
        "mixed" where columns have different ones.
    kinds_ : list of str or None
        Of a table, that of each column that varies.
    missing_ : float
        Share of the values that were missing. If there are none, rows with gaps are refused later on.
    conditions_ : Design or None
        How covariates are given to the networks.
    explained_by_covariates_ : array (2,) or None
        Share of the variance that covariates explain, by least squares: of the data, and of the codes, which need not
        carry it.

    Notes
    -----
    Batches are drawn with replacement. Images may be uint8 (0 to 255; or 0 and 1 only), bool, or floats in [0, 1].
    Vectors are centred, and divided by one number, their overall standard deviation, on their way to the networks;
    columns of a list of likelihoods by one each. Encoders see log(1 + x) of counts; decoders give mean counts.

    Missing values, NaN or masked, are left out of the loss; the encoder sees the mean of the column and a mark.
    """

    takes_gaps = True
    missing_ = 0.0
    kinds_: list[str] | None = None
    conditions_: Design | None = None
    remembered_: Remembered | None = None
    explained_by_covariates_: np.ndarray | None = None
    _presets = PRESETS
    _trained = ("encoder", "decoder", "likelihood")
    _own = ("encoder", "decoder")
    _image_likelihood: ClassVar[str] = "gaussian"
    _recognises: ClassVar[bool] = False  # whether "auto" looks at the columns of a table
    _parameter_constraints = {
        "preset": tuple(PRESETS),
        "decoder": (nn.Module, None),
        "likelihood": ("auto", *OF_COLUMNS, list, tuple),
        "counts": ("given", "depth"),
    }
    _not_identity = EncoderEstimator._not_identity | {"decoder"}

    def __init__(
        self,
        n_factors: int = 10,
        *,
        decoder: nn.Module | None = None,
        likelihood: str | Sequence[str] = "auto",
        counts: str = "given",
        **settings: Any,
    ):
        super().__init__(n_factors, **settings)
        self.decoder = decoder
        self.likelihood = likelihood
        self.counts = counts

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if (self.encoder is None) != (self.decoder is None):
            raise ValueError("set both encoder and decoder, or neither: they must match.")
        if not isinstance(self.likelihood, str):
            for kind in self.likelihood:
                check_parameter("likelihood of a column", kind, OF_COLUMNS)

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
        self._fit(points)
        if self.conditions_ is not None:
            self.explained_by_covariates_ = self._explained(points.rows)
        return self

    def _summary(self) -> Summary:
        return summary_of(self)

    def _scale_of(self, rows: Rows) -> None:
        """Counts are taken as they are: their likelihood knows what they are."""

    def _read(self, X: Any, *, fewest: int = 2) -> Rows:
        rows = super()._read(X, fewest=fewest)
        self.missing_ = share_missing(rows) if _may_have_gaps(rows) else 0.0
        self.kinds_ = None if len(rows.row_shape) > 1 else self._kinds_of(rows)
        single = self.likelihood if isinstance(self.likelihood, str) else "mixed"
        self.likelihood_ = self._image_likelihood if single == "auto" else single
        if self.kinds_ is not None:
            self.likelihood_ = self.kinds_[0] if len(set(self.kinds_)) == 1 else "mixed"
        elif self.likelihood_ in ("mixed", *COUNTED):
            raise ValueError(
                f"likelihood={self.likelihood!r} is for tables; rows of X are images of shape {rows.row_shape}. Choose "
                "'bernoulli', 'gaussian' or 'student', or flatten them: X.reshape(len(X), -1)."
            )
        if self.counts == "depth" and not set(self.kinds_ or ()) & set(COUNTED):
            raise ValueError(
                f"counts='depth' is for likelihoods of counts; here it is {self.likelihood_!r}. Set "
                "likelihood='negative-binomial' or 'poisson', or leave counts='given'."
            )
        covariates = X.covariates if isinstance(X, Observations) else None
        self.conditions_ = self.remembered_ = self.explained_by_covariates_ = None
        if covariates is not None:
            if self.encoder is not None:
                raise ValueError("covariates are inputs of the preset's networks; leave out encoder and decoder.")
            self.conditions_ = Design.of(covariates)
            self.remembered_ = Remembered.of(rows, covariates)
            rows.beside = self.conditions_(covariates).astype(np.float32)
        return self._checked(rows)

    def _new_rows(self, X: Any) -> Rows:
        rows = super()._new_rows(X)
        if self.conditions_ is not None:
            given = X.covariates if isinstance(X, Observations) else None
            assert self.remembered_ is not None
            known = self.remembered_(rows) if given is None else given
            rows.beside = self.conditions_(known).astype(np.float32)
        return self._checked(rows)

    def _checked(self, rows: Rows) -> Rows:
        """Rows that are refused where the fit had no gaps, or the likelihood does not allow their values."""
        rows.gaps = self.missing_ > 0
        rows.in_unit_interval |= self.likelihood_ == "bernoulli" and self.kinds_ is None
        kinds = self.kinds_ or []
        if rows.gaps or not set(kinds) <= set(SCALED):
            rows.scale = partial(_allowed, kinds=kinds)
        return rows

    def _kinds_of(self, rows: Rows) -> list[str]:
        """The likelihood of each column of a table."""
        n = rows.n_features
        if not isinstance(self.likelihood, str):
            if len(self.likelihood) != self.n_features_in_:
                raise ValueError(
                    f"likelihood lists {len(self.likelihood)} columns, X has {self.n_features_in_}. Give one for each."
                )
            return np.asarray(self.likelihood)[slice(None) if rows.columns is None else rows.columns].tolist()
        if self.likelihood != "auto":
            return [self.likelihood] * n
        whole = self._recognises and not rows.endless
        return recognised(rows, _some(rows)) if whole else ["gaussian"] * n

    def _standardise(self, points: Points) -> None:
        """Numbers get mean 0; counts, and 0 and 1, stay as they are."""
        kinds = np.asarray(self.kinds_ or ())
        if np.isin(kinds, SCALED).any() or self.kinds_ is None:
            super()._standardise(points)
        if self.likelihood_ == "mixed":
            raw = ~np.isin(kinds, SCALED)
            self.center_ = points.center = np.where(raw, 0.0, self.center_)
            self.scale_ = points.scale = np.where(raw, 1.0, self.scale_)

    @property
    def _per_feature(self) -> bool:  # type: ignore[override]
        return self.likelihood_ == "mixed"

    @property
    def _n_beside(self) -> int:
        """Numbers that the networks take beside a row."""
        return 0 if self.conditions_ is None else len(self.conditions_.center)

    def _encoder_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Of a row as the encoder takes it: with marks of what is there, and covariates."""
        return (shape[0] * (1 + (self.missing_ > 0)) + self._n_beside, *shape[1:])

    def _parts(self, shape: tuple[int, ...], preset: Any) -> dict[str, nn.Module]:
        encoder = preset.encoder(self._encoder_shape(shape), *self._head_sizes)
        return {"encoder": encoder, "decoder": preset.decoder(shape, self._n_codes + self._n_beside)}

    def _gaussian(self) -> Likelihood:
        """The likelihood of numbers that are all Gaussian."""
        return Gaussian()

    def _whole(self, networks: nn.ModuleDict, points: Points | None = None) -> nn.ModuleDict:
        """The networks with a view of the rows for the encoder, and the likelihood."""
        shape, kinds = self._network_shape, self.kinds_ or ()
        depth, counted = self.counts == "depth", np.isin(kinds, COUNTED)
        if self.likelihood_ == "mixed":
            networks["likelihood"] = OfColumns(kinds, depth)
        elif self.likelihood_ == "gaussian":
            networks["likelihood"] = self._gaussian()
        else:
            networks["likelihood"] = likelihood_of(self.likelihood_, shape, depth)
        if counted.any() or self.missing_ or self._n_beside:
            marks = self.missing_ > 0 and self.encoder is None
            seen = Seen(networks["encoder"], shape[0], marks=marks, counts=bool(counted.any()), depth=depth)
            networks["encoder"] = seen
            if counted.any() and points is not None:
                seen.start(counted, _some(points.rows))
                rates = networks["likelihood"]
                assert isinstance(rates, Poisson | OfColumns)
                rates.start(seen.logs)
        return networks

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

    def _reconstruction(self, networks: nn.ModuleDict, codes: Tensor, x: Tensor) -> Tensor:
        """Loss of each row x, with what stands beside it, decoded from codes."""
        if self._n_beside:
            x, beside = parted(x, self._network_shape[0])
            codes = torch.cat([codes, beside], dim=1)
        return networks["likelihood"](networks["decoder"](codes), x)

    @property
    def _likelihood(self) -> Likelihood:
        found = self._network["likelihood"]
        assert isinstance(found, Likelihood)
        return found

    def inverse_transform(self, codes: Any) -> np.ndarray:
        """Means of the data (n, ...) given codes (n, n_factors), in the shape and unit that was given.

        Of a fit with covariates they are those of the average one, or of ``Observations(codes, covariates=...)``; of
        counts with ``counts="depth"`` those of the usual total.
        """
        check_is_fitted(self, "weights_")
        known = codes.covariates if isinstance(codes, Observations) else None
        codes, beside = self._check_codes(data_of(codes), self._n_features_out), None
        if known is not None:
            if self.conditions_ is None:
                raise ValueError("the fit had no covariates, so that none can be chosen for its means. Leave them out.")
            beside = self.conditions_(known).astype(np.float32)
        return self._decode(torch.from_numpy(np.ascontiguousarray(codes, dtype=np.float32)), beside)

    def _decode(self, codes: Tensor, beside: np.ndarray | None = None) -> np.ndarray:
        decoder, parts = self._network["decoder"], []
        if self._n_beside:
            known = np.zeros((len(codes), self._n_beside), np.float32) if beside is None else beside  # 0: the average
            codes = torch.cat([codes, torch.from_numpy(known)], dim=1)
        with torch.no_grad():
            for chunk in codes.split(CHUNK):
                x = self._likelihood.mean(decoder(chunk))
                parts.append(np.ascontiguousarray(as_rows(x, self._seen_shape).numpy()))
        rows = np.concatenate(parts) if parts else np.empty((0, *self._seen_shape), np.float32)
        standard = np.ndim(self.center_) > 0 or self.scale_ != 1.0
        return self._decoded(rows * self.scale_ + self.center_ if standard else rows)

    def reconstruct(self, X: Any) -> np.ndarray:
        """``inverse_transform(transform(X))``, with the covariates of the rows."""
        rows = self._new_rows(X)
        codes = self._check_codes(self._codes_of(rows), self._n_features_out).astype(np.float32)
        return self._decode(torch.from_numpy(codes), rows.beside)

    def _explained(self, rows: Rows) -> np.ndarray:
        """Share of the variance of the data, and of the codes, that covariates explain."""
        x = torch.cat([parted(x, self._network_shape[0])[0] for x in self._inputs(rows, SUMMARY)]).flatten(1).double()
        data = torch.where(x.isnan(), x.nanmean(0), x).numpy()
        assert rows.beside is not None
        known, shares = rows.beside[: len(data)].astype(np.float64), []
        for values in (data, self._codes_of(rows, SUMMARY).astype(np.float64)):
            centred = values - values.mean(axis=0)
            rest = centred - known @ np.linalg.lstsq(known, centred, rcond=None)[0]
            shares.append(1 - np.square(rest).sum() / max(np.square(centred).sum(), 1e-300))
        return np.asarray(shares)

    def _graphs(self) -> Graphs:
        if self._n_beside:
            raise ValueError(
                "a model that was fitted with covariates cannot be exported: its encoder needs them beside the rows. "
                "Fit without covariates, or save it by model.save(path)."
            )
        graphs = super()._graphs()
        decoder = DecoderGraph(self, self._network["decoder"], self._likelihood, *self._code_unit)
        rows = graphs.rows if set(self.kinds_ or ()) <= set(SCALED) else self._plausible()
        return Graphs(graphs.encoder, decoder, rows)

    def _plausible(self) -> np.ndarray:
        """A few rows that the likelihood allows."""
        codes = np.random.default_rng(0).normal(size=(EXAMPLES, self._n_features_out))
        rows = self.inverse_transform(codes).astype(np.float32)
        raw = ~np.isin(self.kinds_ or (), SCALED)
        columns = np.flatnonzero(raw) if self.varying_ is None else self.varying_[raw]
        rows[:, columns] = np.round(rows[:, columns])
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.takes_gaps
        return tags


def _may_have_gaps(rows: Rows) -> bool:
    """Whether a value may be NaN, and all rows can be looked at."""
    return rows.gaps and rows.dtype.kind in "fO" and not rows.endless


def _some(rows: Rows) -> np.ndarray:
    """Some rows of a table, spread over it."""
    numbers = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), SEEN)).astype(np.intp))
    return np.concatenate(list(rows.picked(numbers)))


def _allowed(values: np.ndarray, kinds: list[str]) -> np.ndarray:
    refuse_empty_rows(values)
    check_values(values, kinds)
    return values
