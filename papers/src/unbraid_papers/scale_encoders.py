"""The probe's table: encoders of several kinds and sizes on dSprites and the room, with floors that must be beaten."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from unbraid.datasets import load
from unbraid.evaluation.claims import Part
from unbraid.probing import PROTOCOL, plot_against_size, probe
from unbraid.probing.comparison import COLOURS, MARKERS
from unbraid.probing.result import Probe
from unbraid.report.drawing import GREY, figure, quiet
from unbraid_papers.bench import Bench
from unbraid_papers.paper import Cell, Results, Rows

PROBED = {"dsprites": "dSprites", "room": "the room"}
FLOORS = ("pixels", "untrained")
PHOTOGRAPHS = "EfficientNet-Lite0"
WEIGHTS = "efficientnet-lite0-57934424.pth"
WIDTHS = {f"beta-VAE, width {width}": width for width in (32, 128, 512)}
STEPS, CODES = 1_500, 10  # of the beta-VAEs with dense encoders
METRICS = {"mig": "MIG", "sap": "SAP", "dci_disentanglement": "DCI", "mcc": "MCC"}
# Of table 1: millions of parameters and MIG on dSprites.
CLIP = {
    "RN50": (102, 0.00441),
    "RN50x4": (178, 0.01763),
    "RN50x16": (291, 0.02616),
    "ViT-B-16": (150, 0.0235),
    "ViT-L-14": (428, 0.0255),
}
RULES = replace(
    PROTOCOL, name="scale-1500", n_samples=1_500, n_train=1_000, n_test=500,
    replicates={"light": 30, "medium": 8, "heavy": 5},
)  # fmt: skip


def encoder_cells(scale: str) -> Sequence[Cell]:
    """Floors, what was trained on other pictures, and beta-VAEs of three widths."""
    return [{"data": data, "encoder": name} for data in PROBED for name in (*FLOORS, *WIDTHS, PHOTOGRAPHS)]


def clip_cells(scale: str) -> Sequence[Cell]:
    """The encoders of table 1."""
    return [{"data": "dsprites", "encoder": name} for name in CLIP]


def run_encoder(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """Scores and probes of an encoder, by 32 principal components where it has more units."""
    name, data = cell["encoder"], cell["data"]
    source: Any = name
    if name in CLIP:
        source = f"open_clip:{name}/openai"
    elif name == PHOTOGRAPHS:
        source = f"efficientnet-lite0:{bench.find(WEIGHTS, what='The weights of EfficientNet-Lite0')}"
    elif name in WIDTHS:
        source = dense_vae(data, WIDTHS[name], cell, bench)
    found = probe(
        source, data, ("mig", "sap", "dci", "mcc"), name=name, protocol=RULES, cache=bench.folder / "codes",
        progress=False,
    )  # fmt: skip
    mig = found["mig"]
    return {"mig": [float(mig.value), float(mig.low), float(mig.high)], "probe": found.to_dict()}


def dense_vae(name: str, width: int, cell: Cell, bench: Bench) -> Any:
    """A beta-VAE whose encoder has two layers of this width, and the decoder of the small networks."""
    import torch
    from torch import nn

    from unbraid.autoencoders import BetaVAE
    from unbraid.networks.autoencoder import dense, small_decoder

    data = load(name)
    shape = (data.shape[2] if len(data.shape) == 3 else 1, *data.shape[:2])
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layers = dense([shape[0] * shape[1] * shape[2], width, width], nn.ReLU)
        encoder = nn.Sequential(nn.Flatten(), *layers, nn.Linear(width, 2 * CODES))
        decoder = small_decoder(shape, CODES)
    return BetaVAE(
        CODES, beta=4.0, max_steps=STEPS, random_state=0, encoder=encoder, decoder=decoder, progress=bench.progress,
        checkpoint=bench.checkpoint(cell), checkpoint_every=250,
    ).fit(data)  # fmt: skip


def probes_of(rows: Rows, data: str) -> list[Probe]:
    """What was found of the encoders on a data set."""
    return [Probe.from_dict(row["probe"]) for row in rows.where(data=data)]


def score(rows: Rows, name: str) -> Part | None:
    """MIG of an encoder on dSprites, with its interval."""
    return next((Part(*row["mig"]) for row in rows.where(encoder=name, data="dsprites")), None)


def _less(one: Part, other: Part) -> Part:
    """A difference, with the widest interval that those of both allow."""
    return Part(one.value - other.value, one.low - other.high, one.high - other.low)


def differences(experiment: str, pairs: Mapping[str, tuple[str, str]]) -> Any:
    """MIG of the second encoder of each pair less that of the first, where both were scored."""

    def found(results: Results) -> dict[str, Part]:
        rows = results[experiment]
        scores = {what: [score(rows, name) for name in pair] for what, pair in pairs.items()}
        return {what: _less(new, old) for what, (old, new) in scores.items() if old is not None and new is not None}

    return found


def low_scores(results: Results) -> dict[str, Part]:
    """MIG of encoders that nobody asked for one code per factor."""
    scores = {name: score(results["encoders"], name) for name in ("pixels", PHOTOGRAPHS)}
    return {name: found for name, found in scores.items() if found is not None}


def draw_sizes(trained: Any) -> Any:
    """MIG on dSprites of all encoders, of what ``trained(results)`` yields besides, and of the paper's table."""

    def draw(results: Results, bench: Bench) -> Any:
        fig = figure(7.6, 4.4)
        ax = fig.add_subplot()
        for start, kind, marker in (("RN", "ResNets", "s"), ("ViT", "ViTs", "^")):
            known = [(1e6 * millions, value) for name, (millions, value) in CLIP.items() if name.startswith(start)]
            ax.plot(*zip(*known), marker + "--", color=GREY, mfc="none", label=f"CLIP's {kind} (the paper's)")
        none = 1e4  # where those without trained parameters stand
        for i, (name, size, found) in enumerate([*_sizes(results), *trained(results)]):
            reach = [[found.value - found.low], [found.high - found.value]]
            look = {"fmt": MARKERS[i % len(MARKERS)], "color": COLOURS[i % len(COLOURS)], "ms": 6}
            ax.errorbar([size or none], [found.value], reach, label=name, **look)
        ax.set(xscale="log", xlabel="trained parameters of the encoder", ylabel="MIG on dSprites")
        ax.set_xticks([none, 1e5, 1e6, 1e7, 1e8], ["none", "$10^5$", "$10^6$", "$10^7$", "$10^8$"])
        ax.minorticks_off()
        ax.set_ylim(bottom=0)
        fig.legend(loc="outside right upper", fontsize=8, frameon=False)
        quiet(ax)
        return fig

    return draw


