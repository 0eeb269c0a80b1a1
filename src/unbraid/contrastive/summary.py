"""Summary of contrastive learning: what was learned from, whether it can identify factors, and what stays free."""

from typing import TYPE_CHECKING

from unbraid.estimator.summary import Fact, Summary, title_of, training_section

if TYPE_CHECKING:
    from unbraid.contrastive.estimator import Contrastive

MOST_SHOWN = 10
TERMS = {
    "loss": "The objective, in nats; the mean over the last recorded steps, as for all terms below.",
    "information": "What a row tells about its positive, in nats: a lower bound, at most the log of the batch size.",
    "accuracy": "Share of the rows, or of the real pairs, that are classified right.",
}
FREE = {
    "l1": "If the positives of a row lie around it by a Laplace law, the codes are the factors up to their order, "
    "signs and scales.",
    "l2": "A rotation of the codes fits as well: distances in l2 find the space of the factors, not its axes.",
    "cosine": "A rotation of the sphere fits as well: cosines find directions, not factors.",
    "permutation": "If the factors depend on their past and not all are Gaussian, the codes are the factors up to "
    "their order and a function of each.",
    "segments": "If the variances of the factors change with the segment, each code is a function of one factor that "
    "ignores its sign, such as its square; their order is free.",
}


def summary_of(model: "Contrastive") -> Summary:
    """Summary of a fitted :class:`~unbraid.Contrastive`."""
    last = model.history_[-1] if model.history_ else {}
    facts = [Fact.of(key, f"{value:.3g}") for key, value in model.figures_.items()]
    facts += [Fact(name, f"{last[name]:.4g}", TERMS[name]) for name in TERMS if name in last]
    facts.append(Fact("steps", str(model.n_steps_), f"Training ended by {model.stopped_}."))
    how = model.distance if model.objective == "infonce" else model.objective
    return Summary(
        title_of(model), facts, choices=[FREE[how]], concerns=list(model.concerns_), checked=True, decodes=False,
        note="The evidence passed its checks. The null of the evidence compares the fit with shuffled evidence.",
        sections=[training_section(model.history_, "All recorded terms.")],
        n_shown=min(model._n_features_out, MOST_SHOWN), order="spread",
    )  # fmt: skip
