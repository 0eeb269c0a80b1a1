"""An air-quality station: temperature, humidity and a gas, seen by eight sensors that respond to all three and drift.

    python benchmarks/case_sensors.py [--umap PYTHON]

Drawn: 2,000 hours with days, weather and rush hours, 2 % of the readings lost (-200). The table is written and read as
a user would. SFA is slow feature analysis in its closed form (Wiskott and Sejnowski 2002).
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas
from cases import Case, arguments, save
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.signal import lfilter
from sklearn.linear_model import RidgeCV
from sklearn.preprocessing import StandardScaler

import unbraid as ub

HOURS, LABELS, SEEDS = 2000, 30, (100, 101)
NAMES = ("temperature", "humidity", "log gas")


def main() -> None:
    """Print the table of every seed; write that of the first, and draw its picture."""
    given = arguments(__doc__)
    for seed in SEEDS:
        print(f"seed {seed}")
        table, factors = drawn_station(seed)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "station.csv")
            table.to_csv(path, index=False)
            source = ub.datasets.open(path, missing=-200, drop_missing=True)
            X, kept = np.asarray(source[:]), source.numbers
        hours = kept.astype(float)
        rng = np.random.default_rng(seed)
        known = np.sort(rng.permutation(len(X))[:LABELS])
        scored = np.where(np.isin(np.arange(len(X)), known)[:, None], np.nan, factors[kept])
        some = np.full((len(X), 3), np.nan)
        some[known] = factors[kept][known]
        case = Case("sensors", scored, NAMES, umap=given.umap, block=48)
        plain = case.ours("unbraid", X)[1]
        logs = case.ours("unbraid, log", np.log(X))[1]
        case.ours("unbraid, log, time=", np.log(X), time=hours)
        case.ours("unbraid, log, 30 labels", np.log(X), labels=some)
        case.ours("unbraid, log, 30 labels of the temperature", np.log(X), labels=some[:, :1])
        case.add("slow feature analysis, log", slow_features(np.log(X), 3))
        case.add("slow feature analysis, log, squares", slow_features(squares(np.log(X)), 3))
        case.peers(np.log(X), 3, label=", log")
        ready = StandardScaler().fit_transform(np.log(X))
        ridge = RidgeCV(np.logspace(-4, 3, 8)).fit(ready[known], some[known])
        case.add("ridge with 30 labels, log", ridge.predict(ready))
        case.nearest(ready, label="k-NN with all labels, log")
        if seed == SEEDS[0]:
            case.write()
            save(figure_of(hours, factors[kept], {"as they are": plain, "log": logs}), "sensors")


def drawn_station(seed: int) -> tuple[pandas.DataFrame, NDArray]:
    """Readings of eight sensors, -200 where they were lost, and temperature, humidity and log gas."""
    rng = np.random.default_rng(seed)
    t = np.arange(HOURS)

    def weather(memory: float) -> NDArray:
        walk = lfilter([1.0], [1.0, -memory], rng.normal(size=HOURS + 500))[500:]
        return walk / walk.std()

    day = np.sin(2 * np.pi * (t - 9) / 24)
    temperature = 15 + 5 * day + 5 * weather(0.99)
    humidity = 55 - 8 * day + 12 * weather(0.97)
    rush = np.exp(-((t % 24 - 8) ** 2) / 4) + np.exp(-((t % 24 - 18) ** 2) / 6)
    gas = 0.9 * rush + 0.5 * weather(0.8)
    factors = np.c_[temperature, humidity, gas]
    z = (factors - factors.mean(axis=0)) / factors.std(axis=0)
    gains = rng.uniform(0.1, 0.5, size=(3, 8)) * rng.choice([-1, 1], size=(3, 8))
    bend = 0.05 * rng.normal(size=(3, 8))
    drift = 0.02 * np.cumsum(rng.normal(size=(HOURS, 8)), axis=0) / HOURS**0.5
    response = z @ gains + z**2 @ bend + drift + 0.01 * rng.normal(size=(HOURS, 8))
    values = 1000 * np.exp(response)
    lost = rng.uniform(size=HOURS) < 0.02
    values[lost] = -200
    return pandas.DataFrame(values.round(1), columns=[f"S{j}" for j in range(8)]), factors


def squares(X: NDArray) -> NDArray:
    """Columns, and their products."""
    i, j = np.triu_indices(X.shape[1])
    X = StandardScaler().fit_transform(X)
    return np.c_[X, X[:, i] * X[:, j]]


def slow_features(X: NDArray, d: int) -> NDArray:
    """Directions w that minimise the mean square of the steps of X w at unit variance."""
    X = X - X.mean(axis=0)
    steps = np.diff(X, axis=0)
    spread = X.T @ X / len(X)
    return X @ eigh(steps.T @ steps / len(steps), spread + 1e-9 * np.trace(spread) * np.eye(len(spread)))[1][:, :d]


def figure_of(hours: NDArray, factors: NDArray, found: dict[str, NDArray]) -> Figure:
    """Ten days of the temperature and of the code matched to it."""
    figure = Figure(figsize=(8.2, 2.6), layout="constrained")
    part = slice(0, 240)
    for ax, (name, codes) in zip(figure.subplots(1, 2, sharey=True), found.items()):
        related = np.corrcoef(factors[:, 0], codes.T)[0, 1:]
        code = codes[:, np.abs(related).argmax()]
        line = np.polynomial.Polynomial.fit(code, factors[:, 0], 1)
        ax.plot(hours[part] / 24, factors[part, 0], color="#b2182b", label="temperature")
        ax.plot(hours[part] / 24, line(code)[part], color="#2166ac", lw=1, label="code, scaled")
        ax.set(title=f"{name}: |r| = {np.abs(related).max():.2f}", xlabel="days")
        ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8)
    return figure


if __name__ == "__main__":
    main()
