"""HLLE+ICA of a hundred million points on a cluster of single-threaded workers, in bounded memory, in sittings.

    python benchmarks/bench_dask.py --points 100000000 --workers 2 --folder OUT
    python benchmarks/bench_dask.py --points 100000000 --workers 1 --folder OUT     the same points, for the ratio
    python benchmarks/bench_dask.py --zarr DATA.zarr --workers 2 --folder OUT       a Zarr folder (n, features) instead

The points are a lazy Dask array: a product of two arcs in R^20, float32, made in the tasks (a hundred million would be
8 GB). First the fit: sampling and projection are tasks. Then the codes of all points, a slab of blocks at a time; each
block is reduced, in its task, to sums from which the MCC of all points follows. After each slab a line is written to
OUT, and the same command goes on where the last one stopped. Making the points is timed beside it, on one slab.
Seconds are wall time: run it on a quiet machine.
"""

import argparse
import json
import os
import resource
import time
from pathlib import Path

import numpy as np
from records import add_line, read_lines

FEATURES, BLOCK, SLAB = 20, 250_000, 100  # features; rows of a block; blocks of a slab
TURN = np.pi / 2 * np.array([1.0, 1.25])
BASIS = np.linalg.qr(np.random.default_rng(0).normal(size=(FEATURES, 4)))[0].T


def factors_of(block, rows):
    """The factors of a block, drawn from its number."""
    return np.random.default_rng([7, block]).uniform(size=(rows, 2))


def observe(z):
    arcs = np.concatenate([np.sin(z * TURN) / TURN, np.cos(z * TURN) / TURN], axis=1)
    return (arcs @ BASIS).astype(np.float32)


def made(block_info=None):
    """A block of points, from its place in the array."""
    where = block_info[None]
    return observe(factors_of(where["chunk-location"][0], where["chunk-shape"][0]))


def made_points(n):
    import dask.array as da

    chunks = tuple(min(BLOCK, n - start) for start in range(0, n, BLOCK))
    return da.map_blocks(made, chunks=(chunks, (FEATURES,)), dtype=np.float32, meta=np.empty((0, 0), np.float32))


def sums(codes, block=None):
    """Number, sums and products of the factors (where they are known) and the codes of a block."""
    codes = np.asarray(codes, np.float64)
    both = codes if block is None else np.column_stack([factors_of(block, len(codes)), codes])
    both = np.column_stack([np.ones(len(both)), both])
    return both.T @ both


def mcc_of(products):
    """MCC of two factors and two codes from the sums over all points."""
    n, total = products[0, 0], products[0, 1:]
    covariance = products[1:, 1:] / n - np.outer(total, total) / n**2
    spread = np.sqrt(np.diag(covariance))
    across = np.abs(covariance / np.outer(spread, spread))[:2, 2:]
    return float(max(np.trace(across), np.trace(across[:, ::-1])) / 2)


def peak_memory(client):
    """Most MB that this process and each worker have held."""
    of_workers = client.run(lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    here = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"client": round(here), "workers": [round(x) for x in of_workers.values()]}


def fitted(X, folder, client):
    """The model, from the folder if an earlier sitting fitted it."""
    import unbraid as ub

    place = folder / "model"
    if place.exists():
        return ub.load(place), json.loads((folder / "fit.json").read_text())
    start = time.perf_counter()
    model = ub.HessianICA(n_factors=2, n_neighbors=14, random_state=0, progress=False).fit(X)
    found = {"fit_seconds": round(time.perf_counter() - start, 2), "landmarks": model.n_landmarks_}
    found["memory_after_fit"] = peak_memory(client)
    (folder / "fit.json").write_text(json.dumps(found))
    model.save(place)
    return model, found


def warm(client):
    """Compile, or load what is compiled, in every process before the clock starts."""
    import unbraid as ub

    def once():
        X = observe(factors_of(0, 400))
        ub.HessianICA(n_factors=2, n_neighbors=14, n_landmarks=200, random_state=0).fit(X).transform(X)
        return True

    once()
    client.run(once)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--zarr", help="a Zarr folder of points (n, features); its factors are not known")
    parser.add_argument("--folder", type=Path, default=Path("bench_dask"))
    parser.add_argument("--max-minutes", type=float, default=1e9, help="stop after the slab during which this passes")
    options = parser.parse_args()
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    import dask.array as da
    from distributed import Client, LocalCluster

    name = Path(options.zarr).stem if options.zarr else f"{options.points}"
    folder = options.folder / f"{name}-{options.workers}"
    folder.mkdir(parents=True, exist_ok=True)
    X = da.from_zarr(options.zarr) if options.zarr else made_points(options.points)
    began = time.perf_counter()
    with (
        LocalCluster(n_workers=options.workers, threads_per_worker=1, host="127.0.0.1",
                     dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        warm(client)
        model, found = fitted(X, folder, client)
        log = folder / "slabs.jsonl"
        done = read_lines(log)
        for slab in range(len(done), -(-X.numblocks[0] // SLAB)):
            if time.perf_counter() - began > 60 * options.max_minutes:
                print(f"{slab} slabs are done; the same command goes on.")
                return
            done.append(add_line(log, one_slab(client, model, X, slab, known=not options.zarr)))
        total = sum(np.array(row["sums"]) for row in done)
        print(json.dumps({
            "points": int(total[0, 0]), "workers": options.workers, **found,
            "code_seconds": round(sum(row["seconds"] for row in done), 1),
            "make_seconds_of_first_slab": done[0]["make_seconds"],
            "memory": {"client": max(row["memory"]["client"] for row in done),
                       "workers": np.max([row["memory"]["workers"] for row in done], axis=0).tolist()},
            "mcc": None if options.zarr else round(mcc_of(total), 6),
        }))  # fmt: skip


def one_slab(client, model, X, slab, known):
    """Code the blocks of a slab and add up their sums, all in tasks."""
    import dask

    numbers = range(slab * SLAB, min((slab + 1) * SLAB, X.numblocks[0]))
    part = X.blocks[numbers.start : numbers.stop]
    start = time.perf_counter()
    make_seconds = None
    if slab == 0:
        dask.compute(*[dask.delayed(len)(block) for block in part.to_delayed().reshape(-1)])
        make_seconds = round(time.perf_counter() - start, 2)
        start = time.perf_counter()
    blocks = model.transform(part).to_delayed().reshape(-1)
    tasks = [dask.delayed(sums)(block, k if known else None) for block, k in zip(blocks, numbers)]
    total = sum(dask.compute(*tasks))
    seconds = round(time.perf_counter() - start, 2)
    return {"slab": slab, "seconds": seconds, "make_seconds": make_seconds, "sums": total.tolist(),
            "memory": peak_memory(client)}  # fmt: skip


if __name__ == "__main__":
    main()
