"""The network, the start weights and the score that both sides of bench_autoencoders.py use; needs torch alone."""

import torch
from torch import nn

N_FACTORS, BATCH, LEARNING_RATE = 10, 64, 1e-3


def networks(seed):
    """Encoder (batch, 1, 64, 64) -> means and log-variances, decoder -> logits; the same weights for the same seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder = nn.Sequential(
            nn.Conv2d(1, 16, 4, 4), nn.ReLU(), nn.Conv2d(16, 64, 4, 4), nn.ReLU(),
            nn.Flatten(), nn.Linear(1024, 128), nn.ReLU(), nn.Linear(128, 2 * N_FACTORS),
        )  # fmt: skip
        decoder = nn.Sequential(
            nn.Linear(N_FACTORS, 128), nn.ReLU(), nn.Linear(128, 1024), nn.ReLU(), nn.Unflatten(1, (64, 4, 4)),
            nn.ConvTranspose2d(64, 16, 4, 4), nn.ReLU(), nn.ConvTranspose2d(16, 1, 4, 4),
        )  # fmt: skip
    return encoder, decoder


def negative_elbo(encode, decode, images, seed=0):
    """(reconstruction, KL) in nats an image: Bernoulli cross entropy of drawn codes, summed over pixels, and the KL.

    ``encode`` gives means and log-variances, ``decode`` probabilities; ``images`` is (n, 64, 64) in [0, 1].
    """
    with torch.no_grad():
        mean, log_variance = encode(images)
        noise = torch.randn(mean.shape, generator=torch.Generator().manual_seed(seed))
        chances = decode(mean + (0.5 * log_variance).exp() * noise).reshape(images.shape)
        loss = nn.functional.binary_cross_entropy(chances, images, reduction="none")
        kl = 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance)
    return loss.flatten(1).sum(1).mean().item(), kl.sum(1).mean().item()
