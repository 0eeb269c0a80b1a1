"""Save and load estimators as a folder of ``config.json`` and an ``arrays-*.safetensors``; never pickle.

A saved run is safe to share: loading it reads numbers and names, and builds only classes that it finds in a table of
names. Only replacing ``config.json``, which names its arrays file, makes a
new run the one that is there, so a run is complete at any moment, even if several processes save to the same folder.
"""

import json
import os
import re
import secrets
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np

from unbraid.saving.encoding import Decoder, Encoder, Stateful

FORMAT = 2
CONFIG = "config.json"
OURS = re.compile(r"(arrays-[0-9a-f]{16}\.safetensors|config-[0-9a-f]{16}\.json)")
STALE = 3600  # seconds after which a file that no run names is what a killed process left behind


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A new path in the same folder, which takes the place of ``path`` at the end; after an error nothing is left.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(Path(folder) / "new" / "a.txt") as part:
    ...         _ = part.write_text("all of it")
    ...     (Path(folder) / "new" / "a.txt").read_text()
    'all of it'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.stem}-{secrets.token_hex(8)}{path.suffix}")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


class NotARunError(ValueError):
    """A folder that is damaged, foreign, or of another format; the message says which."""

    def __init__(self, path: Path, why: str, remedy: str = "Save the model again, or copy the folder again, whole."):
        super().__init__(f"{path} is not a run that can be loaded: {why}. {remedy}")


class Persistent(Stateful):
    """Mixin that gives an object ``save(path)``; :func:`load` brings it back.

    The state is the object's ``__dict__``: numbers, strings, arrays, sparse matrices, random states, and lists, dicts,
    dataclasses and Persistent objects of these. A class that holds something else (a torch module) overrides
    ``_get_state`` and ``_set_state``.
    """

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write to the folder ``path``. An earlier run there is replaced only once the new one is complete."""
        return save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what :meth:`save` wrote, and check that it is of this class."""
        model = load(path)
        if not isinstance(model, cls):
            raise TypeError(f"{path} holds a {type(model).__name__}, not a {cls.__name__}. Use unbraid.load(path).")
        return model


def save(obj: Persistent, path: str | os.PathLike[str]) -> Path:
    """Write ``obj`` to the folder ``path``, whole or not at all.

    Parameters
    ----------
    obj : Persistent
    path : str or path
        A new folder, or one that holds a run, whose other files (reports, logs) stay.

    Returns
    -------
    Path
        The folder.
    """
    from unbraid import __version__

    path = Path(path)
    if path.exists() and not (path / CONFIG).is_file() and not _is_unfinished(path):
        raise FileExistsError(f"{path} exists and is not a saved run; it was not changed. Choose another path.")
    encoder = Encoder()
    encoded = encoder(obj, type(obj).__name__)
    is_new = not path.exists()
    path.mkdir(parents=True, exist_ok=True)
    token = secrets.token_hex(8)
    arrays, config = path / f"arrays-{token}.safetensors", path / f"config-{token}.json"
    try:
        _write_arrays(encoder.arrays, arrays)
        head = {"format": FORMAT, "unbraid": __version__, "class": type(obj).__name__}
        sums = {"arrays": arrays.name, "arrays_crc32": _crc_of_file(arrays), "object_crc32": _crc_of(encoded)}
        config.write_text(json.dumps({**head, **sums, "object": encoded}, indent=1, allow_nan=False), encoding="utf-8")
        before = _arrays_named_in(path)
        config.replace(path / CONFIG)
    except BaseException:
        arrays.unlink(missing_ok=True)
        config.unlink(missing_ok=True)
        if is_new and not any(path.iterdir()):
            path.rmdir()
        raise
    _sweep(path, before)
    return path


def _is_unfinished(path: Path) -> bool:
    """Whether a folder is empty, or holds only what a save that was killed left behind."""
    return path.is_dir() and all(OURS.fullmatch(item.name) for item in path.iterdir())


