"""From the options of ``unbraid fit`` to parameters of an estimator; what a method does not take is refused."""

import ast
from collections.abc import Sequence
from typing import Any

from unbraid.methods import METHODS, Method

# Options that stand for a parameter of the same meaning in every method that has it.
PARAMETERS = {
    "--factors": "n_factors",
    "--neighbors": "n_neighbors",
    "--landmarks": "n_landmarks",
    "--trust": "trust",
    "--steps": "max_steps",
    "--max-seconds": "max_seconds",
    "--device": "device",
    "--augment": "augment",
}
AUTO = "auto"  # the method that the diagnosis recommends
OFFERED = {name: method for name, method in METHODS.items() if method.fits}


def offered(name: str) -> Method:
    """The method of a name, or an error that lists those of the command line.

    >>> offered("hessian-ica").title
    'HLLE+ICA'
    """
    if name not in OFFERED:
        raise ValueError(f"there is no method {name!r}. Valid methods: {AUTO}, {', '.join(OFFERED)}.")
    return OFFERED[name]


def parameters_of(name: str, given: dict[str, Any], assigned: Sequence[str] = ()) -> dict[str, Any]:
    """Parameters of a method, of the options that were given and of ``--set``; those left out are not passed.

    >>> parameters_of("pca-ica", {"--factors": 3, "--steps": None})
    {'n_factors': 3}
    """
    known = OFFERED[name].load()().get_params(deep=False)
    found: dict[str, Any] = {}
    for option, parameter in PARAMETERS.items():
        value = given.get(option)
        if value is None:
            continue
        if parameter not in known:
            raise refusal(option, name, [m for m in OFFERED if parameter in _parameters(m)])
        found[parameter] = value
    if found.get("n_factors") == "auto" != known["n_factors"] and OFFERED[name].trained:
        del found["n_factors"]  # a network has a number of codes, and no way to estimate it
    for text in assigned:
        parameter, value = assignment(text, "--set", "tol=0.01")
        if parameter not in known:
            raise ValueError(f"{name} has no parameter {parameter!r} (--set). Its parameters: {', '.join(known)}.")
        if parameter in found or parameter in ("random_state", "checkpoint"):
            own = next((o for o, p in PARAMETERS.items() if p == parameter), "--seed or --out")
            raise ValueError(f"{parameter} is given by --set, and {own} says it too. Leave --set {parameter} out.")
        found[parameter] = value
    return found


def refusal(option: str, name: str, takers: Sequence[str]) -> ValueError:
    """The error for an option that is not for a method."""
    return ValueError(f"--method {name} does not take {option}. Methods that do: {', '.join(takers)}.")


def _parameters(name: str) -> dict[str, Any]:
    """Of a method that is installed; none of one that is not."""
    try:
        return OFFERED[name].load()().get_params(deep=False)
    except ModuleNotFoundError:
        return {}


def number(text: str, option: str, *words: str) -> int | str:
    """A positive whole number, or one of the words.

    >>> number("3", "--factors", "auto"), number("auto", "--factors", "auto")
    (3, 'auto')
    """
    if text in words:
        return text
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{option} is {text!r}; it must be a positive whole number or {' or '.join(words)}.")
    return int(text)


def assignment(text: str, option: str, example: str) -> tuple[str, Any]:
    """A name and a Python value, or a text where it is none.

    >>> assignment("image_size=32", "--option", ""), assignment("clamp=tanh", "--set", "")
    (('image_size', 32), ('clamp', 'tanh'))
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ValueError(f"{option} is {text!r}; it must be name=value, for instance {example}.")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value
