"""How fast the data sets draw, and how right: ``make bench-datasets``. One thread; peers run in the same process."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
import tracemalloc
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from unbraid import datasets
from unbraid.datasets.augment import Affine
from unbraid.datasets.dsprites import ORIENTATIONS, POSITIONS, SCALES, outlines

SHARED = Path(os.environ.get("UNBRAID_SHARED", Path(__file__).resolve().parents[2] / "shared"))


def per_second(draw, n, repeats=5):
    """Images a second, the best of several runs."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        draw()
        best = min(best, time.perf_counter() - start)
    return n / best


def pillow_sprites(factors):
    """The peer: the same outlines filled by Pillow."""
    shapes, images = outlines(), []
    for shape, scale, turn, x, y in factors:
        cos, sin = np.cos(ORIENTATIONS[turn]), np.sin(ORIENTATIONS[turn])
        points = SCALES[scale] * shapes[shape] @ np.array([[cos, -sin], [sin, cos]])
        points += 16 + 32 * np.array([POSITIONS[x], POSITIONS[y]]) - 0.5
        image = Image.new("L", (64, 64))
        ImageDraw.Draw(image).polygon([tuple(p) for p in points], fill=1)
        images.append(np.asarray(image))
    return np.stack(images)


def sprites(report):
    tracemalloc.start()
    data = datasets.load("dsprites")
    size = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    batches = [data.sample_factors(64, i) for i in range(200)]
    data.observe(batches[0])
    ours = per_second(lambda: [data.observe(b) for b in batches], 64 * 200)
    peer = per_second(lambda: pillow_sprites(batches[0]), 64)
    exact = "no real images here"
    real = SHARED / "data/dsprites/dsprites_grid_46080.npz"
    if real.exists():
        with np.load(real) as file:
            rows, images = file["original_dataset_indices"], file["imgs"]
        wrong = (data.rows(rows)[0] != images).sum(axis=(1, 2))
        theirs = (pillow_sprites(data.factors_at(rows[::40])) != images[::40]).sum(axis=(1, 2))
        exact = (
            f"{(wrong == 0).mean():.2%} pixel-exact, {wrong.sum() / images.size:.1e} of pixels wrong "
            f"(Pillow {(theirs == 0).mean():.1%})"
        )
    report("dsprites, batches of 64", ours, "20,000", ours / peer, "Pillow", f"{exact}; {size:.1f} MB")
    for name in ("color-dsprites", "noisy-dsprites", "scream-dsprites"):
        data = datasets.load(name)
        data.sample(64, 0)
        report(f"{name}, batches of 64", per_second(lambda data=data: data.sample(64, 0), 64), "", None, "", "")


def room(report):
    data = datasets.load("room", keep=1)
    factors = [[0, 3, 6, s, k, a] for s in range(8) for k in range(4) for a in (1, 12)]
    data.observe(factors[:1])
    report("room 64x64, every view cast anew", per_second(lambda: data.observe(factors), 64), "500", None, "", "")
    data = datasets.load("room")
    data.sample(5000, 0)
    report("room 64x64, kept views", per_second(lambda: data.sample(1000, 1), 1000), "500", None, "", "")


def objects(report):
    meshes = SHARED / "data/meshes"
    for name in ("bunny", "dragon", "spot") if meshes.exists() else ("blob",):
        data = datasets.load("rendered-object", mesh=name, folder=meshes)
        data.sample(2, 0)
        note = f"{len(data.faces):,} triangles, 4 rays a pixel"
        report(
            f"rendered-object, {name} 64x64",
            per_second(lambda data=data: data.sample(30, 0), 30, 3),
            "50",
            None,
            "",
            note,
        )


def manifolds(report):
    for size in (64, (256, 256, 3)):
        data = datasets.load("shapes-xy", image_size=size)
        report(f"shapes-xy {size}", per_second(lambda data=data: data.sample(200, 0), 200, 3), "", None, "", "")
    weights = SHARED / "data/generators/digiface_dcgan64.pt"
    if weights.exists():
        faces = datasets.load("gan-manifold", weights=weights)
        report("gan-manifold, DCGAN 64x64x3", per_second(lambda: faces.sample(64, 0), 64, 3), "", None, "", "")


def augmentations(report):
    from scipy.ndimage import affine_transform

    X = np.random.default_rng(0).random((500, 28, 28), dtype=np.float32)
    augment = Affine()
    ours, matrix = augment(X, 0), augment._inverse(500, 28, 28, np.random.default_rng(0))

    def peer():
        return np.stack(
            [
                affine_transform(x, [[b[1], b[0]], [a[1], a[0]]], (b[2], a[2]), order=1, mode="grid-constant")
                for x, (a, b) in zip(X, matrix)
            ]
        )

    speed = per_second(lambda: augment(X, 0), 500)
    note = f"largest difference {np.abs(ours - peer()).max():.1e}"
    report("affine augmentation 28x28", speed, "", speed / per_second(peer, 500, 2), "scipy.ndimage", note)


def main():
    print(f"{'what':36} {'images/s':>10} {'wanted':>8} {'ratio':>7}  peer, accuracy")

    def report(what, speed, wanted, ratio, peer, note):
        against = "" if ratio is None else f"{ratio:.0f}x"
        print(
            f"{what:36} {speed:10,.0f} {wanted:>8} {against:>7}  {'; '.join(s for s in (peer, note) if s)}", flush=True
        )

    for part in (sprites, room, objects, manifolds, augmentations):
        part(report)


if __name__ == "__main__":
    main()
