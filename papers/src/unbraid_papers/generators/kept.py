"""Images of a slow generator, kept on disk: each is drawn once, and an interrupted run goes on where it was."""

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import torch
from torch import nn

WAIT = 60  # seconds for another process that writes


class KeptImages:
    """A synthesis network whose images are drawn once for each latent vector.

    An image is stored in bytes as soon as it is drawn, under the SHA-256 of weights, size and latent vector. Several
    processes may share the file.

    Parameters
    ----------
    synthesis : callable
        From latent vectors (n, latent_size) to square images (n, 3, height, width) in [-1, 1].
    content : str
        A checksum of its weights.
    image_size : int
        Side of the images, means of blocks of those of ``synthesis``.
    file : path
    """

    def __init__(self, synthesis: Callable[[torch.Tensor], torch.Tensor], content: str, image_size: int, file: Path):
        self.synthesis, self.image_size, self.file = synthesis, image_size, file
        self._content = f"{content} {image_size} ".encode()

    def __call__(self, latents: torch.Tensor) -> torch.Tensor:
        """Images (n, 3, image_size, image_size) in [-1, 1], in steps of 2 / 255."""
        with self._opened() as store:
            images = np.stack([self._image(store, latent) for latent in latents])
        return torch.from_numpy(images).float() / 127.5 - 1

    def n_drawn(self, latents: torch.Tensor) -> int:
        """How many of the images are there before the first that is not."""
        with self._opened() as store:
            for i, latent in enumerate(latents):
                if store.execute("SELECT 1 FROM images WHERE address = ?", (self._address(latent),)).fetchone() is None:
                    return i
        return len(latents)

    def _address(self, latent: torch.Tensor) -> bytes:
        return hashlib.sha256(self._content + latent.numpy().tobytes()).digest()

    def _image(self, store: sqlite3.Connection, latent: torch.Tensor) -> np.ndarray:
        address = self._address(latent)
        found = store.execute("SELECT pixels FROM images WHERE address = ?", (address,)).fetchone()
        if found is None:
            pixels = self._draw(latent).tobytes()
            with store:
                store.execute("INSERT OR IGNORE INTO images VALUES (?, ?)", (address, pixels))
            found = (pixels,)
        return np.frombuffer(found[0], np.uint8).reshape(3, self.image_size, self.image_size)

    def _draw(self, latent: torch.Tensor) -> np.ndarray:
        image = self.synthesis(latent[None]).clamp_(-1, 1)  # in place: a copy of 12 MB a face breaks up the heap
        image = nn.functional.avg_pool2d(image, image.shape[-1] // self.image_size)
        return np.rint(127.5 * (image[0].numpy() + 1)).astype(np.uint8)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        try:
            with closing(sqlite3.connect(self.file, timeout=WAIT)) as store:
                store.execute("CREATE TABLE IF NOT EXISTS images (address BLOB PRIMARY KEY, pixels BLOB)")
                yield store
        except sqlite3.DatabaseError as error:
            raise ValueError(
                f"{self.file} cannot be used ({error}). If it is damaged, delete it: its images are drawn again. "
                "Another folder can be given as cache=."
            ) from error
