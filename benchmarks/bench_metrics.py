"""Metrics against the code that people run today: same arrays, same run, one thread, accuracy beside the time.

Times are processor seconds of that thread, so that other work on the machine does not count.

make bench-metrics
"""

import time
import warnings

import numpy as np
from scipy.stats import spearmanr
from threadpoolctl import threadpool_limits

from unbraid import metrics as m
from unbraid.metrics.svm import fit_predict

DSPRITES = (3, 6, 40, 32, 32)


def seconds(call, repeat=1):
    """Best processor time of ``repeat`` calls (all run on one thread), and the last result."""
    best, result = np.inf, None
    for _ in range(repeat):
        start = time.process_time()
        result = call()
        best = min(best, time.process_time() - start)
    return best, result


def table(head, rows):
    cells = [head, *rows]
    widths = [max(len(str(r[i])) for r in cells) for i in range(len(head))]
    for row in cells:
        print("  ".join(str(c).ljust(w) if i == 0 else str(c).rjust(w) for i, (c, w) in enumerate(zip(row, widths))))
    print()


def representation(n, sizes=DSPRITES, n_codes=10, seed=0):
    """Factors and codes like those of a trained VAE: one noisy code a factor, some mixing, dead codes."""
    rng = np.random.default_rng(seed)
    factors = np.stack([rng.integers(s, size=n) for s in sizes], axis=1)
    v = (factors + 0.5) / sizes * 3.4 - 1.7
    codes = 0.02 * rng.normal(size=(n, n_codes))
    k = len(sizes)
    codes[:, :k] = v @ (np.eye(k) + 0.2 * rng.normal(size=(k, k))) + 0.2 * rng.normal(size=(n, k))
    codes[:, k : k + 3] = 0.3 * v @ rng.normal(size=(k, 3)) + 0.5 * rng.normal(size=(n, 3))
    return factors, codes


def bench_sap():
    from sklearn.svm import LinearSVC

    factors, codes = representation(15_000)
    train, test = slice(10_000), slice(10_000, None)

    def exact():
        return np.array([[fit_predict(z[train], v[train], z[test]) for v in factors.T] for z in codes.T])

    def loop():
        found = []
        for z in codes.T:
            for v in factors.T:
                model = LinearSVC(C=0.01, class_weight="balanced", dual=True, tol=1e-4, max_iter=1000, random_state=0)
                found.append(model.fit(z[train, None], v[train]).predict(z[test, None]))
        return np.array(found).reshape(codes.shape[1], factors.shape[1], -1)

    exact()
    ours, a = seconds(exact, repeat=3)
    theirs, b = seconds(loop)
    accuracy = [(p == factors[test].T).mean(axis=2) for p in (a, b)]
    print(
        "SAP: support vector machines of one feature, 10,000 to train on, 5,000 to test on, 10 codes, dSprites factors"
    )
    rows = [
        ("scikit-learn LinearSVC in a loop", f"{theirs:.2f} s", "1", "-"),
        ("exact", f"{ours:.3f} s", f"{theirs / ours:.0f}x", f"{np.abs(accuracy[0] - accuracy[1]).max():.1e}"),
    ]
    table(("", "time", "speed", "largest difference of an accuracy"), rows)
    return theirs / ours


