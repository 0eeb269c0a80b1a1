"""What a fit's selection and diagnostics say, in sentences: for the terminal and for the report."""

from typing import Any

import numpy as np


def selection_words(selection: Any, scores: list[float]) -> list[str]:
    """How the settings were chosen.

    Parameters
    ----------
    selection : Selection
        An estimator's ``selection_``.
    scores : list of float
        What its rule maximises, one a candidate.
    """
    chosen = selection.chosen
    found = []
    if selection.dimension != "given":
        found.append(f"Number of factors: {selection.dimension}.")
    setting = f"{chosen.n_neighbors} neighbours and {chosen.pca_components} principal components"
    if selection.rule == "given":
        found.append(f"{setting}: given, nothing was left to choose.")
    else:
        found.append(
            f"{setting} were chosen among {len(selection.candidates)} settings by the rule {selection.rule!r} "
            f"(local isometry {chosen.edges:.3f} over neighbours and {chosen.closest:.3f} over the closest pairs, "
            f"mutual information of the codes {chosen.dependence:.3f})."
        )
        excluded = sum(bool(c.excluded) for c in selection.candidates)
        if excluded:
            found.append(f"{excluded} of them could not be chosen; the table of settings says why.")
        if len(scores) > 1:
            spread = max(scores) - min(scores)
            found.append(
                "The choice hardly matters: the scores differ by less than 0.02."
                if spread < 0.02
                else f"The choice matters: scores run from {min(scores):.3f} to {max(scores):.3f}."
            )
    return found + [
        f"{step['n_landmarks']} landmarks place held-out points with an error of {step['held_out_error']:.3g} "
        "standard deviations."
        for step in selection.landmarks
    ]


def diagnostics_words(diagnostics: Any, *, with_ica: bool = True) -> list[tuple[str, str, str]]:
    """(figure, value, what it means) of an estimator's ``diagnostics_``."""
    d = diagnostics
    rows = [
        (
            "local isometry",
            f"{d.local_isometry:.3f}",
            "Correlation of distances between neighbours in the data and in the codes; the theory asks for 1.",
        ),
        (
            "eigengap",
            f"{d.eigengap:.3g}",
            "First eigenvalue left out over the last one kept; well above 1 says where the factors end.",
        ),
        (
            "participation",
            ", ".join(f"{p:.2f}" for p in np.atleast_1d(d.participation)),
            "Share of the points on which each eigenvector lives; near 0 it has collapsed onto a few.",
        ),
    ]
    if with_ica:
        rows += [
            (
                "ICA stability",
                f"{d.ica_stability:.3f}",
                f"Agreement between random starts of ICA; {100 * d.ica_converged:.0f} % of them converged.",
            ),
            ("excess kurtosis", _signed(d.kurtosis), _kurtosis_words(d)),
        ]
    return rows + [
        (
            "extension error",
            f"{d.extension_error:.3g}",
            "Error of placing a point from its neighbours alone, in standard deviations of a code.",
        ),
        ("neighbour graph", f"{d.n_graph_components} piece(s)", _graph_words(d)),
        (
            "PCA residual",
            f"{100 * d.pca_residual:.2f} %",
            "Share of the variance that the PCA before the neighbour search leaves out.",
        ),
    ]


def rotation_words(rotation: Any, kurtosis: Any) -> list[tuple[str, str, str]]:
    """The same for a linear method, which has only ICA to speak of."""
    return [
        (
            "ICA stability",
            f"{rotation.stability:.3f}",
            f"Agreement between random starts of ICA; {100 * rotation.converged:.0f} % of them converged.",
        ),
        ("excess kurtosis", _signed(kurtosis), "Of each code; ICA cannot separate two that are near 0."),
    ]


TERMS = {
    "loss": "What was minimised, in nats; the mean of the last recorded steps, like all below.",
    "reconstruction": "-log-likelihood of an observation, summed over its features.",
    "kl": "Nats that the codes carry about an observation, at most.",
    "index_code_mi": "Mutual information of codes and observations, estimated from one batch.",
    "total_correlation": "Dependence among the codes, estimated from one batch; biased low when codes are sharp.",
    "dimension_wise_kl": "Distance of each code's distribution from the prior, summed.",
    "capacity": "Nats that the codes were allowed.",
    "discriminator": "Loss of the discriminator; 0.693 when it only guesses.",
    "discriminator_tc": "Dependence among the codes as the discriminator sees it.",
    "covariance_penalty": "How far the covariance of the codes is from the identity, weighted.",
    "codes": "Squared error of the encoder, in standard deviations of the teacher's codes.",
}


def training_words(history: list[dict]) -> list[tuple[str, str, str]]:
    """The terms of the loss at the end of training.

    >>> training_words([{"step": 5, "loss": 2.0}])[0][:2]
    ('loss', '2')
    """
    return [
        (name.replace("_", " "), f"{history[-1][name]:.4g}", text)
        for name, text in TERMS.items()
        if name in history[-1]
    ]


def _signed(values: Any) -> str:
    return ", ".join(f"{v:+.2f}" for v in np.atleast_1d(values))


def _kurtosis_words(d: Any) -> str:
    near = int(np.sum(d.gaussian))
    if near == 0:
        return "No code looks Gaussian, as ICA needs."
    if near == 1:
        return "One code looks Gaussian; ICA can still separate it, because the others do not."
    return f"{near} codes look Gaussian; ICA cannot separate these from each other."


def _graph_words(d: Any) -> str:
    joined = "All points hang together" if d.n_graph_components == 1 else "The points do not hang together"
    return f"{joined}; {d.n_orphans} orphan(s), {d.n_duplicates} duplicate(s)."
