"""Ottlik, Ram and Liss: does disentanglement come with scale? MIG against compute, and encoders against their size."""

from collections.abc import Iterator
from typing import Any

from unbraid.evaluation.claims import Part
from unbraid.report.drawing import BLUE, GREY, figure, quiet
from unbraid_papers.bench import Bench
from unbraid_papers.paper import Drawing, Experiment, Paper, PaperClaim, Results, Rows, Table, mean_part
from unbraid_papers.scale_compute import BETAS, N_SEEDS, compute_cells, run_compute
from unbraid_papers.scale_encoders import (
    COLUMNS,
    PHOTOGRAPHS,
    PROBED,
    clip_cells,
    clip_rows,
    differences,
    draw_scores,
    draw_sizes,
    encoder_cells,
    low_scores,
    probe_rows,
    run_encoder,
)


def _curves(rows: Rows) -> Rows:
    """A row for each mark of each training."""
    return Rows({**row, "steps": steps, "mig": value} for row in rows for steps, value in row["curve"])


def _marks(rows: Rows) -> list[int]:
    """Numbers of steps for which every seed of every method is there."""
    whole = len(BETAS) * N_SEEDS
    return sorted(steps for steps, mine in rows.groups("steps") if len(mine) == whole)


def growth(*methods: str) -> Any:
    """MIG after the most steps less MIG after the fewest, of each method."""

    def found(results: Results) -> dict[str, Part]:
        rows = _curves(results["compute"])
        first, *_, last = _marks(rows)
        ends = {m: [rows.where(method=m, steps=steps)["mig"] for steps in (first, last)] for m in methods}
        return {m: mean_part(end - start) for m, (start, end) in ends.items()}

    return found


def late_growth(results: Results) -> dict[str, Part]:
    """MIG after the most steps less MIG after a tenth of them."""
    rows = _curves(results["compute"])
    *_, last = marks = _marks(rows)
    early = max(steps for steps in marks if 10 * steps <= last)
    ends = {m: [rows.where(method=m, steps=steps)["mig"] for steps in (early, last)] for m in BETAS}
    return {m: mean_part(end - start) for m, (start, end) in ends.items()}


def advantage(results: Results) -> dict[str, Part]:
    """MIG of beta-VAE less that of VAE of the same seed, after the most steps."""
    rows = _curves(results["compute"])
    last = _marks(rows)[-1]
    plain, beta = (rows.where(method=m, steps=last)["mig"] for m in BETAS)
    return {f"{last:,} steps": mean_part(beta - plain)}


def draw_compute(results: Results, bench: Bench) -> Any:
    rows = _curves(results["compute"])
    marks = _marks(rows)
    fig = figure(6.4, 4.0)
    ax = fig.add_subplot()
    for colour, method in zip((GREY, BLUE), BETAS):
        mine = rows.where(method=method)
        means = [mean_part(mine.where(steps=steps)["mig"]) for steps in marks]
        ax.plot(marks, [m.value for m in means], "o-", color=colour, label=method)
        ax.fill_between(marks, [m.low for m in means], [m.high for m in means], color=colour, alpha=0.2, lw=0)
        for _, one in mine.groups("seed"):
            ax.plot(one["steps"], one["mig"], color=colour, lw=0.5, alpha=0.6)
    ax.set(xscale="log", xlabel="training steps (of 64 pictures)", ylabel="MIG on dSprites")
    ticks = [steps for steps in marks if str(steps)[0] in "13" or steps == marks[-1]]
    ax.set_xticks(ticks, [f"{steps:,}" for steps in ticks])
    ax.minorticks_off()
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    quiet(ax)
    return fig


def trained(results: Results) -> Iterator[tuple[str, int, Part]]:
    """The models after the most steps: name, parameters of the encoder, MIG."""
    rows = _curves(results["compute"])
    last = _marks(rows)[-1]
    for method, mine in rows.groups("method"):
        yield f"{method}, {last:,} steps", int(mine["parameters"][0]), mean_part(mine.where(steps=last)["mig"])


def compute_rows(results: Results) -> Iterator[tuple[Any, ...]]:
    """The mean over seeds at every mark, and the difference seed by seed."""
    rows = _curves(results["compute"])
    for steps in _marks(rows):
        plain, beta = (rows.where(method=m, steps=steps)["mig"] for m in BETAS)
        yield f"{steps:,}", *(mean_part(x).show() for x in (plain, beta, beta - plain))


