"""Summary of the spectral methods: figures in words, and the settings that were tried."""

from typing import TYPE_CHECKING, Any

import numpy as np

from unbraid.estimator.summary import Fact, Section, Summary, codes_in_words, counted, title_of
from unbraid.spectral.diagnostics import Diagnostics
from unbraid.spectral.selection import Selection, score

if TYPE_CHECKING:
    from unbraid.spectral.base import SpectralEstimator
    from unbraid.spectral.pca_ica import PCAICA

LISTED = 100  # rows that a summary shows
HARDLY = 0.02  # if scores differ by less, the choice hardly matters


def spectral_summary(model: "SpectralEstimator") -> Summary:
    """Summary of an embedding, with or without ICA."""
    title, selection = title_of(model), model.selection_
    rule = "edges" if selection.rule == "given" else selection.rule
    scores = [score(rule, candidate) for candidate in selection.candidates]
    choices = _choices(selection, scores)
    return Summary(
        title,
        [*_facts(model.diagnostics_), *_prepared(model)],
        choices=choices,
        concerns=list(model.diagnostics_.concerns),
        note="All checks passed.",
        checked=True,
        sections=[*_trust_sections(model.diagnostics_), _settings(title, selection, scores, choices)],
        n_shown=model.n_factors_,
        settings={
            "neighbours k": selection.chosen.n_neighbors,
            "principal components": selection.chosen.pca_components,
        },
    )


def linear_summary(model: "PCAICA") -> Summary:
    """Summary of the linear baseline, which has figures of ICA only."""
    return Summary(
        title_of(model),
        [
            *([_stability(model.rotation_.stability, model.rotation_.converged)] if model.rotation_ else []),
            Fact.of("kurtosis", _signed(model.kurtosis_)),
            *_prepared(model),
        ],
        concerns=list(model.concerns_),
        note="A linear method: correct only if the factors mix linearly, which it cannot check.",
        n_shown=model.n_factors_,
    )


def _prepared(model: "SpectralEstimator | PCAICA") -> list[Fact]:
    """How the data were read, where not as they are: counts, gaps, rows that were left out."""
    words = "Of X, in which distances are those of Fisher's information; counts='given' takes counts as any numbers."
    found = [Fact("scale", str(model.counts_), words)] if model.counts_ else []
    filling = getattr(model, "filling_", None)
    if filling is not None:
        about = "Of the values; filled with what principal components expect, given the other values of the row."
        found.append(Fact("missing", f"{100 * filling.share:.1f} %", about))
    if model.adjustment_ is not None:
        chance = f"{model.adjustment_.overlap_chance:.2g}"
        found.append(Fact.of("covariate_overlap", chance, f"The covariates {model.adjustment_}."))
    if model.screen_ is None or not len(model.outliers_):
        return found
    rows = ", ".join(map(str, model.outliers_[:LISTED])) + (", ..." if len(model.outliers_) > LISTED else "")
    return [
        *found,
        Fact.of("outliers", str(len(model.outliers_)), f"Rows {rows} (counted from 0); model.outliers_ has all."),
    ]


def _choices(selection: Selection, scores: list[float]) -> list[str]:
    """How the settings were chosen."""
    chosen = selection.chosen
    found = [] if selection.dimension == "given" else [f"Number of factors: {selection.dimension}."]
    setting = f"{chosen.n_neighbors} neighbours and {chosen.pca_components} principal components"
    setting += " of pictures of one brightness and contrast" * chosen.evened
    if selection.rule == "given":
        found.append(f"{setting}, as specified.")
    else:
        found.append(
            f"{setting} were chosen from {len(selection.candidates)} settings by the rule {selection.rule!r} "
            f"(local isometry {chosen.edges:.3f} over neighbours and {chosen.closest:.3f} over the closest pairs, "
            f"mutual information of the codes {chosen.dependence:.3f})."
        )
        excluded = sum(bool(c.excluded) for c in selection.candidates)
        if chosen.excluded:
            found.append(f"No setting is sound; the best-scoring one was used ({chosen.excluded}).")
        elif excluded:
            were = "was" if excluded == 1 else "were"
            found.append(f"{excluded} of them {were} excluded; the table of settings gives the reasons.")
        sound = [score for c, score in zip(selection.candidates, scores) if not c.excluded]
        if len(sound) > 1:
            found.append(
                f"The choice hardly matters: the scores differ by less than {HARDLY}."
                if max(sound) - min(sound) < HARDLY
                else f"The choice matters: scores range from {min(sound):.3f} to {max(sound):.3f}."
            )
    return found + [
        f"{step['n_landmarks']} landmarks place held-out points with an error of {step['held_out_error']:.3g} "
        "standard deviations."
        for step in selection.landmarks
    ]


