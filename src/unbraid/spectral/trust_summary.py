"""The guess of the MCC and the refits, in words and as a table."""

import numpy as np

from unbraid.estimator.summary import Fact, Section, codes_in_words
from unbraid.spectral.diagnostics import Diagnostics
from unbraid.spectral.refits import R_HAT


def trust_facts(d: Diagnostics) -> list[Fact]:
    """The expected MCC, or why there is none; with refits, how well each code was found again."""
    return [_guess(d), *_found_again(d)]


def _guess(d: Diagnostics) -> Fact:
    if d.expected_mcc is None:
        return Fact("expected MCC", "not said", f"{d.unguessed[:1].upper()}{d.unguessed[1:]}.")
    low = np.floor(100 * d.expected_mcc.low) / 100
    meaning = (
        f"In simulated worlds that look like this one, the MCC with the true factors was above {low:.2f} in 95 %, and "
        f"above {d.expected_mcc.median:.2f} in half of them."
    )
    return Fact("expected MCC", f"{d.expected_mcc.median:.2f} (low {low:.2f})", meaning)


def _found_again(d: Diagnostics) -> list[Fact]:
    if d.reliability is None:
        return []
    shares = ", ".join(f"{r:.3f}" for r in d.reliability.per_code)
    degrees = ", ".join(f"{t:.0f}" for t in d.reliability.direction)
    return [
        Fact("reliability", shares, "Mean correlation of each code between refits; 1 where it is always found again."),
        Fact("R-hat", ", ".join(f"{r:.2f}" for r in d.reliability.r_hat), f"1 is perfect; above {R_HAT}, look twice."),
        Fact("direction", f"{degrees} degrees", "The largest turn of each code over all refits."),
    ]


def trust_sections(d: Diagnostics) -> list[Section]:
    """Every refit with its correlations."""
    if d.reliability is None:
        return []
    codes = range(len(d.reliability.per_code))
    return [
        Section(
            "Found again?",
            ("Each line is a refit in which one thing was changed, and how its codes correlate with these.",),
            columns=("changed", "how", *(codes_in_words([j]) for j in codes), "note"),
            rows=[
                [refit.source, refit.about, *(float(c) for c in refit.correlation), refit.failed]
                for refit in d.reliability.refits
            ],
        )
    ]
