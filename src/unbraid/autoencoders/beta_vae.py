"""beta-VAE: a heavier KL."""

from typing import Any

from torch import Tensor

from unbraid.autoencoders.vae import VAE, Posterior
from unbraid.estimator.parameters import Hint, Number
from unbraid.training.trainer import Schedule


class BetaVAE(VAE):
    r"""beta-VAE: minimises :math:`E_{q(z|x)}[-\log p(x|z)] + \beta\, KL(q(z|x) \| p(z))`.

    A larger beta favours independent codes at the price of blurred reconstructions. It penalises the information in
    the codes as well as their dependence; :class:`BetaTCVAE` penalises the dependence alone.

    Parameters
    ----------
    n_factors : int
    beta : float
        The study tries 1, 2, 4, 6, 8 and 16. The values assume that the reconstruction loss is summed
        over pixels, as it is here.
    **settings
        See :class:`~unbraid.autoencoders.base.AutoencoderEstimator`.

    Attributes
    ----------
    As of :class:`VAE`.

    References
    ----------
    Higgins et al. (2017), beta-VAE: learning basic visual concepts with a constrained variational framework, Eq. 4.

    Examples
    --------
    >>> import unbraid as ub
    >>> X = ub.datasets.load("shapes-xy", image_size=32).sample(100, random_state=0)[0]
    >>> ub.BetaVAE(n_factors=3, beta=8, max_steps=20, random_state=0).fit_transform(X).shape
    (100, 3)
    """

    _parameter_constraints = {
        "beta": (Number(0), Hint("The study tries 1, 2, 4, 6, 8 and 16.")),
    }

    def __init__(self, n_factors: int = 10, *, beta: float = 4.0, **settings: Any):
        super().__init__(n_factors, **settings)
        self.beta = beta

    def _penalty(self, posterior: Posterior, schedule: Schedule) -> Tensor:
        return self.beta * posterior.kl
