"""Train with a checkpoint as a script that ends itself at a step by a signal: python killed_run.py JSON."""

import json
import os
import signal
import sys
import warnings

import numpy as np
import torch

import unbraid as ub
from unbraid.training.run import Run
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


def end_at(step, ending):
    """Let this process send itself a signal in the middle of a run, between a step and its checkpoint."""
    is_due = Run._is_due

    def due(run):
        if run.n_steps == step:
            os.kill(os.getpid(), ending)
        return is_due(run)

    Run._is_due = due


def ended(method, folder, steps, step, ending):
    """The exit status of a child that trains and is ended; what it writes to standard error is in ``err``."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.dup2(os.open(f"{folder}/err", os.O_CREAT | os.O_WRONLY), 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
    end_at(step, ending)
    fitted(method, f"{folder}/run.safetensors", steps, log=f"{folder}/log")
    os._exit(0)


if __name__ == "__main__":  # one start for all: the children have the imports of their parent
    torch.optim.Adam([torch.zeros(1, requires_grad=True)])  # which imports 800 modules
    print(json.dumps([ended(*run) for run in json.loads(sys.argv[1])]))
