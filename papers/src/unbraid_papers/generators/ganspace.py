"""GANSpace: principal directions of a generator's latent space (Haerkoenen et al. 2020)."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.decomposition import PCA
from torch import nn

EXACT = 1024  # features up to which directions come from the covariance: they do not depend on how many are asked for


@dataclass(frozen=True)
class Directions:
    """Principal directions of a latent space.

    Attributes
    ----------
    mean : array (latent_size,)
        The centre: the latent vector of the mean activation.
    components : array (n_components, latent_size)
        Change of the latent vector per unit of each principal coordinate.
    scales : array (n_components,)
        Standard deviation of each principal coordinate.
    explained : array (n_components,)
        Share of the activations' variance.
    """

    mean: np.ndarray
    components: np.ndarray
    scales: np.ndarray
    explained: np.ndarray

    def steps(self, coordinates: np.ndarray, chosen: tuple[int, ...]) -> np.ndarray:
        """sum_i s_i sigma_i v_i over the chosen components: what to add to the centre."""
        return coordinates @ (self.scales[list(chosen), None] * self.components[list(chosen)])


def ganspace(
    generator: nn.Module,
    latents: Callable[[torch.Tensor], torch.Tensor] | None = None,
    *,
    layer: str | None = None,
    latent_size: int | None = None,
    n_samples: int = 5000,
    n_components: int = 20,
    random_state: int = 0,
) -> Directions:
    r"""Directions of a generator's latent space that change its images the most.

    With a mapped latent space (StyleGAN's W) they are the principal components of w. Without one they are those of
    an early layer's activations y, carried back to z by least squares (GANSpace, section 2.2):

    .. math:: x_j = V^T (y_j - \mu), \qquad U = \arg\min_U \sum_j \| U x_j - (z_j - \bar z) \|^2

    Parameters
    ----------
    generator : nn.Module
        Called with normal latent vectors (n, latent_size).
    latents : callable, optional
        Maps z to the space to analyse (``generator.mapping`` of a StyleGAN2); the directions are then in that space.
    layer : str, optional
        Name of the submodule whose activations to analyse (see ``generator.named_modules()``).
    latent_size : int, optional
        Default: the generator's attribute of that name.
    n_samples, n_components : int
    random_state : int

    Returns
    -------
    Directions

    Examples
    --------
    >>> found = ganspace(nn.Linear(3, 5), layer="", latent_size=3, n_samples=100, n_components=2)
    >>> found.components.shape
    (2, 3)
    """
    if (latents is None) == (layer is None):
        raise ValueError("pass either `latents` (a mapped latent space) or `layer` (the name of a submodule).")
    size = latent_size if latent_size is not None else getattr(generator, "latent_size", None)
    if size is None:
        raise ValueError("the generator has no attribute latent_size; pass latent_size=.")
    z = torch.from_numpy(np.random.default_rng(random_state).standard_normal((n_samples, size)).astype(np.float32))
    with torch.no_grad():
        if latents is not None:
            y = torch.cat([latents(part) for part in z.split(512)]).numpy()
        else:
            assert layer is not None
            y = _activations(generator, layer, z).numpy()
    mean, basis, scales, explained = _principal(y, n_components)
    if latents is not None:
        return Directions(mean, basis, scales, explained)
    x = (y - mean) @ basis.T
    z_mean = z.numpy().mean(axis=0)
    solution = np.linalg.lstsq(x, z.numpy() - z_mean, rcond=None)[0]
    return Directions(z_mean, solution, scales, explained)


class _LayerReached(Exception):
    """Raised by the hook: the layers behind the one asked for need not run."""


def _activations(generator: nn.Module, layer: str, z: torch.Tensor) -> torch.Tensor:
    modules = dict(generator.named_modules())
    if layer not in modules:
        raise ValueError(f"the generator has no layer {layer!r}. Its layers: {', '.join(k for k in modules if k)}.")
    kept: list[torch.Tensor] = []

    def keep(module: nn.Module, args: tuple, output: torch.Tensor) -> None:
        kept.append(output.flatten(1))
        raise _LayerReached

    hook = modules[layer].register_forward_hook(keep)
    try:
        for part in z.split(256):
            with suppress(_LayerReached):
                generator(part)
    finally:
        hook.remove()
    return torch.cat(kept)


def _principal(y: np.ndarray, n_components: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Mean, unit directions, standard deviations and shares of variance; signs fixed by the largest entry."""
    most = min(y.shape)
    if n_components > most:
        raise ValueError(f"n_components={n_components!r} must be at most {most} here.")
    if y.shape[1] <= EXACT:
        y, solver = y.astype(np.float64), "covariance_eigh"
    else:
        solver = "randomized" if most > 10 * n_components else "full"
    pca = PCA(n_components, svd_solver=solver, random_state=0).fit(y)
    basis = pca.components_
    signs = np.sign(np.take_along_axis(basis, np.abs(basis).argmax(axis=1)[:, None], axis=1))
    return pca.mean_, basis * signs, np.sqrt(pca.explained_variance_), pca.explained_variance_ratio_
