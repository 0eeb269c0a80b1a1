"""What an AnnealedVAE takes up as its capacity grows: position, scale, shape, rotation."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from unbraid.evaluation.claims import Part, part
from unbraid_papers.paper import Cell, Drawing, Experiment, PaperClaim, Results, Table
from unbraid_papers.sprites import pictures
from unbraid_papers.watching import EVERY, seen, watched

if TYPE_CHECKING:
    from unbraid_papers.bench import Bench

TAKEN = ("position", "scale", "shape", "rotation")  # in the order of the paper
PAPER_NATS = (3.1, 7.3, 15.4, 23.8)
C_MAX, HALF = 25.0, 0.5
N_TRAINED, N_TRAIN, N_TEST, NEIGHBORS = 50_000, 2_000, 1_000, 20
LIVE = 0.1  # nats; codes that carry less are noise to a reader
FOLDS = np.array([4, 2, 1])  # quarter turns of a square and half turns of an ellipse are not to be seen


def capacity_cells(scale: str) -> list[Cell]:
    small: Cell = {"image_size": 32, "steps": 10_000}
    size = small if scale == "small" else {"image_size": 64, "steps": 300_000}
    return [{"seed": seed, **size} for seed in range(2 if scale == "small" else 5)]


def targets(factors: np.ndarray) -> dict[str, np.ndarray]:
    """What is to be told of the factors (shape, scale, orientation, x, y) of dSprites, in columns."""
    shape, scale, turn, x, y = factors.T
    angle = FOLDS[shape] * 2 * np.pi * turn / 39
    return {
        "position": np.c_[x, y].astype(float),
        "scale": scale[:, None].astype(float),
        "shape": np.eye(3)[shape],
        "rotation": np.c_[np.cos(angle), np.sin(angle)],
    }


def told(codes: np.ndarray, factors: np.ndarray) -> dict[str, float]:
    """How much of each factor nearest neighbours tell: the share of its variance on new rows, 0 where nothing.

    >>> rng = np.random.default_rng(0)
    >>> factors = rng.integers(0, [3, 6, 40, 32, 32], size=(3000, 5))
    >>> {name: round(share, 1) for name, share in told(1.0 * factors[:, 3:], factors).items()}
    {'position': 1.0, 'scale': 0.0, 'shape': 0.0, 'rotation': 0.0}
    """
    from scipy.spatial import cKDTree

    near = cKDTree(codes[:N_TRAIN]).query(codes[N_TRAIN:], NEIGHBORS)[1]
    shares = {}
    for name, values in targets(factors).items():
        truth = values[N_TRAIN:]
        missed = np.square(truth - values[:N_TRAIN][near].mean(axis=1)).sum()
        shares[name] = float(max(0.0, 1 - missed / np.square(truth - truth.mean(axis=0)).sum()))
    return shares


def run_capacity(cell: Cell, bench: "Bench") -> Mapping[str, Any]:
    """What one draw of the codes tells of each factor, and the nats of each code, as the capacity grows."""
    from unbraid import AnnealedVAE

    X, _ = pictures(cell["image_size"], N_TRAINED, 0)
    others, factors = (both[: N_TRAIN + N_TEST] for both in pictures(cell["image_size"], 5_000, 1))

    def look(means: np.ndarray, log_variances: np.ndarray) -> Mapping[str, float]:
        nats = (np.square(means) + np.exp(log_variances) - log_variances - 1).mean(axis=0) / 2
        live = nats > LIVE
        if not live.any():
            return dict.fromkeys(TAKEN, 0.0)
        noise = np.random.default_rng(0).standard_normal(means.shape)
        return told((means + np.exp(log_variances / 2) * noise)[:, live], factors)

    marks = range(0, cell["steps"], max(EVERY, cell["steps"] // 25))
    model = watched(AnnealedVAE, marks, others / np.float32(255), look)(
        10, c_max=C_MAX, gamma=1000.0, capacity_steps=cell["steps"], max_steps=cell["steps"], learning_rate=5e-4,
        random_state=cell["seed"], log_every=EVERY, checkpoint=bench.checkpoint(cell), checkpoint_every=500,
        progress=bench.progress,
    ).fit(X)  # fmt: skip
    nats = [[r["capacity"], *sorted(r["kl_per_dimension"], reverse=True)] for r in model.history_[3::4]]
    curve = [
        {"capacity": C_MAX * s["steps"] / cell["steps"], **{k: s[k] for k in TAKEN}} for s in seen(model, others, look)
    ]
    return {"curve": curve, "nats": nats}


def taken_up(curve: list[dict[str, float]], factor: str) -> float:
    """The capacity from which on half of a factor is told; that of the end where it never is.

    >>> taken_up([{"capacity": 1.0, "scale": 0.6}, {"capacity": 2.0, "scale": 0.4}, {"capacity": 3.0, "scale": 0.5}],
    ...          "scale")
    3.0
    """
    late = [point["capacity"] for point in curve if point[factor] < HALF]
    after = [point["capacity"] for point in curve if not late or point["capacity"] > late[-1]]
    return after[0] if after else C_MAX


def steps_apart(results: Results) -> dict[str, Part]:
    """Nats between one factor and the next, in each training."""
    return {
        f"{one}, then {other}, seed {row['seed']}": part(taken_up(row["curve"], other) - taken_up(row["curve"], one))
        for one, other in pairwise(TAKEN)
        for row in results["capacity"]
    }


def capacity_rows(results: Results) -> Iterator[tuple[Any, ...]]:
    rows = list(results["capacity"])
    for factor, paper in zip(TAKEN, PAPER_NATS):
        found = [taken_up(row["curve"], factor) for row in rows]
        ends = [row["curve"][-1][factor] for row in rows]
        here = ", ".join("never" if end < HALF else f"{nats:.0f}" for nats, end in zip(found, ends))
        yield factor, paper, here, ", ".join(f"{end:.2f}" for end in ends)


def draw_capacity(results: Results, bench: "Bench") -> Any:
    """What is told of each factor, all seeds, and the nats of the codes of the first."""
    from unbraid.report.drawing import BLUE, GREY, RED, figure, quiet

    rows = list(results["capacity"])
    fig = figure(7.8, 3.2)
    left, right = fig.subplots(1, 2)
    for factor, colour in zip(TAKEN, (BLUE, "#2e8b57", "#d98c1f", RED)):
        for i, row in enumerate(rows):
            points = [(p["capacity"], p[factor]) for p in row["curve"]]
            left.plot(*zip(*points), color=colour, lw=1.6 if i == 0 else 0.8, label=factor if i == 0 else None)
    left.axhline(HALF, color=GREY, lw=0.8, ls=":")
    left.set(xlabel="capacity, nats", ylabel="share told by a draw of the codes", ylim=(-0.02, 1.02))
    left.legend(frameon=False, fontsize=8)
    nats = np.array(rows[0]["nats"])
    right.plot(nats[:, 0], nats[:, 1:], color=BLUE, lw=1)
    right.plot([0, C_MAX], [0, C_MAX / 2], color=GREY, lw=0.8, ls=":", label="half of the capacity")
    right.set(xlabel="capacity, nats", ylabel="nats of each code")
    right.legend(frameon=False, fontsize=8)
    for ax in (left, right):
        quiet(ax)
    return fig


CAPACITY = Experiment(
    "capacity",
    "AnnealedVAE with gamma = 1000 on dSprites, its capacity growing from 0 to 25 nats over the whole training: small "
    "has pictures of 32 x 32, 10,000 steps and two seeds, paper 64 x 64, 300,000 steps and five.",
    capacity_cells,
    run_capacity,
)
CLAIMS = (
    PaperClaim(
        "annealed-takes-up-in-order",
        "As the capacity grows, AnnealedVAE takes up position, then scale, then shape, then rotation.",
        "Burgess et al., figure 3, in the section on AnnealedVAE", "at 3.1, 7.3, 15.4 and 23.8 nats",
        "nats between one factor and the next, where a draw of the codes tells half of each", ("capacity",),
        steps_apart, least=0.0, exclusive=True,
        small="10,000 steps on pictures of 32 x 32; the paper grows the capacity over 100,000 or more, on 64 x 64.",
    ),
)  # fmt: skip
DRAWING = Drawing(
    "capacity", "AnnealedVAE as its capacity grows. Left: what one draw of the codes tells of each factor (share of "
    "its variance, by nearest neighbours), a line per seed. Right: nats of each code of the first seed.", ("capacity",),
    draw_capacity,
)  # fmt: skip
TABLE = Table(
    "What AnnealedVAE takes up", ("factor", "taken up (paper, nats)", "here, a seed each", "told at the end"),
    ("capacity",), capacity_rows,
)  # fmt: skip
