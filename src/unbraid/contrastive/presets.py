"""Encoders of contrastive learning, and how they are trained."""

from functools import partial

from unbraid.networks.autoencoder import patch_encoder
from unbraid.networks.contrastive import deep_encoder
from unbraid.training.encoder import Preset

_trained = partial(
    Preset, initialisation="torch", max_steps=3000, learning_rate=1e-3, batch_size=512, decay="cosine"
)  # fmt: skip

PRESETS = {
    "small": _trained(encoder=deep_encoder),
    "patches": _trained(encoder=patch_encoder, for_images=True),
}
# A longer training of a classifier of segments learns the rows by heart.
FOR_SEGMENTS = {"max_steps": 4000, "learning_rate": 2e-3}
