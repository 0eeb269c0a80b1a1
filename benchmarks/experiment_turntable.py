"""Turntables by ``ProductManifold``: four objects, 72 even views and 1,000 at random, the lamp still or swinging.

    python benchmarks/experiment_turntable.py --folder MESHES

MESHES holds the meshes of the data set ``turntable`` (bunny, spot, dragon); the blob is built in.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np

import unbraid as ub
from unbraid.metrics.kinds import circular_correlation


def main() -> None:
    """Print one line a fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--meshes", nargs="+", default=["blob", "bunny", "spot", "dragon"])
    parser.add_argument("--size", type=int, default=32, help="side of the pictures in pixels")
    args = parser.parse_args()
    for light in (0.0, 120.0):
        for mesh in args.meshes:
            data = ub.datasets.load("turntable", mesh=mesh, light=light, image_size=args.size, folder=args.folder)
            for n in (72, 1000):
                print(f"{mesh:8s} light {light:3.0f}  {n:5d} views  {found(data, n)}", flush=True)


def found(data: ub.datasets.Dataset, n: int) -> str:
    """Kinds with their correlations, and the checks that failed."""
    X, factors = data.sample(n, random_state=0)
    if n < 100 and factors.shape[1] == 1:
        factors = np.linspace(-np.pi, np.pi, n, endpoint=False)[:, None]
        X = data.observe(factors)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ub.ProductManifold(random_state=0).fit(X)
    codes = model.transform(X)
    words = []
    for kind, columns, sure in zip(model.kinds_, model.columns_, model.verified_):
        code = codes[:, columns[0]]
        if kind == "circle":
            what = f" yaw {abs(circular_correlation(factors[:, 0], code)):.3f}"
        elif kind == "interval" and factors.shape[1] > 1:
            what = f" light {abs(np.corrcoef(factors[:, 1], code)[0, 1]):.3f}"
        else:
            what = ""
        words.append(f"{kind}{what}{', verified' if sure else ''}")
    failed = sorted({check.name for checks in model.checks_ for check in checks if not check.holds})
    return "; ".join(words) + (f"   failed: {', '.join(failed)}" if failed else "")


if __name__ == "__main__":
    main()
