"""Learning quantiles of the MCC from simulated worlds, and judging them."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from records import read_lines
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, KFold
from worlds import WORLDS

from unbraid.trust import expected
from unbraid.trust.expected import NAMES, Calibration, Trees, folded, is_closed

# What a larger figure can only say: that the codes are better (1) or worse (-1).
DIRECTION = {
    "edges": 1, "closest": 1, "kurtosis": 1, "separability": 1, "plain_turn": -1, "chance_turn": -1, "half_turn": -1,
    "doubt": -1, "dependence": -1, "raggedness": -1, "emptiness": -1, "extension": -1, "noise": -1, "outside": -1,
    "repeated": -1, "further": -1, "participation": 1, "linear": 1, "skew": -1,
}  # fmt: skip
BAD, FEW = 0.9, 60
QUANTILES = (0.5, 0.05, 0.95)  # median, low and high
KNOTS, WINDOW = 25, 100  # places at which quantiles are taken, and predictions around each
SOUND = 0.95  # MCC of worlds whose figures are typical of good codes
FOLDS = 5
PICTURES = "pictures"  # the kind of all picture sets
ASSUMED = ("rhombus",)  # their factors depend on each other and lie along other axes: what is expected excludes that


def read_worlds(*paths: Path) -> list[dict]:
    """What was recorded by ``simulate``, or by ``experiment_diagnosis.py``; the kind of its worlds is their family."""
    families = {world.name: world.family for world in WORLDS}
    return [{"kind": families.get(w.get("world"), PICTURES), "about": w.get("world")} | w for w in read_lines(*paths)]


def usable(lines: list[dict]) -> list[dict]:
    """Worlds that are learnt from: fitted, with a number of factors, not closed, and as the prediction assumes."""
    return [w for w in lines if w.get("figures") and not is_closed(w["figures"]) and w["kind"] not in ASSUMED]


def table(lines: list[dict]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Figures, folded MCC and kind of each world."""
    x = np.array([[w["figures"][name] for name in NAMES] for w in lines])
    return x, folded(np.array([w["mcc"] for w in lines])), np.array([w["kind"] for w in lines])


def boosted(x: np.ndarray, y: np.ndarray) -> HistGradientBoostingRegressor:
    """Regression by small trees that may only turn the way a figure points."""
    return HistGradientBoostingRegressor(
        max_iter=200, learning_rate=0.05, max_leaf_nodes=5, min_samples_leaf=8, l2_regularization=1.0,
        max_features=0.5, early_stopping=False, random_state=0,
        monotonic_cst=[DIRECTION.get(name, 0) for name in NAMES],
    ).fit(x, y)  # fmt: skip


def trees_of(model: HistGradientBoostingRegressor) -> Trees:
    """The trees of a fitted model in flat arrays."""
    roots, parts, offset = [], [], 0
    for (predictor,) in model._predictors:
        nodes = predictor.nodes
        own = np.arange(len(nodes)) + offset
        leaf = nodes["is_leaf"].astype(bool)
        parts.append([
            np.where(leaf, 0, nodes["feature_idx"]), np.where(leaf, np.inf, nodes["num_threshold"]),
            np.where(leaf, own, nodes["left"] + offset), np.where(leaf, own, nodes["right"] + offset),
            np.where(leaf, nodes["value"], 0.0),
        ])  # fmt: skip
        roots.append(offset)
        offset += len(nodes)
    feature, threshold, left, right, value = (np.concatenate(column) for column in zip(*parts))
    whole = (np.array(roots), feature.astype(np.int64), threshold, left.astype(np.int64), right.astype(np.int64), value)
    return Trees(float(np.ravel(model._baseline_prediction)[0]), *whole)


def _checked(model: HistGradientBoostingRegressor, x: np.ndarray) -> Trees:
    """The trees of a model, which must say what the model says."""
    trees = trees_of(model)
    if not np.allclose([trees(row) for row in x[:50]], model.predict(x[:50])):
        raise ValueError("the flat trees differ from the model; scikit-learn keeps its trees in another way now.")
    return trees


