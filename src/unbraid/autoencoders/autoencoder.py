"""The plain autoencoder."""

from collections.abc import Iterator

from torch import nn

from unbraid.autoencoders.base import AutoencoderEstimator
from unbraid.training.batches import Batch, Points
from unbraid.training.trainer import Loss, Schedule


class Autoencoder(AutoencoderEstimator):
    r"""Autoencoder: minimises :math:`\frac12 \|D(E(x)) - x\|^2`.

    The baseline that reconstructs and asks nothing of its codes.

    Parameters
    ----------
    n_factors : int
        Width of the bottleneck.
    **settings
        See :class:`~unbraid.autoencoders.base.AutoencoderEstimator`.

    Attributes
    ----------
    history_ : list of dict
        ``loss`` and ``reconstruction`` every ``log_every`` steps.
    weights_ : dict of arrays
    n_steps_, stopped_, likelihood_, row_shape_, unit_, center_, scale_

    Examples
    --------
    >>> import unbraid as ub
    >>> X = ub.datasets.load("shapes-xy", image_size=32).sample(100, random_state=0)[0]
    >>> ub.Autoencoder(n_factors=2, max_steps=20, random_state=0).fit_transform(X).shape
    (100, 2)
    """

    def _objective(self, batch: Batch, networks: nn.ModuleDict, points: Points, schedule: Schedule) -> Iterator[Loss]:
        loss = self._reconstruction(networks, networks["encoder"](batch.x), batch.x).mean()
        yield Loss("model", loss, {"loss": loss, "reconstruction": loss})
