"""What the autoencoders say about themselves: their losses in words, codes that are switched off, a teacher's trust."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unbraid.estimator.base import Estimator
from unbraid.estimator.summary import Fact, Section, Summary, title_of, training_section
from unbraid.trust.table import FIGURES

if TYPE_CHECKING:
    from unbraid.autoencoders.base import AutoencoderEstimator
    from unbraid.autoencoders.irmae import IRMAE
    from unbraid.autoencoders.vae import VAE

MOST_SHOWN = 10
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
NOTE = (
    "An autoencoder: low losses say that the codes explain the data, not that each stands for one factor. Fit it with "
    "several seeds and compare the codes (unbraid.metrics.udr), or score it where factors are known."
)


def summary_of(model: "AutoencoderEstimator") -> Summary:
    """Of any autoencoder; each kind adds what it alone has."""
    last, n_codes = model.history_[-1] if model.history_ else {}, model._n_features_out
    facts = [Fact(name.replace("_", " "), f"{last[name]:.4g}", TERMS[name]) for name in TERMS if name in last]
    facts.append(Fact("steps", str(model.n_steps_), f"The training ended by {model.stopped_}."))
    sections = [training_section(model.history_, "Every term that was recorded.")]
    return Summary(
        title_of(model), facts, note=NOTE, sections=sections, n_shown=min(n_codes, MOST_SHOWN), order="spread",
        reconstructs=True,
    )  # fmt: skip


def variational(shown: Summary, model: "VAE") -> Summary:
    """With how much each code carries."""
    used = int(np.sum(model.kl_ > FIGURES["code_information"].limit()))
    fact = Fact.of("code_information", f"{used} of {len(model.kl_)}")
    kl = Section(
        "Nats per code",
        ("KL of each code from its prior as training goes on: how much each one carries.",),
        picture="kl",
        data={"history": model.history_},
        caption="Codes near 0 are switched off.",
    )
    sections = [kl, *shown.sections] if model.history_ else shown.sections
    return replace(shown, facts=[fact, *shown.facts], sections=sections, order=[float(v) for v in model.kl_])


def low_rank(shown: Summary, model: "IRMAE") -> Summary:
    """With the rank that the linear layers found."""
    rank = int(np.sum(model.spectrum_ > FIGURES["rank"].limit() * model.spectrum_[0]))
    spectrum = Section(
        "Spectrum",
        ("Variance of the codes along their principal directions: the linear layers let only those grow that the data "
         "needs.",),
        picture="spectrum",
        data={"values": np.asarray(model.spectrum_), "n_kept": rank, "name": "variance"},
    )  # fmt: skip
    facts = [Fact.of("rank", f"{rank} of {len(model.spectrum_)}"), *shown.facts]
    return replace(shown, facts=facts, sections=[spectrum, *shown.sections])


def taught(shown: Summary, fitted: Any) -> Summary:
    """The codes are the teacher's: so are the choices and what speaks against them, if it is an estimator of ours."""
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
