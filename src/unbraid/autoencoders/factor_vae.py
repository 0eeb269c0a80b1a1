"""FactorVAE: a discriminator measures the total correlation."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unbraid.autoencoders.presets import DISCRIMINATOR_BETAS, Preset
from unbraid.autoencoders.vae import VAE
from unbraid.estimator.parameters import Hint, Number
from unbraid.networks.autoencoder import discriminator, initialise
from unbraid.training.batches import Batch, Points
from unbraid.training.trainer import Group, Loss, Schedule


def permute_dimensions(codes: Tensor, orders: Tensor) -> Tensor:
    """Each column in an order of its own, (n_factors, batch): codes as if they were independent.

    >>> codes = torch.tensor([[1, 10], [2, 20], [3, 30]])
    >>> permute_dimensions(codes, torch.tensor([[0, 1, 2], [2, 0, 1]])).tolist()
    [[1, 30], [2, 10], [3, 20]]
    """
    return codes.gather(0, orders.T)


class FactorVAE(VAE):
    r"""FactorVAE: the VAE's loss :math:`+ \gamma\, E[\log D(z) - \log (1 - D(z))]`, D a discriminator.

    D is trained beside it to tell codes from codes whose columns were shuffled over the batch; the last term is then
    the total correlation. The autoencoder learns nothing from D's own loss.

    Parameters
    ----------
    n_factors : int
    gamma : float
        The study tries 10, 20, 30, 40, 50 and 100.
    discriminator : tuple of int, optional
        Widths of D's hidden layers; the preset has six of 1000 ("paper") or three of 256 ("small").
    second_batch : bool
        Shuffle the codes of a second batch, as the paper's algorithm does; the study's code shuffles the first's.
    count_twice : bool, optional
        The study's step counter goes up by two an update, so that its 300,000 steps are 150,000 updates. By default
        as in the preset: True in "paper".
    **settings
        See :class:`~unbraid.autoencoders.base.AutoencoderEstimator`.

    Attributes
    ----------
    As of :class:`VAE`; ``history_`` has ``discriminator`` (its loss; log 2 if it only guesses) and
    ``discriminator_tc`` as well. ``n_steps_`` counts updates.

    References
    ----------
    Kim, Mnih (2018), Disentangling by factorising, Algorithm 2.

    Examples
    --------
    >>> import unbraid as ub
    >>> X = ub.datasets.load("shapes-xy", image_size=32).sample(100, random_state=0)[0]
    >>> ub.FactorVAE(n_factors=3, max_steps=20, random_state=0).fit_transform(X).shape
    (100, 3)
    """

    _parameter_constraints = {
        "gamma": (Number(0), Hint("The study tries 10, 20, 30, 40, 50 and 100.")),
        "discriminator": (tuple, list, None),
        "second_batch": (bool,),
        "count_twice": (bool, None),
    }

    def __init__(
        self,
        n_factors: int = 10,
        *,
        gamma: float = 20.0,
        discriminator: tuple[int, ...] | None = None,
        second_batch: bool = False,
        count_twice: bool | None = None,
        **settings: Any,
    ):
        super().__init__(n_factors, **settings)
        self.gamma = gamma
        self.discriminator = discriminator
        self.second_batch = second_batch
        self.count_twice = count_twice

    def _networks(self, shape: tuple[int, ...], preset: Preset, generator: torch.Generator) -> nn.ModuleDict:
        networks = super()._networks(shape, preset, generator)
        with torch.random.fork_rng(devices=[]):
            judge = discriminator(self._n_codes, tuple(self.discriminator or preset.discriminator))
        initialise(judge, preset.initialisation, generator)
        networks["discriminator"] = judge
        return networks

    def _groups(self, preset: Preset) -> dict[str, Group]:
        judge = Group(("discriminator",), preset.discriminator_learning_rate, DISCRIMINATOR_BETAS)
        return super()._groups(preset) | {"discriminator": judge}

    def _schedule(self, preset: Preset) -> Schedule:
        schedule = super()._schedule(preset)
        twice = preset.counts_twice if self.count_twice is None else self.count_twice
        return replace(schedule, max_steps=max(1, schedule.max_steps // 2)) if twice else schedule

    def _objective(self, batch: Batch, networks: nn.ModuleDict, points: Points, schedule: Schedule) -> Iterator[Loss]:
        judge = networks["discriminator"]
        posterior = self._posterior(networks, batch, points.n)
        logits = frozen(judge)(posterior.codes)
        correlation = (logits[:, 0] - logits[:, 1]).mean()
        value = posterior.reconstruction + posterior.kl + self.gamma * correlation
        yield Loss("model", value, {"loss": value, "discriminator_tc": correlation} | posterior.terms)
        codes = posterior.codes.detach()
        other = self._codes(networks, batch.another()) if self.second_batch else codes
        shuffled = permute_dimensions(other, batch.permutations(codes.shape[1]))
        loss = discriminator_loss(judge(codes), judge(shuffled))
        yield Loss("discriminator", loss, {"discriminator": loss})

    @torch.no_grad()
    def _codes(self, networks: nn.ModuleDict, batch: Batch) -> Tensor:
        mean, log_variance = networks["encoder"](batch.x).chunk(2, dim=1)
        return mean + (0.5 * log_variance).exp() * batch.noise(mean.shape[1])


def discriminator_loss(real: Tensor, shuffled: Tensor) -> Tensor:
    """Mean cross entropy of telling codes (class 0) from shuffled codes (class 1).

    >>> discriminator_loss(torch.zeros(4, 2), torch.zeros(4, 2)).item()
    0.6931
    """
    zeros = torch.zeros(len(real), dtype=torch.long, device=real.device)
    return 0.5 * (F.cross_entropy(real, zeros) + F.cross_entropy(shuffled, zeros + 1))


def frozen(network: nn.Module) -> Callable[[Tensor], Tensor]:
    """The network as a function of its input alone: no gradient is computed for its weights."""
    weights = {k: v.detach() for k, v in network.named_parameters()}
    return lambda x: torch.func.functional_call(network, weights, (x,))
