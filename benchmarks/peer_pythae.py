"""Train a model of pythae with its own trainer and print a line of JSON; run by bench_autoencoders.py.

python peer_pythae.py IMAGES.npy MODEL STRENGTH EPOCHS SEED
"""

import json
import sys
import tempfile
import time

import numpy as np
import torch
from autoencoder_nets import BATCH, LEARNING_RATE, N_FACTORS, negative_elbo, networks
from pythae.data.datasets import DatasetOutput
from pythae.models import VAE, BetaTCVAE, BetaTCVAEConfig, BetaVAE, BetaVAEConfig, VAEConfig
from pythae.models.base.base_utils import ModelOutput
from pythae.models.nn import BaseDecoder, BaseEncoder
from pythae.pipelines import TrainingPipeline
from pythae.trainers import BaseTrainerConfig
from pythae.trainers.training_callbacks import TrainingCallback

MODELS = {"VAE": (VAE, VAEConfig), "BetaVAE": (BetaVAE, BetaVAEConfig), "BetaTCVAE": (BetaTCVAE, BetaTCVAEConfig)}


class Encoder(BaseEncoder):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        mean, log_variance = self.net(x).chunk(2, dim=1)
        return ModelOutput(embedding=mean, log_covariance=log_variance)


class Decoder(BaseDecoder):
    """pythae's Bernoulli loss takes probabilities, so the sigmoid is part of its decoder."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, z):
        return ModelOutput(reconstruction=self.net(z).sigmoid())


class Clock(TrainingCallback):
    """Counts steps and takes the time from the first epoch's begin to the last one's end; saving is left out."""

    def __init__(self):
        self.steps = 0

    def on_epoch_begin(self, training_config, **kwargs):
        if kwargs["epoch"] == 1:
            self.cpu, self.wall = time.process_time(), time.perf_counter()

    def on_train_step_end(self, training_config, **kwargs):
        self.steps += 1

    def on_epoch_end(self, training_config, **kwargs):
        self.cpu_seconds = time.process_time() - self.cpu
        self.wall_seconds = time.perf_counter() - self.wall


def main(path, name, strength, epochs, seed):
    torch.set_num_threads(1)
    images = torch.from_numpy(np.load(path)) / 255
    encoder, decoder = networks(int(seed))
    model_class, config_class = MODELS[name]
    options = {} if name == "VAE" else {"beta": float(strength)}
    config = config_class(input_dim=(1, 64, 64), latent_dim=N_FACTORS, reconstruction_loss="bce", **options)
    model = model_class(config, encoder=Encoder(encoder), decoder=Decoder(decoder))
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        training = BaseTrainerConfig(
            output_dir=folder, num_epochs=int(epochs), learning_rate=LEARNING_RATE, seed=int(seed), no_cuda=True,
            per_device_train_batch_size=BATCH,
        )  # fmt: skip
        TrainingPipeline(training_config=training, model=model)(train_data=images[:, None], callbacks=[clock])
    some = images[:2000]
    reconstruction, kl = negative_elbo(
        lambda x: encoder(x[:, None]).chunk(2, dim=1), lambda z: decoder(z).sigmoid(), some
    )
    with torch.no_grad():
        own = model(DatasetOutput(data=some[:, None]), dataset_size=len(images)).loss.item()
    found = {"steps": clock.steps, "cpu_seconds": clock.cpu_seconds, "wall_seconds": clock.wall_seconds}
    print(json.dumps(found | {"reconstruction": reconstruction, "kl": kl, "own_loss": own}))


if __name__ == "__main__":
    main(*sys.argv[1:])
