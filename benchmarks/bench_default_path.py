"""What a newcomer types, before and after: CPU seconds of whole processes, two versions in turns.

    python benchmarks/bench_default_path.py OLD_SOURCE NEW_SOURCE [--rounds 3] [--first-use]

A source is a folder that holds ``unbraid``, such as the ``src`` of a clone. The CPU time (user and system, all threads
and children) of each command counts, the least of the rounds; import time is part of it, as for a user. ``--first-use``
runs each case once more with an empty cache of compiled kernels. The last column is what came out: the verdict and the
MCC, which must agree.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PHOTOS = """
import numpy as np, unbraid as ub
from pathlib import Path
from PIL import Image
X, factors = ub.datasets.load("shapes-xy", image_size=64).sample(1000, random_state=0)
Path("photos").mkdir()
for i, x in enumerate((255 * np.asarray(X)).astype(np.uint8)):
    Image.fromarray(x).convert("RGB").save(f"photos/{i:04d}.jpg", quality=92)
np.save("factors.npy", factors)
"""
FIT = """
import numpy as np, unbraid as ub
data = ub.datasets.load("isometric", n_factors=2, n_features=100)
X, factors = data.sample(3000, random_state=1)
model = ub.fit(X, random_state=0)
print(model.diagnosis_.verdict, round(float(ub.metrics.mcc(factors, model.transform(X))), 3))
"""
README = """
import unbraid as ub
X, factors = ub.datasets.load("shapes-xy", image_size=32).sample(1000, random_state=0)
model = ub.HessianICA(n_factors="auto", random_state=0)
codes = model.fit_transform(X)
str(model.selection_), str(model.diagnostics_)
print(round(float(ub.metrics.mcc(factors, codes)), 3))
model.inverse_transform(codes[:5])
ub.report.fit_report(model, X, factors).write("report.html")
model.save("run")
"""
OUTCOME = """
import numpy as np, unbraid as ub, sys
model = ub.load("fitted")
print(model.diagnosis_.verdict, round(float(ub.metrics.mcc(np.load("factors.npy"), np.load("fitted/codes.npy"))), 3))
"""
CASES = {
    "unbraid fit photos/": ["-m", "unbraid", "fit", "photos/", "--out", "fitted", "--quiet"],
    "unbraid fit photos/ --factors 2 --method hessian-ica": [
        *("-m", "unbraid", "fit", "photos/", "--factors", "2", "--method", "hessian-ica", "--out", "given", "--quiet")
    ],
    "unbraid diagnose photos/": ["-m", "unbraid", "diagnose", "photos/"],
    "ub.fit(X), 3000 x 100": ["-c", FIT],
    "unbraid demo": ["-m", "unbraid", "demo", "--out", "demo"],
    "the lines of the README": ["-c", README],
}


def cpu_seconds(source: str, arguments: list[str], folder: Path, cache: Path) -> tuple[float, str]:
    """CPU time of a fresh process and what it printed first."""
    environment = {**os.environ, "PYTHONPATH": source, "NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": ""}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)[:80]} failed with {source}:\n{done.stderr[-2000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout.strip()


def outcome(name: str, source: str, folder: Path, cache: Path, printed: str) -> str:
    """The figure that must agree."""
    if name == "unbraid fit photos/":
        return cpu_seconds(source, ["-c", OUTCOME], folder, cache)[1]
    lines = printed.splitlines()
    if name == "unbraid diagnose photos/":
        return next((line for line in lines if line.startswith(("Yes", "No", "Unsure"))), "")[:3]
    return lines[-1][:20] if name.startswith(("ub.fit", "the lines")) and lines else ""


def main() -> None:
    """Measure every case, print a line each, and a JSON line at the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--first-use", action="store_true")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    args = parser.parse_args()
    sources = {"old": str(Path(args.old).resolve()), "new": str(Path(args.new).resolve())}
    found = {}
    with tempfile.TemporaryDirectory() as place:
        folders = {which: Path(place) / which for which in sources}
        for which, folder in folders.items():
            folder.mkdir()
            cpu_seconds(sources[which], ["-c", PHOTOS], folder, folder / "cache")
        print(f"{'case':54s} {'old':>7s} {'new':>7s} {'ratio':>6s}  outcome")
        for name in args.cases:
            row = measured(name, sources, folders, args.rounds, args.first_use)
            found[name] = row
            print(f"{name:54s} {row['old']:7.2f} {row['new']:7.2f} {row['new'] / row['old']:6.2f}  {row['outcome']}")
            if args.first_use:
                print(f"{'  first use':54s} {row['old first']:7.2f} {row['new first']:7.2f}")
    print(json.dumps(found))


def measured(name: str, sources: dict, folders: dict, rounds: int, first_use: bool) -> dict:
    """The least CPU seconds of each version, in turns; with first use, before the kernels are compiled."""
    row: dict = {"outcome": {}}
    for number in range(rounds + 1):  # the first compiles and fills the disk cache
        for which, source in sources.items():
            folder = folders[which]
            seconds, printed = cpu_seconds(source, CASES[name], folder, folder / "cache")
            if number == 0:
                if first_use:
                    cold = cpu_seconds(source, CASES[name], folder, folder / f"cold-{len(name)}")[0]
                    row[f"{which} first"] = cold
                row["outcome"][which] = outcome(name, source, folder, folder / "cache", printed)
            else:
                row[which] = min(row.get(which, seconds), seconds)
    return row


if __name__ == "__main__":
    main()
