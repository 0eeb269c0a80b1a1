"""Train with a checkpoint as a script, to be killed from outside: python killed_run.py METHOD CHECKPOINT STEPS."""

import sys

import numpy as np

import unbraid as ub

SETTINGS = {
    "VAE": {},
    "FactorVAE": {"discriminator": (16, 16), "second_batch": True},
    "HessianAutoencoder": {"n_factors": 2, "teacher": ub.PCAICA(n_factors=2)},
}


def build(method, checkpoint, steps):
    settings = {"n_factors": 3, "batch_size": 8, "max_steps": steps, "checkpoint_every": 5, "log_every": 7}
    return getattr(ub, method)(**settings | {"checkpoint": checkpoint, "random_state": 3} | SETTINGS[method])


def data():
    return (np.random.default_rng(0).random((60, 32, 32)) > 0.7).astype(np.uint8)


if __name__ == "__main__":
    model = build(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    if len(sys.argv) > 4:
        model.set_params(log=sys.argv[4])
    print("start", flush=True)
    model.fit(data())
    print("done", flush=True)