def _settings(title: str, selection: Selection, scores: list[float], choices: list[str]) -> Section:
    """Every setting that was tried, with a picture if there were several."""
    candidates, chosen = selection.candidates, selection.chosen
    marked = next((i for i, c in enumerate(candidates) if c == chosen), None)
    several = len(candidates) > 1 and marked is not None
    drawn: dict[str, Any] = {
        "n_neighbors": [c.n_neighbors for c in candidates],
        "scores": scores,
        "groups": [c.pca_components for c in candidates],
        "chosen": marked,
        "excluded": [bool(c.excluded) for c in candidates],
    }
    return Section(
        f"Settings tried for {title}",
        choices,
        picture="selection" if several else "",
        data=drawn if several else {},
        caption="Score of every setting; no labels were used." if several else "",
        columns=("k", "PCA", "score", "edges", "closest pairs", "dependence", "participation", "eigengap")
        + ("stability", "note"),
        rows=[
            [c.n_neighbors, c.pca_components, s, c.edges, c.closest, c.dependence, c.participation, c.eigengap]
            + [c.stability, c.excluded or ("chosen" if c == chosen else "")]
            for c, s in zip(candidates, scores)
        ],
        marked=marked,
    )


def _facts(d: Diagnostics) -> list[Fact]:
    turned = [
        Fact.of("rotation_uncertainty", ", ".join(f"{u:.0f}" for u in d.rotation_uncertainty) + " degrees"),
        _stability(d.ica_stability, d.ica_converged),
        Fact.of("dependence", f"{d.dependence:.3f}"),
        Fact.of("kurtosis", _signed(d.kurtosis), _gaussian(d)),
    ]
    return [
        _guess(d),
        *_found_again(d),
        Fact.of("local_isometry", f"{d.local_isometry:.3f}"),
        Fact.of("eigengap", f"{d.eigengap:.3g}"),
        Fact.of("participation", ", ".join(f"{p:.2f}" for p in np.atleast_1d(d.participation))),
        *(turned if len(d.rotation_uncertainty) else []),
        Fact.of("extension_error", f"{d.extension_error:.3g}"),
        Fact(
            "neighbour graph",
            counted(d.n_graph_components, "piece"),
            f"{counted(d.n_orphans, 'orphan')}, {counted(d.n_duplicates, 'duplicate')}.",
        ),
        Fact.of("pca_residual", f"{100 * d.pca_residual:.2f} %"),
    ]


def _stability(stability: float, converged: float) -> Fact:
    return Fact.of("ica_stability", f"{stability:.3f}", f"{100 * converged:.0f} % of the starts converged.")


def _signed(values: Any) -> str:
    return ", ".join(f"{v:+.2f}" for v in np.atleast_1d(values))


def _gaussian(d: Diagnostics) -> str:
    near = int(np.sum(d.gaussian))
    if near == 0:
        return "No code looks Gaussian, as ICA requires."
    if near == 1:
        return "One code looks Gaussian; ICA can still separate it, because the others do not."
    return f"{near} codes look Gaussian; ICA cannot separate these from each other."


def _guess(d: Diagnostics) -> Fact:
    """The expected MCC, or why there is none."""
    if d.expected_mcc is None:
        return Fact.of("expected_mcc", "not available", f"{d.unguessed[:1].upper()}{d.unguessed[1:]}.")
    low = np.floor(100 * d.expected_mcc.low) / 100
    median = d.expected_mcc.median
    more = f"It was above {low:.2f} in 95 % of them, and above {median:.2f} in half."
    return Fact.of("expected_mcc", f"{median:.2f} (low {low:.2f})", more)


def _found_again(d: Diagnostics) -> list[Fact]:
    """With refits, how well each code was reproduced."""
    if d.reliability is None:
        return []
    degrees = ", ".join(f"{t:.0f}" for t in d.reliability.direction)
    return [
        Fact.of("reliability", ", ".join(f"{r:.3f}" for r in d.reliability.per_code)),
        Fact.of("r_hat", ", ".join(f"{r:.2f}" for r in d.reliability.r_hat)),
        Fact.of("direction", f"{degrees} degrees"),
    ]


def _trust_sections(d: Diagnostics) -> list[Section]:
    """Every refit with its correlations."""
    if d.reliability is None:
        return []
    codes = range(len(d.reliability.per_code))
    return [
        Section(
            "Reproducibility",
            ("Each row is a refit with one change, and the correlation of its codes with these.",),
            columns=("changed", "how", *(codes_in_words([j]) for j in codes), "note"),
            rows=[
                [refit.source, refit.about, *(float(c) for c in refit.correlation), refit.failed]
                for refit in d.reliability.refits
            ],
        )
    ]
