"""GEOMANCER: time, memory and accuracy, against scipy's eigsh at its default tolerance on the same operator,
given to it as a block-sparse matrix.

Run by ``make bench-geometry``; ``--large`` adds S2 x SO(3) with 100,000 points and more factors.
"""

import argparse
import resource
import subprocess
import sys
import time
import warnings

import numpy as np
from scipy.sparse import bsr_array
from scipy.sparse.linalg import eigsh

import unbraid as ub
from unbraid.geometry.eigen import lowest_fields
from unbraid.geometry.graph import order_in_space, symmetrised
from unbraid.geometry.operator import Diffusion, n_threads, packed_size, unpack
from unbraid.geometry.tangents import tangent_frames
from unbraid.manifold import nearest

CASES = [
    ("S2 S2", 1000),
    ("S2 S2", 2000),
    ("S2 S2", 4000),
    ("S2 S2", 10_000),
    ("S2 S2", 30_000),
    ("S2 S2", 100_000),
    ("S2 S3", 10_000),
    ("S2 SO3", 4000),
    ("S2 SO3", 10_000),
    ("S2 S2 S2", 10_000),
    ("S2 S2 S2", 50_000),
]
LARGE = [("S2 SO3", 100_000), ("S2 S2 S2 S2", 40_000), ("S2 S2 S2 S2 S2", 30_000)]
PEER = [2000, 4000, 10_000]
FEATURES = 20


def product(names, n, seed):
    """Points of the product, turned into 20 dimensions, and the true subspaces."""
    data = ub.datasets.load("product-manifold", manifolds=names.split(), n_features=FEATURES, random_state=seed)
    X, states = data.sample(n, random_state=seed)
    return X, data.tangents(states)


def measure(names, n, n_jobs):
    """One case in this process: seconds, peak memory in MB, what was found."""
    warm, _ = product(names, 300, 1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        k = sum(int(name[-1]) for name in names.split())
        ub.Geomancer(dim=k, random_state=0, n_jobs=n_jobs).fit(warm)
        caught.clear()
        X, true = product(names, n, 0)
        start = time.perf_counter()
        model = ub.Geomancer(dim="auto" if k < 7 else k, random_state=0, n_jobs=n_jobs).fit(X)
        seconds = time.perf_counter() - start
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    angle = ub.metrics.subspace_angle(true, model.subspaces_)
    note = "warned: " + str(caught[0].message).split(":")[0] if caught else ""
    print(
        f"{names.replace(' ', ' x '):<24} {n:>7} {model.dims_!s:<16} {angle:>8.4f} {model.gap_:>9.3g} "
        f"{seconds:>8.2f} {memory:>7.0f}  {note}",
        flush=True,
    )


def peer(n, n_jobs):
    """The eigen-solve alone: unbraid's against eigsh with default tolerance, on the same operator."""
    X, _ = product("S2 S2", n, 0)
    X = X[order_in_space(X)]
    _, near = nearest(X, 28)
    graph, _ = symmetrised(near[:, :10])
    frames = tangent_frames(X, X, near, 4).astype(np.float32)
    threads = n_threads(n_jobs)
    operator = Diffusion(frames, graph, threads=threads)
    start = time.perf_counter()
    ours = lowest_fields(X, frames, graph, 10, tol=0.01, rng=np.random.default_rng(0), threads=threads)
    seconds = time.perf_counter() - start
    matrix, basis = assembled(operator)
    start = time.perf_counter()
    values, vectors = eigsh(matrix, k=8, which="LA", v0=np.random.default_rng(0).normal(size=matrix.shape[0]))
    theirs = time.perf_counter() - start
    best = vectors[:, values.argmax()]
    field = np.einsum("aij,nij->na", basis, unpack(ours.fields[..., :1], 4)[..., 0]).ravel()
    same = abs(best @ field) / np.linalg.norm(best)
    print(f"{n:>7} {seconds:>9.2f} {theirs:>9.2f} {theirs / seconds:>7.1f}x {same:>9.5f}", flush=True)


def assembled(operator):
    """The same operator as a block-sparse matrix in an orthonormal basis of symmetric matrices without trace."""
    k, graph = operator.k, operator.graph
    symmetric = unpack(np.eye(packed_size(k)), k)
    traces = np.einsum("aii->a", symmetric)
    turn = np.linalg.qr(np.c_[traces, np.eye(packed_size(k))])[0][:, 1 : packed_size(k)]
    basis = np.einsum("pa,pij->aij", turn, symmetric).astype(np.float32)
    scale = operator.weights[graph.sources] * operator.weights[graph.indices]
    moved = np.einsum("eik,bkl->ebil", operator.q, basis, optimize=True)
    moved = np.einsum("ebil,ejl->ebij", moved, operator.q, optimize=True)
    blocks = np.einsum("aij,ebij->eab", basis, moved, optimize=True) * scale[:, None, None]
    size = graph.n * len(basis)
    return bsr_array((blocks, graph.indices, graph.indptr), shape=(size, size)), basis


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--case", nargs=2, metavar=("NAMES", "N"))
    options = parser.parse_args()
    if options.case:
        measure(options.case[0], int(options.case[1]), options.jobs)
        return
    print(
        f"{'manifold':<24} {'points':>7} {'dims found':<16} {'angle':>8} {'gap':>9} {'seconds':>8} {'MB':>7}",
        flush=True,
    )
    for names, n in CASES + (LARGE if options.large else []):
        # A process each, so that the peak memory is the case's own.
        command = [sys.executable, __file__, "--case", names, str(n), "--jobs", str(options.jobs)]
        subprocess.run(command, check=True)
    print("\nThe eigen-solve on S2 x S2: seconds, and the dot product of the two lowest eigenfields")
    print(f"{'points':>7} {'unbraid':>9} {'eigsh':>9} {'ratio':>8} {'same':>9}")
    for n in PEER:
        peer(n, options.jobs)


if __name__ == "__main__":
    main()
