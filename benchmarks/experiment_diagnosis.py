"""How often the diagnosis is right: every world of ``worlds.py``, drawn afresh, and what each finding said of it.

    python benchmarks/experiment_diagnosis.py run --points 1000 --first 5 --seeds 10 --out diagnosis.jsonl
    python benchmarks/experiment_diagnosis.py show --points 1000 --first 5 --out diagnosis.jsonl
    python benchmarks/experiment_diagnosis.py table --points 1000 --first 5 --out diagnosis.jsonl --folder docs/tables

``run`` appends one line per draw as it goes, and the same command goes on where it stopped. ``table`` writes what the
docs include: one file by kind of world, one by diagnostic. The rules were tuned on seeds below 5.
"""

import argparse
import csv
import json
import re
import time
import warnings
import zlib
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from worlds import WORLDS

from unbraid.data.observations import observe
from unbraid.diagnosis.diagnose import examine
from unbraid.methods import METHODS
from unbraid.metrics import mcc

KINDS = {world.name: world for world in WORLDS}
WORLD_HEAD = ["world", "assumptions", "draws", "yes", "unsure", "no", "found by", "goal"]
FEWEST_DRAWS = 10
FINDING_HEAD = ["diagnostic", "hits", "false alarms", "cannot tell"]


def main() -> None:
    """Run what is missing, print, or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "pictures", "show", "table"))
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=5, help="first seed; the rules were tuned on those below 5")
    parser.add_argument("--worlds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--out", type=Path, default=Path("diagnosis.jsonl"))
    parser.add_argument("--folder", type=Path, default=Path("docs/tables"), help="where table writes")
    args = parser.parse_args()
    seeds = range(args.first, args.first + args.seeds)
    if args.command == "run":
        run(args.out, args.points, seeds, args.worlds)
        return
    if args.command == "pictures":
        run_pictures(args.out, args.folder)
        return
    found = [line for line in lines(args.out) if line["points"] == args.points and line["seed"] in seeds]
    tables = {"worlds": [WORLD_HEAD, *by_world(found)], "findings": [FINDING_HEAD, *by_finding(found)]}
    for name, rows in tables.items():
        if args.command == "show":
            print(*("  ".join(f"{cell!s:>14s}" for cell in row) for row in rows), "", sep="\n")
        else:
            args.folder.mkdir(parents=True, exist_ok=True)
            with (args.folder / f"diagnosis-{name}.csv").open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)


def run(out: Path, points: int, seeds: range, names: list[str]) -> None:
    """Diagnose and fit the draws that are not recorded yet."""
    there = {(line["world"], line["seed"], line["points"]) for line in lines(out)}
    for seed in seeds:
        for name in names:
            if (name, seed, points) in there:
                continue
            X, factors = KINDS[name].draw(points, np.random.default_rng([seed, zlib.crc32(name.encode())]))
            line = {"world": name, "seed": seed, "points": points} | record(X, factors)
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


def run_pictures(out: Path, folder: Path) -> None:
    """The same of the picture sets; seed 0 stands for calibration, and 1 for judging."""
    from guess_pictures import picture_sets

    there = {line["world"] for line in lines(out)}
    for name, judged, X, factors in picture_sets(folder):
        if name not in there:
            line = {"world": name, "seed": int(judged), "points": len(X)} | record(X, factors)
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


def record(X: np.ndarray, factors: np.ndarray) -> dict:
    """What the diagnosis says of some data, what the fit that it recommends warns of, and the MCC of its codes."""
    started = time.process_time()
    known = observe(X)
    found, starts = examine(known)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = METHODS[found.method].load()(n_factors="auto", random_state=0)
        if found.method in starts:
            model.continue_from(starts[found.method])
        codes = model.fit(known).transform(X)
    first = starts.get("hessian-ica")
    told = first.fitted["diagnostics_"] if first is not None else getattr(model, "diagnostics_", None)
    return {
        "verdict": found.verdict, "causes": found.causes, "method": found.method, "n_factors": found.n_factors,
        "d": factors.shape[1], "mcc": mcc(factors, codes) if factors.shape[1] else 0.0,
        "warned": sorted({code for one in heard for code in re.findall(r"UB\d+", str(one.message))}),
        "holds": {f.assumption: f.holds for f in found.findings},
        "measured": {f.assumption: f.figure for f in found.findings},
        "figures": {name: float(value) for name, value in getattr(told, "figures", {}).items()},
        "unguessed": getattr(told, "unguessed", ""),
        "expected": found.expected_mcc and [found.expected_mcc.median, found.expected_mcc.low],
        "cpu": time.process_time() - started,
    }  # fmt: skip


def lines(path: Path) -> list[dict]:
    """What was recorded, each draw once."""
    found = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    return list({(line["world"], line["seed"], line["points"]): line for line in found}.values())


def by_world(found: list[dict]) -> list[list[object]]:
    """A row per kind of world: how often each verdict, by which findings, and whether the goal is reached.

    The goal of a world whose assumptions are broken is "no" in nine of ten draws, of any other no "no" at all: with ten
    draws, one is more than five in a hundred. With fewer than ten draws neither can be said.
    """
    rows = []
    drawn = defaultdict(list)
    for line in found:
        drawn[line["world"]].append(line)
    for name in (name for name in KINDS if name in drawn):
        here = drawn[name]
        said = Counter(line["verdict"] for line in here)
        causes = Counter(cause for line in here if line["verdict"] == "no" for cause in line["causes"])
        words = ", ".join(f"{cause} {count}" for cause, count in causes.most_common())
        broken = bool(KINDS[name].breaks)
        reached = said["no"] >= 0.9 * len(here) if broken else said["no"] == 0
        rows.append(
            [name, "broken" if broken else "kept", len(here), said["yes"], said["unsure"], said["no"], words,
             "too few draws" if len(here) < FEWEST_DRAWS else "reached" if reached else "missed"]
        )  # fmt: skip
    return rows


def by_finding(found: list[dict]) -> list[list[object]]:
    """A row per diagnostic: failed among the worlds that it is there for, and failed or unknown among the kept ones."""
    rows = []
    kept = [line for line in found if not KINDS[line["world"]].breaks]
    for assumption in dict.fromkeys(a for line in found for a in line["holds"]):
        if assumption in ("linear", "sampling density", "low noise"):
            continue  # these inform, and have no right or wrong
        aimed = [line for line in found if assumption in KINDS[line["world"]].breaks]
        rows.append([assumption, share(aimed, assumption, False), share(kept, assumption, False),
                     share(kept, assumption, None)])  # fmt: skip
    broken = [line for line in found if KINDS[line["world"]].breaks]
    rows.append(["the verdict", *(ratio([line["verdict"] == "no" for line in part]) for part in (broken, kept)),
                 ratio([line["verdict"] == "unsure" for line in kept])])  # fmt: skip
    return rows


def share(drawn: list[dict], assumption: str, answer: bool | None) -> str:
    """Of the draws in which the assumption was looked at, how often this was the answer."""
    return ratio([line["holds"][assumption] is answer for line in drawn if assumption in line["holds"]])


def ratio(told: list[bool]) -> str:
    """As a share and as counts."""
    return f"{np.mean(told):.2f} ({sum(told)} of {len(told)})" if told else ""


if __name__ == "__main__":
    main()
