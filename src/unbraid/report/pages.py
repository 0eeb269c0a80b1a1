"""The pages that the command line writes: one for a fit, one for the demo."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.metrics.local_isometry import isometry_of_pairs, neighbor_pairs
from unbraid.report import autoencoders, plots
from unbraid.report.html import Report
from unbraid.report.words import diagnostics_words, rotation_words, selection_words, training_words

Floats = NDArray[np.float64]


@dataclass
class Fitted:
    """A fitted model with what its page shows.

    Attributes
    ----------
    title : str
        Name of the method.
    model : estimator
        With ``inverse_transform``, and ``selection_`` and ``diagnostics_`` where it has them.
    codes : array (n, d)
    seconds : float
    lengths, found : arrays (pairs,)
        Distances of nearby pairs in X and in the codes, and ``isometry``, their correlation.
    scores : list of float
        What the selection maximised, one a candidate.
    mcc : float or None
        Where the factors are known.
    remarks : list of str
        Warnings on the way, for instance of a setting that was tried and did not converge.
    """

    title: str
    model: Any
    codes: Floats
    seconds: float
    lengths: Floats
    found: Floats
    isometry: float
    scores: list[float] = field(default_factory=list)
    mcc: float | None = None
    remarks: list[str] = field(default_factory=list)

    @property
    def chosen(self) -> Any:
        """The setting that was used, or None for a method without one."""
        selection = getattr(self.model, "selection_", None)
        return None if selection is None else selection.chosen

    @property
    def concerns(self) -> list[str]:
        return list(getattr(getattr(self.model, "diagnostics_", None), "concerns", []))

    def diagnosis(self) -> list[tuple[str, str, str]]:
        """(figure, value, meaning) of everything that was measured."""
        if hasattr(self.model, "diagnostics_"):
            return diagnostics_words(self.model.diagnostics_)
        if hasattr(self.model, "history_"):
            return training_words(self.model.history_)
        return rotation_words(self.model.rotation_, self.model.kurtosis_)

    def choice(self) -> list[str]:
        """How the settings were chosen, in sentences."""
        return selection_words(self.model.selection_, self.scores) if self.chosen is not None else []


def nearby_distances(points: Any, codes: Floats, n_neighbors: int = 8) -> tuple[Floats, Floats, float]:
    """Distances of neighbours in X and, after the best rescaling of each code, in the codes; and their correlation.

    Examples
    --------
    >>> z = np.random.default_rng(0).uniform(size=(30, 2))
    >>> round(nearby_distances(2 * z, z)[2], 6)
    1.0
    """
    rows = np.asarray(points, dtype=np.float64).reshape(len(points), -1)
    i, j, lengths = neighbor_pairs(rows, n_neighbors)
    steps = codes[i] - codes[j]
    score, scale = isometry_of_pairs(steps, lengths)
    return lengths, np.linalg.norm(steps * scale, axis=1), score


def traversals(model: Any, codes: Floats, n_steps: int = 9) -> tuple[NDArray, Floats]:
    """Data and code values along each code, from its 3rd to its 97th percentile, the others at their median."""
    decode = model.inverse_transform
    values = autoencoders.traversal_values(codes, n_steps=n_steps, span="quantiles")
    return autoencoders.traversals(decode, codes, n_steps=n_steps, span="quantiles", base="median"), values


def demo_page(fits: Sequence[Fitted], X: NDArray, factors: Floats, factor_names: Sequence[str], lead: str) -> Report:
    """The report of ``unbraid demo``: the methods side by side, then the best one in full."""
    best = max(fits, key=lambda fit: fit.mcc or 0.0)
    page = Report("Two factors, found without labels", lead)
    page.section("The data").text(
        f"{len(X)} pictures of a white square. Nothing but its position changes, so two numbers, "
        f"{' and '.join(factor_names)}, explain every pixel. The methods see only the pixels."
    ).figure(plots.plot_images(X[:24]), "The first 24 pictures.")
    page.section("Result").table(
        ["method", "MCC", "local isometry", "seconds", "neighbours k", "principal components"],
        [_summary(fit) for fit in fits],
        marked=list(fits).index(best),
    ).text(
        "MCC, the mean correlation coefficient, compares each true factor with the code that stands for it: 1 is "
        "perfect. Local isometry asks whether neighbours keep their distances; it needs no labels, which is why the "
        "settings are chosen by it."
    )
    page.section("Factor maps").text(
        "Every dot is a picture, placed by its true factors and coloured by what the method found. A code that stands "
        "for one factor gives straight bands along the other axis; a mixture gives slanted or bent ones."
    )
    page.figures(
        (
            plots.plot_factor_maps(factors, fit.codes, factor_names=factor_names, title=fit.title),
            f"{fit.title}: MCC {fit.mcc:.4f}.",
        )
        for fit in fits
    )
    page.section("Distances").text(
        "Pairs of neighbouring pictures: how far apart they are in pixels, and in the codes. The proof behind "
        "HLLE+ICA asks that the dots lie on the line."
    ).figures(
        (plots.plot_distances(fit.lengths, fit.found, title=fit.title), f"{fit.title}: correlation {fit.isometry:.3f}")
        for fit in fits
    )
    page.section(f"Moving along the codes of {best.title}").text(
        "Each strip moves one code and holds the other in the middle; the pictures come from inverse_transform."
    ).figure(plots.plot_traversals(*traversals(best.model, best.codes)))
    for fit in sorted(fits, key=lambda fit: fit is not best):
        add_trust(page, fit)
        add_settings(page, fit, folded=fit is not best)
    page.section("Go on from here").code(
        "unbraid fit DATA --factors 2 --out RUN      # DATA: .npy, .npz, .h5, .zarr, a folder of images, a data set\n"
        "unbraid fit --help"
    )
    return page


def fit_page(
    fit: Fitted, name: str, sample: NDArray, lead: str, factors: Floats | None, factor_names: Sequence[str] | None
) -> Report:
    """The report of ``unbraid fit``; ``sample`` are some of the observations."""
    page = Report(f"{fit.title} of {name}", lead)
    if plots.is_pictures(sample.shape[1:]):
        page.section("The data").figure(plots.plot_images(sample[:24]), "Some of the pictures.")
    add_trust(page, fit)
    page.section("Codes").text(
        "The codes against each other, and their distributions. Independent codes fill a shape whose sides run along "
        "the axes."
    ).figure(plots.plot_codes(fit.codes))
    if factors is not None:
        page.section("Factor maps").text(
            f"The factors of this data set are known: MCC {fit.mcc:.4f}. Every dot is an observation, placed by its "
            "true factors and coloured by a code; straight bands along one axis are right."
        ).figure(plots.plot_factor_maps(factors, fit.codes, factor_names=factor_names))
    page.section("Moving along each code").text(
        "One code moves and the others are held in the middle; the data come from inverse_transform."
    ).figure(plots.plot_traversals(*traversals(fit.model, fit.codes)))
    if hasattr(fit.model, "history_"):
        add_training(page, fit.model.history_)
    page.section("Distances").text(
        "Neighbouring observations: how far apart they are in the data, and in the codes."
    ).figure(plots.plot_distances(fit.lengths, fit.found), f"Correlation {fit.isometry:.3f}.")
    add_settings(page, fit)
    return page


def add_trust(page: Report, fit: Fitted) -> None:
    """A section on how far to trust the codes."""
    page.section(f"How far to trust {fit.title}")
    if fit.concerns:
        page.note([_sentence(concern) for concern in fit.concerns], "look")
    elif fit.chosen is not None:
        page.note(["Nothing that was measured speaks against this result."], "good")
    elif hasattr(fit.model, "history_"):
        page.note(
            [
                "An autoencoder: low losses say that the codes explain the data, not that each stands for one factor. "
                "Fit it with several seeds and compare the codes (unbraid.metrics.udr), or score it where factors are "
                "known."
            ]
        )
    else:
        page.note(["A linear method: right only where the factors mix linearly, and it cannot tell by itself."])
    page.table(["figure", "value", "what it means"], fit.diagnosis())
    if fit.remarks:
        page.text("On the way, while settings were tried:", *(_sentence(remark) for remark in fit.remarks))


def add_training(page: Report, history: Sequence[dict]) -> None:
    """A section with every recorded term over the steps."""
    page.section("Training").text("Every term of the loss that was recorded.").figure(autoencoders.plot_losses(history))
    if any("kl_per_dimension" in record for record in history):
        page.figure(autoencoders.plot_kl(history), "Nats that each code carries; those near 0 are switched off.")


def add_settings(page: Report, fit: Fitted, *, folded: bool = False) -> None:
    """A section with every setting that was tried."""
    if fit.chosen is None:
        return
    candidates = fit.model.selection_.candidates
    marked = next((i for i, c in enumerate(candidates) if c == fit.chosen), None)
    page.section(f"Settings tried for {fit.title}").text(*fit.choice())
    if len(candidates) > 1 and marked is not None:
        fig = plots.plot_selection(
            [c.n_neighbors for c in candidates],
            fit.scores,
            [c.pca_components for c in candidates],
            chosen=marked,
            excluded=[bool(c.excluded) for c in candidates],
        )
        page.figure(fig, "Score of every setting; no label was used.")
    page.table(
        ["k", "PCA", "score", "edges", "closest pairs", "dependence", "participation", "eigengap", "stability", "note"],
        [
            [c.n_neighbors, c.pca_components, s, c.edges, c.closest, c.dependence, c.participation, c.eigengap]
            + [c.stability, c.excluded or ("chosen" if c == fit.chosen else "")]
            for c, s in zip(candidates, fit.scores)
        ],
        marked=marked,
        folded=f"All {len(candidates)} settings" if folded else "",
    )


def _summary(fit: Fitted) -> list:
    chosen = fit.chosen
    settings = ["", ""] if chosen is None else [chosen.n_neighbors, chosen.pca_components]
    return [fit.title, f"{fit.mcc:.4f}", fit.isometry, f"{fit.seconds:.2f}", *settings]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."
