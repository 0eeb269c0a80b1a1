"""What the engine costs beside the work: many tiny tasks, `study status` on their store, memory of the client.

    python benchmarks/bench_study.py FOLDER --tasks 20000 --workers 2
    python benchmarks/bench_study.py FOLDER --tasks 20000 --workers 2 --max-minutes 8      in sittings

Goes on where it was stopped. Prints the memory of the client after each tenth and, at the end: milliseconds a task
beyond its own time, with the start of the cluster; milliseconds of CPU of the client; seconds of status.
"""

import argparse
import threading
import time
from pathlib import Path

import psutil
from records import add_line, read_lines

from unbraid.study import Store, parse_spec, run_study
from unbraid.study.frames import open_study
from unbraid.study.status import status_of
from unbraid.study.store import FILE

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
LOOK_EVERY = 2.0  # seconds between two looks at the memory


class Watch(threading.Thread):
    """Prints this process's memory whenever another tenth of the tasks is done."""

    def __init__(self, place, tasks):
        super().__init__(daemon=True)
        self.place, self.tasks, self.over = place, tasks, threading.Event()

    def run(self):
        tenth, process = None, psutil.Process()
        while not self.over.wait(LOOK_EVERY):
            if not (self.place / FILE).exists():
                continue
            with Store(self.place) as store:
                done = store.counts()["done"]
            if tenth is None or 10 * done // self.tasks > tenth:
                tenth = 10 * done // self.tasks
                print(f"{done} done: client {process.memory_info().rss / 2**20:.0f} MB", flush=True)


def one_sitting(spec, place, given):
    """What this call did, as a line of sittings.jsonl, which the totals are made of."""
    watch = Watch(place, given.tasks)
    watch.start()
    began, cpu = time.perf_counter(), time.process_time()
    limit = None if given.max_minutes is None else 60 * given.max_minutes
    sitting = run_study(spec, place, workers=given.workers, max_time=limit, progress=False)
    row = {"done": sitting.done, "left": sitting.left, "seconds": time.perf_counter() - began}
    row["client_cpu"] = time.process_time() - cpu
    watch.over.set()
    add_line(given.folder / f"many-{given.tasks}.jsonl", row)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--max-minutes", type=float, help="of this sitting")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    place = given.folder / f"many-{given.tasks}"
    one_sitting(parse_spec(SPEC.format(seeds=given.tasks)), place, given)
    rows = read_lines(given.folder / f"many-{given.tasks}.jsonl")
    study = open_study(place)
    runs = study.runs().query("status == 'done'")
    done, seconds = len(runs), sum(row["seconds"] for row in rows)
    own = runs["seconds"].sum() / max(given.workers, 1)
    print(
        f"{done} tasks in {seconds:.1f} s: {1000 * (seconds - own) / done:.1f} ms each beyond their own "
        f"{1000 * own / done:.1f}; CPU of the client {1000 * sum(r['client_cpu'] for r in rows) / done:.1f} ms each"
    )
    began = time.perf_counter()
    print(status_of(study.store))
    print(f"status in {time.perf_counter() - began:.3f} s")


if __name__ == "__main__":
    main()
