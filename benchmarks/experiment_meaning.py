"""Are loadings the Jacobian, do their intervals hold it, and does ``name`` link columns to the right codes?

    python benchmarks/experiment_meaning.py

Loadings: x = sin(z A) + z B with 20 features and bumps on a grid of 16 x 16 pixels, by HLLE+ICA (its codes, matched
to the factors) and through the factors themselves; 1,000 rows, 5 % noise, ten seeds. Names: 200 worlds of one to four
codes near their factors, 100 to 1,000 rows, a column of some kind for each factor, ten columns that know nothing.
"""

import warnings

import numpy as np

import unbraid as ub
from unbraid.meaning import loadings, name_codes

CLASSES = np.array(["low", "middle", "high"])


def waves(n: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """A sheet of two factors in 20 features, and its Jacobian."""
    A, B = rng.normal(size=(2, 2, 20))
    z = rng.uniform(size=(n, 2))
    return z, np.sin(z @ A) + z @ B, np.cos(z @ A)[:, None, :] * A + B


def bumps(n: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """A bump that moves over an image, and its Jacobian."""
    grid = np.stack(np.meshgrid(*2 * [np.linspace(0, 1, 16)]), axis=-1).reshape(-1, 2)
    z = rng.uniform(0.2, 0.8, size=(n, 2))
    away = z[:, None] - grid
    X = np.exp(-np.square(away).sum(axis=2) / 0.08)
    return z, X, (-2 * away / 0.08 * X[..., None]).transpose(0, 2, 1)


def jacobians() -> None:
    """Correlation of the slopes with the true Jacobian, and coverage of the intervals."""
    print("world  codes     mean slope  local slopes  coverage of 95 %")
    for world in (waves, bumps):
        found: dict[str, list[tuple[float, ...]]] = {"factors": [], "HLLE+ICA": []}
        for seed in range(10):
            rng = np.random.default_rng(seed)
            z, X, J = world(1000, rng)
            X = X + 0.05 * X.std() * rng.normal(size=X.shape)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                codes = ub.HessianICA(2, random_state=0).fit_transform(X)
            pairs = ub.metrics.match(z, codes)
            signs = [np.sign(np.corrcoef(z[:, f], codes[:, c])[0, 1]) for f, c in zip(pairs.factor, pairs.code)]
            matched = codes[:, pairs.code] * signs
            for name, seen in (("factors", z), ("HLLE+ICA", matched[:, np.argsort(pairs.factor)])):
                L = loadings(seen, X)
                truth = J * z.std(axis=0)[:, None]
                mean = truth.mean(axis=0)
                held = np.mean((L.low <= mean) & (mean <= L.high))
                local = np.corrcoef(L.slopes.ravel(), truth[L.rows].ravel())[0, 1]
                found[name].append((np.corrcoef(L.mean.ravel(), mean.ravel())[0, 1], local, held))
        for name, lines in found.items():
            print(f"{world.__name__:6s} {name:9s}", "  ".join(f"{v:10.3f}" for v in np.mean(lines, axis=0)))


def names() -> None:
    """Columns linked to the right code, and the share of wrong links."""
    right = known = 0
    wrong = []
    for seed in range(1000, 1200):
        rng = np.random.default_rng(seed)
        n, d = int(rng.choice([100, 300, 1000])), int(rng.integers(1, 5))
        z = rng.uniform(size=(n, d)) if seed % 2 else rng.normal(size=(n, d))
        order = rng.permutation(d)
        codes = z[:, order] * rng.choice([-1, 1], d) + 0.1 * z.std() * rng.normal(size=z.shape)
        table: dict[str, np.ndarray] = {}
        for factor in range(d):
            y = z[:, factor] + 0.3 * z.std() * rng.normal(size=n)
            kinds = [y, y**3, CLASSES[np.digitize(y, np.quantile(y, [0.3, 0.7]))], np.cos(3 * y)]
            table[str(np.argmax(order == factor))] = kinds[rng.integers(4)]
        for j in range(10):
            table[f"nothing {j}"] = [rng.normal(size=n), rng.choice(CLASSES, n), rng.exponential(size=n) ** 2][j % 3]
        links = name_codes(codes, table).links
        known += d
        right += sum(str(link.code) == link.column for link in links)
        claimed = [link for link in links if link.code is not None]
        wrong.append(np.mean([str(link.code) != link.column for link in claimed]) if claimed else 0.0)
    print(f"names: {right} of {known} right; wrong among those claimed: {100 * np.mean(wrong):.1f} %")


if __name__ == "__main__":
    jacobians()
    names()
