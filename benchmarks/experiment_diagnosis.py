"""How often the diagnosis is right: every world of ``worlds.py``, drawn afresh, and what each finding said of it.

    python benchmarks/experiment_diagnosis.py --points 1000 --seeds 10 --out diagnosis.jsonl

One line per draw is appended as it goes; the same command goes on where it stopped, and prints the tables.
"""

import argparse
import json
import zlib
from collections import defaultdict
from pathlib import Path

import numpy as np
from worlds import WORLDS

import unbraid as ub


def main() -> None:
    """Run what is missing, then print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("diagnosis.jsonl"))
    parser.add_argument("--show", action="store_true", help="print the tables of what is there, and run nothing")
    args = parser.parse_args()
    there = {(line["world"], line["seed"], line["points"]) for line in lines(args.out)}
    for seed in range(0 if args.show else args.seeds):
        for world in WORLDS:
            if (world.name, seed, args.points) not in there:
                X = world.draw(args.points, np.random.default_rng([seed, zlib.crc32(world.name.encode())]))
                found = ub.diagnose(X)
                line = {
                    "world": world.name, "seed": seed, "points": args.points, "verdict": found.verdict,
                    "method": found.method, "n_factors": found.n_factors,
                    "holds": {f.assumption: f.holds for f in found.findings},
                    "figures": {f.assumption: f.figure for f in found.findings},
                }  # fmt: skip
                with args.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
    show([line for line in lines(args.out) if line["points"] == args.points])


def lines(path: Path) -> list[dict]:
    """What was recorded."""
    return [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def show(found: list[dict]) -> None:
    """The verdict by world, then hits and false alarms by diagnostic."""
    kinds = {world.name: world for world in WORLDS}
    by_world = defaultdict(list)
    for line in found:
        by_world[line["world"]].append(line)
    print(f"{'world':30s} {'':8s} draws   yes unsure    no   found by")
    for name, drawn in by_world.items():
        said = [sum(line["verdict"] == v for line in drawn) for v in ("yes", "unsure", "no")]
        fired = defaultdict(int)
        for line in drawn:
            for assumption in deciding(line):
                fired[assumption] += 1
        causes = ", ".join(f"{a} {k}" for a, k in sorted(fired.items(), key=lambda item: -item[1]))
        kind = "broken" if kinds[name].breaks else "kept"
        print(f"{name:30s} {kind:8s} {len(drawn):5d} {said[0]:5d} {said[1]:6d} {said[2]:5d}   {causes}")
    print(f"\n{'diagnostic':22s} {'hits':>18s} {'false alarms':>18s}")
    for assumption in dict.fromkeys(a for line in found for a in line["holds"]):
        aimed = [line for line in found if assumption in kinds[line["world"]].breaks]
        kept = [line for line in found if not kinds[line["world"]].breaks]
        print(f"{assumption:22s} {share(aimed, assumption):>18s} {share(kept, assumption):>18s}")
    broken = [line["verdict"] == "no" for line in found if kinds[line["world"]].breaks]
    kept_no = [line["verdict"] == "no" for line in found if not kinds[line["world"]].breaks]
    print(f"{'the verdict no':22s} {ratio(broken):>18s} {ratio(kept_no):>18s}")


def deciding(line: dict) -> list[str]:
    """The assumptions that failed, but for those that only inform."""
    return [a for a, holds in line["holds"].items() if holds is False and a not in ("linear", "sampling density")]


def share(drawn: list[dict], assumption: str) -> str:
    """Of the draws, how often this assumption was said to fail."""
    return ratio([line["holds"].get(assumption) is False for line in drawn])


def ratio(told: list[bool]) -> str:
    """As a share and as counts."""
    return f"{np.mean(told):.2f} ({sum(told)} of {len(told)})" if told else "-"


if __name__ == "__main__":
    main()
