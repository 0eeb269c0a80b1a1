"""Summaries of autoencoders: losses with their meaning, unused codes, and a teacher's diagnostics."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unbraid.estimator.base import Estimator
from unbraid.estimator.summary import Fact, Section, Summary, title_of, training_section
from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import format_warning

if TYPE_CHECKING:
    from unbraid.autoencoders.additive import SumOfParts
    from unbraid.autoencoders.base import AutoencoderEstimator
    from unbraid.autoencoders.irmae import IRMAE
    from unbraid.autoencoders.ivae import IVAE
    from unbraid.autoencoders.slow_vae import SlowVAE
    from unbraid.autoencoders.vae import VAE

MOST_SHOWN = 10
TERMS = {
    "loss": "The objective, in nats; the mean over the last recorded steps, as for all terms below.",
    "reconstruction": "-log-likelihood of an observation, summed over its features.",
    "kl": "An upper bound on the information that the codes carry about an observation, in nats.",
    "index_code_mi": "Mutual information of codes and observations, estimated from one batch.",
    "total_correlation": "Dependence among the codes, estimated from one batch; biased low when codes are sharp.",
    "dimension_wise_kl": "Distance of each code's distribution from the prior, summed.",
    "capacity": "Information that the codes were allowed to carry, in nats.",
    "discriminator": "Loss of the discriminator; 0.693 when it guesses at random.",
    "discriminator_tc": "Dependence among the codes as estimated by the discriminator.",
    "covariance_penalty": "How far the covariance of the codes is from the identity, weighted.",
    "shared": "Share of the codes that the two rows of a pair have in common.",
    "transition": "KL of each step of the codes from the Laplace distribution of steps.",
    "codes": "Squared error of the encoder, in standard deviations of the teacher's codes.",
}
NOTE = (
    "Low losses mean that the codes explain the data, not that each code stands for one factor. Fit the model with "
    "several seeds and compare the codes (unbraid.metrics.udr), or evaluate it on data with known factors."
)


def summary_of(model: "AutoencoderEstimator") -> Summary:
    """The summary of any autoencoder; each kind adds its own."""
    last, n_codes = model.history_[-1] if model.history_ else {}, model._n_features_out
    facts = [Fact(name.replace("_", " "), f"{last[name]:.4g}", TERMS[name]) for name in TERMS if name in last]
    facts += _as_read(model)
    facts.append(Fact("steps", str(model.n_steps_), f"Training ended by {model.stopped_}."))
    sections = [training_section(model.history_, "All recorded terms.")]
    return Summary(
        title_of(model), facts, note=NOTE, sections=sections, n_shown=min(n_codes, MOST_SHOWN), order="spread",
        reconstructs=True,
    )  # fmt: skip


def _as_read(model: "AutoencoderEstimator") -> list[Fact]:
    """How the data were read, where that is not plain."""
    kinds, found = model.kinds_ or [model.likelihood_], []
    if set(kinds) != {"gaussian"}:
        named = ", ".join(f"{kind} ({kinds.count(kind)})" if model.kinds_ else kind for kind in dict.fromkeys(kinds))
        about = "Rows are brought to one total." if model.counts == "depth" else "Of the data given the codes."
        found.append(Fact("likelihood", named, about))
    if model.missing_:
        about = "Of the values; they are left out of the loss, and the encoder sees a mark in their place."
        found.append(Fact("missing", f"{100 * model.missing_:.1f} %", about))
    if model.explained_by_covariates_ is not None:
        data, codes = model.explained_by_covariates_
        about = (
            f"Of the variance of the data, by least squares, and {100 * codes:.1f} % of that of the codes: encoder and "
            "decoder take the covariates as inputs, so that codes need not carry them."
        )
        found.append(Fact("covariates explain", f"{100 * data:.0f} %", about))
    return found


def variational(shown: Summary, model: "VAE") -> Summary:
    """Add how much information each code carries."""
    used = int(np.sum(model.kl_ > FIGURES["code_information"].limit()))
    fact = Fact.of("code_information", f"{used} of {len(model.kl_)}")
    kl = Section(
        "Nats per code",
        ("KL of each code from its prior during training: how much information it carries.",),
        picture="kl",
        data={"history": model.history_},
        caption="Codes near 0 are not used.",
    )
    sections = [kl, *shown.sections] if model.history_ else shown.sections
    return replace(shown, facts=[fact, *shown.facts], sections=sections, order=[float(v) for v in model.kl_])


def of_parts(shown: Summary, model: "SumOfParts") -> Summary:
    """Add what the parts of an additive decoder are worth."""
    shares = ", ".join(f"{share:.2f}" for share in model.part_shares_)
    facts = [Fact.of("additive_fit", f"{model.explained_:.3f}"), Fact.of("part_shares", shares)]
    low = model.explained_ < FIGURES["additive_fit"].limit()
    concerns = [format_warning("UB130", share=100 * model.explained_)] if low else []
    return replace(shown, facts=[*facts, *shown.facts], concerns=[*shown.concerns, *concerns], checked=True)


def with_condition(shown: Summary, model: "IVAE") -> Summary:
    """Add how much the condition says about the codes."""
    what = f"{len(model.classes_)} conditions" if len(model.classes_) else "a continuous condition"
    fact = Fact.of("condition_effect", f"{model.condition_effect_:.2f}", f"The fit had {what}.")
    return replace(shown, facts=[fact, *shown.facts])


def in_time(shown: Summary, model: "SlowVAE") -> Summary:
    """Add how the codes move in time."""
    facts = [
        Fact.of("code_memory", ", ".join(f"{value:.2f}" for value in model.autocorrelation_)),
        Fact.of("step_kurtosis", ", ".join(f"{value:.1f}" for value in model.step_kurtosis_)),
    ]
    return replace(shown, facts=[*facts, *shown.facts])


def low_rank(shown: Summary, model: "IRMAE") -> Summary:
    """Add the rank that the linear layers found."""
    rank = int(np.sum(model.spectrum_ > FIGURES["rank"].limit() * model.spectrum_[0]))
    spectrum = Section(
        "Spectrum",
        ("Variance of the codes along their principal directions: the linear layers keep only as many as the data "
         "needs.",),
        picture="spectrum",
        data={"values": np.asarray(model.spectrum_), "n_kept": rank, "name": "variance"},
    )  # fmt: skip
    facts = [Fact.of("rank", f"{rank} of {len(model.spectrum_)}"), *shown.facts]
    return replace(shown, facts=facts, sections=[spectrum, *shown.sections])


def taught(shown: Summary, fitted: Any) -> Summary:
    """Add the teacher's choices and concerns, which apply to its codes, if it is one of our estimators."""
    if not isinstance(fitted, Estimator):
        return replace(shown, order=None)
    teacher = fitted.summary()
    return replace(
        shown,
        order=None,
        facts=teacher.facts + shown.facts,
        choices=teacher.choices,
        concerns=teacher.concerns,
        note=teacher.note,
        checked=teacher.checked,
        sections=shown.sections + teacher.sections,
        settings=teacher.settings,
    )
