"""Random worlds, inputs and kills for an hour, and a report of what went wrong.

    python scripts/soak.py --minutes 60 --out soak.json [--seed 0]

Each turn draws one of four jobs. ``worlds``: a simulated data set, dirty or not, is fitted; codes must be finite, one
for each row, and the same to the byte when fitted again. ``inputs``: random containers of random numbers
(``tests/fuzz``) must be read as the numbers they hold, or refused in words. ``training``: a child that trains is
ended by SIGKILL at a random step and resumed; the result must be that of an undisturbed run. ``study``: a study is
ended by SIGKILL at a random moment and run again; every run must then be done. Every failure is written with its
seed; the exit status is 1 if there was one.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]


def worlds(seed: int) -> str:
    """One world, whose rows, cells or columns may be spoilt."""
    from experiment_dirty import DIRT
    from guess_worlds import simulate

    import unbraid as ub

    rng, world = np.random.default_rng(seed), simulate(seed)
    X, dirt = world.X[:600], rng.choice(["", *DIRT])
    if dirt:
        X = DIRT[dirt](X.copy(), rng)[0]
    method = ub.HessianICA if rng.uniform() < 0.7 else ub.PCAICA
    try:
        first, again = (method(world.n_factors, random_state=0).fit(X) for _ in range(2))
    except ValueError:
        return f"refused: {world.kind}"
    codes = first.transform(X)
    assert codes.shape == (len(X), first.n_factors_), codes.shape
    assert np.isfinite(codes).all()
    assert codes.tobytes() == again.transform(X).tobytes(), "two fits differ"
    return "fitted"


def inputs(seed: int) -> str:
    """Containers of random numbers, good and bad."""
    from tests.fuzz import test_doors

    from unbraid.data.rows import Rows

    rng = np.random.default_rng(seed)
    array, refused = test_doors.numbers(rng), 0
    for made in (*test_doors.as_containers(array, rng), *test_doors.as_refused(array, rng)):

        class Inputs:
            def __call__(self) -> None:
                pass

            def refused(self) -> None:
                nonlocal refused
                refused += 1

        test_doors.check(made, lambda X: Rows(X).array(), Inputs())
    return f"{'some' if refused else 'none'} refused"


def training(seed: int) -> str:
    """A run that is killed between two steps, and resumed."""
    rng = random.Random(seed)
    method, steps = rng.choice(["VAE", "FactorVAE", "GIN", "RealNVP"]), 24
    with tempfile.TemporaryDirectory() as folder:
        job = json.dumps([[method, folder, steps, rng.randrange(1, steps - 1), int(signal.SIGKILL)]])
        script = ROOT / "tests" / "training" / "killed_run.py"
        status = json.loads(
            subprocess.check_output([sys.executable, script, job], stderr=subprocess.DEVNULL, timeout=300)
        )
        assert status == [-signal.SIGKILL], status
        from tests.training.killed_run import data, fitted

        resumed, whole = fitted(method, f"{folder}/run.safetensors", steps), fitted(method, None, steps)
        rows = data(method)[0]
        np.testing.assert_array_equal(resumed.transform(rows), whole.transform(rows))
    return method


def study(seed: int) -> str:
    """A study that is killed at a random moment, and run again."""
    from tests.study.tiny import TINY

    import unbraid as ub

    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        spec, store = Path(folder) / "soak.toml", Path(folder) / "store"
        spec.write_text(TINY)
        command = [sys.executable, "-m", "unbraid", "study", "run", str(spec), "--store", str(store), "--workers", "1"]
        with (Path(folder) / "log").open("w") as log:
            child = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
            try:
                child.wait(timeout=rng.uniform(3, 15))
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        states = Counter(ub.study.open(store).runs()["status"])
        assert states == {"done": 8}, states
    return "completed"


JOBS = {"worlds": (worlds, 6), "inputs": (inputs, 6), "training": (training, 2), "study": (study, 1)}


def main() -> None:
    """Draw jobs until the time is up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--out", type=Path, default=Path("soak.json"))
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    start, seed = time.monotonic(), args.seed
    counts: Counter[str] = Counter()
    failures: list[dict[str, str | int]] = []
    while time.monotonic() - start < 60 * args.minutes:
        name = random.Random(seed).choices(list(JOBS), [weight for _, weight in JOBS.values()])[0]
        try:
            counts[f"{name}: {JOBS[name][0](seed)}"] += 1
        except Exception:
            counts[f"{name}: FAILED"] += 1
            failures.append({"job": name, "seed": seed, "error": traceback.format_exc(limit=8)})
        seed += 1
        report = {"minutes": (time.monotonic() - start) / 60, "first seed": args.seed, "jobs": seed - args.seed}
        args.out.write_text(json.dumps({**report, "counts": counts, "failures": failures}, indent=1))
    print(f"{seed - args.seed} jobs, {len(failures)} failures; {args.out}")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
