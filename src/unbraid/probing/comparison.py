"""Several encoders on one data set: the table, and scores against the number of parameters."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from unbraid.evaluation.table import json_text, text_table
from unbraid.probing.result import Probe, add_probe
from unbraid.report.drawing import GREY, panels, quiet
from unbraid.report.html import Report

AGAINST_SIZE = {"mig": "MIG", "sap": "SAP", "dci_disentanglement": "DCI disentanglement"}
COLOURS = ("#000000", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7")  # Okabe and Ito
MARKERS = "osD^vPX*p"


@dataclass(frozen=True)
class Comparison:
    """What :func:`unbraid.probing.compare` found, one probe per encoder, in the order given.

    Attributes
    ----------
    probes : tuple of Probe
    """

    probes: tuple[Probe, ...]

    def __getitem__(self, encoder: str) -> Probe:
        for found in self.probes:
            if found.encoder == encoder:
                return found
        raise KeyError(f"{encoder!r} was not probed. Available: {', '.join(p.encoder for p in self.probes)}")

    def __iter__(self) -> Iterator[Probe]:
        return iter(self.probes)

    def __len__(self) -> int:
        return len(self.probes)

    @property
    def _names(self) -> list[str]:
        """Scores that all probes have, those of the plot first."""
        shared = [s.name for s in self.probes[0].evaluation if all(_has(p, s.name) for p in self.probes)]
        return sorted(shared, key=lambda n: (n not in AGAINST_SIZE, shared.index(n)))

    def table(self) -> list[tuple[str, ...]]:
        """Header and rows as text: parameters, codes, what a linear probe and trees predict, and every score."""
        head = ("encoder", "parameters", "codes", "linear probe", "trees", *self._names)
        rows = [
            (
                p.encoder,
                "–" if p.n_parameters is None else f"{p.n_parameters:,}",
                f"{p.n_axes} of {p.n_units}" if p.reduced else str(p.n_axes),
                *(f"{p.read(kind):.3f}" for kind in ("linear", "trees")),
                *(f"{p[name].value:.3f}" for name in self._names),
            )
            for p in self.probes
        ]
        ceilings = [max(p[name].ceiling for p in self.probes) for name in self._names]
        return [head, *rows, ("ceiling", "", "", "1.000", "1.000", *(f"{c:.3f}" for c in ceilings))]

    def __str__(self) -> str:
        table = text_table(self.table(), n_left=2)
        return f"{table}\nlinear probe, trees: mean over factors, 0 is chance and 1 is perfect."

    def to_json(self, path: str | PathLike | None = None) -> str:
        """The probes as JSON text, also written to ``path`` if one is given."""
        return json_text([p.to_dict() for p in self.probes], path)

    def report(self) -> Report:
        """The page: the table, scores against size, and each encoder."""
        where = self.probes[0].dataset or "the data"
        page = Report(f"{len(self)} encoders on {where}", "What their codes reveal about its factors.")
        head, *rows = self.table()
        page.section("All encoders").text(
            "Linear probe and trees are means over the factors, 0 at chance and 1 where every factor is "
            "predicted perfectly. The last row is the highest ceiling: the score of codes that determine the factors."
        ).table(head, rows)
        if any(name in AGAINST_SIZE for name in self._names):
            page.section("Scores against size").figure(
                plot_against_size(self.probes),
                "Trained parameters, and the score with its 95 % interval; grey lines are the chance level of each.",
            )
        for found in self.probes:
            page.section(found.encoder)
            add_probe(page, found)
        return page


def _has(found: Probe, name: str) -> bool:
    return any(s.name == name for s in found.evaluation)


def plot_against_size(probes: Sequence[Probe]) -> Any:
    """MIG, SAP and DCI of each encoder over its number of parameters.

    Parameters
    ----------
    probes : sequence of Probe
        Those with an unknown number of parameters are left out; untrained ones are at the left edge.

    Returns
    -------
    matplotlib.figure.Figure
    """
    known = [p for p in probes if p.n_parameters is not None]
    names = [name for name in AGAINST_SIZE if known and all(_has(p, name) for p in known)]
    if not names:
        raise ValueError("no encoder with a known number of parameters has scores of mig, sap or dci.")
    sizes = [p.n_parameters for p in known if p.n_parameters] or [1]
    powers = range(int(np.log10(min(sizes))), int(np.log10(max(sizes))) + 1)
    ticks = [10.0 ** (powers[0] - 1), *(10.0**power for power in powers)]  # the first is for those without parameters
    fig, axes = panels(len(names), 3, 4.2, 3.4)
    for ax, name in zip(axes, names):
        for i, p in enumerate(known):
            s, x = p[name], p.n_parameters or ticks[0]
            reach = np.nan_to_num(np.maximum([[s.value - s.low], [s.high - s.value]], 0))
            look = {"fmt": MARKERS[i % len(MARKERS)], "color": COLOURS[i % len(COLOURS)], "ms": 6}
            ax.errorbar([x], [s.value], yerr=reach, label=p.encoder if ax is axes[0] else None, **look)
            ax.plot([x / 1.3, x * 1.3], [s.chance] * 2, color=GREY, zorder=1)
        ax.set(xscale="log", xlabel="trained parameters", ylabel=AGAINST_SIZE[name])
        ax.margins(x=0.15, y=0.1)
        ax.set_ylim(bottom=0)
        ax.set_xticks(ticks, ["none", *(f"$10^{{{power}}}$" for power in powers)])
        ax.minorticks_off()
        quiet(ax)
    # labels at the points would overlap: encoders of one size, and those near chance, are close together
    fig.legend(loc="outside lower center", ncols=min(4, len(known)), fontsize=8, frameon=False)
    return fig