def _write_arrays(arrays: dict[str, np.ndarray], file: Path) -> None:
    """With the permissions of any new file; safetensors would keep it from all other users."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    file.touch()
    mode = file.stat().st_mode
    try:
        save_file(arrays, file)
    except SafetensorError as error:  # of the system, a full disk for instance, as safetensors wraps it
        raise OSError(f"{file} cannot be written ({error}). An earlier run there is unchanged.") from error
    file.chmod(mode)


def _arrays_named_in(path: Path) -> str | None:
    """The arrays file of the run that is there; None if there is none, or none that can be read."""
    try:
        config = json.loads((path / CONFIG).read_bytes())
        return config.get("arrays") if isinstance(config, dict) else None
    except (FileNotFoundError, ValueError, RecursionError):
        return None


def _sweep(path: Path, before: str | None) -> None:
    """Remove the arrays of the run that was replaced, and what killed processes left behind."""
    now = _arrays_named_in(path)
    for item in path.iterdir():
        if not OURS.fullmatch(item.name) or item.name == now:
            continue
        try:
            if item.name == before or time.time() - item.stat().st_mtime > STALE:
                item.unlink()
        except FileNotFoundError:
            continue  # another process swept it


def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator that ``save`` wrote.

    Parameters
    ----------
    path : str or path
        The folder that was given to ``save``.

    Returns
    -------
    estimator
        Fitted, as it was saved.

    Raises
    ------
    FileNotFoundError
        If there is no run at all.
    NotARunError
        If what is there is damaged, foreign, or of another format.
    """
    path = Path(path)
    if not (path / CONFIG).is_file():
        raise FileNotFoundError(
            f"{path} is not a saved run: {CONFIG} is missing. Give the folder that `unbraid fit` or save() wrote."
        )
    try:
        config, arrays = _read(path)
        decoder = Decoder(arrays)
        obj = decoder(config["object"])
        if not isinstance(obj, Persistent):
            raise ValueError(f"it holds an object of class {type(obj).__name__}, which is no estimator")
        if decoder.arrays:
            raise ValueError(f"nothing names the array {min(decoder.arrays)}")
        if config["object_crc32"] != _crc_of(config["object"]):
            raise ValueError(f"{CONFIG} was changed after it was written")
    except NotARunError:
        raise
    except KeyError as error:
        raise NotARunError(path, f"{error} is missing") from error
    except RecursionError as error:
        raise NotARunError(path, "it is nested too deeply") from error
    except ValueError as error:
        raise NotARunError(path, str(error).rstrip(".")) from error
    except (TypeError, AttributeError, IndexError, OverflowError) as error:
        raise NotARunError(path, f"{CONFIG} does not make sense ({error})") from error
    return obj


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The checked head of a run, and its arrays; read anew if another process replaces them meanwhile."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    text = (path / CONFIG).read_bytes()
    try:
        config = json.loads(text)
    except ValueError as error:
        raise NotARunError(path, f"{CONFIG} is not JSON ({error})") from error
    _check_head(path, config)
    file = path / config["arrays"]
    try:
        arrays = load_file(file)
        crc = _crc_of_file(file)
    except FileNotFoundError as error:
        if (path / CONFIG).read_bytes() != text:
            return _read(path)
        raise NotARunError(path, f"{file.name} is missing") from error
    except SafetensorError as error:
        raise NotARunError(path, f"{file.name} is damaged ({error})") from error
    if crc != config["arrays_crc32"]:
        raise NotARunError(path, f"{file.name} is damaged: its checksum is {crc}, not {config['arrays_crc32']}")
    return config, arrays


def _check_head(path: Path, config: Any) -> None:
    if not isinstance(config, dict):
        raise NotARunError(path, f"{CONFIG} holds a {type(config).__name__} and not the head of a run")
    found = config.get("format")
    if type(found) is not int or found < 1:
        raise NotARunError(path, f"{CONFIG} names no format (format: {found!r})")
    if found != FORMAT:
        from unbraid import __version__

        writer = config.get("unbraid")
        raise NotARunError(
            path,
            f"it has format {found}, written by unbraid {writer}; this is unbraid {__version__}, which reads format "
            f"{FORMAT}",
            f"Load it with unbraid {writer} or later." if found > FORMAT else "Fit the model again.",
        )
    if not (isinstance(config.get("arrays"), str) and OURS.fullmatch(config["arrays"])):
        raise NotARunError(path, f"{CONFIG} names no arrays file (arrays: {config.get('arrays')!r})")


def _crc_of(encoded: Any) -> str:
    return f"{zlib.crc32(json.dumps(encoded).encode()):08x}"


def _crc_of_file(file: Path) -> str:
    return f"{zlib.crc32(np.memmap(file, mode='r')):08x}"
