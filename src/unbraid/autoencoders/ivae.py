"""iVAE: a prior of the codes that depends on a condition, which identifies them."""

from typing import Any, Self

import numpy as np
import torch
from torch import nn

from unbraid.autoencoders.correlated import START_ROWS, CorrelatedVAE, kl_terms
from unbraid.autoencoders.presets import Preset
from unbraid.autoencoders.summary import with_condition
from unbraid.autoencoders.vae import Posterior
from unbraid.data.labels import CONDITIONS, parse_condition, warn_of_few_conditions
from unbraid.estimator.summary import Summary
from unbraid.networks.prior import ConditionalPrior
from unbraid.runtime.determinism import check_random_state
from unbraid.training.batches import Batch, Points
from unbraid.training.encoder import SUMMARY
from unbraid.training.trainer import Group
from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import warn

KEPT = 1000  # rows whose conditions stand for all of them where there are no classes
ABOVE_CHANCE = 1.5  # times the effect of a condition that chance alone produces: below, there may be none


class IVAE(CorrelatedVAE):
    r"""iVAE: minimises :math:`E_{q(z|x)}[-\log p(x|z)] + KL(q(z|x) \| N(z; \mu(u), \sigma^2(u)))` given a condition u.

    For data whose factors are independent given something that was recorded with each row: the segment of a recording,
    the batch, the site, the dose. If mean and variance of each factor change with the condition, and there are at least
    2 n + 1 conditions that change n factors in different ways, the factors are identifiable up to order and a function
    of each. Conditional flows (:class:`RealNVP`, :class:`GIN`) rest on the same theorem; where there are as many
    features as factors, compare with them.

    The encoder is q(z | x) and not the paper's q(z | x, u): new rows come without a condition, and where the noise is
    small the condition adds nothing to what x says about z. Unlike the paper's, it has a full covariance: a diagonal
    one prefers other codes than the true factors, however small the noise is. Networks of vectors start as the linear
    map that makes the codes independent given each class (joint diagonalisation of the covariances within classes).

    Parameters
    ----------
    n_factors : int
    condition : {"auto", "classes", "soft", "continuous"}
        What the labels are: classes, (n, C) class weights, or (n, q) numbers. "auto" reads integers, words and
        whole-numbered floats as classes, rows of floats that sum to 1 as weights, and other floats as continuous.
    noise : float
        Least standard deviation of the decoder's noise, in standard deviations of the data; the noise itself is the
        error of the reconstruction while that is larger. It has no meaning for images with the Bernoulli likelihood.
    **settings
        See :class:`~unbraid.autoencoders.base.AutoencoderEstimator`. The learning rate falls to 0 along half a cosine.

    Attributes
    ----------
    condition_ : {"classes", "soft", "continuous"}
    classes_ : array
        Class values; empty for a continuous condition.
    prior_mean_, prior_variance_ : arrays (m, n_factors)
        Of the codes given each class, or given the conditions of the first 1,000 rows.
    prior_shares_ : array (m,)
        How often each of them occurs.
    condition_effect_ : float
        By how much the condition changes the codes' log-variances in the direction in which it does so least: the least
        singular value of the matrix of log-variances (conditions by codes, centred), as a standard deviation. Near 0
        the theorem does not apply.
    kl_ : array (n_factors,)
        Mean KL of each code from its prior given the condition.
    history_, weights_, n_steps_, stopped_, likelihood_, row_shape_, unit_, center_, scale_
        As of :class:`VAE`; ``history_`` lacks the decomposition of the KL, which assumes one prior for all rows.

    References
    ----------
    Khemakhem, Kingma, Monti, Hyvärinen (2020), Variational autoencoders and nonlinear ICA: a unifying framework, Eq. 7
    and Theorems 1 to 3. Noise: Rybkin, Daniilidis, Levine (2021), Simple and effective VAE training with calibrated
    decoders.

    Examples
    --------
    >>> import unbraid as ub
    >>> X, _, segments = ub.datasets.load("nonstationary", n_factors=2).sample_conditional(2000, random_state=0)
    >>> model = ub.IVAE(n_factors=2, max_steps=100, learning_rate=0.01, random_state=0).fit(X, segments)
    >>> model.transform(X).shape, model.prior_variance_.shape
    ((2000, 2), (40, 2))
    """

    _parameter_constraints = {"condition": CONDITIONS}

    def __init__(self, n_factors: int = 10, *, condition: str = "auto", **settings: Any):
        super().__init__(n_factors, **settings)
        self.condition = condition

    def fit(self, X: Any, y: Any = None, *, covariates: Any = None) -> Self:
        """Train on X given a condition.

        Parameters
        ----------
        X : array or memory map (n, features), (n, height, width) or (n, height, width, channels), or Observations
        y : array (n,), (n, C) or (n, q)
            The condition of each row: classes, class weights or numbers. Rows of a class with one member are left out.
        covariates : array (n,) or (n, c), optional
            As of :meth:`VAE.fit`.

        Returns
        -------
        self
        """
        return super().fit(self._observed(X, y, covariates=covariates))

    def fit_transform(self, X: Any, y: Any = None, *, covariates: Any = None) -> np.ndarray:
        """``fit``, then ``transform`` of the same rows."""
        return self.fit(X, y, covariates=covariates).transform(X)

    def _points(self, X: Any) -> Points:
        self._check_parameters()
        known = self._observed(X)
        count = len(known) if known.evidence else 0
        labels = parse_condition(type(self).__name__, known.labels, count, self.condition)
        kept = labels.values >= 0 if labels.kind == "classes" else np.ones(count, bool)
        points = super()._points(known if kept.all() else known.subset(kept))
        values = labels.values[kept]
        points.known["labels"] = values if labels.kind == "classes" else values.astype(np.float32)
        self.condition_, self.classes_ = labels.kind, labels.classes
        self._n_conditions = len(labels.classes) or len(labels.scale)
        return points

    def _before_training(self, points: Points, seed: int) -> None:
        if self.condition_ != "continuous":
            warn_of_few_conditions(len(self.classes_), self._n_codes)

    def _networks(self, shape: tuple[int, ...], preset: Preset, generator: torch.Generator) -> nn.ModuleDict:
        networks = super()._networks(shape, preset, generator)
        continuous = self.condition_ == "continuous"
        with torch.random.fork_rng(devices=[]):
            networks["prior"] = ConditionalPrior(self._n_conditions, self._n_codes, continuous, generator)
        return networks

    def _groups(self, preset: Preset) -> dict[str, Group]:
        model = super()._groups(preset)["model"]
        return {"model": model._replace(networks=(*model.networks, "prior"))}

    def _linear_case(self, points: Points, rng: np.random.Generator) -> tuple[np.ndarray, str, Any]:
        rows = np.sort(rng.permutation(points.n)[:START_ROWS])
        labels = points.known["labels"][rows]
        return rows, "condition", labels if self.condition_ == "classes" else np.arange(len(rows))  # none is repeated

    def _posterior(self, networks: nn.ModuleDict, batch: Batch, n_points: int) -> Posterior:
        assert batch.known is not None, "the condition comes with the batch"
        drawn = self._draw(networks, batch.x, batch.noise(self._n_codes))
        prior = networks["prior"](torch.from_numpy(batch.known["labels"]).to(batch.x.device))
        kl = kl_terms(drawn.mean, drawn.variance, drawn.log_variance, prior).mean(0)
        terms = {"reconstruction": drawn.reconstruction, "kl": kl.sum(), "kl_per_dimension": kl}
        return Posterior(batch, drawn.mean, drawn.log_variance, drawn.codes, drawn.reconstruction, kl, n_points, terms)

    def _prior_of(self, points: Points) -> tuple[torch.Tensor, torch.Tensor]:
        return self._network["prior"](torch.from_numpy(points.known["labels"][:SUMMARY]))

    @torch.no_grad()
    def _after_training(self, points: Points) -> None:
        super()._after_training(points)
        prior, labels = self._network["prior"], points.known["labels"]
        means, log_variances = prior(torch.from_numpy(labels))
        changes = (log_variances - log_variances.mean(0)).double().numpy()
        self.condition_effect_ = float(np.linalg.svd(changes, compute_uv=False)[-1] / np.sqrt(len(changes)))
        kept = min(KEPT, len(labels))
        self.prior_shares_ = np.full(kept, 1 / kept)
        if self.condition_ == "classes":
            means, log_variances = prior(torch.arange(self._n_conditions))
            kept, self.prior_shares_ = self._n_conditions, np.bincount(labels) / len(labels)
        self.prior_mean_, self.prior_variance_ = means[:kept].numpy(), log_variances[:kept].exp().numpy()
        chance = np.sqrt(2 * len(self.classes_) / len(labels))  # of the log-variances of a class
        if self.condition_effect_ < max(FIGURES["condition_effect"].limit(), ABOVE_CHANCE * chance):
            warn("UB124", stacklevel=4, effect=self.condition_effect_)

    def sample(self, n: int = 1, random_state: Any = None) -> np.ndarray:
        """New data: conditions of the fit, codes from the prior given them, decoded."""
        rng = check_random_state(random_state)
        rows = rng.choice(len(self.prior_shares_), n, p=self.prior_shares_)
        noise = rng.standard_normal((n, self._n_codes))
        return self.inverse_transform(self.prior_mean_[rows] + np.sqrt(self.prior_variance_[rows]) * noise)

    def _summary(self) -> Summary:
        return with_condition(super()._summary(), self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
