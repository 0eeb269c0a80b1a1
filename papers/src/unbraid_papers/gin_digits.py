"""What both papers on GIN do with handwritten digits: read them, move one latent, and measure how far it goes."""

from typing import Any

import numpy as np

from unbraid_papers.bench import Bench
from unbraid_papers.paper import Cell

VALUES = np.array([-2, -4 / 3, -1, -2 / 3, 0, 2 / 3, 1, 4 / 3, 2])
SEVEN, WHOLE = (
    [0, 1, 3, 4, 5, 7, 8],
    [0, 2, 4, 6, 8],
)  # the papers' columns, and -2 to 2 by ones
STEPS_PER_EPOCH = 250  # of MNIST, batches of 240
SIDE = 28
MINUTES, MORE = 4.0, 0.1  # of training at small scale: from nothing, and from a checkpoint


def load_digits(name: str, split: str) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 28, 28) uint8 and labels of ``mnist`` or ``emnist-digits``."""
    from unbraid.datasets import load

    try:
        data: Any = load(name, split=split)
    except FileNotFoundError:  # said without the folder, as the page goes to others
        raise FileNotFoundError(f"{name} not found: put its files into the folder given by UNBRAID_DATA.") from None
    images, factors = data.rows(np.arange(len(data)))
    return images, factors[:, 0]


def seconds_of_training(bench: Bench, cell: Cell) -> float | None:
    """How long to train: to the end at the paper's scale."""
    if bench.scale == "paper":
        return None
    return 60 * (MORE if bench.checkpoint(cell).exists() else MINUTES)


def class_statistics(codes: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of the codes of each digit, (10, d) each."""
    parts = [codes[labels == c].astype(np.float64) for c in range(10)]
    return np.stack([p.mean(0) for p in parts]), np.stack([p.std(0) for p in parts])


def move_latents(model: Any, means: np.ndarray, stds: np.ndarray, which: range) -> np.ndarray:
    """Images (latents, 10, 9, 28, 28): one latent by VALUES std of each digit, the others at the digit's mean."""
    codes = np.tile(means[None, :, None], (len(which), 1, len(VALUES), 1))
    for row, latent in enumerate(which):
        codes[row, :, :, latent] += VALUES * stds[:, latent, None]
    images = model.inverse_transform(codes.reshape(-1, codes.shape[-1]).astype(np.float32))
    return np.clip(images, 0, 1).reshape(*codes.shape[:3], SIDE, SIDE)


def change_by_digit(moved: np.ndarray) -> np.ndarray:
    """How far a latent moves each digit, (latents, 10): the distance of its images at -1 and +1."""
    return np.linalg.norm((moved[:, :, 6] - moved[:, :, 2]).reshape(*moved.shape[:2], -1), axis=-1)


def unevenness(change: np.ndarray) -> np.ndarray:
    """Standard deviation over mean of a latent's effect on the ten digits: 0 where it moves all alike.

    >>> unevenness(np.array([[1.0, 1.0], [2.0, 0.0]]))
    array([0., 1.])
    """
    return change.std(1) / np.maximum(change.mean(1), 1e-12)


def as_bytes(images: np.ndarray) -> np.ndarray:
    """Images in [0, 1] as bytes."""
    return np.round(255 * np.clip(images, 0, 1)).astype(np.uint8)
