"""ProductManifold: CPU seconds and accuracy, beside the paper's route (triplets and max-cut), and 100,000 points.

Run by ``make bench-manifold``. Zhang, Moscovich and Singer (2021) look for triplets of eigenfunctions of which one is
the product of the others, and part the rest in two by a maximal cut. That route, written here on the same walk, is told
that there are two factors and of which kind; ``ProductManifold`` is told nothing.
"""

import argparse
import time
import warnings
import zlib
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from products import GOOD, product

import unbraid as ub
from unbraid.metrics import mcc
from unbraid.product.diffusion import Diffusion, diffuse

Floats = NDArray[np.float64]
CASES = [f"{shape} at {ratio}" for shape in ("I x I", "C x I", "C x C") for ratio in ("1.3", "2.0", "4.0")]
FUNCTIONS = 60
SIMILAR, SUM = 0.7, 0.2  # a triplet: correlation of the product at least, and eigenvalue off the sum at most


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, nargs="+", default=[1000, 2000])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--large", type=int, default=100_000, help="points of the run by landmarks; 0 leaves it out")
    args = parser.parse_args()
    print(f"{'':14s} {'':>6s}  {'triplets, max-cut':>20s}  {'ProductManifold':>20s}\n{'':14s} {'n':>6s}", end="")
    print(f"  {'seconds':>9s} {'MCC':>10s}  {'seconds':>9s} {'MCC':>10s}")
    for name in CASES:
        for n in args.points:
            runs = [compared(name, n, seed) for seed in range(200, 200 + args.seeds)]
            theirs, ours = np.median(runs, axis=0)
            print(f"{name:14s} {n:6d}  {theirs[0]:9.2f} {theirs[1]:10.3f}  {ours[0]:9.2f} {ours[1]:10.3f}", flush=True)
    if args.large:
        large(args.large)


def compared(name: str, n: int, seed: int) -> list[tuple[float, float]]:
    """(seconds, MCC) of both on one draw."""
    drawn = GOOD[name](n, np.random.default_rng([seed, n, zlib.crc32(name.encode())]))
    begin = time.process_time()
    walk = diffuse(drawn.X - drawn.X.mean(axis=0), np.random.RandomState(seed), len(drawn.kinds))
    first, second = parted(walk)
    found = max(
        mcc(drawn.factors, codes_of(walk, groups, drawn.kinds), kinds=drawn.kinds, code_kinds=drawn.kinds)
        for groups in permutations((first, second))
    )
    between = time.process_time()
    codes, kinds = fitted(drawn.X, seed)
    end = time.process_time()
    ours = mcc(drawn.factors, codes, kinds=drawn.kinds, code_kinds=kinds)
    return [(between - begin, found), (end - between, ours)]


def fitted(X: NDArray, seed: int) -> tuple[Floats, list[str]]:
    """Codes and kinds, without the warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ub.ProductManifold(random_state=seed).fit(X)
    return model.transform(X), model.kinds_


def parted(walk: Diffusion) -> tuple[list[int], list[int]]:
    """Eigenfunctions that are no products, in two groups: those whose products occur are cut apart."""
    m = min(FUNCTIONS, walk.functions.shape[1])
    functions, values = walk.functions[:, :m], walk.eigenvalues[:m]
    weights, products = np.zeros((m, m)), set()
    for i in range(m):
        pairs = functions[:, [i]] * functions[:, i + 1 :]
        size = np.sqrt(walk.mean(np.square(pairs)))
        similar = np.abs(functions.T @ (pairs * walk.weights[:, None])) / np.maximum(size, 1e-300)
        off = np.abs(values[i] + values[None, i + 1 :] - values[:, None]) / values[:, None]
        similar[off > SUM] = 0
        for k, column in zip(*np.nonzero(similar > SIMILAR)):
            j = i + 1 + int(column)
            weights[i, j] = weights[j, i] = max(weights[i, j], float(similar[k, column]))
            products.add(int(k))
    left = [k for k in range(m) if k not in products]
    side = maximal_cut(weights[np.ix_(left, left)])
    return [k for k, s in zip(left, side) if s], [k for k, s in zip(left, side) if not s]


def maximal_cut(weights: Floats, rank: int = 8, steps: int = 300) -> NDArray[np.bool_]:
    """Goemans and Williamson's relaxation, by unit vectors of low rank (Burer and Monteiro), and the best rounding."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(len(weights), rank))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for _ in range(steps):
        for i, row in enumerate(weights):
            pull = -row @ vectors
            if np.any(pull):
                vectors[i] = pull / np.linalg.norm(pull)
    sides = vectors @ rng.normal(size=(rank, 200)) > 0
    cuts = [weights[np.ix_(side, ~side)].sum() for side in sides.T]
    return sides[:, int(np.argmax(cuts))]


def codes_of(walk: Diffusion, groups: tuple[list[int], ...], kinds: tuple[str, ...]) -> Floats:
    """A coordinate of the kind asked for, by the first functions of each group."""
    columns = []
    for kind, group in zip(kinds, groups):
        need = 2 if kind == "circle" else 1
        chosen = walk.functions[:, group[:need]] if len(group) >= need else np.zeros((len(walk.functions), need))
        flat = np.arccos(np.clip(chosen[:, 0] / np.sqrt(2), -1, 1))
        columns.append(np.arctan2(chosen[:, 1], chosen[:, 0]) if kind == "circle" else flat)
    return np.stack(columns, axis=1)


def large(n: int) -> None:
    """Many points, by landmarks."""
    drawn = product("C I", 2)(n, np.random.default_rng(0))
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ub.ProductManifold(random_state=0).fit(drawn.X)
    between = time.process_time()
    codes = model.transform(drawn.X)
    end = time.process_time()
    score = mcc(drawn.factors, codes, kinds=drawn.kinds, code_kinds=model.kinds_)
    print(
        f"\n{n} points of C x I at 2, {len(model.maps_.points)} landmarks: fit {between - begin:.1f} s, transform "
        f"{end - between:.1f} s, MCC {score:.3f}, verified {model.verified_.all()}"
    )


if __name__ == "__main__":
    main()
