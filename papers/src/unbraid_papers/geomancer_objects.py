"""GEOMANCER on a rendered object: which representation of the images lets pose and light be found?"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import StandardScaler

import unbraid as ub
from unbraid.geometry.eigen import lowest_fields
from unbraid.geometry.graph import joined, symmetrised
from unbraid.geometry.operator import unpack
from unbraid.geometry.tangents import tangent_frames
from unbraid.manifold import nearest
from unbraid.manifold.diagonalize import joint_diagonals
from unbraid_papers.bench import Bench
from unbraid_papers.paper import Cell

Floats = NDArray[np.float64]
REPRESENTATIONS = ("true states", "pixels", "300 labels", "beta-VAE codes", "HLLE codes")
MESHES = ("bunny", "dragon")
DIM, SEEDS = 5, range(5)


class Size(NamedTuple):
    """Images, points of the fit on true states, side of the images, steps of the beta-VAE."""

    n: int
    n_states: int
    side: int
    steps: int


SIZES = {"small": Size(1000, 4000, 32, 400), "paper": Size(10_000, 10_000, 64, 20_000)}


def object_cells(scale: str) -> list[Cell]:
    """True states are the same whatever the object, so they are tried once."""
    return [
        {"mesh": m, "seed": s, "representation": r}
        for m in MESHES
        for s in SEEDS
        for r in REPRESENTATIONS
        if m == MESHES[0] or r != "true states"
    ]


@lru_cache(maxsize=2)
def _drawn(mesh: str, seed: int, size: Size) -> tuple[NDArray, Floats]:
    """Images and their states: a rotation matrix and a direction to the light."""
    images, states = ub.datasets.load("rendered-object", mesh=mesh, image_size=size.side, samples=1).sample(
        size.n, random_state=seed
    )
    return images, states.astype(np.float64)


def try_representation(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """What is found, and the angle when the fit is given that there are two factors, as the paper's score needs.

    Codes that have collapsed to fewer dimensions cannot be split; their angle is that of chance.
    """
    size, seed = SIZES[bench.scale], cell["seed"]
    product = ub.datasets.load("product-manifold", manifolds=["SO3", "S2"], rotate=False)
    if cell["representation"] == "true states":
        states = product.sample_factors(size.n_states, random_state=seed)
        codes = states
    else:
        images, states = _drawn(cell["mesh"], seed, size)
        codes = _codes(cell, images, states, bench)
        if seed == 0 and cell["representation"] == "pixels":
            bench.keep(cell, images=np.rint(255 * images[:8]).astype(np.uint8))
    true = product.tangents(states)
    singular = np.linalg.svd(codes - codes.mean(axis=0), compute_uv=False)
    rank = int((singular > 1e-6 * singular[0]).sum())
    if rank < DIM:
        chance = _better_way_round(_random_axes(np.concatenate(true, axis=2), seed), states, states, true)
        found = f"collapsed to {rank} dimensions"
        return {"found": found, "turn": np.pi / 2, "angle_given_two": chance, "chance": chance}
    model = ub.Geomancer(DIM, random_state=seed, progress=False).fit(codes)
    angle, chance = angle_given_two(codes, states, true, seed)
    return {
        "found": " + ".join(str(d) for d in model.dims_) if model.determined_ else "undetermined",
        "turn": model.tangent_error_,
        "angle_given_two": angle,
        "chance": chance,
    }


def _codes(cell: Cell, images: NDArray, states: Floats, bench: Bench) -> Floats:
    name, seed = cell["representation"], cell["seed"]
    if name == "beta-VAE codes":
        options: dict[str, Any] = {"max_steps": SIZES[bench.scale].steps, "checkpoint": bench.checkpoint(cell)}
        model = ub.BetaVAE(10, preset="small", random_state=seed, progress=bench.progress, **options)
        return np.asarray(model.fit_transform(images), np.float64)
    flat = images.reshape(len(images), -1)
    pixels = PCA(50, svd_solver="randomized", random_state=0).fit_transform(flat).astype(np.float64)
    if name == "300 labels":
        return regressed_states(pixels, states)
    if name == "HLLE codes":
        hlle = ub.HessianEigenmaps(DIM, 60, n_landmarks=None, random_state=seed)
        return np.asarray(hlle.fit_transform(pixels), np.float64)
    return pixels


def regressed_states(codes: Floats, states: Floats, n_labels: int = 300) -> Floats:
    """A little supervision: states predicted from the codes by kernel ridge over a few labelled images."""
    Z = StandardScaler().fit_transform(codes)
    model = KernelRidge(kernel="rbf", gamma=0.5 / Z.shape[1], alpha=1e-3).fit(Z[:n_labels], states[:n_labels])
    return np.asarray(model.predict(Z), np.float64)


def angle_given_two(codes: Floats, states: Floats, true: list[NDArray], seed: int) -> tuple[float, float]:
    """Angle of the split of the lowest eigenfield into 2 + 3 dimensions, and that of random splits.

    Both divide the same tangent spaces, are carried to the states by the same maps, and count the better way round:
    all that the states give away, chance has too.
    """
    _, near = nearest(codes, 40)
    graph, labels = symmetrised(near[:, : 2 * DIM + 2])
    graph = joined(codes, graph, labels) if labels.any() else graph
    frames = tangent_frames(codes, codes, near, DIM)
    rng = np.random.default_rng(seed)
    fields = lowest_fields(codes, frames.astype(np.float32), graph, 12, tol=0.01, rng=rng)
    axes, diagonals, _ = joint_diagonals(unpack(fields.fields[:, :, :1], DIM).transpose(0, 3, 1, 2))
    order = np.argsort(diagonals[:, :, 0], axis=1)
    found = frames @ np.take_along_axis(axes, order[:, None], axis=2)
    angle, chance = (_better_way_round(a, codes, states, true) for a in (found, _random_axes(frames, seed)))
    return angle, chance


def _random_axes(frames: Floats, seed: int) -> Floats:
    """The same spaces with axes drawn at every point."""
    normal = np.random.default_rng([seed, 1]).standard_normal((len(frames), DIM, DIM))
    return np.asarray(frames @ np.linalg.qr(normal)[0])


def _better_way_round(axes: Floats, codes: Floats, states: Floats, true: list[NDArray]) -> float:
    splits = [[axes[:, :, :2], axes[:, :, 2:]], [axes[:, :, 3:], axes[:, :, :3]]]
    if codes is states:
        return float(min(ub.metrics.subspace_angle(true, split) for split in splits))
    return float(min(ub.metrics.aligned_subspace_angle(true, split, states, codes) for split in splits))
