"""GIN and self-supervised GIN on MNIST: train as far as the time allows, resumable, and draw the papers' figures.

    python benchmarks/experiment_mnist_flows.py gin --data FOLDER --out FOLDER --minutes 60
    python benchmarks/experiment_mnist_flows.py self-supervised --data FOLDER --out FOLDER --minutes 60

FOLDER of --data holds MNIST's four files. The same command again goes on where it stopped.
"""

import argparse
import gzip
import warnings
from pathlib import Path

import numpy as np
from matplotlib.image import imread, imsave

import unbraid as ub
from unbraid.report import plot_class_traversal, plot_samples, plot_spectrum


def load(folder, part):
    """Images (n, 28, 28) uint8 and labels of ``train`` or ``t10k``."""
    with gzip.open(folder / f"{part}-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 28, 28)
    with gzip.open(folder / f"{part}-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8).astype(int)
    return images, labels


def build(method, out, steps, minutes):
    common = {
        "max_steps": steps, "n_init": 1, "noise": 0.01, "learning_rate": 1e-3, "validation_fraction": 0.0,
        "patience": 1000, "max_seconds": 60 * minutes, "checkpoint": out / f"{method}.safetensors", "random_state": 0,
    }  # fmt: skip
    if method == "gin":
        return ub.GIN(batch_size=240, **common)
    return ub.SelfSupervisedGIN("affine", batch_size=20, marginal=0.0, **common)


def class_statistics(codes, labels):
    """Mean and std of the codes of each digit: (10, d) each, from test images."""
    parts = [codes[labels == c].astype(np.float64) for c in range(10)]
    return np.stack([p.mean(0) for p in parts]), np.stack([p.std(0) for p in parts])


def traversals(model, means, stds, which, values):
    """Images (10, steps, 28, 28) of one latent from -2 to 2 std of each class, the others at the class mean."""
    codes = np.repeat(means[:, None], len(values), 1)
    codes[:, :, which] += values * stds[:, which, None]
    images = model.inverse_transform(codes.reshape(-1, codes.shape[-1]).astype(np.float32))
    return images.reshape(10, len(values), 28, 28)


def draw_together(files, path):
    """The panels of these files in one picture, four to a row."""
    panels = [imread(file)[..., :3] for file in files]
    height, width = (min(p.shape[i] for p in panels) for i in (0, 1))
    panels = [p[:height, :width] for p in panels]
    imsave(path, np.concatenate([np.concatenate(panels[i : i + 4], 1) for i in range(0, len(panels), 4)]))


def draw(model, method, images, labels, out, n_panels, n_kept):
    codes = model.transform(images)
    means, stds = class_statistics(codes, labels)
    spectrum = np.sqrt((stds**2).mean(0))
    figure = plot_spectrum(spectrum, model.n_informative_, information=model.information_)
    figure.savefig(out / f"flows-mnist-{method}-spectrum.png", dpi=90)
    values = np.linspace(-2, 2, 9)
    files = [out / f"flows-mnist-{method}-latent-{i + 1}.png" for i in range(n_panels)]
    for i, file in enumerate(files):
        panel = plot_class_traversal(traversals(model, means, stds, i, values), values, title=f"latent {i + 1}")
        panel.savefig(file, dpi=80)
    draw_together(files[:8], out / f"flows-mnist-{method}-latents.png")
    rng = np.random.default_rng(0)
    for temperature in (1.0, 0.8):
        style = temperature * rng.standard_normal((8, 1, codes.shape[1]))
        style[:, :, n_kept:] = 0
        drawn = model.inverse_transform((means + style * stds).reshape(80, -1).astype(np.float32))
        figure = plot_samples(drawn.reshape(8, 10, 28, 28), title=f"T = {temperature:g}, first {n_kept} latents drawn")
        figure.savefig(out / f"flows-mnist-{method}-samples-{temperature:g}.png", dpi=90)
    print(f"{method}: {model.n_steps_} steps, n_informative_ {model.n_informative_}")
    print("std     ", np.round(spectrum[:30], 3))
    print("reach   ", np.round(model.reach_[:30], 3))
    print("info    ", np.round(model.information_[:30], 3))
    print("held out", [round(h["held_out"][0], 1) for h in model.history_ if "held_out" in h])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method", choices=("gin", "self-supervised"))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--steps", type=int, default=25_000, help="the paper's 100 epochs are 25,000 steps of 240")
    parser.add_argument("--panels", type=int, default=16, help="the first eight also go in one picture")
    parser.add_argument("--kept", type=int, default=22, help="latents drawn in samples; the paper has 22")
    parser.add_argument("--images", type=int, default=60_000)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    images, labels = load(args.data, "train")
    model = build(args.method, args.out, args.steps, args.minutes)
    model.fit(images[: args.images], labels[: args.images])
    test, test_labels = load(args.data, "t10k")
    draw(model, args.method, test[:4000], test_labels[:4000], args.out, args.panels, args.kept)


if __name__ == "__main__":
    main()
