"""Train with a checkpoint as a script, to be killed from outside: python killed_run.py METHOD CHECKPOINT STEPS."""

import sys
import warnings

import numpy as np

import unbraid as ub
from unbraid.trust.warnings import AssumptionWarning


def shake(X, rng):
    return X + 0.3 * rng.normal(size=X.shape)


COMMON = {"checkpoint_every": 5, "log_every": 7, "random_state": 3}
AUTOENCODER = COMMON | {"n_factors": 3, "batch_size": 8}
FLOW = COMMON | {"n_factors": 2, "n_init": 2, "n_blocks": 3, "batch_size": 50, "engine": "torch", "patience": 1000}
SETTINGS = {
    "VAE": AUTOENCODER,
    "FactorVAE": AUTOENCODER | {"discriminator": (16, 16), "second_batch": True},
    "HessianAutoencoder": AUTOENCODER | {"n_factors": 2, "teacher": ub.PCAICA(n_factors=2)},
    "GIN": FLOW,
    "RealNVP": FLOW,
    "SelfSupervisedGIN": FLOW | {"augment": shake, "n_augmentations": 3, "n_init": 3},
}
FLOWS = ("GIN", "RealNVP", "SelfSupervisedGIN")


def build(method, checkpoint, steps):
    return getattr(ub, method)(**SETTINGS[method] | {"checkpoint": checkpoint, "max_steps": steps})


def data(method):
    """What ``fit`` takes: images, or points with labels."""
    rng = np.random.default_rng(0)
    if method not in FLOWS:
        return ((rng.random((60, 32, 32)) > 0.7).astype(np.uint8),)
    labels = np.arange(150) % 3
    X = rng.normal(size=(150, 4)) * [1, 0.7, 0.1, 0.1] + labels[:, None] * [1.0, -0.5, 0, 0]
    return X, labels


def fitted(method, checkpoint, steps, **changes):
    model = build(method, checkpoint, steps).set_params(**changes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return model.fit(*data(method))


if __name__ == "__main__":
    print("start", flush=True)
    fitted(sys.argv[1], sys.argv[2], int(sys.argv[3]), log=sys.argv[4] if len(sys.argv) > 4 else None)
    print("done", flush=True)
