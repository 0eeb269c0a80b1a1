"""Anonymous (2020), Self-supervised disentangled representation learning: GIN whose conditions are augmentations."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unbraid.datasets.augment import AffineSets
from unbraid.datasets.conditional import GINMixture
from unbraid.evaluation.claims import Part, part
from unbraid.flows import SelfSupervisedGIN
from unbraid.flows.training import FlowTrainer
from unbraid.metrics import mcc
from unbraid_papers.bench import Bench
from unbraid_papers.digit_styles import SHIFTS, STYLES, describe, halves
from unbraid_papers.gin import of_digits
from unbraid_papers.gin_digits import (
    WHOLE,
    as_bytes,
    class_statistics,
    load_digits,
    move_latents,
    seconds_of_training,
)
from unbraid_papers.gin_figures import DESCRIBED, DIGIT_COUNTS, described, digit_counts, drawings_of_variables
from unbraid_papers.paper import Cell, Drawing, Experiment, Paper, PaperClaim, Results, Table, mean_part
from unbraid_papers.self_supervised_gin_figures import (
    draw_augmented,
    draw_reconstructions,
    draw_spectrum,
    draw_trials,
)

MIXTURES, STARTS = {"small": 4, "paper": 10}, {"small": 5, "paper": 10}
OURS = {"small": 4, "paper": 20}
POINTS = 10_000
BATCH = 1000
EPOCHS, DIGITS_A_STEP = {"mnist": 10, "emnist-digits": 20}, 20
FAILS = 0.95  # a trial with an MCC below it
BEYOND = "Not in the paper"
SHOWN = {
    1: "Figures 2, 5 and 6", 5: "Figures 6 and 7", 9: "Figures 7 and 8", 13: "Figures 8 and 9", 17: "Figures 9 and 10",
    21: BEYOND,
}  # fmt: skip
KEPT = 40  # variables of digits that are described; the paper has "nearly 20"
KINDS: dict[str, Cell] = {
    "two dimensions": {"dimensions": 2, "noise": 0.0},
    "one dimension": {"dimensions": 1, "noise": 0.0},
    "one dimension and noise": {"dimensions": 1, "noise": 0.01},
}


def cells(scale: str) -> list[Cell]:
    return [kind | {"seed": seed} for kind in KINDS.values() for seed in range(MIXTURES[scale])]


def own_cells(scale: str) -> list[Cell]:
    return [{"dimensions": 1, "seed": seed} for seed in range(OURS[scale])]


class Trials(SelfSupervisedGIN):
    """All starts of a fit are kept: each is a trial of its own."""

    def _compare_starts(self, trainer: FlowTrainer, rows: Tensor, evaluate: Any) -> None:
        self._starts = trainer.flow, trainer.theta
        super()._compare_starts(trainer, rows, evaluate)

    def codes_of_starts(self, X: np.ndarray) -> np.ndarray:
        """Codes (starts, n, n_features)."""
        flow, theta = self._starts
        return flow.encode(theta, torch.from_numpy(X.astype(np.float32)), batch_size=1000)[0].double().numpy()


def draw_sets(cell: Cell) -> tuple[GINMixture, np.ndarray, np.ndarray, np.ndarray]:
    """A mixture, its points and factors, and ten augmentations of each point along the first dimension or both."""
    data = GINMixture(random_state=100 + cell["seed"])
    along = tuple(range(cell["dimensions"]))
    X, factors, sets = data.sample_augmented(POINTS, dimensions=along, data_noise=0.0, random_state=cell["seed"])
    return data, X, factors, sets


def run_trials(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """Several starts on one mixture, with the paper's loss."""
    data, X, factors, sets = draw_sets(cell)
    model = Trials(
        noise=cell["noise"], marginal=0.0, shared_spread=False, consensus=False, n_init=STARTS[bench.scale],
        batch_size=BATCH, random_state=cell["seed"], progress=bench.progress,
    )  # fmt: skip
    starts = model.fit(sets).codes_of_starts(X)
    # the paper's two codes of a trial are those of largest spread
    starts = np.stack([codes[:, np.argsort(-codes.std(0))] for codes in starts])
    labels = np.argmin((((factors[:, None] - data.means) / data.stds) ** 2).sum(-1), axis=1)
    some = slice(2000)
    bench.keep(
        cell, X=X[some].astype(np.float32), factors=factors[some].astype(np.float32), labels=labels[some],
        codes=starts[:, some, :2].astype(np.float32),
    )  # fmt: skip
    return {
        "mcc": [mcc(factors, codes[:, :2]) for codes in starts],
        "stds": starts.std(1).tolist(),
        "true_stds": np.append(np.sort(factors.std(0))[::-1], np.full(8, 0.01)).tolist(),
        "steps": model.n_steps_,
    }


