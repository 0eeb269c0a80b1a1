"""AnnealedVAE: the KL follows a growing capacity."""

from typing import Any

import torch
from torch import Tensor

from unbraid.autoencoders.vae import VAE, Posterior
from unbraid.estimator.parameters import COUNT, Number
from unbraid.training.trainer import Schedule


def capacity_at(step: int, c_max: float, capacity_steps: int) -> float:
    """Grows linearly from 0 to ``c_max`` over the first ``capacity_steps`` steps, then stays.

    >>> [capacity_at(s, 25.0, 100) for s in (0, 50, 100, 200)]
    [0.0, 12.5, 25.0, 25.0]
    """
    return c_max * min(step / capacity_steps, 1.0)


class AnnealedVAE(VAE):
    r"""AnnealedVAE: minimises :math:`E_{q(z|x)}[-\log p(x|z)] + \gamma\, |\overline{KL} - C|`, C growing to ``c_max``.

    The codes may carry C nats; as C grows, one factor after another finds its place (``report.plot_kl`` shows it).
    :math:`\overline{KL}` is the mean over the batch, taken before the absolute value.

    Parameters
    ----------
    n_factors : int
    c_max : float
        Capacity at the end, in nats. The study tries 5, 10, 25, 50, 75 and 100.
    gamma : float
    capacity_steps : int, optional
        Steps until ``c_max`` is reached; by default a third of all (the study's 100,000 of 300,000).
    **settings
        See :class:`~unbraid.autoencoders.base.AutoencoderEstimator`.

    Attributes
    ----------
    As of :class:`VAE`; ``history_`` has ``capacity`` as well.

    References
    ----------
    Burgess et al. (2018), Understanding disentangling in beta-VAE, Eq. 8.

    Examples
    --------
    >>> import unbraid as ub
    >>> X = ub.datasets.load("shapes-xy", image_size=32).sample(100, random_state=0)[0]
    >>> model = ub.AnnealedVAE(n_factors=3, c_max=5, max_steps=30, log_every=10, random_state=0).fit(X)
    >>> [round(record["capacity"], 2) for record in model.history_]
    [2.25, 5.0, 5.0]
    """

    _parameter_constraints = {
        "c_max": (Number(0),),
        "gamma": (Number(0),),
        "capacity_steps": (*COUNT, None),
    }

    def __init__(
        self,
        n_factors: int = 10,
        *,
        c_max: float = 25.0,
        gamma: float = 1000.0,
        capacity_steps: int | None = None,
        **settings: Any,
    ):
        super().__init__(n_factors, **settings)
        self.c_max = c_max
        self.gamma = gamma
        self.capacity_steps = capacity_steps

    def _penalty(self, posterior: Posterior, schedule: Schedule) -> Tensor:
        steps = self.capacity_steps or max(1, schedule.max_steps // 3)
        capacity = capacity_at(posterior.batch.step, self.c_max, steps)
        posterior.terms["capacity"] = torch.tensor(capacity)
        return self.gamma * (posterior.kl - capacity).abs()
