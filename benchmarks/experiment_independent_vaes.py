"""Five VAEs that another project trained on dSprites, probed and scored by every metric, beside an untrained one.

    python benchmarks/experiment_independent_vaes.py FOLDER > RESULTS.jsonl

FOLDER has ``{VAE,betaH,betaB,factor,btcvae}_dsprites.pt`` of YannDubs/disentangling-vae (MIT): 30 epochs of all 737,280
images. The data are the original dSprites (``unbraid datasets get dsprites``). A line of JSON for each encoder.
"""

import json
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

import unbraid as ub

NAMES = {"VAE": "VAE", "betaH": "beta-VAE (4)", "betaB": "AnnealedVAE (25 nats, gamma 1000)", "factor": "FactorVAE (6)",
         "btcvae": "beta-TCVAE (6.4)"}  # fmt: skip
N_POSTERIOR = 10_000


class Burgess(nn.Module):
    """Four convolutions of 32 channels, two dense layers of 256; means and log-variances (n, 2, 10)."""

    def __init__(self) -> None:
        super().__init__()
        channels = (1, 32, 32, 32, 32)
        convolutions = [nn.Conv2d(a, b, 4, 2, 1) for a, b in pairwise(channels)]
        self.layers = nn.ModuleList([*convolutions, nn.Linear(512, 256), nn.Linear(256, 256), nn.Linear(256, 20)])

    def forward(self, x: Tensor) -> Tensor:
        for i, layer in enumerate(self.layers):
            x = layer(x.flatten(1) if i == 4 else x)
            x = x.relu() if i < 6 else x
        return x.unflatten(1, (10, 2)).swapaxes(1, 2)


def read(path: Path) -> Burgess:
    """The encoder of a checkpoint, read without running code in it."""
    state = torch.load(path, weights_only=True)
    parts = [f"encoder.{name}" for name in ("conv1", "conv2", "conv3", "conv_64", "lin1", "lin2", "mu_logvar_gen")]
    model = Burgess()
    model.load_state_dict(
        {f"layers.{i}.{p}": state[f"{n}.{p}"] for i, n in enumerate(parts) for p in ("weight", "bias")}
    )
    return model.eval()


def posterior(model: Burgess, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    with torch.no_grad():
        found = torch.cat([model(part) for part in torch.from_numpy(X).float()[:, None].split(500)])
    return found[:, 0].numpy(), found[:, 1].numpy()


def main(folder: Path) -> None:
    torch.manual_seed(0)
    models = {"untrained": Burgess().eval()}
    models |= {title: read(folder / f"{name}_dsprites.pt") for name, title in NAMES.items()}
    data = ub.datasets.load("dsprites")
    X, factors = data.sample(N_POSTERIOR, random_state=1)
    for name, model in models.items():
        found = ub.probe(lambda rows, m=model: posterior(m, rows)[0], data, name=name, progress=False)
        means, log_variances = posterior(model, X)
        kl = 0.5 * (means**2 + np.exp(log_variances) - log_variances - 1).mean(axis=0)
        line = {"encoder": name, "alive": int((kl > 0.01).sum()), "kl": float(kl.sum())}
        line["mig, bins"] = ub.metrics.mig(factors, means)
        line["mig, posterior"] = ub.metrics.mig(factors, means, estimator="posterior", log_variances=log_variances)
        line |= {s.name: [s.value, s.low, s.high, s.chance, s.ceiling] for s in found.evaluation}
        line["probes"] = {f"{p.factor}, {p.kind}": p.score for p in found.factors}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
