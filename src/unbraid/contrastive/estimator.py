"""Contrastive learning as an estimator: evidence in, an encoder out."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils import Tags
from torch import nn

from unbraid.contrastive import checks
from unbraid.contrastive.infonce import DISTANCES, InfoNCE
from unbraid.contrastive.permutation import Permutation
from unbraid.contrastive.positives import pairs_of, segments_of, the_evidence
from unbraid.contrastive.presets import FOR_SEGMENTS, PRESETS
from unbraid.contrastive.segments import Segments, features, unmix
from unbraid.contrastive.summary import summary_of
from unbraid.data.observations import Observations
from unbraid.estimator.parameters import COUNT, Hint, Whole
from unbraid.estimator.summary import Summary
from unbraid.networks.contrastive import OnSphere
from unbraid.networks.linear import AroundLinear, last_linear, vanish
from unbraid.spectral.evidence import linear_codes
from unbraid.spectral.ica import excess_kurtosis
from unbraid.training.batches import Batch, Points
from unbraid.training.encoder import CHUNK, SUMMARY, EncoderEstimator, Preset
from unbraid.training.trainer import Loss, Schedule
from unbraid.trust.warnings import emit

USES = {  # the evidence that each objective takes
    "infonce": ("labels", "pairs", "time", "sets"),
    "permutation": ("pairs", "time"),
    "segments": ("labels", "time"),
}


class Contrastive(EncoderEstimator):
    r"""Contrastive learning: an encoder that tells rows that belong together from rows that do not.

    For factors behind a recording, or behind rows of which some belong together: consecutive in time, paired, of one
    set of augmentations, of one class or of near labels. There is no decoder. Three objectives:

    - "infonce": find the positive of each row among those of the batch, by
      :math:`-\tau\, d(\rho \circ c, c^+) + g(c^+)` (:class:`~unbraid.contrastive.infonce.InfoNCE`). With "l1" the codes
      are the factors up to order, sign and scale if positives lie around a row by a Laplace law, as of sources that
      move by sparse steps. With "l2" and "cosine" a rotation stays free.
    - "permutation": tell consecutive rows from rows put together at random (PCL,
      :class:`~unbraid.contrastive.permutation.Permutation`). The factors up to order and a function of each.
    - "segments": find the segment of a row, then linear ICA (TCL, :class:`~unbraid.contrastive.segments.Segments`). For
      factors whose variances change between segments. Vectors start at the linear map that makes them independent
      within each segment; from a random start the network learns rows by heart. A code then estimates :math:`q(z)`,
      such as :math:`z^2`: compare it with that, not with z.

    Vectors are centred, and each feature is divided by its own standard deviation, as columns of recordings often have
    different units.

    Parameters
    ----------
    n_factors : int
        Number of codes.
    objective : "infonce", "permutation" or "segments"
    distance : "l1", "l2" or "cosine"
        Of codes, for "infonce"; with "cosine" the codes have length 1.
    offset : int
        Steps between the two rows of a pair, where positives come from time.
    n_segments : int
        Into how many parts of equal length time is cut, for "segments".
    **settings
        See :class:`~unbraid.training.encoder.EncoderEstimator`. ``preset`` is "small" (three layers of 128) or
        "patches", for images; both take 3000 steps of 512 pairs at a learning rate of 1e-3 ("segments": 4000 of 512
        rows at 2e-3), which falls to 0 by a cosine.

    Attributes
    ----------
    history_ : list of dict
        ``loss``, and ``information`` (nats) or ``accuracy``, every ``log_every`` steps.
    figures_ : dict of str to float
        Whether the evidence can identify factors: of :data:`unbraid.trust.table.FIGURES`, "positive_closeness",
        "segment_chance" and "step_kurtosis" (the lowest but one of all codes).
    concerns_ : list of str
        What these figures put in doubt; ``fit`` warns of it.
    positives_ : str
        Where positives, or segments, come from: "labels", "pairs", "time" or "sets".
    n_positives_, n_segments_ : int
        Pairs of rows that belong together, or segments; 0 of what the objective does not use.
    decay_ : array (n_factors,)
        How much of each code is left after a step; 1 where it is not learned. Low values come out too high, .65 as .80.
    weights_ : dict of arrays
    n_steps_, stopped_, row_shape_, unit_, center_, scale_

    References
    ----------
    Zimmermann et al. (2021), Contrastive learning inverts the data generating process. Hyvarinen, Morioka (2017),
    Nonlinear ICA of temporally dependent stationary sources (PCL); (2016), Unsupervised feature extraction by
    time-contrastive learning and nonlinear ICA (TCL). Schneider, Lee, Mathis (2023), CEBRA.

    Examples
    --------
    >>> import unbraid as ub
    >>> X, factors, time = ub.datasets.load("temporal-sources", n_factors=2).sample_recording(2000, random_state=0)
    >>> model = ub.Contrastive(2, max_steps=300, random_state=0).fit(X, time=time)
    >>> ub.metrics.mcc(factors, model.transform(X)) > 0.9
    True

    Windows of a recording, where one frame does not show its state:

    >>> known = ub.DelayEmbedding(window=3).fit(X).windows(ub.Observations(X, time=time))
    >>> ub.Contrastive(2, max_steps=20, random_state=0).fit_transform(known).shape
    (1998, 2)
    """

    _presets = PRESETS
    _trained = ("encoder", "head")
    _per_feature = True
    _parameter_constraints = {
        "preset": tuple(PRESETS),
        "objective": tuple(USES),
        "distance": tuple(DISTANCES),
        "offset": COUNT,
        "n_segments": (Whole(2), Hint("Try 40.")),
    }

    def __init__(
        self,
        n_factors: int = 5,
        *,
        objective: str = "infonce",
        distance: str = "l1",
        offset: int = 1,
        n_segments: int = 40,
        **settings: Any,
    ):
        super().__init__(n_factors, **settings)
        self.objective = objective
        self.distance = distance
        self.offset = offset
        self.n_segments = n_segments

    @property
    def uses(self) -> tuple[str, ...]:
        """What ``fit`` uses besides X, with this objective: one of these."""
        return USES.get(self.objective, ())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._on_sphere and self.n_factors < 2:
            raise ValueError("distance='cosine' needs n_factors of at least 2: a sphere of one code is two points.")

    def fit(self, X: Any, y: Any = None, *, pairs: Any = None, time: Any = None, sets: Any = None) -> Self:
        """Train on X and one piece of evidence.

        Parameters
        ----------
        X : array or memory map (n, features), (n, height, width) or (n, height, width, channels), or Observations
            Sides of images must be divisible by 16.
        y : array (n,) or (n, q), optional
            Labels: rows of one class belong together; of continuous labels, the nearest rows. Beside other evidence, y
            is left to the steps that follow in a pipeline.
        pairs : array of int, (m, 2) or (n,), optional
            Row numbers, or one number per row that both rows of a pair have.
        time : array (n,), optional
            Rows that are ``offset`` steps apart belong together, unless there is a gap between them.
        sets : array (n,), optional
            Rows of one set belong together.

        Returns
        -------
        self
        """
        known = self._observed(X, pairs=pairs, time=time, sets=sets)
        return self._fit(self._points(known if known.evidence else self._observed(known, labels=y)))

    def _known(self, known: Observations) -> dict[str, NDArray]:
        self.positives_ = the_evidence(known, self.uses, f"{type(self).__name__}(objective={self.objective!r})")
        if self.objective == "segments":
            return {"labels": segments_of(known, self.n_segments)}
        return {"pairs": pairs_of(known, self.offset)}

    @property
    def _on_sphere(self) -> bool:
        return bool(self.objective == "infonce" and self.distance == "cosine")

    def _before_training(self, points: Points, seed: int) -> None:
        rng = np.random.default_rng(0)
        self.n_segments_ = self.n_positives_ = 0
        if points.pairs is None:
            segments = points.known["labels"]
            self.n_segments_ = int(segments.max()) + 1
            chance = checks.segment_chance(points, segments, rng)
            self.figures_ = {"segment_chance": chance}
            self.concerns_ = checks.segment_concerns(chance, self.n_segments_, self._n_codes)
        else:
            self.n_positives_ = len(points.pairs)
            share = checks.closeness(points, points.pairs, rng)
            self.figures_ = {"positive_closeness": share}
            self.concerns_ = checks.closeness_concern(share, min(self.n_positives_, checks.LOOKED_AT))

    def _preset_for(self, shape: tuple[int, ...]) -> Preset:
        preset = super()._preset_for(shape)
        return replace(preset, **FOR_SEGMENTS) if self.objective == "segments" else preset

    def _networks(self, shape: tuple[int, ...], preset: Any, generator: torch.Generator) -> nn.ModuleDict:
        networks = super()._networks(shape, preset, generator)
        if self._on_sphere:
            networks["encoder"] = nn.Sequential(networks["encoder"], OnSphere())
        if self.objective == "segments":
            if self.encoder is None and len(shape) == 1:
                vanish(last_linear(networks["encoder"]))
                with torch.random.fork_rng(devices=[]):
                    networks["encoder"] = AroundLinear(networks["encoder"], shape[0], self._n_codes)
            networks["encoder"] = features(networks["encoder"], self._n_codes)
            networks["head"] = Segments(self._n_codes, self.n_segments_)
        elif self.objective == "permutation":
            networks["head"] = Permutation(self._n_codes, generator)
        else:
            decays = self.positives_ == "time" and not self._on_sphere
            networks["head"] = InfoNCE(self._n_codes, self.distance, decays, generator)
        return networks

    def _train(self, networks: nn.ModuleDict, points: Points, schedule: Schedule, preset: Any, seed: int) -> None:
        first = next(networks["encoder"].children(), None)
        if isinstance(first, AroundLinear):
            segments = points.known["labels"]
            rows = np.random.default_rng([seed, 2]).permutation(np.flatnonzero(segments >= 0))[:SUMMARY]
            x = points.to_tensor(points.stored(rows)).double().numpy()
            first.start(*linear_codes(x, self._n_codes, "condition", segments[rows]))
        super()._train(networks, points, schedule, preset, seed)

    def _objective(self, batch: Batch, networks: nn.ModuleDict, points: Points, schedule: Schedule) -> Iterator[Loss]:
        encode, head = networks["encoder"], networks["head"]
        if batch.partner is None:
            assert batch.known is not None
            terms = head(encode(batch.x), torch.from_numpy(batch.known["labels"]).to(batch.x.device))
        else:
            terms = head(*encode(torch.cat([batch.x, batch.partner])).chunk(2))
        yield Loss("model", terms["loss"], terms)

    def _after_training(self, points: Points) -> None:
        rng, networks = np.random.default_rng(0), self._network
        self.decay_ = np.ones(self._n_codes)
        if self.objective == "segments":
            rows = rng.choice(points.n, min(points.n, SUMMARY), replace=False)
            unmix(networks["encoder"], networks["head"], self._codes_at(points, rows))
            self._keep(networks)
        elif points.pairs is not None and not self._on_sphere:
            self.decay_ *= torch.as_tensor(networks["head"].decay).detach().numpy()
            self._check_steps(points, points.pairs[rng.permutation(len(points.pairs))[:SUMMARY]])
        if self.concerns_:
            emit(" ".join(self.concerns_), stacklevel=4)

    def _check_steps(self, points: Points, pairs: NDArray) -> None:
        """Whether the steps of at most one code are Gaussian, where that decides the axes."""
        if self._n_codes < 2 or (self.objective == "infonce" and self.distance != "l1"):
            return
        first, second = (self._codes_at(points, pairs[:, i]) for i in (0, 1))
        kurtosis = excess_kurtosis(second - self.decay_ * first)
        self.figures_["step_kurtosis"] = float(np.sort(kurtosis)[1])
        self.concerns_ += checks.sparsity_concern(kurtosis, len(pairs))

    def _codes_at(self, points: Points, rows: NDArray) -> NDArray[np.float64]:
        encoder, parts = self._network["encoder"], np.split(rows, range(CHUNK, len(rows), CHUNK))
        with torch.no_grad():
            codes = [encoder(points.to_tensor(points.stored(part))) for part in parts]
        return torch.cat(codes).double().numpy()

    def _summary(self) -> Summary:
        return summary_of(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
