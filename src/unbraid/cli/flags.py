"""Messages of the library name arguments; on the command line they name the flags."""

import re

from unbraid.cli.options import PARAMETERS

# Arguments of readers and of all methods that have a flag of their own; PARAMETERS has those of some methods.
_READING = {name: f"--{name.replace('_', '-')}" for name in ("key", "resize", "skip_unreadable", "columns", "divide")}
FLAGS = {**{parameter: flag for flag, parameter in PARAMETERS.items()}, **_READING, "random_state": "--seed"}
SWITCHES = {"skip_unreadable"}

_VALUE = r"'[^']*'|\"[^\"]*\"|\(\d+, ?\d+\)|\.\.\.|[+-]?\w+(?:\.\w+)*"
_GIVEN = re.compile(rf"(?<![\w/.'-])({'|'.join(FLAGS)})=({_VALUE})")
_SETTING = re.compile(r"(?<![\w/.'-])(?:(rotation)=|(tangent_weight|n_init)(?![\w=]))(?![\w'\"])")
_NAMED = re.compile(rf"(?<![\w/.'-])({'|'.join(name for name in FLAGS if '_' in name)})(?![\w/='-]|\.\w)")


def in_flags(message: str) -> str:
    """The message with flags in place of arguments: values given to them, and names that are no ordinary word.

    Parameters without a flag of their own are given by ``--set``.

    >>> in_flags("Raise n_neighbors to 9 or more, or give n_factors='auto' and resize=(64, 48).")
    'Raise --neighbors to 9 or more, or give --factors auto and --resize 64x48.'
    """
    if "--set" in message:  # it is about parameters by their own names
        return message
    message = _SETTING.sub(lambda found: f"--set {found[1] or found[2]}=...", message)
    return _NAMED.sub(lambda found: FLAGS[found[1]], _GIVEN.sub(_as_flag, message))


def _as_flag(found: re.Match) -> str:
    name, value = found.groups()
    if name in SWITCHES:
        return FLAGS[name] if value == "True" else f"no {FLAGS[name]}"
    if value.startswith("("):
        value = "x".join(re.findall(r"\d+", value))
    return f"{FLAGS[name]} {value.strip(chr(39) + chr(34))}"
