"""The Hessian autoencoder: HLLE+ICA as the teacher of an encoder and a decoder."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from sklearn.base import clone
from torch import Tensor, nn

from unbraid.autoencoders.base import AutoencoderEstimator
from unbraid.autoencoders.summary import taught
from unbraid.data.rows import Rows
from unbraid.estimator.parameters import COUNT_OR_AUTO, Having, Whole
from unbraid.estimator.summary import Summary
from unbraid.spectral.factors import HessianICA
from unbraid.training.batches import BLOCK, Batch, Points
from unbraid.training.trainer import Loss, Schedule


class HessianAutoencoder(AutoencoderEstimator):
    r"""Hessian autoencoder (HAE): minimises :math:`\sum_i \|E(x^i) - y^i\|^2 + \|D(y^i) - x^i\|^2`.

    The codes :math:`y^i` are those of a teacher, HLLE+ICA, which finds the independent factors of a locally
    isometric manifold but cannot decode well, nor encode images far from those it was fitted on. The networks learn
    both. Encoder and decoder are trained at the same time, each with its own loss.

    Parameters
    ----------
    n_factors : int or "auto"
        "auto" lets the teacher choose. A given ``teacher`` has its own number.
    teacher : estimator, optional
        A :class:`~unbraid.HessianICA` or any estimator with ``fit`` and ``transform``; it is cloned and fitted. By
        default ``HessianICA(n_factors)``.
    teacher_points : int, optional
        The teacher is fitted on at most this many rows, drawn at random, and gives the others their codes by its
        ``transform``. By default it sees all.
    standardise : bool
        Whether the networks work with codes of mean 0 and standard deviation 1. False is the paper's loss, in the
        teacher's unit; a decoder fed with such codes learns several times slower.
    **settings
        See :class:`~unbraid.autoencoders.base.AutoencoderEstimator`.

    Attributes
    ----------
    teacher_ : the fitted teacher
    n_factors_ : int
    code_mean_, code_std_ : arrays, one number a factor
        What the networks' codes are multiplied by and shifted to, in the teacher's unit: mean and standard deviation of
        the teacher's codes, or 0 and 1 where they are not standardised.
    history_ : list of dict
        ``loss``, ``codes`` (the encoder's squared error, in the unit of the networks' codes) and
        ``reconstruction`` (the decoder's).
    weights_ : dict of arrays
    n_steps_, stopped_, likelihood_, row_shape_, unit_, center_, scale_

    References
    ----------
    Horan, Richardson, Weiss (2021), When is unsupervised disentanglement possible?, Eq. 1.

    Examples
    --------
    >>> import unbraid as ub
    >>> X, factors = ub.datasets.load("shapes-xy", image_size=32).sample(300, random_state=0)
    >>> model = ub.HessianAutoencoder(n_factors=2, max_steps=200, random_state=0).fit(X)
    >>> ub.metrics.mcc(factors, model.transform(X)) > 0.9
    True
    """

    _parameter_constraints = {
        "n_factors": COUNT_OR_AUTO,
        "teacher": (Having(("fit", "transform")), None),
        "teacher_points": (Whole(2), None),
        "standardise": (bool,),
    }

    def __init__(
        self,
        n_factors: int | str = "auto",
        *,
        teacher: Any = None,
        teacher_points: int | None = None,
        standardise: bool = True,
        **settings: Any,
    ):
        super().__init__(n_factors, **settings)  # type: ignore[arg-type]
        self.teacher = teacher
        self.teacher_points = teacher_points
        self.standardise = standardise

    @property
    def selection_(self) -> Any:
        """How the teacher chose its settings, if it has ``selection_``."""
        return self.teacher_.selection_

    @property
    def diagnostics_(self) -> Any:
        """How far the teacher's codes can be trusted, if it has ``diagnostics_``."""
        return self.teacher_.diagnostics_

    @property
    def _n_codes(self) -> int:
        return self.n_factors_

    def _before_training(self, points: Points, seed: int) -> None:
        """Fit the teacher and compute its codes of every row."""
        rng = np.random.default_rng([seed, 2])
        teacher = clone(self.teacher) if self.teacher is not None else HessianICA(self.n_factors)
        if "random_state" in teacher.get_params() and teacher.get_params()["random_state"] is None:
            teacher.set_params(random_state=seed)
        rows = np.arange(points.n)
        if self.teacher_points is not None and self.teacher_points < points.n:
            rows = np.sort(rng.choice(points.n, self.teacher_points, replace=False))
        source = points.rows.source
        whole = len(rows) == points.n and isinstance(source, np.ndarray) and points.rows.columns is None
        seen = source if whole else points.stored(rows, rng)
        fitted = np.asarray(teacher.fit_transform(seen), dtype=np.float32)
        self.teacher_ = teacher
        self.n_factors_ = fitted.shape[1]
        self.code_mean_, self.code_std_ = np.zeros_like(fitted[0]), np.ones_like(fitted[0])
        if self.standardise:
            self.code_mean_, self.code_std_ = fitted.mean(0), np.maximum(fitted.std(0), np.finfo(np.float32).tiny)
        if points.endless:
            return
        self._codes = np.empty((points.n, self.n_factors_), np.float32)
        self._codes[rows] = fitted
        others = np.setdiff1d(np.arange(points.n), rows)
        for start in range(0, len(others), BLOCK):
            part = others[start : start + BLOCK]
            self._codes[part] = teacher.transform(points.stored(part, rng))

    def _summary(self) -> Summary:
        return taught(super()._summary(), self.teacher_)

    def _after_training(self, points: Points) -> None:
        self.__dict__.pop("_codes", None)

    def _objective(self, batch: Batch, networks: nn.ModuleDict, points: Points, schedule: Schedule) -> Iterator[Loss]:
        taught = self.teacher_.transform(batch.values) if points.endless else self._codes[batch.rows]
        y = self._standard(taught).to(batch.x.device)
        codes = (networks["encoder"](batch.x) - y).square().sum(1).mean()
        reconstruction = self._reconstruction(networks, y, batch.x).mean()
        loss = codes + reconstruction
        yield Loss("model", loss, {"loss": loss, "codes": codes, "reconstruction": reconstruction})

    def _standard(self, codes: Any) -> Tensor:
        """The teacher's codes in the unit of the networks' codes."""
        return torch.from_numpy(((np.asarray(codes) - self.code_mean_) / self.code_std_).astype(np.float32))

    def _codes_of(self, rows: Rows, most: int | None = None) -> np.ndarray:
        """In the teacher's unit."""
        codes = super()._codes_of(rows, most)
        return codes * self.code_std_.astype(codes.dtype) + self.code_mean_.astype(codes.dtype)

    def _decode(self, codes: Tensor, beside: np.ndarray | None = None) -> np.ndarray:
        return super()._decode(self._standard(codes), beside)

    @property
    def _code_unit(self) -> tuple[Any, Any]:
        return self.code_mean_, self.code_std_
