"""Augmentations for self-supervised GIN: the papers' affine recipe, and how a user's function is called."""

import inspect
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F


class AffineRecipe:
    """Translation, rotation, scaling and their combinations: 7 augmented images and the original (Appendix B).

    Parameters
    ----------
    translation : float
        Largest shift to each side, as a share of the image's width and height.
    rotation : (float, float)
        Degrees.
    scaling : (float, float)
        Factors.

    Examples
    --------
    >>> images = np.zeros((2, 28, 28)); images[:, 10:18, 12:16] = 1
    >>> AffineRecipe()(images, np.random.default_rng(0)).shape
    (2, 8, 28, 28)
    """

    n_members = 8

    def __init__(
        self,
        translation: float = 0.1,
        rotation: tuple[float, float] = (0.0, 5.0),
        scaling: tuple[float, float] = (0.8, 1.25),
    ):
        self.translation, self.rotation, self.scaling = translation, rotation, scaling

    def __call__(self, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Sets (n, 8, height, width[, channels]) of images (n, height, width[, channels])."""
        if X.ndim not in (3, 4):
            raise ValueError(
                f"augment='affine' needs images (n, height, width) or (n, height, width, channels), not {X.shape}."
            )
        images = torch.from_numpy(np.ascontiguousarray(X, dtype=np.float32))
        images = images.unsqueeze(1) if images.ndim == 3 else images.permute(0, 3, 1, 2)
        members = [images]
        for size in (1, 2, 3):
            for parts in combinations(("translation", "rotation", "scaling"), size):
                theta = torch.from_numpy(self.matrices(len(images), parts, rng).astype(np.float32))
                grid = F.affine_grid(theta, list(images.shape), align_corners=False)
                members.append(F.grid_sample(images, grid, align_corners=False))
        sets = torch.stack(members, 1)
        sets = sets.squeeze(2) if X.ndim == 3 else sets.permute(0, 1, 3, 4, 2)
        return sets.numpy()

    def matrices(self, n: int, parts: tuple[str, ...], rng: np.random.Generator) -> np.ndarray:
        """(n, 2, 3) maps from the new image's coordinates, in [-1, 1], to the old one's."""
        shift = rng.uniform(-2 * self.translation, 2 * self.translation, (n, 2)) * ("translation" in parts)
        angle = np.deg2rad(rng.uniform(*self.rotation, n)) * ("rotation" in parts)
        scale = np.where("scaling" in parts, rng.uniform(*self.scaling, n), 1.0)
        cos, sin = np.cos(angle) / scale, np.sin(angle) / scale
        return np.stack((np.stack((cos, -sin, shift[:, 0]), 1), np.stack((sin, cos, shift[:, 1]), 1)), 1)


def caller(augment: Callable) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    """``augment`` as a function of points and a generator: one that takes points only is called so.

    >>> caller(lambda x: x + 1)(np.zeros(2), np.random.default_rng(0))
    array([1., 1.])
    """
    try:
        parameters = inspect.signature(augment).parameters
    except (TypeError, ValueError):
        return lambda X, rng: np.asarray(augment(X))
    for name in ("rng", "generator"):
        if name in parameters:
            return lambda X, rng: np.asarray(augment(X, **{name: rng}))
    if "random_state" in parameters:
        return lambda X, rng: np.asarray(augment(X, random_state=int(rng.integers(2**31 - 1))))
    needed = [
        p for p in parameters.values()
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]  # fmt: skip
    if len(needed) >= 2:
        return lambda X, rng: np.asarray(augment(X, rng))
    return lambda X, rng: np.asarray(augment(X))


def draw_sets(augment: Any, X: np.ndarray, n_members: int, rng: np.random.Generator) -> np.ndarray:
    """Sets (n, M, ...): what ``augment`` returns if it returns sets, else M calls of it."""
    first = augment(X, rng)
    if first.ndim == X.ndim + 1 and first.shape[0] == len(X) and first.shape[2:] == X.shape[1:]:
        return first
    if first.shape != X.shape:
        raise ValueError(
            f"augment returned shape {first.shape} for points of shape {X.shape}; it must return the same shape, or "
            f"sets of shape ({len(X)}, M, {', '.join(map(str, X.shape[1:]))})."
        )
    return np.stack([first] + [augment(X, rng) for _ in range(n_members - 1)], 1)