def splits(y: np.ndarray, groups: np.ndarray | None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Folds of worlds, or of whole kinds."""
    folds = KFold(FOLDS, shuffle=True, random_state=0) if groups is None else GroupKFold(FOLDS)
    return folds.split(y, y, groups)


def out_of_fold(x: np.ndarray, y: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Predictions for every world by trees that saw none of its kind."""
    found = np.empty(len(y))
    for train, test in splits(y, kinds):
        found[test] = boosted(x[train], y[train]).predict(x[test])
    return found


def quantiles(said: np.ndarray, mcc: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Median, low and high of the MCC (3, knots) of the worlds whose predictions are next to each knot; rising."""
    order = np.argsort(said)
    said, mcc, found = said[order], mcc[order], []
    for knot in knots:
        first = int(np.clip(np.searchsorted(said, knot) - WINDOW // 2, 0, max(len(said) - WINDOW, 0)))
        near = mcc[first : first + WINDOW]
        found.append(np.quantile(near, QUANTILES, method="lower"))
    return np.maximum.accumulate(np.array(found)).T


def learnt(lines: list[dict], *, quiet: bool = False) -> Calibration:
    """Trees, what the MCC was at their predictions, and the worlds themselves."""
    lines = usable(lines)
    x, y, kinds = table(lines)
    mcc = np.array([w["mcc"] for w in lines])
    mean, scale = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-6)
    worlds = (x - mean) / scale
    away = np.sqrt(((worlds[:, None] - worlds[None]) ** 2).sum(axis=2))
    tenth = np.sort(away, axis=1)[:, expected.NEIGHBORS]  # the first is the world itself
    reach = float(np.quantile(tenth, 0.97))
    inside = tenth <= reach
    said = out_of_fold(x, y, kinds)[inside]
    knots = np.quantile(said, np.linspace(0.02, 0.98, KNOTS))
    at = quantiles(said, mcc[inside], knots)
    sound = np.median(x[mcc > SOUND], axis=0)
    if not quiet:
        print(f"{len(lines)} worlds of {len(set(kinds))} kinds, reach {reach:.2f}")
        for row in np.c_[knots, at.T]:
            print("predicted {:5.2f}: median {:.3f}, low {:.3f}, high {:.3f}".format(*row))
    return Calibration(_checked(boosted(x, y), x), knots, *at, worlds, mean, scale, reach, sound)


def crossed(lines: list[dict]) -> None:
    """Everything learnt anew without a part of the worlds, and judged on it: the offset and the reach too."""
    lines = usable(lines)
    kinds = np.array([w["kind"] for w in lines])
    for name, groups in (("fresh worlds", None), ("kinds left out", kinds)):
        found: list[dict] = []
        for train, test in splits(np.arange(len(lines)), groups):
            found += judged(learnt([lines[i] for i in train], quiet=True), [lines[i] for i in test])
        print(f"\n{name}:")
        report(found)


def judged(known: Calibration, lines: list[dict]) -> list[dict]:
    """Every world with its guess, or None and the reason, as the library says it."""
    before = expected.calibration
    expected.calibration = lambda: known
    try:
        return [
            w | {"guess": expected.guess_of(w["figures"]) if w["figures"] else (None, w["unguessed"])}
            for w in lines
            if "figures" in w
        ]
    finally:
        expected.calibration = before


def report(lines: list[dict]) -> None:
    """Coverage, refusals and AUC, whole and by kind; every line where there are few."""
    said = [w for w in lines if w["guess"][0] is not None]
    reasons: dict[str, int] = defaultdict(int)
    for w in lines:
        if w["guess"][0] is None:
            reasons[" ".join(w["guess"][1].split()[:5])] += 1
    print(f"{len(lines)} fits, {len(said)} with a guess; none because: {dict(reasons)}")
    if len(lines) <= FEW:
        for w in lines:
            guess, reason = w["guess"]
            words = f"median {guess.median:.2f}, {guess.low:.2f} to {guess.high:.2f}" if guess else reason
            print(f"  {w['mcc']:.3f}  {w['about']:24s} {words}")
    if not said:
        return
    true = np.array([w["mcc"] for w in said])
    low, median, high = (np.array([getattr(w["guess"][0], name) for w in said]) for name in ("low", "median", "high"))
    shares = (float(np.mean(true >= bound)) for bound in (low, median, high))
    print("above low: {:.3f}; above median: {:.3f}; above high: {:.3f}".format(*shares))
    spread = [0.1, 0.25, 0.5, 0.75, 0.9]
    print(f"quantiles {spread}: MCC {np.quantile(true, spread).round(3)}, low {np.quantile(low, spread).round(2)}")
    _show_auc(true, median, low, np.array([w["warned"] for w in said]))
    kinds = np.array([w["kind"] for w in said])
    for kind in sorted(set(kinds)):
        here = kinds == kind
        held, mean = np.mean(true[here] >= low[here]), true[here].mean()
        print(f"  {kind:16s} {here.sum():4d}  above low {held:.2f}  MCC {mean:.3f}  low {np.median(low[here]):.2f}")


def _show_auc(true: np.ndarray, median: np.ndarray, low: np.ndarray, warned: np.ndarray) -> None:
    """How well the guess tells codes of an MCC below .9 from others, beside the warnings."""
    bad = true < BAD
    if 0 < bad.sum() < len(bad):
        areas = f"AUC of the median {roc_auc_score(bad, -median):.3f}, of low {roc_auc_score(bad, -low):.3f}"
        print(f"MCC below {BAD}: {bad.sum()} of {len(bad)}; {areas}")
        print(f"warnings: hits {warned[bad].mean():.2f}, false alarms {warned[~bad].mean():.2f}")
