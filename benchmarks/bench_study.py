"""What the engine costs beside the work: many tiny tasks, `study status` on their store, memory of the client.

    python benchmarks/bench_study.py FOLDER --tasks 20000 --workers 2

Goes on where it was stopped. Prints milliseconds a task beyond the tasks' own time, seconds of status, and the client's
memory after each tenth.
"""

import argparse
import time
from pathlib import Path

import psutil

from unbraid.study import Store, parse_spec, run_study
from unbraid.study.frames import open_study
from unbraid.study.status import status_of

SPEC = """
name = "many"
seeds = {seeds}
pool = 50
metrics = ["mcc"]
[[datasets]]
name = "isometric"
options = {{ n_features = 4 }}
rows = 60
[[methods]]
name = "pca-ica"
parameters = {{ n_factors = 2 }}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    spec = parse_spec(SPEC.format(seeds=given.tasks))
    place = given.folder / f"many-{given.tasks}"
    process, parts = psutil.Process(), 10
    for part in range(parts):
        indices = range(part * given.tasks // parts, (part + 1) * given.tasks // parts)
        began, cpu = time.perf_counter(), time.process_time()
        sitting = run_study(spec, place, workers=given.workers, indices=indices, progress=False)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        if not sitting.done:
            continue
        own = open_study(place).runs().iloc[list(indices)]["seconds"].sum() / max(given.workers, 1)
        memory = process.memory_info().rss / 2**20
        each = 1000 * (seconds - own) / sitting.done
        print(
            f"{sitting.done} tasks in {seconds:.1f} s: {each:.1f} ms each beyond their own "
            f"{1000 * own / sitting.done:.1f}; client {1000 * cpu / sitting.done:.1f} ms of CPU, {memory:.0f} MB",
            flush=True,
        )
    with Store(place) as store:
        began = time.perf_counter()
        print(status_of(store))
        print(f"status in {time.perf_counter() - began:.3f} s")


if __name__ == "__main__":
    main()
