"""GEOMANCER on the Stanford bunny: true states, pixels, VAE codes, and codes of a better metric.

The bunny turns by SO(3) under a light from S^2; the question is which representation of the images lets these two
factors be found without labels. ``python benchmarks/experiment_bunny.py --meshes FOLDER`` prints the table of
docs/geometry.rst; without the folder a built-in body takes the bunny's place.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.decomposition import PCA

import unbraid as ub


def vae_codes(images, n_codes, epochs, seed=0):
    """A throwaway VAE (Bernoulli pixels, one hidden layer each way); means of the codes."""
    import torch
    from torch import nn

    torch.manual_seed(seed)
    X = torch.from_numpy(images.reshape(len(images), -1))
    pixels = X.shape[1]
    encoder = nn.Sequential(
        nn.Linear(pixels, 400), nn.ReLU(), nn.Linear(400, 256), nn.ReLU(), nn.Linear(256, 2 * n_codes)
    )
    decoder = nn.Sequential(nn.Linear(n_codes, 256), nn.ReLU(), nn.Linear(256, 400), nn.ReLU(), nn.Linear(400, pixels))
    optimiser = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
    order = np.random.default_rng(seed)
    for _ in range(epochs):
        for rows in np.array_split(order.permutation(len(X)), max(1, len(X) // 128)):
            x = X[rows]
            mean, log_variance = encoder(x).chunk(2, dim=1)
            z = mean + torch.randn_like(mean) * torch.exp(log_variance / 2)
            misfit = nn.functional.binary_cross_entropy_with_logits(decoder(z), x, reduction="sum")
            divergence = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum()
            optimiser.zero_grad()
            ((misfit + divergence) / len(x)).backward()
            optimiser.step()
    with torch.no_grad():
        return encoder(X)[:, :n_codes].numpy().astype(float)


def pooled(images, by):
    """Means over squares of pixels: less work for the VAE, and a smoother manifold."""
    n, height, width = images.shape
    return images.reshape(n, height // by, by, width // by, by).mean(axis=(2, 4))


def hessian_codes(pixels, n_codes, n_neighbors):
    """Hessian eigenmaps of the pixels' principal components."""
    model = ub.HessianEigenmaps(n_factors=n_codes, n_neighbors=n_neighbors, n_landmarks=None, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(model.fit_transform(pixels), float)


def regressed_states(codes, states, n_labels=300):
    """A little supervision: states predicted from the codes by kernel ridge over a few labelled images."""
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.preprocessing import StandardScaler

    Z = StandardScaler().fit_transform(codes)
    model = KernelRidge(kernel="rbf", gamma=0.5 / Z.shape[1], alpha=1e-3).fit(Z[:n_labels], states[:n_labels])
    return model.predict(Z)


def judge(name, codes, states, true, dim):
    """Fit, and print one line: what was found, and the angle to the truth carried to the state space."""
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ub.Geomancer(dim=dim, random_state=0).fit(codes)
    if codes is states:
        angle = ub.metrics.subspace_angle(true, model.subspaces_)
    else:
        angle = ub.metrics.aligned_subspace_angle(true, model.subspaces_, states, codes)
    near = model.spectrum_[:4] / model.scale_
    reasons = "; ".join(str(w.message)[:70] for w in caught)
    print(
        f"{name:<28} {model.dims_!s:<10} {angle:>6.3f} {model.gap_:>8.3g} {model.tangent_error_:>6.2f}  "
        f"[{' '.join(f'{v:.3f}' for v in near)}] {time.perf_counter() - start:>6.1f} s  {reasons}",
        flush=True,
    )
    return model


def forced(name, codes, states, true):
    """The angle when the fit is told that there are two factors, as the paper's score needs: chance is about 1.4."""
    from unbraid.geometry.diagonalize import joint_diagonals
    from unbraid.geometry.eigen import lowest_fields
    from unbraid.geometry.graph import joined, symmetrised
    from unbraid.geometry.operator import unpack
    from unbraid.geometry.tangents import tangent_frames
    from unbraid.manifold import nearest

    rng = np.random.default_rng(0)
    _, near = nearest(codes, 40)
    graph, labels = symmetrised(near[:, :12])
    graph = joined(codes, graph, labels) if labels.any() else graph
    frames = tangent_frames(codes, codes, near, 5)
    fields = lowest_fields(codes, frames.astype(np.float32), graph, 12, tol=0.01, rng=rng)
    axes, diagonals, _ = joint_diagonals(unpack(fields.fields[:, :, :1], 5).transpose(0, 3, 1, 2))
    order = np.argsort(diagonals[:, :, 0], axis=1)
    sorted_axes = frames @ np.take_along_axis(axes, order[:, None], axis=2)
    splits = [[sorted_axes[:, :, :2], sorted_axes[:, :, 2:]], [sorted_axes[:, :, 3:], sorted_axes[:, :, :3]]]
    angle = min(ub.metrics.aligned_subspace_angle(true, split, states, codes) for split in splits)
    print(f"{name:<28} told 2 + 3   {angle:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--meshes", help="folder with stanford-bunny.obj")
    parser.add_argument("-n", type=int, default=6000)
    parser.add_argument("--epochs", type=int, default=25)
    parser.add_argument("--only", help="representations whose name has this in it")
    options = parser.parse_args()
    mesh = {"mesh": "bunny", "folder": options.meshes} if options.meshes else {"mesh": "blob"}
    data = ub.datasets.load("rendered-object", image_size=64, samples=1, **mesh)
    start = time.perf_counter()
    images, states = data.sample(options.n, random_state=0)
    print(f"{options.n} images of {mesh['mesh']} in {time.perf_counter() - start:.0f} s", flush=True)
    product = ub.datasets.load("product-manifold", manifolds=["SO3", "S2"], rotate=False)
    true = product.tangents(states)
    random = [np.linalg.qr(np.random.default_rng(0).normal(size=t.shape))[0] for t in true]
    print(f"chance (subspaces drawn at random): {ub.metrics.subspace_angle(true, random):.3f}")
    print(f"{'representation':<28} {'dims':<10} {'angle':>6} {'gap':>8} {'turn':>6}  [lambda / scale]")
    judge("true states", states, states, true, 5)
    pixels = (
        PCA(100, svd_solver="randomized", random_state=0).fit_transform(images.reshape(len(images), -1)).astype(float)
    )
    recipes = {
        "pixels (100 components)": lambda: pixels,
        "pixels, means over 8 x 8": lambda: pooled(images, 8).reshape(len(images), -1).astype(float),
        "pixels, 300 labels": lambda: regressed_states(pixels, states),
        "VAE codes": lambda: vae_codes(pooled(images, 2), 10, options.epochs),
        "HLLE codes": lambda: hessian_codes(pixels, 5, 60),
    }
    for name, recipe in recipes.items():
        if options.only and options.only not in name:
            continue
        codes = recipe()
        judge(name, codes, states, true, 5)
        forced(name, codes, states, true)


if __name__ == "__main__":
    main()
