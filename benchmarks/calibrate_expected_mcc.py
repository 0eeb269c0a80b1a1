"""Make the calibration behind ``model.diagnostics_.expected_mcc``, and judge it.

    python benchmarks/calibrate_expected_mcc.py simulate worlds.jsonl 2000    seeds 0 to 1999
    python benchmarks/calibrate_expected_mcc.py named named.jsonl 2           seeds 0 and 1 of the kinds of worlds.py
    python benchmarks/calibrate_expected_mcc.py pictures pictures.jsonl DATA  picture sets for calibration
    python benchmarks/calibrate_expected_mcc.py learn worlds.jsonl,named.jsonl OUT.npz   learn, write the small file
    python benchmarks/calibrate_expected_mcc.py cross worlds.jsonl,named.jsonl    learn without a part, and judge on it
    python benchmarks/calibrate_expected_mcc.py judge OUT.npz fresh.jsonl         coverage, refusals and AUC

The first three append one line per data set and go on where they stopped; ``--seconds`` ends them after a while. The
file that comes with the package is src/unbraid/trust/expected_mcc.npz.
"""

import argparse
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from guess_learning import PICTURES, crossed, judged, learnt, read_worlds, report
from guess_pictures import picture_sets
from guess_worlds import Simulated, simulate
from records import add_line
from worlds import WORLDS, World

from unbraid.methods import METHODS
from unbraid.metrics import mcc
from unbraid.spectral import diagnostics
from unbraid.trust.expected import calibration_arrays, calibration_from

SIZES = (250, 600, 1500)  # points of the named kinds
FLAT = ("linear", "Gaussian")  # families that are fitted by PCA+ICA
Drawn = Iterator[tuple[dict, Callable[[], Simulated]]]


def main() -> None:
    """One of the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["simulate", "named", "pictures", "learn", "cross", "judge"])
    parser.add_argument("first")
    parser.add_argument("second", nargs="?", default="2000")
    parser.add_argument("third", nargs="?", type=int, default=0)
    parser.add_argument("--most", type=int, default=4000, help="points of the largest random worlds")
    parser.add_argument("--seconds", type=float, default=np.inf)
    args = parser.parse_args()
    diagnostics.guess_of = lambda figures: (None, "not asked for")  # worlds are recorded before there is one
    if args.step == "pictures":
        record_all(Path(args.first), pictures(Path(args.second)), args.seconds)
    elif args.step in ("simulate", "named"):
        seeds = range(args.third, args.third + int(args.second))
        drawn = named(seeds) if args.step == "named" else simulated(seeds, args.most)
        record_all(Path(args.first), drawn, args.seconds)
    elif args.step == "learn":
        np.savez_compressed(args.second, **calibration_arrays(learnt(recorded(args.first))))
    elif args.step == "cross":
        crossed(recorded(args.first))
    else:
        report(judged(_stored(Path(args.first)), recorded(args.second)))


def recorded(paths: str) -> list[dict]:
    """What was recorded in one or more files."""
    return read_worlds(*map(Path, paths.split(",")))


def simulated(seeds: range, most: int) -> Drawn:
    """A random world for every seed."""
    for seed in seeds:
        yield {"seed": seed}, lambda: simulate(seed, most)  # noqa: B023


def named(seeds: range) -> Drawn:
    """The kinds of ``worlds.py`` that have factors."""

    def draw(world: World, seed: int, n: int) -> Simulated:
        X, factors = world.draw(n, np.random.default_rng([seed, zlib.crc32(world.name.encode())]))
        method = "pca-ica" if world.family in FLAT else "hessian-ica"
        return Simulated(world.family, world.name, X, factors, method=method)

    for seed in seeds:
        for world in WORLDS:
            for n in SIZES * (world.family != "nothing"):
                yield {"world": world.name, "seed": seed, "points": n}, lambda: draw(world, seed, n)  # noqa: B023


def pictures(folder: Path) -> Drawn:
    """The picture sets for calibration."""
    for name, X, factors in picture_sets(folder, judged=False):
        yield {"world": name, "seed": 0}, lambda: Simulated(PICTURES, name, X, factors)  # noqa: B023


def _stored(path: Path):
    with np.load(path) as data:
        return calibration_from(dict(data))


def record_all(path: Path, drawn: Drawn, seconds: float) -> None:
    """Append a line for everything that is not there yet."""
    there = [{key: line.get(key) for key in ("world", "seed", "points")} for line in read_worlds(path)]
    start = time.monotonic()
    for key, draw in drawn:
        if time.monotonic() - start > seconds:
            return
        if {"world": None, "points": None} | key not in there:
            add_line(path, key | record(draw()))


def record(world: Simulated) -> dict:
    """Fit a world as a user would, and write down what was seen and what was true."""
    started = time.process_time()
    settings = {} if world.method == "pca-ica" else {"n_neighbors": world.n_neighbors, "progress": False}
    model = METHODS[world.method].load()(world.n_factors, random_state=0, **settings)
    line = {"kind": world.kind, "about": world.about, "n": len(world.X), "d": world.factors.shape[1]}
    line["method"] = world.method
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            codes = model.fit_transform(world.X)
        except ValueError as error:
            return line | {"refused": str(error)}
    told = model.diagnostics_
    kept = np.delete(np.arange(len(codes)), model.outliers_)  # what is said is said of these rows
    return line | {
        "mcc": mcc(world.factors[kept], codes[kept]),
        "left_out": len(model.outliers_),
        "d_found": model.n_factors_,
        "auto": world.n_factors == "auto",
        "unguessed": told.unguessed,
        "warned": bool(told.concerns),
        "figures": {name: float(value) for name, value in told.figures.items()},
        "cpu": time.process_time() - started,
    }


if __name__ == "__main__":
    main()