def _sizes(results: Results) -> Iterator[tuple[str, int, Part]]:
    """Name, trained parameters and MIG of the encoders on dSprites."""
    for p, row in zip(probes_of(results["encoders"], "dsprites"), results["encoders"].where(data="dsprites")):
        yield p.encoder, p.n_parameters or 0, Part(*row["mig"])


def draw_scores(data: str) -> Any:
    """MIG, SAP and DCI of the encoders on a data set."""
    return lambda results, bench: plot_against_size(probes_of(results["encoders"], data))


COLUMNS = ("encoder", "trained parameters", "codes", "linear probe", "trees", *METRICS.values())


def probe_rows(data: str) -> Any:
    """Each score with its 95 % interval, of chance to ceiling; the probes, 0 at chance and 1 where all is read."""

    def rows(results: Results) -> Iterable[Sequence[Any]]:
        for p in probes_of(results["encoders"], data):
            codes = f"{p.n_axes} of {p.n_units}" if p.reduced else str(p.n_axes)
            found = [p[name] for name in METRICS]
            scores = [
                f"{s.value:.2f} ({s.low:.2f} to {s.high:.2f}) of {s.chance:.2f} to {s.ceiling:.2f}" for s in found
            ]
            read = [f"{p.read(kind):.2f}" for kind in ("linear", "trees")]
            yield p.encoder, f"{p.n_parameters or 0:,}", codes, *read, *scores

    return rows


def _shown(s: Any) -> str:
    return f"{s.value:.2f} ({s.low:.2f} to {s.high:.2f}) of {s.chance:.2f} to {s.ceiling:.2f}"


def clip_rows(results: Results) -> Iterable[Sequence[Any]]:
    """Table 1 of the paper, and what was found here."""
    for name, (millions, value) in CLIP.items():
        here = score(results["clip"], name)
        yield f"CLIP {name}", f"{millions:,},000,000", f"{value:.3g}", "" if here is None else here.show()
