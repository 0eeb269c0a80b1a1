"""Scores of a variational autoencoder along one training, instead of a training for each length."""

from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from unbraid.autoencoders import VAE
from unbraid.networks.layout import as_images
from unbraid.training.batches import Batch, Points
from unbraid.training.trainer import Loss, Schedule

EVERY = 100  # steps between two records, and the smallest distance of two marks
CHUNK = 512

Look = Callable[[np.ndarray, np.ndarray], Mapping[str, float]]


def watched(kind: type[VAE], marks: Container[int], X: np.ndarray, look: Look) -> type[VAE]:
    """``kind``, whose history has ``look(means, log_variances)`` of the codes of X after these numbers of steps.

    The scores are terms of the training's own record, so they are in its checkpoint, and a training that was killed
    has them all when it is resumed.
    """

    base: Any = kind  # a class that is not known before cannot be inherited from, for a type checker

    class Watched(base):
        def _objective(
            self, batch: Batch, networks: nn.ModuleDict, points: Points, schedule: Schedule
        ) -> Iterator[Loss]:
            for loss in super()._objective(batch, networks, points, schedule):
                if batch.step in marks:
                    scores = look(*_encoded(networks["encoder"], X))
                    loss.terms.update({name: torch.tensor(value) for name, value in scores.items()})
                yield loss

    Watched.__name__ = kind.__name__
    return Watched


def _encoded(encoder: nn.Module, X: np.ndarray) -> Iterator[np.ndarray]:
    with torch.no_grad():
        pictures = torch.from_numpy(X.astype(np.float32, copy=False))
        parts = [encoder(as_images(part, X.shape[1:])) for part in pictures.split(CHUNK)]
    return (part.numpy() for part in torch.cat(parts).chunk(2, dim=1))


def seen(model: VAE, X: np.ndarray, look: Look) -> list[dict[str, Any]]:
    """The scores by their number of steps: those of the history, and those of the trained model."""
    last = look(*model.encode(X))
    found = [
        {"steps": record["step"] - EVERY, **{name: record[name] for name in last}}
        for record in model.history_
        if set(last) <= set(record)
    ]
    return [*found, {"steps": model.n_steps_, **last}]
