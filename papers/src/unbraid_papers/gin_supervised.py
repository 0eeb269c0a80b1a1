"""GIN on handwritten digits with their labels (section 4.4): train as long as the scale allows, then measure."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import stats

from unbraid_papers.bench import Bench
from unbraid_papers.digit_styles import describe, ink, slant
from unbraid_papers.gin_digits import (
    STEPS_PER_EPOCH,
    WHOLE,
    as_bytes,
    change_by_digit,
    class_statistics,
    load_digits,
    move_latents,
    seconds_of_training,
    unevenness,
)
from unbraid_papers.paper import Cell

KEPT, SHOWN = 22, 24  # latents that the paper calls informative, and samples; those that it shows
GLOBAL = 8  # of them, those that it calls global
STEPS = {"mnist": 100 * STEPS_PER_EPOCH, "emnist-digits": 95 * 1000}
TESTED, SAMPLED = 2000, 40


def digits_cells(scale: str) -> list[Cell]:
    return [{"data": "mnist"}, {"data": "emnist-digits"}]


def run_digits(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """Train, resuming from a checkpoint if there is one, and measure on test digits."""
    name = cell["data"]
    model = train(name, bench, cell)
    test, labels = (part[:TESTED] for part in load_digits(name, "test"))
    codes = model.transform(test)
    means, stds = class_statistics(codes, labels)
    spectrum = np.sort(np.sqrt((stds**2).mean(0)))[::-1]
    pca = np.linalg.svd(test.reshape(len(test), -1) / 255 - test.reshape(len(test), -1).mean(0) / 255)[1]
    moved = move_latents(model, means, stds, range(SHOWN))
    uneven = unevenness(change_by_digit(moved))
    styles = _styles(model, test, labels)
    bench.keep(
        cell, spectrum=spectrum, pca=pca / np.sqrt(len(test)), moved=as_bytes(moved), uneven=uneven,
        samples=as_bytes(np.stack([_sample(model, 8, t, KEPT) for t in (1.0, 0.8)])),
        **_transferred(model, test, labels),
    )  # fmt: skip
    return {
        "steps": model.n_steps_,
        "epochs": round(model.n_steps_ * model.batch_size / len_train(name), 2),
        "n_informative": model.n_informative_,
        "low": model.n_informative_interval_[0],
        "high": model.n_informative_interval_[1],
        "drop": model.n_informative_drop_,
        "fall": float(spectrum[10] / spectrum[43] / (pca[10] / pca[43])),
        "above_noise": model.n_above_noise_,
        "described": describe(moved[:, :, WHOLE], test / 255, labels),
        "unevenness": list(difference(uneven[GLOBAL:KEPT], uneven[:GLOBAL])),
        **styles,
        **_noise(model, test, labels),
    }


def train(name: str, bench: Bench, cell: Cell) -> Any:
    """The network of the paper's Table 3. The parameters are part of a checkpoint's identity."""
    from unbraid.flows import GIN

    images, labels = load_digits(name, "train")
    model = GIN(
        batch_size=240, learning_rate=1e-3, noise=0.01, n_init=1, validation_fraction=0.0, patience=1000,
        max_steps=STEPS[name], max_seconds=seconds_of_training(bench, cell), random_state=0,
        checkpoint=bench.checkpoint(cell), progress=bench.progress, null="off",
    )  # fmt: skip
    return model.fit(images, labels)


def len_train(name: str) -> int:
    return {"mnist": 60_000, "emnist-digits": 240_000}[name]


def difference(high: np.ndarray, low: np.ndarray) -> tuple[float, float, float]:
    """Mean of one group less that of another, with Welch's 95 % interval."""
    found = stats.ttest_ind(high, low, equal_var=False).confidence_interval(0.95)
    return float(high.mean() - low.mean()), float(found.low), float(found.high)


def _sample(model: Any, n: int, temperature: float, n_factors: int) -> np.ndarray:
    """(n, 10, 28, 28): one style a row, one digit a column."""
    drawn = [model.sample(n, c, temperature, n_factors, random_state=0) for c in range(10)]
    return np.clip(np.stack(drawn, 1), 0, 1)


def _noise(model: Any, test: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Spread at the border, where no digit is, and over all pixels: of samples against others."""
    real = np.stack([test[labels == c].std(0) / 255 for c in range(10)])
    few, every = (
        np.stack([model.sample(SAMPLED, c, 1.0, n, random_state=1) for c in range(10)]) for n in (KEPT, real[0].size)
    )
    border = np.ones(real.shape[1:], bool)
    border[2:-2, 2:-2] = False
    root = {"few": few.std(1)[:, border], "every": every.std(1)[:, border]}
    spread = np.sqrt((np.clip(few, 0, 1).std(1) ** 2).mean() / (real**2).mean())
    return {
        "speckle": float(np.sqrt((root["few"] ** 2).mean() / (root["every"] ** 2).mean())),
        "variability": float(spread),
    }


def _styles(model: Any, test: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Correlation of slant and ink of digits with those of the digits made from them, within pairs of classes."""
    found: dict[str, list[np.ndarray]] = {"slant": [], "ink": []}
    for source in range(10):
        digits = test[labels == source][:SAMPLED]
        made = np.clip(model.transfer(digits, source, (source + 3) % 10), 0, 1)
        for what, style in (("slant", slant), ("ink", ink)):
            pair = np.stack((style(digits / 255), style(made)))
            found[what].append(pair - pair.mean(1, keepdims=True))
    return {what: float(np.corrcoef(np.concatenate(pairs, 1))[0, 1]) for what, pairs in found.items()}


def _transferred(model: Any, test: np.ndarray, labels: np.ndarray) -> dict[str, np.ndarray]:
    """Eight digits, and each in the distribution of all ten."""
    rows = [np.flatnonzero(labels == c)[0] for c in range(2, 10)]
    made = [[model.transfer(test[r : r + 1], labels[r], target)[0] for target in range(10)] for r in rows]
    return {"sources": test[rows], "transferred": as_bytes(np.array(made))}
