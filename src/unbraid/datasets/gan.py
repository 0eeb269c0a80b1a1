"""Image manifolds cut out of a generator's latent space by GANSpace."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from unbraid.datasets.base import Continuous
from unbraid.datasets.ganspace import Directions, ganspace


class GANManifold(Continuous):
    r"""Images :math:`g(\mu + \sum_i s_i \sigma_i v_i)` with :math:`s_i` uniform in [-reach, reach]: ``gan-manifold``.

    The :math:`v_i` are principal directions of the latent space, all others stay at 0 (Horan et al. 2021,
    section 4). Real generators give manifolds as rich as photographs, with known factors.

    Parameters
    ----------
    weights : path
        A checkpoint of a DCGAN generator; read as weights only, no code in it runs.
    generator : nn.Module, instead of ``weights``
        Any generator that maps latent vectors (n, latent_size) to images (n, channels, height, width) in [-1, 1].
    components : tuple of int
        Numbers of the principal components that are the factors.
    reach : float
        Largest coordinate, in standard deviations.
    layer : str, optional
        The layer whose activations are analysed. Default: the first activation.
    n_samples : int
        Latent vectors for the principal components.
    batch_size : int
        Images per call of the generator.
    random_state : int
        Of the principal components.

    Examples
    --------
    >>> from unbraid.networks.dcgan import DCGANGenerator
    >>> faces = GANManifold(generator=DCGANGenerator(width=4, image_size=16), n_samples=100)
    >>> faces.sample(2, random_state=0)[0].shape
    (2, 16, 16, 3)
    """

    name = "gan-manifold"

    def __init__(
        self,
        weights: str | os.PathLike | None = None,
        generator: nn.Module | None = None,
        components: tuple[int, ...] = (0, 1),
        reach: float = 2.0,
        layer: str | None = None,
        n_samples: int = 5000,
        batch_size: int = 64,
        random_state: int = 0,
    ):
        if (weights is None) == (generator is None):
            raise ValueError("give one of `weights` (the path of a checkpoint) and `generator` (a torch module).")
        if len(set(components)) != len(components) or not components or min(components) < 0:
            raise ValueError(f"components are different whole numbers from 0 on; received {components!r}.")
        self.generator = (generator if generator is not None else load_generator(weights)).eval()  # type: ignore[arg-type]
        self.components, self.reach, self.batch_size = tuple(components), reach, batch_size
        self.factor_names = tuple(f"component_{c}" for c in components)
        self.factor_ranges = ((-reach, reach),) * len(components)
        self.directions: Directions = ganspace(
            self.generator,
            layer=layer if layer is not None else first_activation(self.generator),
            n_samples=n_samples,
            n_components=max(components) + 1,
            random_state=random_state,
        )
        self.shape = self._images(self.directions.mean[None])[0].shape

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self._images(self.directions.latents(factors, self.components))

    def _images(self, latents: np.ndarray) -> np.ndarray:
        parts = []
        with torch.no_grad():
            for part in torch.from_numpy(latents.astype(np.float32)).split(self.batch_size):
                images = (self.generator(part) + 1) / 2
                parts.append(images.clamp(0, 1).permute(0, 2, 3, 1).contiguous().numpy())
        return np.concatenate(parts) if parts else np.empty((0, *self.shape), dtype=np.float32)


def load_generator(path: str | os.PathLike) -> nn.Module:
    """A generator from a checkpoint, read as weights only."""
    from unbraid.networks.dcgan import DCGANGenerator

    state = read_weights(path)
    return DCGANGenerator.from_state(state)


def read_weights(path: str | os.PathLike) -> dict[str, torch.Tensor]:
    """The state dict in a file of torch.save; nothing in it is executed."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}. Give the path of the generator's checkpoint.")
    try:
        state: Any = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise ValueError(
            f"{path} cannot be read as weights only ({type(error).__name__}: {str(error).splitlines()[0]}). "
            "Save a state_dict with torch.save."
        ) from error
    for key in ("netG_state_dict", "generator", "state_dict"):
        if isinstance(state, dict) and isinstance(state.get(key), dict):
            state = state[key]
    if not isinstance(state, dict) or not all(isinstance(v, torch.Tensor) for v in state.values()):
        raise ValueError(f"{path} holds no state_dict of tensors but a {type(state).__name__}.")
    return state


def first_activation(generator: nn.Module) -> str:
    """Name of the first non-linearity, the early layer that GANSpace analyses in a network without W."""
    kinds = (nn.ReLU, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Tanh)
    for name, module in generator.named_modules():
        if isinstance(module, kinds):
            return name
    raise ValueError(f"{type(generator).__name__} has no activation layer; give layer=, the name of a submodule.")
