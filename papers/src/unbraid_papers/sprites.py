"""dSprites of the size that a reproduction can afford."""

from functools import lru_cache

import numpy as np


@lru_cache(maxsize=2)
def pictures(image_size: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """dSprites (uint8) of this size, and their factors, drawn in blocks."""
    from unbraid.datasets import load

    data, by = load("dsprites", dtype="uint8"), 64 // image_size
    blocks = [data.sample(5000, random_state=np.random.default_rng([seed, start])) for start in range(0, n, 5000)]
    shape = (-1, image_size, by, image_size, by)
    small = [np.round(X.reshape(shape).mean(axis=(2, 4), dtype=np.float32)) for X, _ in blocks]
    return np.concatenate(small).astype(np.uint8), np.concatenate([v for _, v in blocks])
