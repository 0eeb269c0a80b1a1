"""Find a spec and the name of its study before anything in it is checked."""

import os
import tomllib
from pathlib import Path


def spec_file(path: str | os.PathLike[str]) -> Path:
    """The file of a spec, given by its path or by the name of a built-in one."""
    file = Path(path)
    if file.is_file():
        return file
    shipped = {found.stem: found for found in sorted((Path(__file__).parent / "specs").glob("*.toml"))}
    if str(path) in shipped:
        return shipped[str(path)]
    raise FileNotFoundError(f"{path} is neither a file nor a built-in spec. Built-in specs: {', '.join(shipped)}.")


def study_name(path: str | os.PathLike[str]) -> str:
    """The name in a spec; without a name or with invalid TOML, the error is that of :func:`read_spec`.

    >>> study_name("laptop")
    'laptop'
    """
    try:
        name = tomllib.loads(spec_file(path).read_text(encoding="utf-8")).get("name")
    except tomllib.TOMLDecodeError:
        name = None
    if isinstance(name, str):
        return name
    from unbraid.study.reading import read_spec

    return read_spec(path).name
