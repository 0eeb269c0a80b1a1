"""Make the calibration behind ``model.diagnostics_.expected_mcc``, and judge it.

    python benchmarks/calibrate_expected_mcc.py simulate worlds.jsonl 2000        seeds 0 to 1999
    python benchmarks/calibrate_expected_mcc.py simulate fresh.jsonl 400 100000   seeds from 100000 on
    python benchmarks/calibrate_expected_mcc.py learn worlds.jsonl,named.jsonl OUT.npz   learn, write the small file
    python benchmarks/calibrate_expected_mcc.py cross worlds.jsonl                learn without a part, and judge on it
    python benchmarks/calibrate_expected_mcc.py judge OUT.npz fresh.jsonl         coverage, refusals and AUC

``simulate`` appends one line per world and goes on where it stopped; ``--seconds`` ends it after a while. The file that
comes with the package is src/unbraid/trust/expected_mcc.npz.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from guess_learning import PICTURES, crossed, judged, learnt, read_worlds, report
from guess_worlds import Simulated, simulate

from unbraid.methods import METHODS
from unbraid.metrics import mcc
from unbraid.spectral import diagnostics
from unbraid.trust.expected import calibration_arrays, calibration_from

JUDGED, FRESH = 5, 100_000  # first seeds for judging: of experiment_diagnosis.py, and of guess_worlds.py


def main() -> None:
    """One of the four steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["simulate", "learn", "cross", "judge"])
    parser.add_argument("first", type=Path)
    parser.add_argument("second", nargs="?", default="2000")
    parser.add_argument("third", nargs="?", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=np.inf)
    args = parser.parse_args()
    diagnostics.guess_of = lambda figures: (None, "not asked for")  # worlds are recorded before there is one
    if args.step == "simulate":
        simulate_all(args.first, range(args.third, args.third + int(args.second)), args.seconds)
    elif args.step == "learn":
        np.savez_compressed(args.second, **calibration_arrays(learnt(for_calibration(args.first))))
    elif args.step == "cross":
        crossed(for_calibration(args.first))
    else:
        report(judged(_stored(args.first), read_worlds(Path(args.second))))


def for_calibration(paths: Path) -> list[dict]:
    """What was recorded in one or more files, without the seeds and picture sets that are for judging."""
    found = read_worlds(*(Path(path) for path in str(paths).split(",")))
    return [
        w
        for w in found
        if w["seed"] < (JUDGED if "world" in w else FRESH) and not (w["kind"] == PICTURES and w["seed"])
    ]


def _stored(path: Path):
    with np.load(path) as data:
        return calibration_from(dict(data))


def simulate_all(path: Path, seeds: range, seconds: float) -> None:
    """Append a line for every seed that is not there yet."""
    there = {line["seed"] for line in read_worlds(path)}
    start = time.monotonic()
    for seed in seeds:
        if time.monotonic() - start > seconds:
            return
        if seed not in there:
            line = {"seed": seed} | record(simulate(seed))
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


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
    return line | {
        "mcc": mcc(world.factors, codes),
        "d_found": model.n_factors_,
        "auto": world.n_factors == "auto",
        "unguessed": told.unguessed,
        "warned": bool(told.concerns),
        "figures": {name: float(value) for name, value in told.figures.items()},
        "cpu": time.process_time() - started,
    }


if __name__ == "__main__":
    main()
