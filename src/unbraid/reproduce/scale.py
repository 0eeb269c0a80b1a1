"""Ottlik, Ram and Liss: does disentanglement come with scale? MIG against compute, and encoders against their size."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from unbraid.autoencoders import VAE, BetaVAE
from unbraid.datasets import load
from unbraid.metrics import mig
from unbraid.probing import PROTOCOL, open_encoder, probe
from unbraid.probing.comparison import COLOURS, MARKERS
from unbraid.report.drawing import BLUE, GREY, figure, quiet
from unbraid.reproduce.bench import Bench
from unbraid.reproduce.paper import Cell, Claim, Drawing, Experiment, Paper, Part, Results, Rows, Table, mean_part

DATA = "dsprites"
STEPS = {"small": (75, 300, 900), "paper": (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)}
METHODS = {"VAE": lambda **given: VAE(10, **given), "beta-VAE (4)": lambda **given: BetaVAE(10, beta=4.0, **given)}
N_SEEDS, N_SCORED = 5, 3_000
PHOTOGRAPHS = "EfficientNet-Lite0"
WEIGHTS = "efficientnet-lite0-57934424.pth"
# Of table 1: millions of parameters and MIG on dSprites.
CLIP = {
    "RN50": (102, 0.00441),
    "RN50x4": (178, 0.01763),
    "RN50x16": (291, 0.02616),
    "ViT-B-16": (150, 0.0235),
    "ViT-L-14": (428, 0.0255),
}
RULES = replace(PROTOCOL, name="scale-1500", n_samples=1_500, n_train=1_000, n_test=500)


def compute_cells(scale: str) -> Sequence[Cell]:
    """A training each."""
    return [
        {"method": method, "seed": seed, "steps": steps}
        for seed in range(N_SEEDS)
        for steps in STEPS[scale]
        for method in METHODS
    ]


def run_compute(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """MIG after so many steps."""
    data = load(DATA)
    X, factors = data.sample(N_SCORED, random_state=0)
    kept = {"checkpoint": bench.checkpoint(cell), "checkpoint_every": 250, "progress": bench.progress}
    model = METHODS[cell["method"]](max_steps=cell["steps"], random_state=cell["seed"], **kept).fit(data)
    return {"mig": mig(factors, model.transform(X)), "parameters": open_encoder(model).n_parameters}


def _marks(rows: Rows) -> list[int]:
    """Numbers of steps for which every seed of every method is there."""
    whole = len(METHODS) * N_SEEDS
    return sorted(steps for steps, mine in rows.groups("steps") if len(mine) == whole)


def encoder_cells(scale: str) -> Sequence[Cell]:
    """What was not trained to be disentangled, or not at all."""
    return [{"encoder": name} for name in ("pixels", "untrained", PHOTOGRAPHS)]


def clip_cells(scale: str) -> Sequence[Cell]:
    """The encoders of table 1."""
    return [{"encoder": name} for name in CLIP]


def run_encoder(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """Scores of an encoder on dSprites, by 32 principal components where it has more units."""
    name = cell["encoder"]
    source = f"open_clip:{name}/openai" if name in CLIP else name
    if name == PHOTOGRAPHS:
        source = f"efficientnet-lite0:{bench.find(WEIGHTS, what='The weights of EfficientNet-Lite0')}"
    found = probe(source, DATA, ("mig", "sap"), name=name, protocol=RULES, cache=bench.folder / "codes", progress=False)
    scores = {
        f"{key}_{end}": float(getattr(found[key], end)) for key in ("mig", "sap") for end in ("value", "low", "high")
    }
    chance = {"mig_chance": float(found["mig"].chance), "linear": found.read("linear"), "trees": found.read("trees")}
    return {**scores, **chance, "parameters": found.n_parameters, "codes": found.n_axes, "units": found.n_units}


def growth(*methods: str) -> Any:
    """MIG after the most steps less MIG after the fewest, of each method."""

    def found(results: Results) -> dict[str, Part]:
        rows = results["compute"]
        first, *_, last = _marks(rows)
        ends = {m: [rows.where(method=m, steps=steps)["mig"] for steps in (first, last)] for m in methods}
        return {m: mean_part(end - start) for m, (start, end) in ends.items()}

    return found


def advantage(results: Results) -> dict[str, Part]:
    """MIG of beta-VAE less that of VAE of the same seed, after each number of steps."""
    rows = results["compute"]
    plain, beta = (rows.where(method=m) for m in METHODS)
    return {
        f"{steps} steps": mean_part(beta.where(steps=steps)["mig"] - plain.where(steps=steps)["mig"])
        for steps in _marks(rows)[1:]
    }


def _score(rows: Rows, name: str) -> Part | None:
    """MIG of an encoder with its interval."""
    return next((Part(r["mig_value"], r["mig_low"], r["mig_high"]) for r in rows.where(encoder=name)), None)


def _less(one: Part, other: Part) -> Part:
    """A difference, with the widest interval that those of both allow."""
    return Part(one.value - other.value, one.low - other.high, one.high - other.low)


def differences(experiment: str, pairs: Mapping[str, tuple[str, str]]) -> Any:
    """MIG of the second encoder of each pair less that of the first, where both were scored."""

    def found(results: Results) -> dict[str, Part]:
        rows = results[experiment]
        scores = {what: [_score(rows, name) for name in pair] for what, pair in pairs.items()}
        return {what: _less(new, old) for what, (old, new) in scores.items() if old is not None and new is not None}

    return found


def low_scores(results: Results) -> dict[str, Part]:
    """MIG of encoders that nobody asked for one code per factor."""
    scores = {name: _score(results["encoders"], name) for name in ("pixels", PHOTOGRAPHS)}
    return {name: score for name, score in scores.items() if score is not None}


def draw_compute(results: Results, bench: Bench) -> Any:
    rows = results["compute"]
    marks = _marks(rows)
    fig = figure(6.4, 4.0)
    ax = fig.add_subplot()
    for colour, method in zip((GREY, BLUE), METHODS):
        mine = rows.where(method=method)
        means = [mean_part(mine.where(steps=steps)["mig"]) for steps in marks]
        ax.plot(marks, [m.value for m in means], "o-", color=colour, label=method)
        ax.fill_between(marks, [m.low for m in means], [m.high for m in means], color=colour, alpha=0.2, lw=0)
        for _, one in mine.groups("seed"):
            ax.plot(one["steps"], one["mig"], color=colour, lw=0.5, alpha=0.6)
    ax.set(xscale="log", xlabel="training steps (of 64 pictures)", ylabel="MIG on dSprites")
    ax.set_xticks(marks, [f"{steps:,}" for steps in marks])
    ax.minorticks_off()
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    quiet(ax)
    return fig


def _trained(rows: Rows) -> Iterator[tuple[str, int, Part]]:
    """The models of the other experiment after the most steps: name, parameters of the encoder, MIG."""
    last = _marks(rows)[-1]
    for method, mine in rows.groups("method"):
        yield f"{method}, {last:,} steps", int(mine["parameters"][0]), mean_part(mine.where(steps=last)["mig"])


def _scored(results: Results) -> Iterator[tuple[str, int, Part]]:
    """All that was scored here: name, trained parameters, MIG."""
    for row in results["encoders"]:
        yield row["encoder"], row["parameters"], Part(row["mig_value"], row["mig_low"], row["mig_high"])
    yield from _trained(results["compute"])


def draw_sizes(results: Results, bench: Bench) -> Any:
    fig = figure(7.6, 4.0)
    ax = fig.add_subplot()
    for start, kind, marker in (("RN", "ResNets", "s"), ("ViT", "ViTs", "^")):
        known = [(1e6 * millions, value) for name, (millions, value) in CLIP.items() if name.startswith(start)]
        ax.plot(*zip(*known), marker + "--", color=GREY, mfc="none", label=f"CLIP's {kind} (the paper's)")
    none = 1e4  # where those without trained parameters stand
    for (name, size, score), marker, colour in zip(_scored(results), MARKERS, COLOURS):
        reach = [[score.value - score.low], [score.high - score.value]]
        ax.errorbar([size or none], [score.value], reach, fmt=marker, color=colour, ms=6, label=name)
    ax.set(xscale="log", xlabel="trained parameters of the encoder", ylabel="MIG on dSprites")
    ax.set_xticks([none, 1e5, 1e6, 1e7, 1e8], ["none", "$10^5$", "$10^6$", "$10^7$", "$10^8$"])
    ax.minorticks_off()
    ax.set_ylim(bottom=0)
    fig.legend(loc="outside right upper", fontsize=8, frameon=False)
    quiet(ax)
    return fig


def encoder_rows(results: Results) -> Iterable[Sequence[Any]]:
    """The probe's table: what was scored here, and the paper's."""
    read = {row["encoder"]: row for row in results["encoders"]}
    for name, size, score in _scored(results):
        row = read.get(name)
        codes = "10" if row is None else f"{row['codes']} of {row['units']}"
        more = ["", ""] if row is None else [f"{row['linear']:.2f}", f"{row['mig_chance']:.3f}"]
        yield name, f"{size:,}", codes, str(score), *more, "here"
    for name, (millions, value) in CLIP.items():
        yield f"CLIP {name}", f"{millions:,},000,000", "", f"{value:.3g}", "", "", "paper"


PAPER = Paper(
    name="scale",
    title="Does disentanglement come with scale?",
    reference="Ottlik, Ram and Liss, Unsupervised Disentanglement Literature Review and Exploration with Scale",
    about=(
        "The paper trains a VAE and a beta-VAE (beta = 4) on dSprites with growing compute, and scores CLIP's image "
        "encoders of several sizes; it names neither networks, steps, seeds nor the number of samples. Here both "
        "models have 10 codes and unbraid's small networks, five seeds each, and MIG is of the means of 3000 "
        "pictures. CLIP is scored where open_clip and its weights are at hand; EfficientNet-Lite0, which was trained "
        "on photographs too, stands beside it."
    ),
    experiments=(
        Experiment(
            "encoders",
            "Pixels, a network with random weights, and EfficientNet-Lite0 on 1500 pictures of dSprites; of more than "
            "32 units, 32 principal components.",
            encoder_cells,
            run_encoder,
        ),
        Experiment(
            "compute",
            "A training of each length; small ends at 900 steps of 64 pictures, where one of the large study has "
            "300,000.",
            compute_cells,
            run_compute,
        ),
        Experiment("clip", "The encoders of table 1, scored alike.", clip_cells, run_encoder),
    ),
    claims=(
        Claim(
            "beta-VAE (with beta = 4) shows MIG increase with scale, that is with compute.",
            "section 5.1, figure 7",
            "no figure in words",
            ("compute",),
            growth("beta-VAE (4)"),
            "MIG after the most steps less after the fewest, mean of five seeds with 95 % interval",
            least=0.0,
        ),
        Claim(
            "Not scale alone but the choice of the algorithm matters: beta-VAE is above VAE.",
            "section 5.1, figures 6 and 7",
            "no figure in words",
            ("compute",),
            advantage,
            "MIG of beta-VAE less that of VAE of the same seed, mean with 95 % interval",
            least=0.0,
        ),
        Claim(
            "CLIP scale seems to increase disentanglement.",
            "section 5.2, table 1",
            "ResNets 0.0044 to 0.0262, ViTs 0.0235 to 0.0255",
            ("clip",),
            differences("clip", {"ResNets": ("RN50", "RN50x16"), "ViTs": ("ViT-B-16", "ViT-L-14")}),
            "MIG of the largest less that of the smallest, with the widest interval",
            least=0.0,
        ),
        Claim(
            "Vision transformers have better disentanglement with scale than convolutional networks.",
            "section 5.2, table 1",
            "ViT-B/16 0.0235, the larger RN50x4 0.0176",
            ("clip",),
            differences("clip", {"ViT-B/16 over RN50x4": ("RN50x4", "ViT-B-16")}),
            "difference of the two MIGs, with the widest interval",
            least=0.0,
        ),
    ),
    beyond=(
        Claim(
            "The MIG of a VAE without beta increases with compute too.",
            "figure 6",
            "drawn, not said",
            ("compute",),
            growth("VAE"),
            "MIG after the most steps less after the fewest, mean of five seeds with 95 % interval",
            least=0.0,
        ),
        Claim(
            "What nobody trained to have one code per factor has none: MIG stays below 0.1.",
            "table 1",
            "0.0044 to 0.0262 for CLIP",
            ("encoders",),
            low_scores,
            "MIG on dSprites, with its 95 % interval",
            most=0.1,
        ),
        Claim(
            "Training on photographs brings the axes nearer to the factors than those of raw pixels are.",
            "not in the paper",
            "no figure",
            ("encoders",),
            differences("encoders", {f"{PHOTOGRAPHS} over pixels": ("pixels", PHOTOGRAPHS)}),
            "difference of the two MIGs, with the widest interval",
            least=0.0,
        ),
    ),
    drawings=(
        Drawing(
            "mig-against-compute",
            "MIG after more and more steps: mean of five seeds, its 95 % interval, and every seed as a thin line.",
            ("compute",),
            draw_compute,
        ),
        Drawing(
            "mig-against-size",
            "MIG on dSprites against the number of trained parameters, with 95 % intervals (of encoders over samples, "
            "of trained models over seeds); hollow: the paper's table 1.",
            ("encoders", "compute"),
            draw_sizes,
        ),
    ),
    tables=(
        Table(
            "Encoders on dSprites",
            ("encoder", "trained parameters", "codes", "MIG", "linear probe", "chance of MIG", "whose"),
            ("encoders", "compute"),
            encoder_rows,
        ),
    ),
)
