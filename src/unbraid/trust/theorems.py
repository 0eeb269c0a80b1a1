"""Identifiability as data: which theorem covers which method, what it assumes, and what stays free.

The table is ``theorems.toml`` beside this file. ``diagnose``, the methods, the docs and the chart read it. An
assumption that has a figure is tested by it; one that has none cannot be tested, and nothing is claimed that rests on
it.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from unbraid.methods import METHODS, method_of

Held = Mapping[str, bool | None]  # by the key of a figure: whether its assumption holds, None if inconclusive

ALWAYS = ("order", "sign")  # free in every theorem that has no labels of the factors, and harmless
HARMLESS = (*ALWAYS, "scale", "origin", "function per factor")  # each code is then still one factor


@dataclass(frozen=True)
class Premise:
    """An assumption of a theorem.

    Attributes
    ----------
    words : str
    figures : tuple of str
        Keys of the figures that test it; it holds if one of them does. Empty if it cannot be tested.
    failing : str
        What is wrong if it does not hold, in a few words.
    without : tuple of str
        What is free as well if it does not hold; empty if nothing can be said then.
    """

    words: str
    figures: tuple[str, ...] = ()
    failing: str = ""
    without: tuple[str, ...] = ()

    def holds(self, held: Held) -> bool | None:
        """True if a figure holds, False if those that were measured fail, None if none decides.

        >>> Premise("", ("local_isometry", "flat_residual")).holds({"flat_residual": False, "local_isometry": True})
        True
        """
        states = [held[key] for key in self.figures if key in held]
        return True if True in states else None if None in states or not states else False


@dataclass(frozen=True)
class Theorem:
    """An entry of the table.

    Attributes
    ----------
    id : str
    name : str
    sentence : str
        What it says, in one sentence.
    free : tuple of str
        What stays free if all assumptions hold: keys of :data:`FREE`.
    reference : str
        Author, year and number.
    flat : tuple of str
        What stays free if the data are flat, so that the factors mix linearly; empty if that changes nothing.
    evidence : tuple of str
        What must be known about the rows: names of :data:`unbraid.methods.EVIDENCE`.
    asks : str
        The evidence in words, for those who do not have it.
    assumptions : tuple of Premise
    """

    id: str
    name: str
    sentence: str
    free: tuple[str, ...]
    reference: str
    flat: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    asks: str = ""
    assumptions: tuple[Premise, ...] = ()

    def holds(self, held: Held) -> bool | None:
        """False if an assumption fails, None if one is inconclusive or cannot be tested, else True."""
        states = {premise.holds(held) for premise in self.assumptions}
        return False if False in states else None if None in states or not states else True

    def open(self, held: Held) -> list[Premise]:
        """The assumptions that fail, are inconclusive or cannot be tested."""
        return [premise for premise in self.assumptions if premise.holds(held) is not True]

    def free_given(self, held: Held) -> tuple[str, ...]:
        """What stays free beyond order and sign, given what was found about its assumptions.

        >>> THEOREMS["none"].free_given({})
        ('everything',)
        """
        left = self.open(held)
        if "everything" in self.free or not self.assumptions or any(not premise.without for premise in left):
            return ("everything",)
        own = self.flat if self.flat and held.get("flat_residual") else self.free
        found = [*own, *(name for premise in left for name in premise.without)]
        return tuple(dict.fromkeys(name for name in found if name not in ALWAYS))

    def was_tested(self, held: Held) -> bool:
        """Whether a figure of every assumption that has figures was measured."""
        return all(set(premise.figures) & set(held) for premise in self.assumptions if premise.figures)

    def asked(self, n_factors: int) -> str:
        """The evidence it needs, for a number of factors."""
        return self.asks.format(conditions=2 * n_factors + 1, labelled=2 * n_factors + 1)


def _read() -> tuple[dict[str, str], dict[str, Any], dict[str, Theorem]]:
    table = tomllib.loads((files("unbraid.trust") / "theorems.toml").read_text(encoding="utf-8"))

    def tuples(entry: dict[str, Any]) -> dict[str, Any]:
        return {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}

    theorems = {}
    for id_, entry in table["theorems"].items():
        assumptions = [Premise(**tuples(premise)) for premise in entry.pop("assumptions", [])]
        theorems[id_] = Theorem(id=id_, **tuples(entry), assumptions=tuple(assumptions))
    return table["free"], table["cases"], theorems


FREE, CASES, THEOREMS = _read()


def theorem_of(method: str, **parameters: Any) -> Theorem:
    """The theorem about a method with these parameters, of those that change it (``rotation``, ``objective``).

    >>> theorem_of("hessian-ica").reference
    'Horan, Richardson and Weiss (2021), theorem 1'
    >>> theorem_of("hessian-ica", rotation="time").name
    'autocorrelated factors'
    """
    for name, case in CASES.items():
        if method in case["methods"] and parameters.get(name) in case["values"]:
            return THEOREMS[case["values"][parameters[name]]]
    return THEOREMS[method_of(method).theorem]


def methods_of(theorem: str) -> list[tuple[str, dict[str, str], str]]:
    """The methods that a theorem covers, with the parameters for which it does and the figure that must hold besides.

    >>> methods_of("sobi")[-1]
    ('pca-ica', {'rotation': 'time'}, 'flat_residual')
    """
    own = [(name, dict[str, str](), "") for name, method in METHODS.items() if method.theorem == theorem]
    by_case = [
        (name, {parameter: value}, figure)
        for parameter, case in CASES.items()
        for value, id_ in case["values"].items()
        if id_ == theorem
        for name, figure in case["methods"].items()
        if name in METHODS
    ]
    return own + by_case


def helpful(held: Held, given: Iterable[str], n_factors: int) -> list[Theorem]:
    """The theorems that further evidence would bring into force: those of which no measured assumption fails.

    Rotations of an embedding come first; only where none of them would help are others named.

    Parameters
    ----------
    held : mapping
    given : iterable of str
        The evidence that is there already.
    n_factors : int

    Returns
    -------
    list of Theorem
    """
    left = {key: state for key, state in held.items() if key != "evidence_turn"}  # new evidence has its own
    further = [
        theorem
        for theorem in THEOREMS.values()
        if theorem.evidence
        and not (set(theorem.evidence) <= set(given) and theorem.was_tested(held))
        and theorem.holds(left) is not False
        and methods_of(theorem.id)
    ]
    rotations = [theorem for theorem in further if theorem.id in CASES["rotation"]["values"].values()]
    if not n_factors:
        return []
    if rotations:
        return rotations
    return list({theorem.evidence: theorem for theorem in reversed(further)}.values())[::-1]