def run_defaults(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """SelfSupervisedGIN as it comes."""
    _, X, factors, sets = draw_sets(cell)
    model = SelfSupervisedGIN(random_state=cell["seed"], progress=bench.progress).fit(sets)
    return {"mcc": mcc(factors, model.transform(X)[:, :2]), "n_informative": model.n_informative_}


def digits_cells(scale: str) -> list[Cell]:
    return [{"data": "mnist"}, {"data": "emnist-digits"}]


def run_digits(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """Train on shifts, rotations and scalings of digits; at small scale, resume from a checkpoint of that training."""
    checkpoint = bench.checkpoint(cell)
    if bench.scale == "small" and not checkpoint.exists():
        raise FileNotFoundError(
            f"No checkpoint of a training on {cell['data']}: --scale paper makes one in hours. Copy its checkpoints "
            "folder into the folder of this reproduction."
        )
    images, _ = load_digits(cell["data"], "train")
    model = train(images, EPOCHS[cell["data"]], seconds_of_training(bench, cell), checkpoint, bench)
    test, labels = (part[:2000] for part in load_digits(cell["data"], "test"))
    codes = model.transform(test)
    means, stds = class_statistics(codes, labels)
    moved = move_latents(model, means, stds, range(KEPT))
    bench.keep(
        cell, spectrum=np.sort(model.stds_)[::-1], start=np.sort(test.reshape(len(test), -1).std(0) / 255)[::-1],
        moved=as_bytes(moved),
    )  # fmt: skip
    return {
        "steps": model.n_steps_,
        "epochs": round(model.n_steps_ * DIGITS_A_STEP / len(images), 2),
        "n_informative": model.n_informative_,
        "low": model.n_informative_interval_[0],
        "high": model.n_informative_interval_[1],
        "drop": model.n_informative_drop_,
        "above_noise": model.n_above_noise_,
        "described": describe(moved[:, :, WHOLE], test / 255, labels, STYLES | SHIFTS),
        "halves": halves(moved[:, :, WHOLE]),
        "horizontal translation": follows(model, test[:100], shifted, np.linspace(-2.8, 2.8, 7)),
        "rotation": follows(model, test[:100], turned, np.linspace(-10, 10, 7)),
    }


def augmented_cells(scale: str) -> list[Cell]:
    return [{"data": "mnist", "digits": 5, "seed": 0}]


def run_augmented(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """Some digits and what the training makes of them: each transformation alone, and all together."""
    images, labels = load_digits(cell["data"], "train")
    first = [np.flatnonzero(labels == digit)[0] for digit in (9, 7, 0, 4, 2)][: cell["digits"]]
    sets = AffineSets()(images[first] / np.float32(255), random_state=cell["seed"])
    bench.keep(cell, sets=as_bytes(sets))
    return {"sets": len(sets), "members": sets.shape[1]}


def train(images: np.ndarray, epochs: int, seconds: float | None, checkpoint: Any, bench: Bench) -> SelfSupervisedGIN:
    """The network of the paper, by its loss. The parameters are part of a checkpoint's identity."""
    return SelfSupervisedGIN(
        "affine", batch_size=DIGITS_A_STEP, marginal=0.0, shared_spread=False, learning_rate=1e-3, noise=0.01, n_init=1,
        validation_fraction=0.0, patience=1000, max_steps=epochs * len(images) // DIGITS_A_STEP, max_seconds=seconds,
        random_state=0, checkpoint=checkpoint, progress=bench.progress,
    ).fit(images)  # fmt: skip


def shifted(images: np.ndarray, pixels: float) -> np.ndarray:
    """Images in [0, 1] moved to the right by a number of pixels."""
    from scipy import ndimage

    return ndimage.shift(images, (0, 0, pixels), order=1)


def turned(images: np.ndarray, degrees: float) -> np.ndarray:
    """Images in [0, 1] turned counter-clockwise."""
    from scipy import ndimage

    return ndimage.rotate(images, degrees, axes=(1, 2), reshape=False, order=1)


def follows(model: Any, digits: np.ndarray, change: Any, amounts: np.ndarray) -> float:
    """Largest absolute correlation of one code with the amount of a change, each digit compared with itself only."""
    codes = np.stack([model.transform(change(digits / np.float32(255), a)) for a in amounts], 1).astype(np.float64)
    moved = (codes - codes.mean(1, keepdims=True)).reshape(-1, codes.shape[-1])
    amount = np.tile(amounts - amounts.mean(), len(digits))
    norms = np.linalg.norm(moved, axis=0) * np.linalg.norm(amount)
    return float(np.max(np.abs(amount @ moved) / np.maximum(norms, 1e-12)))


def _scores(results: Results, kind: str) -> np.ndarray:
    """MCC of the trials, in their order."""
    return results["synthetic"].where(**KINDS[kind])["mcc"].ravel()


def worst(*kinds: str) -> Any:
    """The worst trial of each kind."""
    return lambda results: {kind: part(_scores(results, kind).min()) for kind in kinds}


def mean(*kinds: str) -> Any:
    return lambda results: {kind: mean_part(_scores(results, kind)) for kind in kinds}


def gain_by_mixture(results: Results) -> Mapping[str, Part]:
    """What noise adds to the worst start on each mixture."""
    with_noise, without = (
        results["synthetic"].where(**KINDS[kind])["mcc"].min(1) for kind in ("one dimension and noise", "one dimension")
    )
    return {f"mixture {k + 1}": part(gain) for k, gain in enumerate(with_noise - without)}


def gain_of_worst(results: Results) -> Mapping[str, Part]:
    with_noise, without = (_scores(results, kind).min() for kind in ("one dimension and noise", "one dimension"))
    return {"": part(with_noise - without)}


def spared(results: Results) -> Mapping[str, Part]:
    """How many trials fail without noise less how many fail with it."""
    without, with_noise = (
        int((_scores(results, kind) < FAILS).sum()) for kind in ("one dimension", "one dimension and noise")
    )
    return {"": part(without - with_noise)}


def quietest(results: Results) -> Mapping[str, Part]:
    """Spread of the eight noise codes (geometric mean), one augmented dimension over two, trial by trial."""
    two, one = (
        np.exp(np.log(results["synthetic"].where(**KINDS[kind])["stds"][..., 2:]).mean(-1)).ravel()
        for kind in ("two dimensions", "one dimension")
    )
    return {"": mean_part(one / two)}


def table(results: Results) -> Iterable[tuple[Any, ...]]:
    kinds = {kind: _scores(results, kind) for kind in KINDS} | {
        "one dimension, our defaults": results["defaults"]["mcc"]
    }
    for kind, scores in kinds.items():
        below = f"{(scores < FAILS).sum()} of {len(scores)}"
        yield kind, float(scores.min()), float(np.median(scores)), float(scores.max()), below


SYNTHETIC = Experiment(
    "synthetic",
    "Two factors of five clusters (spreads uniform in [0.5, 3]) and eight dimensions of noise, mixed by a random "
    "RealNVP; 10,000 points with ten augmentations each, 800 steps of 1,000 sets. The paper's recipe: one start, the "
    "paper's loss, no noise or noise of 0.01. Twenty trials are five starts on each of four mixtures (ten on each of "
    "ten at the paper's scale).",
    cells,
    run_trials,
    version=2,
)
OWN = Experiment(
    "defaults",
    "SelfSupervisedGIN as it comes, one dimension augmented, on four mixtures (20 at the paper's scale): six starts "
    "and their consensus, and noise of 5 % of the data's standard deviation.",
    own_cells,
    run_defaults,
    version=3,
)
DIGITS = Experiment(
    "digits",
    "The paper's network on MNIST (EMNIST too where its file is given), 20 digits of seven augmentations each a step, "
    "rate 0.001 in place of 0.03. Small scale reads the checkpoint of such a training, which takes hours.",
    digits_cells,
    run_digits,
    version=4,
)
AUGMENTED = Experiment(
    "augmented", "Five digits of MNIST and seven augmented versions of each, as the training draws them.",
    augmented_cells, run_augmented,
)  # fmt: skip
EARLY = (
    "60,000 digits of MNIST in place of 240,000 of EMNIST; the paper has 20 epochs, the table says how many these are."
)


def follow_one_code(results: Results) -> dict[str, Part]:
    changes = ("horizontal translation", "rotation")
    return {f"{row['data']}, {what}": part(row[what]) for row in results["digits"] for what in changes}


def halves_apart(results: Results) -> dict[str, Part]:
    rows = results["digits"]
    return {f"{row['data']}, {half}": part(share) for row in rows for half, share in row["halves"].items()}


PAPER = Paper(
    name="self-supervised-gin",
    title="Self-supervised disentangled representation learning with GIN",
    reference="Anonymous (2020), submitted to ICLR 2021",
    about="Synthetic data as in the paper, twenty trials of each setting, trained as batches of starts. Digits are "
    "those of MNIST, and need a training of hours.",
    experiments=(DIGITS, SYNTHETIC, OWN, AUGMENTED),
    claims=(
        PaperClaim(
            "two-augmented-stable",
            "Augmenting along both dimensions almost perfectly reconstructs them, stably over ten trials.",
            "Figure 1 (b), section 4.2", "no figure", "worst MCC", ("synthetic",), worst("two dimensions"), least=0.95,
        ),
        PaperClaim(
            "one-augmented-can-identify",
            "Augmenting along one dimension can identify both.",
            "Figure 1 (c)", "no figure", "best MCC", ("synthetic",),
            lambda results: {"": part(_scores(results, "one dimension").max())}, least=0.95,
        ),
        PaperClaim(
            "one-augmented-unstable",
            "Without noise that is unstable: the worst trial reconstructs the augmented dimension only.",
            "Figure 1 (d)", "no figure", "worst MCC", ("synthetic",), worst("one dimension"), most=0.75,
        ),
        PaperClaim(
            "one-augmented-spreads",
            "One augmented dimension leaves the noise dimensions with higher spreads than two.",
            "Figure 1 (c), section 4.2", "no figure", "spread of the noise codes over that with two dimensions",
            ("synthetic",), quietest, least=1.0,
        ),
        PaperClaim(
            "noise-stabilises",
            "A small noise in data space stabilises it: the worst trial is much better.",
            "Figure 1 (f)", "no figure", "worst MCC with noise less that without", ("synthetic",), gain_of_worst,
            least=0.05,
            why="The worst of a few trials is a figure of chance: how many fail is counted below.",
        ),
        PaperClaim(
            "noise-reconstructs",
            "With noise the two latent variables are almost perfectly reconstructed.",
            "Figure 1 (e)", "no figure", "mean MCC", ("synthetic",), mean("one dimension and noise"), least=0.95,
        ),
        PaperClaim(
            "digits-20-variables",
            "Nearly 20 latent variables of digits have high standard deviations.",
            "Section 4.3, Figure 4", "nearly 20", "n_informative_", ("digits",), of_digits("n_informative"), least=18,
            most=22,
            small=EARLY,
        ),
        PaperClaim(
            "digits-shift-and-rotation",
            "Horizontal translation and rotation are identified, each by one variable.",
            "Figure 2 (a) and (b)", "no figure", "correlation of the best code with the change", ("digits",),
            follow_one_code, least=0.9,
            small=EARLY,
        ),
        PaperClaim(
            "digits-halves",
            "Vertical translation and scaling are divided into the heights and the widths of the two halves.",
            "Figure 2 (c) to (f)", "no figure", "share of a half in what its variable changes in both", ("digits",),
            halves_apart, least=0.75,
            small=EARLY,
        ),
    ),
    beyond=(
        PaperClaim(
            "defaults-find-both",
            "The defaults here (the consensus of six starts, more noise) find both factors of these mixtures.",
            "our own", "not in the paper", "worst MCC", ("defaults",),
            lambda results: {"": part(results["defaults"]["mcc"].min())}, least=0.95,
        ),
        PaperClaim(
            "noise-fewer-failures",
            f"Fewer trials fail (MCC below {FAILS}) with noise than without.",
            "our own", "not in the paper", "failures without noise less those with it", ("synthetic",), spared, least=1,
        ),
        PaperClaim(
            "noise-mends-the-worst",
            "Noise mends the worst start of every mixture.",
            "our own", "not in the paper", "worst MCC with noise less that without", ("synthetic",), gain_by_mixture,
            least=0.05,
        ),
    ),
    drawings=(
        Drawing(
            "reconstructions", "Figure 1: factors and data of a trial; codes and spectra with two dimensions, and "
            "of the best and the worst trial with one, without and with noise.", ("synthetic",),
            draw_reconstructions,
        ),
        Drawing("trials", "MCC of all trials of each setting.", ("synthetic", "defaults"), draw_trials),
        Drawing(
            "augmented", "Figure 3: five digits (left), and what the training makes of them: the three transformations "
            "and all their combinations, noise added.", ("augmented",), draw_augmented,
        ),
        Drawing(
            "spectrum", "Figure 4: the spectrum of digits, trained, and of the pixels, where the training starts.",
            ("digits",), draw_spectrum,
        ),
        *drawings_of_variables(SHOWN),
    ),
    tables=(
        Table("Trials", ("augmented", "worst MCC", "median", "best", f"below {FAILS}"),
              ("synthetic", "defaults"), table),
        Table("Digits", DIGIT_COUNTS, ("digits",), digit_counts),
        Table("What each variable changes from -2 to 2 (styles in standard deviations of real digits of a class, "
              "shifts in pixels)", DESCRIBED, ("digits",), described),
    ),
)  # fmt: skip
