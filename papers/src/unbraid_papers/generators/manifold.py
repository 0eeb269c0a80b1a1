"""Image manifolds cut out of a generator's latent space by GANSpace."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from unbraid.datasets.base import Continuous
from unbraid.datasets.storage import data_folder
from unbraid.runtime.progress import bar
from unbraid_papers.generators.ffhq import FFHQ
from unbraid_papers.generators.ganspace import Directions, ganspace
from unbraid_papers.generators.kept import KeptImages

# Horan et al. (2021): principal components of StyleGAN2's W, and the largest coordinate
MANIFOLDS: dict[str, tuple[tuple[int, ...], float]] = {
    "ffhq": ((0, 1), 2.0),
    "cat1": ((6, 9), 2.0),
    "cat2": ((4, 13), 2.0),
    "car": ((0, 13), 2.0),
    "kitchen": ((3, 8), 2.0),
    "bedroom": ((5, 9), 1.5),
    "church": ((3, 9), 2.0),
    "horse": ((1, 11), 2.0),
}
KEPT_SIZE = 128  # of images on disk; smaller ones are made of them, so that none is drawn twice


class GANManifold(Continuous):
    r"""Images :math:`g(c + \sum_i s_i \sigma_i v_i)` with :math:`s_i` uniform in [-reach, reach]: ``gan-manifold``.

    The :math:`v_i` are principal directions of the latent space and c its centre; all others stay as they are there
    (Horan et al. 2021, section 4). Real generators give manifolds as rich as photographs, with known factors.

    Parameters
    ----------
    weights : path
        A checkpoint of a DCGAN generator, or of a StyleGAN2 generator in NVIDIA's or rosinality's layout; read as
        numbers, no code in it runs.
    generator : nn.Module or "ffhq", instead of ``weights``
        Any generator that maps latent vectors (n, latent_size) to images (n, channels, height, width) in [-1, 1].
        One with ``mapping`` and ``synthesis`` (StyleGAN2) is analysed in its W space. "ffhq" is the generator of faces
        that ``unbraid datasets get ffhq`` fetches (:class:`~unbraid_papers.generators.ffhq.FFHQ`).
    manifold : str, optional
        One of the paper's eight, for the StyleGAN2 of that subject: ffhq, cat1, cat2, car, kitchen, bedroom, church,
        horse. It sets ``components`` and ``reach``.
    components : tuple of int, optional
        Numbers of the principal components that are the factors. Default (0, 1).
    reach : float, optional
        Largest coordinate, in standard deviations. Default 2.
    image_size : int, optional
        Shrink the images to this side (the paper's have 256); a divisor of the generator's.
    centre : "mean", "sample", int or array (latent_size,), optional
        The latent vector around which to move. "mean" is the paper's centre in W, and the default there. A generator
        without W makes no pictures near the mean of z, where no latent vector of its training lay; the default is
        then "sample", a latent vector drawn with ``random_state`` (a number draws another) whose part along the
        chosen directions is taken out.
    layer : str, optional
        The layer whose activations are analysed. Default: the first activation.
    n_samples : int, optional
        Latent vectors for the principal components. Default 5000; 20,000 for "ffhq".
    batch_size : int
        Images per call of the generator; "ffhq" draws one at a time.
    random_state : int
        Of the principal components.
    cache : path, optional
        Folder for the images of "ffhq", each drawn once; default ``rendered`` in the data folder.

    Examples
    --------
    >>> from unbraid_papers.generators.dcgan import DCGANGenerator
    >>> faces = GANManifold(generator=DCGANGenerator(width=4, image_size=16), n_samples=100)
    >>> faces.sample(2, random_state=0)[0].shape
    (2, 16, 16, 3)
    """

    name = "gan-manifold"

    def __init__(
        self,
        weights: str | os.PathLike | None = None,
        generator: nn.Module | str | None = None,
        manifold: str | None = None,
        components: tuple[int, ...] | None = None,
        reach: float | None = None,
        image_size: int | None = None,
        centre: Any = None,
        layer: str | None = None,
        n_samples: int | None = None,
        batch_size: int = 64,
        random_state: int = 0,
        cache: str | os.PathLike | None = None,
    ):
        if (weights is None) == (generator is None):
            raise ValueError(
                "pass either `weights` (the path of a checkpoint) or `generator` (a torch module, or 'ffhq')."
            )
        if isinstance(generator, str):
            if generator != "ffhq":
                raise ValueError(f"there is no generator {generator!r}. Pass 'ffhq', a torch module, or weights=.")
            generator = FFHQ()
        if manifold is not None and manifold not in MANIFOLDS:
            raise ValueError(f"there is no manifold {manifold!r}. Available: {', '.join(MANIFOLDS)}.")
        named = MANIFOLDS[manifold] if manifold is not None else ((0, 1), 2.0)
        components = named[0] if components is None else tuple(components)
        reach = named[1] if reach is None else reach
        if len(set(components)) != len(components) or not components or min(components) < 0 or reach <= 0:
            raise ValueError(
                f"components are different whole numbers from 0 on, and reach > 0; received {components!r}, {reach!r}."
            )
        self.generator = (generator if generator is not None else load_generator(weights)).eval()  # type: ignore[arg-type]
        self.components, self.reach, self.batch_size, self.image_size = components, reach, batch_size, image_size
        self.factor_names = tuple(f"component_{c}" for c in components)
        self.factor_ranges = ((-reach, reach),) * len(components)
        if n_samples is None:
            n_samples = 20_000 if isinstance(self.generator, FFHQ) else 5000
        settings: dict[str, Any] = {"n_samples": n_samples, "random_state": random_state}
        settings["n_components"] = max(components) + 1
        mapping = getattr(self.generator, "mapping", None)
        if layer is None and mapping is not None:
            self._draw: Any = self.generator.synthesis
            self.directions: Directions = ganspace(self.generator, mapping, **settings)
        else:
            self._draw = self.generator
            layer = layer if layer is not None else first_activation(self.generator)
            self.directions = ganspace(self.generator, layer=layer, **settings)
        if centre is None:
            centre = "mean" if self._draw is not self.generator else "sample"
        if isinstance(self.generator, FFHQ):
            self._draw, self.batch_size = self._kept(self.generator, cache), 1
        self.centre = self._centre(centre, random_state)
        self.shape = self._images(self.centre[None])[0].shape

    def _kept(self, faces: FFHQ, cache: str | os.PathLike | None) -> KeptImages:
        """Its synthesis, with images on disk of ``KEPT_SIZE`` pixels, or of more where more are asked for."""
        size = faces.image_size // _factor(faces.image_size, self.image_size or faces.image_size)
        size = max(size, min(KEPT_SIZE, faces.image_size))
        folder = data_folder() / "rendered" if cache is None else Path(cache)
        return KeptImages(faces.synthesis, faces.content, size, folder / f"ffhq-{size}.sqlite")

    def _centre(self, centre: Any, random_state: int) -> np.ndarray:
        if isinstance(centre, str) and centre == "mean":
            return self.directions.mean
        if isinstance(centre, str) and centre == "sample":
            centre = random_state
        if isinstance(centre, int | np.integer):
            z = np.random.default_rng(centre).standard_normal((1, self.directions.mean.size)).astype(np.float32)
            if self._draw is not self.generator:
                with torch.no_grad():
                    z = self.generator.mapping(torch.from_numpy(z)).numpy()  # type: ignore[operator]
            basis = np.linalg.qr(self.directions.components[list(self.components)].T)[0]
            moved = z[0] - self.directions.mean
            return z[0] - basis @ (basis.T @ moved)
        if np.shape(centre) != self.directions.mean.shape:
            raise ValueError(
                f"centre is 'mean', 'sample', a number, or an array of shape {self.directions.mean.shape}; received "
                f"{centre!r}."
            )
        return np.asarray(centre, dtype=np.float32)

    def n_drawn(self, n: int, random_state: Any = None) -> int:
        """How many images of ``sample(n, random_state)`` are on disk before the first that is not; of "ffhq" only."""
        latents = self._latents(self.sample_factors(n, random_state))
        return self._draw.n_drawn(torch.from_numpy(latents.astype(np.float32)))

    def _latents(self, factors: np.ndarray) -> np.ndarray:
        return self.centre + self.directions.steps(factors, self.components)

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self._images(self._latents(factors))

    def _images(self, latents: np.ndarray) -> np.ndarray:
        found: np.ndarray | None = None  # whole from the start: pieces kept among images that go leave holes in memory
        shown = None if isinstance(self._draw, KeptImages) else False
        with torch.no_grad(), bar("images", len(latents), show=shown) as advance:
            for start in range(0, len(latents), self.batch_size):
                some = slice(start, start + self.batch_size)
                part = torch.from_numpy(latents[some].astype(np.float32))
                images = ((self._draw(part) + 1) / 2).clamp(0, 1)
                if self.image_size is not None:
                    images = nn.functional.avg_pool2d(images, _factor(images.shape[-1], self.image_size))
                images = images.permute(0, 2, 3, 1).numpy()
                if found is None:
                    found = np.empty((len(latents), *images.shape[1:]), np.float32)
                found[some] = images
                advance(len(part))
        return np.empty((0, *self.shape), np.float32) if found is None else found


def _factor(side: int, wanted: int) -> int:
    if wanted < 1 or side % wanted:
        raise ValueError(f"image_size={wanted!r} must divide the generator's {side} pixels.")
    return side // wanted


def load_generator(path: str | os.PathLike) -> nn.Module:
    """A DCGAN or StyleGAN2 generator from a checkpoint, read without running any code in it."""
    from unbraid_papers.generators.dcgan import DCGANGenerator
    from unbraid_papers.generators.stylegan2_checkpoints import generator_from_state, read_state

    state = read_state(Path(path))
    if "main.0.weight" in state:
        return DCGANGenerator.from_state(state)
    return generator_from_state(state)


def first_activation(generator: nn.Module) -> str:
    """Name of the first non-linearity, the early layer that GANSpace analyses in a network without W."""
    kinds = (nn.ReLU, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Tanh)
    for name, module in generator.named_modules():
        if isinstance(module, kinds):
            return name
    raise ValueError(f"{type(generator).__name__} has no activation layer; pass layer=, the name of a submodule.")