def twelve(n=3000):
    """Representations from perfect to random."""
    sizes = np.array([3, 6, 8, 5])
    rng = np.random.default_rng(7)
    factors = np.stack([rng.integers(s, size=n) for s in sizes], axis=1)
    v = (factors - factors.mean(axis=0)) / factors.std(axis=0)
    noise = rng.normal(size=(n, 6))

    def turned(degrees):
        a = np.radians(degrees)
        turn = np.eye(4)
        turn[:2, :2] = turn[2:, 2:] = [[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]
        return v @ turn + 0.2 * noise[:, :4]

    yield "clean", factors, v + 0.1 * noise[:, :4]
    yield "noise .3", factors, v + 0.3 * noise[:, :4]
    yield "noise .6", factors, v + 0.6 * noise[:, :4]
    yield "noise 1.5", factors, v + 1.5 * noise[:, :4]
    yield "turned by 10", factors, turned(10)
    yield "turned by 25", factors, turned(25)
    yield "turned by 45", factors, turned(45)
    yield "warped", factors, np.column_stack([np.tanh(2 * v[:, :2]), v[:, 2:] ** 3]) + 0.1 * noise[:, :4]
    yield "duplicated", factors, np.hstack([v, v[:, :2]]) + 0.3 * noise
    yield "two factors lost", factors, np.hstack([v[:, :2], noise[:, :2]]) + 0.2 * noise[:, 2:]
    yield "mixed at random", factors, v @ rng.normal(size=(4, 6)) + 0.3 * noise
    yield "noise only", factors, noise


def bench_dci():
    backends = ("gbt", "compiled", "lightgbm", "extra_trees")
    spent = dict.fromkeys(backends, 0.0)
    scores: dict[str, list] = {b: [] for b in backends}
    for backend in backends[1:]:
        m.dci(*representation(200, (3, 4), 6), backend=backend)
    print("DCI over twelve representations, 2,000 to train on, 1,000 to test on, factors 3 6 8 5 (D / C / I)")
    rows = []
    for name, factors, codes in twelve():
        for backend in backends:
            taken, found = seconds(lambda f=factors, c=codes, b=backend: m.dci(f, c, backend=b))
            spent[backend] += taken
            scores[backend].append((found.disentanglement, found.completeness, found.informativeness))
        rows.append((name, *(" ".join(f"{x:.3f}" for x in scores[b][-1]) for b in backends)))
    table(("", *backends), rows)
    reference = np.array(scores["gbt"])
    rows = []
    for backend in backends:
        found = np.array(scores[backend])
        ranks = [spearmanr(reference[:, i], found[:, i]).statistic for i in range(3)]
        gap = np.abs(reference - found).max(axis=0)
        numbers = (" ".join(f"{r:.3f}" for r in ranks), " ".join(f"{g:.3f}" for g in gap))
        rows.append((backend, f"{spent[backend]:.1f} s", f"{spent['gbt'] / spent[backend]:.0f}x", *numbers))
    table(("backend", "time", "speed", "rank correlation D C I", "largest difference D C I"), rows)
    return spent["gbt"] / spent["compiled"], spearmanr(reference[:, 0], np.array(scores["compiled"])[:, 0]).statistic


def bench_all():
    factors, codes = representation(15_000)
    v, z, v_test, z_test = factors[:10_000], codes[:10_000], factors[10_000:], codes[10_000:]
    others = [z[:1000], representation(1000, seed=0)[1] @ np.eye(10)[::-1], representation(1000, seed=0)[1]]
    plain = (
        *(m.mcc, m.mig, m.mig_sup, m.jemmig, m.dcimig, m.med, m.modularity, m.irs, m.infomec, m.factor_vae, m.beta_vae),
        *(m.total_correlation, m.wasserstein_correlation, m.pairwise_information),
    )
    calls = {f.__name__: (lambda f=f: f(v, z)) for f in plain}
    calls["sap"] = lambda: m.sap(v, z, v_test, z_test)
    calls["explicitness"] = lambda: m.explicitness(v, z, v_test, z_test)
    calls["udr (3 models, 1,000 points)"] = lambda: m.udr(others).scores[0]
    for call in calls.values():
        call()
    times = {name: seconds(call, repeat=3) for name, call in calls.items()}
    print("all metrics but DCI: 10,000 points (5,000 more to test on), 10 codes, dSprites factors, one thread")
    total = sum(t for t, _ in times.values())
    rows = [(name, f"{1000 * t:.1f} ms", f"{float(value):.4f}") for name, (t, value) in times.items()]
    table(("metric", "time", "value"), [*rows, ("in all", f"{total:.2f} s", "")])
    print("apart from these, as they train ensembles or choose penalties by cross-validation like DCI:")
    apart = {
        "downstream, logistic, n = 1,000": {"n_train": [1000], "classifier": "logistic"},
        "downstream, compiled trees, n = 1,000": {"n_train": [1000], "classifier": "compiled"},
    }
    found = {k: seconds(lambda o=o: m.downstream(v, z, v_test, z_test, **o)) for k, o in apart.items()}
    table(("metric", "time", "accuracy"), [(k, f"{t:.2f} s", f"{float(x):.3f}") for k, (t, x) in found.items()])
    return total


def main():
    warnings.simplefilter("ignore")  # the peers' convergence warnings
    with threadpool_limits(1):
        total = bench_all()
        sap = bench_sap()
        dci, rank = bench_dci()
    print(f"all but DCI {total:.2f} s (wanted < 2); SAP {sap:.0f}x (wanted >= 10); ", end="")
    print(f"DCI 'compiled' {dci:.0f}x (wanted >= 20), rank correlation {rank:.3f} (wanted >= .95)")


if __name__ == "__main__":
    main()
