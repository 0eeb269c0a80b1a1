"""Draw the pictures of the autoencoders page from the models of benchmarks/experiment_dsprites_vaes.py.

python docs/autoencoder_pictures.py --data dsprites_grid_46080.npz --runs FOLDER
"""

import argparse
from pathlib import Path

import numpy as np

import unbraid as ub
from unbraid.report import (
    plot_kl,
    plot_mean_codes,
    plot_reconstructions,
    plot_traversals,
    save_traversal_gif,
)

IMAGES = Path(__file__).parent / "images"
NAMES = ("shape", "scale", "orientation", "x", "y")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    with np.load(args.data) as file:
        X, factors = file["imgs"], file["latents_classes"]
    model = ub.load(args.runs / f"beta-TCVAE-6.0-{args.seed}")
    codes = model.transform(X)
    order = np.argsort(-model.kl_)
    shown = {"codes": codes[::7], "order": model.kl_, "most": 5}
    plot_traversals(model.inverse_transform, **shown).savefig(IMAGES / "autoencoders-traversals.png", dpi=80)
    save_traversal_gif(IMAGES / "autoencoders-traversals.gif", model.inverse_transform, **shown)
    plot_mean_codes(factors, codes[:, order[:5]], factor_names=NAMES).savefig(
        IMAGES / "autoencoders-factor-maps.png", dpi=80
    )
    some = np.random.default_rng(0).choice(len(X), 400, replace=False)
    plot_reconstructions(X[some].astype(float), model.reconstruct(X[some])).savefig(
        IMAGES / "autoencoders-reconstructions.png", dpi=80
    )
    annealed = ub.load(args.runs / f"AnnealedVAE-25.0-{args.seed}")
    plot_kl(annealed.history_).savefig(IMAGES / "autoencoders-capacity.png", dpi=80)


if __name__ == "__main__":
    main()
