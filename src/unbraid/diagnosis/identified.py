"""What a theorem lets a diagnosis claim, what stays free, and which evidence or method would change that."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from unbraid.manifold.neighbors import Floats
from unbraid.methods import METHODS
from unbraid.trust import support
from unbraid.trust.table import FIGURES
from unbraid.trust.theorems import THEOREMS, Held, Theorem, helpful, methods_of

MANY_ROWS = 100_000  # beyond which a method that is not trained takes minutes too
AS_LINEAR = 0.98  # R2 of a twin on the codes from which on it is as much an embedding as they are


@dataclass(frozen=True)
class Help:
    """Further evidence that would remove what stays free.

    Attributes
    ----------
    evidence : str
        Its name: "labels", "pairs", "time" or "sets".
    theorem : str
        The id of the theorem that would then cover the data.
    asks : str
        What to give.
    reason : str
        Why the factors are not identified without it.
    """

    evidence: str
    theorem: str
    asks: str
    reason: str

    def __str__(self) -> str:
        return f"{self.reason}: {self.asks} would identify them"


@dataclass(frozen=True)
class Option:
    """A method that the evidence at hand allows.

    Attributes
    ----------
    method : str
    parameters : dict
        Those for which the theorem is about this method.
    theorem : str
        Its id.
    holds : bool or None
        Whether the assumptions of the theorem hold; None if one is inconclusive or cannot be tested.
    doubts : tuple of str
        The assumptions that fail, are inconclusive or cannot be tested.
    cost : {"seconds", "minutes"}
    """

    method: str
    parameters: dict[str, str]
    theorem: str
    holds: bool | None
    doubts: tuple[str, ...]
    cost: str

    def __str__(self) -> str:
        settings = "".join(f" {name}={value}" for name, value in self.parameters.items())
        state = {True: "its assumptions hold", False: "an assumption fails", None: "not all is tested"}[self.holds]
        doubts = f": {'; '.join(self.doubts)}" if self.doubts else ""
        return f"{self.method}{settings}, {self.cost}; {THEOREMS[self.theorem].name}: {state}{doubts}"


def helps(theorem: Theorem, held: Held, given: Collection[str], n_factors: int) -> list[Help]:
    """What would identify the factors, where the theorem of the recommended method does not."""
    wrong = dict.fromkeys(p.failing for p in theorem.open(held) if p.failing and set(p.figures) & set(held))
    reason = ", ".join(wrong) or "no theorem covers these data"
    return [
        Help(found.evidence[0], found.id, found.asked(n_factors), reason) for found in helpful(held, given, n_factors)
    ]


def options(held: Held, given: Collection[str], n_rows: int, chosen: Theorem) -> list[Option]:
    """The methods whose theorems need no other evidence than what is given; with evidence, those that use it."""
    found = []
    for theorem in THEOREMS.values():
        if set(theorem.evidence) <= set(given) and (not given or theorem.evidence) and theorem.was_tested(held):
            state = dict(held)
            if len(given) > 1 and theorem is not chosen:
                state.pop("evidence_turn", None)  # it is about the evidence of the chosen method
            found += [_option(theorem, *covered, state, n_rows) for covered in methods_of(theorem.id)]
    rank = {True: 0, None: 1, False: 2}
    offered = [option for option in found if METHODS[option.method].fits]
    return sorted(offered, key=lambda option: (rank[option.holds], option.cost != "seconds"))


def _option(theorem: Theorem, name: str, parameters: dict[str, str], figure: str, held: Held, n_rows: int) -> Option:
    doubts = [premise.words for premise in theorem.open(held)]
    holds = theorem.holds(held)
    if figure and not held.get(figure):
        holds, doubts = False, [FIGURES[figure].assumption, *doubts]
    cost = "minutes" if METHODS[name].trained or n_rows > MANY_ROWS else "seconds"
    return Option(name, parameters, theorem.id, holds, tuple(doubts), cost)


def twin_of(codes: Floats) -> str:
    """Whether codes have a twin that fits as well: the codes of the impossibility theorem, measured as they are.

    The twin has the marginals of the codes. It fits as well if it is as independent, and a linear map of the codes, so
    that it preserves distances as they do. If it does not fit, the theorem itself is the answer.

    >>> z = np.random.default_rng(0).normal(size=(1000, 2))
    >>> twin_of(z).startswith("A twin"), twin_of(np.sign(z) * z**2).startswith("A twin")
    (True, False)
    """
    from unbraid.theory.entangle import entangle

    try:
        twin = entangle(codes)
    except (TypeError, ValueError):  # codes with repeated values have no density
        return THEOREMS["none"].sentence
    centred, other = codes - codes.mean(axis=0), twin - twin.mean(axis=0)
    left = other - centred @ np.linalg.lstsq(centred, other, rcond=None)[0]
    linear = float((1 - left.var(axis=0) / other.var(axis=0)).min())
    nats = max(support.dependence(twin), 0.0)
    if linear < AS_LINEAR or not FIGURES["dependence"].holds(nats):
        return THEOREMS["none"].sentence
    return (
        "A twin of these codes, each a mixture of all of them (unbraid.theory.entangle), fits as well: it has the same "
        f"marginals, a mutual information of {nats:.3f} nats (the codes: {max(support.dependence(codes), 0):.3f}), and "
        f"is a linear map of them (R2 {linear:.3f}). Nothing in these data prefers one of the two."
    )
