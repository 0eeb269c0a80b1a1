"""Summaries of flows: which latents matter, samples, and the training history."""

from typing import TYPE_CHECKING

import numpy as np

from unbraid.estimator.summary import Fact, Section, Summary, title_of, training_section

if TYPE_CHECKING:
    from unbraid.flows.base import FlowEstimator
    from unbraid.flows.conditional import ConditionalFlow

MOST_SHOWN, STYLES, CLASSES, POINTS = 10, 6, 10, 1000
SPECTRUM = (
    "How much each latent matters: how far it moves the data and how widely it spreads. Below: its mutual information "
    "with the condition. Latents to the right of the dotted line are considered noise."
)
NOTE = (
    "A flow can fit the data well without its latents being the factors; they are if the condition changes them "
    "enough. Fit the model with several seeds and compare the codes (unbraid.metrics.mcc of one with another), or "
    "evaluate it on data with known factors."
)


def summary_of(model: "FlowEstimator") -> Summary:
    """The summary of any flow."""
    kept, n_latents = model.n_informative_, len(model.order_)
    values, information = np.asarray(model.importance_), np.asarray(model.information_)
    drawn = {"values": values, "n_kept": kept, "information": information, "name": "importance"}
    return Summary(
        title_of(model),
        _facts(model, kept, n_latents),
        note=NOTE,
        sections=[
            Section("Spectrum", (SPECTRUM,), picture="spectrum", data=drawn),
            training_section(model.history_, "All recorded losses, in nats per observation; one line per start."),
        ],
        n_shown=min(kept, MOST_SHOWN),
        settings={"informative latents": kept},
    )


def _facts(model: "FlowEstimator", kept: int, n_latents: int) -> list[Fact]:
    scores = np.asarray(model.init_scores_)
    low, high = model.n_informative_interval_
    best = float(scores[model.best_init_])
    others = ", ".join(f"{s:.4g}" for s in np.delete(scores, model.best_init_))
    counted = (
        f"Counted from the spectrum, which allows {low} to {high}; these are the first columns. "
        f"{model.n_above_noise_} are above the noise."
    )
    start = f"In nats per observation; start {model.best_init_ + 1} of {len(scores)} was kept"
    added = "Added in training; latents that move the data less than this cannot be found."
    return [
        Fact("informative latents", f"{kept} of {n_latents}", counted),
        Fact("held-out likelihood", f"{best:.4g}", f"{start}; the others reach {others}." if others else f"{start}."),
        Fact("data noise", f"{model.noise_:.3g}", added),
        Fact("steps", str(model.n_steps_), f"Training ended by {model.stopped_}."),
    ]


def sampled(model: "ConditionalFlow") -> Section:
    """Samples: of images, one style per row and one class per column; of other rows, plotted with the data."""
    classes = list(model.classes_[:CLASSES])
    images = np.stack([model.sample(STYLES, c, 1.0, model.n_informative_, random_state=0) for c in classes], axis=1)
    if images.ndim > 3:
        text = "Sampled from the model: one style per row, one class per column. Noise latents are held fixed."
        drawn = {"images": images, "names": [str(c) for c in classes]}
        return Section("Samples", (text,), picture="samples", data=drawn)
    counts = np.maximum(np.round(POINTS * model.priors_).astype(int), 1)
    points = [model.sample(int(n), label=c, random_state=0) for n, c in zip(counts, model.classes_)]
    labels = np.repeat(np.arange(len(counts)), counts) if len(counts) > 1 else None
    text = "The data and points sampled from the model, along the first two principal components of the data."
    drawn = {"samples": np.concatenate(points), "labels": labels}
    return Section("Samples", (text,), picture="sampled points", data=drawn, rows_as="X")
