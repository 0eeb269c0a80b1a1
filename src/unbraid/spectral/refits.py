r"""R-hat for codes: how well refits on other rows, with other seeds, settings, methods and evidence reproduce them.

Refits are aligned with the codes by order and sign. For standardised codes the mean correlation r between refits is
the share of a code's variance that all of them have in common (the intraclass correlation), and
:math:`\hat R = 1 / \sqrt{r}` is its spread over all refits relative to the spread of what they have in common: 1 if
every refit finds the same code, like Markov chains that have converged.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata

from unbraid.estimator.summary import codes_in_words
from unbraid.manifold.neighbors import Floats
from unbraid.spectral.diagnostics import Diagnostics
from unbraid.spectral.evidence import by_support
from unbraid.spectral.landmarks import Embedded, solved
from unbraid.spectral.trial import Advance, Choice, Embedding, Settings
from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import ConvergenceWarning, format_warning

Unmix = Callable[[Embedded], tuple[Floats, Floats]]  # from an embedding to the mean and the matrix of the codes

POINTS = 1000  # at which refits are compared
SUPPORT_POINTS = 500
SPLITS = 2
WIDER = 1.5  # neighbourhoods of refits with other settings, over those chosen, and its inverse

SAME = ("halves", "seed", "settings")  # refits by the same method
SOURCES = (*SAME, "method", "evidence")


@dataclass(frozen=True)
class Refit:
    """One refit against the codes.

    Attributes
    ----------
    source : str
        What was changed: "halves", "seed", "settings", "method" or "evidence".
    about : str
        A description of the change.
    correlation : array (d,)
        Of each code with the one that is matched with it, ignoring signs; of their ranks for another method, which
        may bend the codes; 0 if the refit failed.
    failed : str
        Why the refit failed; empty if it did not.
    """

    source: str
    about: str
    correlation: Floats
    failed: str = ""

    @property
    def turn(self) -> Floats:
        """Degrees between each code and the one that is matched with it."""
        return np.degrees(np.arccos(np.clip(self.correlation, 0, 1)))


@dataclass(frozen=True)
class Reliability:
    """How well each code is reproduced.

    Attributes
    ----------
    per_code : array (d,)
        Mean correlation between refits on halves, by another seed and by other settings, the codes among them.
    direction : array (d,)
        The largest rotation of each code over all refits, in degrees.
    refits : list of Refit
    """

    per_code: Floats
    direction: Floats
    refits: list[Refit] = field(default_factory=list)

    @property
    def r_hat(self) -> Floats:
        """Spread of each code over all refits relative to that of what they have in common; 1 is perfect."""
        return 1 / np.sqrt(np.maximum(self.per_code, 1e-4))

    def __str__(self) -> str:
        shares = ", ".join(f"{r:.3f}" for r in self.per_code)
        degrees = ", ".join(f"{turn:.0f}" for turn in self.direction)
        return f"reliability {shares} in {len(self.refits)} refits; directions within {degrees} degrees"

    def by_source(self) -> dict[str, Floats]:
        """Mean correlation (d,) of the codes with the refits of each source."""
        return {
            source: np.mean([r.correlation for r in self.refits if r.source == source], axis=0)
            for source in SOURCES
            if any(r.source == source for r in self.refits)
        }


def reliability_of(
    choice: Choice,
    reference: Floats,
    unmix: Unmix,
    other: tuple[str, Embedding],
    rng: np.random.RandomState,
    advance: Advance,
) -> Reliability:
    """Refit, each time with one change to the chosen settings.

    Parameters
    ----------
    choice : Choice
        What was fitted.
    reference : array (n, d)
        Its codes.
    unmix : callable
        Rotates an embedding into codes by the same evidence as the fit.
    other : (str, Embedding)
        The second method, which rests on other assumptions.
    rng : RandomState
    advance : callable
        Called with 1 after each refit.
    """
    points, settings = choice.points, choice.settings.at(choice.candidate)
    n, k = len(points), choice.candidate.n_neighbors
    rows = np.sort(rng.permutation(n)[:POINTS])
    record = _Record(reference[rows], points[rows], unmix, rng, advance)
    for split in range(SPLITS):
        order = rng.permutation(n)
        for half in (order[: n // 2], order[n // 2 :]):
            about = f"{len(half)} of {n} points, split {split + 1}"
            record.solve("halves", about, points[np.sort(half)], settings)
    record.solve("seed", "another random start", points, settings)
    for size in sorted({max(settings.smallest, round(k / WIDER)), min(n - 1, round(k * WIDER))} - {k}):
        record.solve("settings", f"{size} neighbours", points, replace(settings, n_neighbors=size))
    record.solve("method", other[0], points, replace(settings, embed=other[1]))
    if reference.shape[1] > 1:
        Z = _standardised(reference)
        some = rng.permutation(n)[:SUPPORT_POINTS]
        record.add("evidence", "factors that fill a box", Z[rows] @ by_support(Z[some], n_starts=1).T)
    return record.reliability()


@dataclass
class _Record:
    """Refits as they come, compared at the same points."""

    reference: Floats
    points: Floats
    unmix: Unmix
    rng: np.random.RandomState
    advance: Advance
    refits: list[Refit] = field(default_factory=list)
    alike: list[Floats] = field(default_factory=list)

    def solve(self, source: str, about: str, part: Floats, settings: Settings) -> None:
        """Embed these points and rotate them; a refit that fails has correlation 0 with the codes."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # a bad refit shows in its correlation
                found = solved(part, settings, self.rng, self.advance)
                mean, matrix = self.unmix(found)
        except ValueError as error:
            self.refits.append(Refit(source, about, np.zeros(self.reference.shape[1]), str(error)))
            return
        self.add(source, about, (found.maps(self.points) - mean) @ matrix.T)

    def add(self, source: str, about: str, codes: Floats) -> None:
        """Compare codes of the points with the reference."""
        if source == "method":  # it may bend each code, so ranks are compared
            aligned, correlation = aligned_with(rankdata(self.reference, axis=0), rankdata(codes, axis=0))
        else:
            aligned, correlation = aligned_with(self.reference, codes)
        self.refits.append(Refit(source, about, correlation))
        if source in SAME:
            self.alike.append(aligned)

    def reliability(self) -> Reliability:
        """The result of all refits."""
        alike = [_standardised(self.reference), *self.alike]
        m, wanted = len(alike), 1 + sum(refit.source in SAME for refit in self.refits)
        per_code = intraclass(alike) * (m * (m - 1)) / (wanted * (wanted - 1))  # failed ones correlate with none
        return Reliability(per_code, np.max([refit.turn for refit in self.refits], axis=0), self.refits)


