"""Options of the command line: parameters of a method, and messages that name the flags."""

import ast
import re
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from unbraid.methods import EVIDENCE, METHODS, Method

# Options that stand for a parameter of the same meaning in every method that has it.
PARAMETERS = {
    "--factors": "n_factors",
    "--neighbors": "n_neighbors",
    "--landmarks": "n_landmarks",
    "--trust": "trust",
    "--outliers": "outliers",
    "--units": "units",
    "--counts": "counts",
    "--steps": "max_steps",
    "--max-seconds": "max_seconds",
    "--device": "device",
    "--augment": "augment",
}
DatasetOptions = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="Option of a data set as name=value, for instance image_size=32."),
]
Assigned = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any other parameter of the method; may be repeated."),
]
AUTO = "auto"  # the method that the diagnosis recommends
OFFERED = {name: method for name, method in METHODS.items() if method.fits}


def offered(name: str) -> Method:
    """The method of a name, or an error that lists those of the command line.

    >>> offered("hessian-ica").title
    'HLLE+ICA'
    """
    if name not in OFFERED:
        raise ValueError(f"there is no method {name!r}. Available: {AUTO}, {', '.join(OFFERED)}.")
    return OFFERED[name]


def parameters_of(name: str, given: dict[str, Any], assigned: Sequence[str] = ()) -> dict[str, Any]:
    """Parameters of a method, from the options given and from ``--set``; those left out are not passed.

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
    for parameter, value in assignments(assigned, "--set", "tol=0.01").items():
        if parameter not in known:
            raise ValueError(f"{name} has no parameter {parameter!r} (--set). Its parameters: {', '.join(known)}.")
        if parameter in found or parameter in ("random_state", "checkpoint"):
            own = next((o for o, p in PARAMETERS.items() if p == parameter), "--seed or --out")
            raise ValueError(f"{parameter} is set twice: by --set and by {own}. Leave out --set {parameter}.")
        found[parameter] = value
    return found


def refusal(option: str, name: str, takers: Sequence[str]) -> ValueError:
    """The error for an option that is not for a method."""
    return ValueError(f"--method {name} does not take {option}. Methods that do: {', '.join(takers)}.")


def _parameters(name: str) -> dict[str, Any]:
    """Parameters of a method; none if it is not installed."""
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


def assignments(texts: Sequence[str] | None, option: str, example: str) -> dict[str, Any]:
    """Names and their Python values; a value that is none is a string.

    >>> assignments(["image_size=32", "clamp=tanh"], "--set", "")
    {'image_size': 32, 'clamp': 'tanh'}
    """
    found: dict[str, Any] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ValueError(f"{option} is {text!r}; it must be name=value, for instance {example}.")
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found


def names_in(text: str) -> list[str]:
    """Names separated by commas.

    >>> names_in("mig, sap")
    ['mig', 'sap']
    """
    return [name.strip() for name in text.split(",")]


def metrics_in(text: str) -> str | list[str]:
    """All, or names separated by commas."""
    return text if text == "all" else names_in(text)


# Arguments of readers and of all methods that have a flag of their own; PARAMETERS has those of some methods.
_NAMES = (
    "key",
    "resize",
    "skip_unreadable",
    "columns",
    "exclude",
    "index",
    "missing",
    "fill",
    "drop_missing",
    "divide",
    "prepare",
)
_READING = {name: f"--{name.replace('_', '-')}" for name in _NAMES}
FLAGS = {**{parameter: flag for flag, parameter in PARAMETERS.items()}, **_READING, "random_state": "--seed"}
SWITCHES = {"skip_unreadable", "drop_missing"}

_VALUE = r"'[^']*'|\"[^\"]*\"|\(\d+, ?\d+\)|\.\.\.|[+-]?\w+(?:\.\w+)*"
_GIVEN = re.compile(rf"(?<![\w/.'-])({'|'.join(FLAGS)})=({_VALUE})")
_SETTING = re.compile(r"(?<![\w/.'-])(?:(rotation)=|(tangent_weight|n_init)(?![\w=]))(?![\w'\"])")
_EVIDENCE = re.compile(rf"\(({'|'.join(EVIDENCE)})=\)")
_NAMED = re.compile(rf"(?<![\w/.'-])({'|'.join(name for name in FLAGS if '_' in name)})(?![\w/='-]|\.\w)")


def in_flags(message: str) -> str:
    """The message with flags in place of arguments: values given to them, and names that are no ordinary word.

    Parameters without a flag of their own are given by ``--set``.

    >>> in_flags("Raise n_neighbors to 9 or more, or give n_factors='auto' and resize=(64, 48).")
    'Raise --neighbors to 9 or more, or give --factors auto and --resize 64x48.'
    >>> in_flags("drop_missing (--drop-missing) is for tables")
    '--drop-missing is for tables'
    """
    if "--set" in message:  # it is about parameters by their own names
        return message
    message = _EVIDENCE.sub(r"(--\1)", message)
    message = _SETTING.sub(lambda found: f"--set {found[1] or found[2]}=...", message)
    message = _NAMED.sub(lambda found: FLAGS[found[1]], _GIVEN.sub(_as_flag, message))
    return re.sub(r"(--[\w-]+) \(\1\)", r"\1", message)


def _as_flag(found: re.Match) -> str:
    name, value = found.groups()
    if name in SWITCHES:
        return FLAGS[name] if value == "True" else f"no {FLAGS[name]}"
    if value.startswith("("):
        value = "x".join(re.findall(r"\d+", value))
    return f"{FLAGS[name]} {value.strip(chr(39) + chr(34))}"
