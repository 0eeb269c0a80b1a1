"""Draw the pictures of the autoencoders page from the models of benchmarks/experiment_dsprites_vaes.py.

python docs/autoencoder_pictures.py --data dsprites_grid_46080.npz --runs FOLDER --short FOLDER

The second folder has the AnnealedVAE of ``--steps 2000``.
"""

import argparse
from pathlib import Path

import numpy as np
from theory_pictures import shrunk

import unbraid as ub
from unbraid.report import (
    plot_kl,
    plot_mean_codes,
    save_traversal_gif,
)

IMAGES = Path(__file__).parent / "images"
NAMES = ("shape", "scale", "orientation", "x", "y")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--short", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    with np.load(args.data) as file:
        X, factors = file["imgs"], file["latents_classes"]
    model = ub.load(args.runs / f"beta-TCVAE-6.0-{args.seed}")
    codes = model.transform(X)
    order = np.argsort(-model.kl_)
    shown = {"codes": codes[::7], "order": model.kl_, "most": 5}
    save_traversal_gif(IMAGES / "autoencoders-traversals.gif", model.inverse_transform, **shown)
    shrunk(plot_mean_codes(factors, codes[:, order[:5]], factor_names=NAMES), IMAGES / "autoencoders-factor-maps.png")
    annealed = ub.load(args.short / f"AnnealedVAE-25.0-{args.seed}")
    shrunk(plot_kl(annealed.history_), IMAGES / "autoencoders-capacity.png")


if __name__ == "__main__":
    main()
