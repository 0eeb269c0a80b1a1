"""How often ``ProductManifold`` is right, and how often it says so: the worlds of ``products.py``, drawn afresh.

    python benchmarks/experiment_product.py run OUT.jsonl --seeds 100 110 --points 500 1000
    python benchmarks/experiment_product.py table OUT.jsonl --seeds 100 110

One line per run is appended as it goes, with every figure of every check; the same command goes on where it stopped.
Right means: every kind, and every correlation with the truth above .9. Constants were chosen on seeds below 200.
"""

import argparse
import time
import warnings
import zlib
from collections import defaultdict
from pathlib import Path

import numpy as np
from products import BROKEN, POINTS, RATIOS, SHAPES, WORLDS
from records import add_line, read_lines
from scipy.optimize import linear_sum_assignment

import unbraid as ub
from unbraid.metrics.kinds import kind_correlations
from unbraid.metrics.matching import correlations

RIGHT = 0.9


def main() -> None:
    """Run what is missing, or print tables of what is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("out", type=Path)
    parser.add_argument("--seeds", type=int, nargs=2, default=[100, 110], metavar=("FIRST", "END"))
    parser.add_argument("--points", type=int, nargs="+", default=POINTS)
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS), help="beginnings of names; default all")
    args = parser.parse_args()
    names = [name for name in WORLDS if name.startswith(tuple(args.worlds))]
    seeds = range(*args.seeds)
    if args.what == "run":
        there = {(line["world"], line["n"], line["seed"]) for line in read_lines(args.out)}
        for seed in seeds:
            for n in args.points:
                for name in names:
                    if (name, n, seed) not in there:
                        add_line(args.out, measure(name, n, seed))
    show([x for x in read_lines(args.out) if x["world"] in names and x["seed"] in seeds and x["n"] in args.points])


def measure(name: str, n: int, seed: int) -> dict:
    """One fit, beside the truth."""
    drawn = WORLDS[name](n, np.random.default_rng([seed, n, zlib.crc32(name.encode())]))
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ub.ProductManifold(random_state=seed).fit(drawn.X)
    seconds = time.process_time() - begin
    scores = []
    if drawn.kinds:
        codes = model.transform(drawn.X)
        table = np.abs(kind_correlations(drawn.factors, codes, drawn.kinds, model.kinds_, correlations))
        rows, columns = linear_sum_assignment(table, maximize=True)
        scores = [float(table[rows, columns][rows == i].sum()) for i in range(len(table))]
    return {
        "world": name, "n": n, "seed": seed, "truth": list(drawn.kinds), "kinds": model.kinds_,
        "scores": scores, "verified": model.verified_.tolist(), "seconds": seconds,
        "dim": model.diagnostics_.dimension.dim, "clear": model.diagnostics_.dimension.clear,
        "checks": [{c.name: [round(c.figure, 4), c.holds] for c in checks} for checks in model.checks_],
    }  # fmt: skip


def is_right(line: dict) -> bool:
    """Every kind, and every factor above .9."""
    return bool(line["truth"]) and sorted(line["kinds"]) == sorted(line["truth"]) and min(line["scores"]) > RIGHT


def show(found: list[dict]) -> None:
    """The table of the reference, the other worlds, and what "verified" is worth."""
    cells = defaultdict(list)
    for line in found:
        cells[line["world"], line["n"]].append(line)
    points = sorted({line["n"] for line in found})
    print(f"share of runs that are right, at ratios {' / '.join(map(str, RATIOS))}")
    print("    n  " + "  ".join(f"{shape:>14s}" for shape in SHAPES))
    for n in points:
        rows = [[cells[f"{s.replace(' ', ' x ')} at {r}", n] for r in RATIOS] for s in SHAPES]
        print(f"{n:5d}  " + "  ".join(f"{' / '.join(map(share, row)):>14s}" for row in rows))
    print(f"\n{'world':32s} " + " ".join(f"{n:>22d}" for n in points) + "\n" + " " * 33, end="")
    print(" ".join(f"{'right  verified  wrong':>22s}" for _ in points))
    for world in dict.fromkeys(line["world"] for line in found):
        print(f"{world:32s} " + " ".join(f"{counts(cells[world, n]):>22s}" for n in points))
    worth(found)


def share(runs: list[dict]) -> str:
    """Of the runs, those that are right."""
    return f"{np.mean([is_right(run) for run in runs]):.2g}" if runs else "-"


def counts(runs: list[dict]) -> str:
    """Right; verified among these; verified though wrong."""
    right = [run for run in runs if is_right(run)]
    wrong = [run for run in runs if all(run["verified"]) and not is_right(run)]
    return f"{len(right)}/{len(runs)}  {sum(all(r['verified']) for r in right)}  {len(wrong)}" if runs else "-"


def worth(found: list[dict]) -> None:
    """How often a verified run is right, and a right one verified, by the kind of world."""
    parts = {
        "products": [line for line in found if line["world"] not in BROKEN and line["world"] != "anything"],
        "anything": [line for line in found if line["world"] == "anything"],
        "broken": [line for line in found if line["world"] in BROKEN],
    }
    print(f"\n{'':10s} {'runs':>6s} {'right':>6s} {'verified':>9s} {'of these right':>15s} {'right, verified':>16s}")
    for name, runs in parts.items():
        right = [is_right(run) for run in runs]
        sure = [all(run["verified"]) for run in runs]
        both = sum(r and s for r, s in zip(right, sure))
        print(
            f"{name:10s} {len(runs):6d} {sum(right):6d} {sum(sure):9d} {both / max(1, sum(sure)):15.3f} "
            f"{both / max(1, sum(right)):16.3f}"
        )
    scores = defaultdict(list)
    for line in found:
        if is_right(line):
            for kind, score in zip(line["truth"], line["scores"]):
                scores[kind].append(score)
    print("\nscores when right, 5 % and median: ", end="")
    print(", ".join(f"{k} {np.quantile(v, 0.05):.3f} {np.median(v):.3f}" for k, v in scores.items()))
    for n in sorted({line["n"] for line in found}):
        print(f"n = {n}: {np.median([line['seconds'] for line in found if line['n'] == n]):.2f} CPU s")


if __name__ == "__main__":
    main()