SHORT = "Pictures of 32 x 32 and 5,000 steps; the paper names no number of steps, and the large study has 300,000."

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
            "1500 pictures of dSprites and of the room, 1000 to train predictors on and 500 to test them; of more than "
            "32 units, 32 principal components. Pixels, a network with random weights, EfficientNet-Lite0 (which sees "
            "the pictures at 224 x 224), and beta-VAEs (4) with dense encoders of three widths, trained for 1500 steps "
            "with one seed: the intervals are those of a score, not of another training.",
            encoder_cells,
            run_encoder,
        ),
        Experiment(
            "compute",
            "Five seeds of each, scored along one training: small has pictures of 32 x 32 and 5,000 steps of 64, "
            "paper 64 x 64 and 30,000. The scored pictures are not those of the training.",
            compute_cells,
            run_compute,
            version=2,
        ),
        Experiment("clip", "The encoders of table 1, scored alike.", clip_cells, run_encoder),
    ),
    claims=(
        PaperClaim(
            "beta-vae-mig-grows",
            "beta-VAE (with beta = 4) shows MIG increase with scale, that is with compute.",
            "section 5.1, figure 7",
            "no figure in words",
            "MIG after the most steps less after the fewest, mean of five seeds with 95 % interval",
            ("compute",),
            growth("beta-VAE (4)"),
            least=0.0,
            small=SHORT,
        ),
        PaperClaim(
            "beta-vae-above-vae",
            "Not scale alone but the choice of the algorithm matters: beta-VAE is above VAE.",
            "section 5.1, figures 6 and 7",
            "no figure in words",
            "MIG of beta-VAE less that of VAE of the same seed after the most steps, mean with 95 % interval",
            ("compute",),
            advantage,
            least=0.0,
            small=SHORT,
        ),
        PaperClaim(
            "clip-scale",
            "CLIP scale seems to increase disentanglement.",
            "section 5.2, table 1",
            "ResNets 0.0044 to 0.0262, ViTs 0.0235 to 0.0255",
            "MIG of the largest less that of the smallest, with the widest interval",
            ("clip",),
            differences("clip", {"ResNets": ("RN50", "RN50x16"), "ViTs": ("ViT-B-16", "ViT-L-14")}),
            least=0.0,
        ),
        PaperClaim(
            "transformers-above-convolutions",
            "Vision transformers have better disentanglement with scale than convolutional networks.",
            "section 5.2, table 1",
            "ViT-B/16 0.0235, the larger RN50x4 0.0176",
            "difference of the two MIGs, with the widest interval",
            ("clip",),
            differences("clip", {"ViT-B/16 over RN50x4": ("RN50x4", "ViT-B-16")}),
            least=0.0,
        ),
    ),
    beyond=(
        PaperClaim(
            "vae-mig-grows",
            "The MIG of a VAE without beta increases with compute too.",
            "figure 6",
            "drawn, not said",
            "MIG after the most steps less after the fewest, mean of five seeds with 95 % interval",
            ("compute",),
            growth("VAE"),
            least=0.0,
        ),
        PaperClaim(
            "mig-still-grows",
            "The last nine tenths of the steps still add to the MIG.",
            "not in the paper",
            "no figure",
            "MIG after the most steps less after a tenth of them, mean of five seeds with 95 % interval",
            ("compute",),
            late_growth,
            least=0.0,
        ),
        PaperClaim(
            "untrained-mig-low",
            "What nobody trained to have one code per factor has none: MIG stays below 0.1.",
            "table 1",
            "0.0044 to 0.0262 for CLIP",
            "MIG on dSprites, with its 95 % interval",
            ("encoders",),
            low_scores,
            most=0.1,
        ),
        PaperClaim(
            "photographs-above-pixels",
            "Training on photographs brings the axes nearer to the factors than those of raw pixels are.",
            "not in the paper",
            "no figure",
            "difference of the two MIGs, with the widest interval",
            ("encoders",),
            differences("encoders", {f"{PHOTOGRAPHS} over pixels": ("pixels", PHOTOGRAPHS)}),
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
            draw_sizes(trained),
        ),
        *(
            Drawing(
                f"{data}-against-size",
                f"MIG, SAP and DCI of the encoders on {name} against the number of trained parameters; grey: chance.",
                ("encoders",),
                draw_scores(data),
            )
            for data, name in PROBED.items()
        ),
    ),
    tables=(
        Table("MIG along the training", ("steps", *BETAS, "difference"), ("compute",), compute_rows),
        *(Table(f"Encoders on {name}", COLUMNS, ("encoders",), probe_rows(data)) for data, name in PROBED.items()),
        Table("CLIP on dSprites", ("encoder", "parameters", "MIG (paper)", "MIG (here)"), ("encoders",), clip_rows),
    ),
)
