"""What the flows say about themselves: which latents matter, samples, and how the training went."""

from typing import TYPE_CHECKING

import numpy as np

from unbraid.estimator.summary import Fact, Section, Summary, title_of, training_section

if TYPE_CHECKING:
    from unbraid.flows.base import FlowEstimator
    from unbraid.flows.conditional import ConditionalFlow

MOST_SHOWN, STYLES, CLASSES, POINTS = 10, 6, 10, 1000


def summary_of(model: "FlowEstimator") -> Summary:
    """Of any flow."""
    kept, n_latents = model.n_informative_, len(model.order_)
    sections = [
        Section(
            "Spectrum",
            (
                "How much each latent matters: how far it moves the data, and how widely it spreads. Below, what it "
                "says about the condition. Latents to the right of the dotted line are taken for noise.",
            ),
            picture="spectrum",
            data={
                "values": np.asarray(model.importance_),
                "n_kept": kept,
                "information": np.asarray(model.information_),
                "name": "importance",
            },
        )
    ]
    text = "Everything that was recorded, in nats per observation; one line per start."
    sections.append(training_section(model.history_, text))
    return Summary(
        title_of(model),
        _facts(model, kept, n_latents),
        note=(
            "A flow explains the data whatever its latents mean. They are the factors where the condition changes "
            "them enough: fit it with several seeds and compare the codes (unbraid.metrics.mcc of one with the other), "
            "or score it where factors are known."
        ),
        sections=sections,
        n_shown=min(kept, MOST_SHOWN),
        settings={"informative latents": kept},
    )


def _facts(model: "FlowEstimator", kept: int, n_latents: int) -> list[Fact]:
    scores = np.asarray(model.init_scores_)
    low, high = model.n_informative_interval_
    best = float(scores[model.best_init_])
    others = f"; the others reach {', '.join(f'{s:.4g}' for s in np.delete(scores, model.best_init_))}"
    return [
        Fact(
            "informative latents",
            f"{kept} of {n_latents}",
            f"Told from noise by the spectrum, which allows {low} to {high}; the first columns. "
            f"{model.n_above_noise_} are above the noise.",
        ),
        Fact(
            "held-out likelihood",
            f"{best:.4g}",
            f"In nats per observation; start {model.best_init_ + 1} of {len(scores)} was kept"
            + (others if len(scores) > 1 else "")
            + ".",
        ),
        Fact("data noise", f"{model.noise_:.3g}", "Added in training; what moves the data less is lost in it."),
        Fact("steps", str(model.n_steps_), f"The training ended by {model.stopped_}."),
    ]


def sampled(model: "ConditionalFlow") -> Section:
    """Pictures: one style per row, one class per column. Points: beside the data."""
    classes = list(model.classes_[:CLASSES])
    images = np.stack([model.sample(STYLES, c, 1.0, model.n_informative_, random_state=0) for c in classes], axis=1)
    if images.ndim > 3:
        text = "Drawn by the model: one style per row, and one class per column. Latents taken for noise stay still."
        return Section(
            "Samples", (text,), picture="samples", data={"images": images, "names": [str(c) for c in classes]}
        )
    counts = np.maximum(np.round(POINTS * model.priors_).astype(int), 1)
    points = [model.sample(int(n), label=c, random_state=0) for n, c in zip(counts, model.classes_)]
    return Section(
        "Samples",
        ("The data, and points drawn by the model, in the two directions in which the data vary most.",),
        picture="sampled points",
        data={
            "samples": np.concatenate(points),
            "labels": np.repeat(np.arange(len(counts)), counts) if len(counts) > 1 else None,
        },
        rows_as="X",
    )
