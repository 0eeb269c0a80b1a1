"""How often the diagnosis notices a clear violation, by points and factors: the power in trust/figures.toml.

python benchmarks/calibrate_power.py --draws 40
"""

import argparse

import numpy as np

from unbraid.manifold.surroundings import EDGE, edge_ratio, torus
from unbraid.trust.support import (
    POWER_POINTS,
    ball,
    dependence,
    dependent,
    hollow,
    mean_emptiness,
    raggedness,
    separability,
)
from unbraid.trust.table import FIGURES

FACTORS = (2, 3, 4, 6)


def noticed(key: str, n: int, d: int, rng: np.random.RandomState) -> bool:
    """Whether one draw of the violation of a figure is beyond its threshold."""
    if key == "edge":
        return not FIGURES[key].holds(edge_ratio(torus(n, d, rng), d), d)
    if key == "separability":
        return not FIGURES[key].holds(separability(rng.standard_normal((n, d))))
    if key == "emptiness":
        return mean_emptiness(ball(n, d, rng), rng) > hollow(n)
    value = raggedness(ball(n, d, rng), rng) if key == "raggedness" else dependence(dependent(n, d, rng))
    return not FIGURES[key].holds(value)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=40)
    draws = parser.parse_args().draws
    for key in ("dependence", "raggedness", "emptiness", "separability", "edge"):
        for d in EDGE if key == "edge" else FACTORS:
            rng = np.random.RandomState(0)
            row = [np.mean([noticed(key, n, d, rng) for _ in range(draws)]) for n in POWER_POINTS]
            print(f"{key} {d}: ({', '.join(f'{share:.2f}' for share in row)})", flush=True)


if __name__ == "__main__":
    main()