def found_again(diagnostics: Diagnostics, reliability: Reliability) -> Diagnostics:
    """The diagnostics with the reliability, and a concern if a code was not reproduced."""
    usual, shares, r_hats = FIGURES["r_hat"].limit(), reliability.per_code, reliability.r_hat
    found = [
        format_warning("UB212", codes=codes_in_words([int(j)]), correlation=shares[j], r_hat=r_hats[j], usual=usual)
        for j in np.flatnonzero(r_hats > usual)
    ]
    return replace(diagnostics, reliability=reliability, concerns=diagnostics.concerns + found)


def aligned_with(reference: Floats, codes: Floats) -> tuple[Floats, Floats]:
    """Codes in the order and with the signs of the reference, standardised, and their correlations with it.

    >>> z = np.random.default_rng(0).normal(size=(50, 2))
    >>> aligned, correlation = aligned_with(z, -3 * z[:, ::-1])
    >>> correlation.round(6).tolist(), bool(np.allclose(aligned, (z - z.mean(axis=0)) / z.std(axis=0)))
    ([1.0, 1.0], True)
    """
    A, B = _standardised(reference), _standardised(codes)
    C = A.T @ B / len(A)
    own, matched = linear_sum_assignment(-np.abs(C))
    correlation = C[own, matched]
    return B[:, matched] * np.where(correlation < 0, -1.0, 1.0), np.abs(correlation)


def intraclass(aligned: list[Floats]) -> Floats:
    """Mean correlation (d,) between aligned, standardised codes: the share of their variance that they have in common.

    >>> z = np.random.default_rng(0).normal(size=(50, 2))
    >>> z = (z - z.mean(axis=0)) / z.std(axis=0)
    >>> intraclass([z, z]).round(6).tolist()
    [1.0, 1.0]
    """
    m = len(aligned)
    if m == 1:
        return np.zeros(aligned[0].shape[1])
    together = (np.sum(aligned, axis=0) ** 2).mean(axis=0)  # m + m (m - 1) times the mean correlation
    return np.clip((together - m) / (m * (m - 1)), 0.0, 1.0)


def _standardised(codes: Floats) -> Floats:
    centred = codes - codes.mean(axis=0)
    return centred / np.maximum(centred.std(axis=0), 1e-300)
