"""What a run keeps beside its model for the explorer: some of the data, the names of its codes, its first page."""

import base64
import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from unbraid import __version__
from unbraid.saving.persistence import CONFIG, NotARunError, written_whole

if TYPE_CHECKING:
    from unbraid.app.workspace import Workspace

EXAMPLES, NAMES, OPENING = "examples.npz", "names.json", "opening.json"
MOST_ROWS, FEWEST_ROWS, MOST_BYTES = 2000, 50, 32 * 2**20
LONGEST_NAME = 60
MEDIA_TYPES = ("image/png", "application/json")  # of pictures, and of curves


@dataclass(frozen=True)
class Examples:
    """Rows (n, ...) as the model sees them, pictures in [0, 1], their codes (n, d), and names of rows and columns or
    None."""

    rows: NDArray
    codes: NDArray
    names: NDArray | None = None
    columns: list[str] | None = None


def keep(
    run: Path,
    rows: NDArray,
    codes: NDArray | None,
    names: NDArray | None = None,
    columns: list[str] | None = None,
) -> None:
    """Keep some rows and their codes in a run, and forget what belonged to an earlier one.

    Values that are whole 255ths, as those of pictures stored as bytes are, take a byte each.
    """
    (run / NAMES).unlink(missing_ok=True)
    if codes is None:
        (run / EXAMPLES).unlink(missing_ok=True)
        return
    chosen = some_rows(rows)
    kept = np.asarray(rows[chosen], dtype=np.float32)
    bytes_of = np.round(255 * np.clip(kept, 0, 1)).astype(np.uint8)
    whole = kept.ndim > 2 and np.array_equal(bytes_of.astype(np.float32) / np.float32(255), kept)
    with written_whole(run / EXAMPLES) as part:
        arrays: dict[str, Any] = {"rows": bytes_of if whole else kept, "codes": codes[chosen]}
        arrays |= {} if names is None else {"names": names[chosen]}
        arrays |= {} if columns is None else {"columns": np.array(columns, dtype=str)}
        np.savez_compressed(part, **arrays)


def some_rows(rows: NDArray) -> NDArray[np.intp]:
    """Numbers of the rows that are kept: 2000, or fewer where rows are large, evenly over the data.

    >>> some_rows(np.zeros((5, 3)))
    array([0, 1, 2, 3, 4])
    """
    n, size = len(rows), 4 * int(np.prod(rows.shape[1:]))
    most = min(n, MOST_ROWS, max(FEWEST_ROWS, MOST_BYTES // size))
    return np.unique(np.linspace(0, n - 1, most).astype(np.intp))


def read(run: Path) -> Examples | None:
    """What :func:`keep` wrote; None in a run that has none."""
    path = run / EXAMPLES
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            rows, codes = file["rows"], file["codes"]
            names, columns = file.get("names"), file.get("columns")
    except (ValueError, KeyError, OSError, EOFError, BadZipFile) as error:
        raise NotARunError(run, f"{EXAMPLES} cannot be read ({error})", "Fit it again.") from error
    if len(rows) != len(codes) or codes.ndim != 2 or (names is not None and names.shape != (len(rows),)):
        raise NotARunError(run, f"{EXAMPLES} holds {len(rows)} rows and codes of shape {codes.shape}", "Fit it again.")
    shown = rows.astype(np.float32) / np.float32(255) if rows.dtype == np.uint8 else rows
    return Examples(shown, codes, names, None if columns is None else columns.tolist())


class Names:
    """Names that the user gave to codes, kept in the run's folder; without a folder, as long as the page is open.

    Parameters
    ----------
    folder : Path, optional
    """

    def __init__(self, folder: Path | None = None):
        self._path = None if folder is None else folder / NAMES
        self._given: dict[int, str] = {}
        if self._path is not None and self._path.is_file():
            try:
                stored = json.loads(self._path.read_text(encoding="utf-8"))
                self._given = {int(code): clean_name(name) for code, name in stored.items()}
            except (ValueError, AttributeError, TypeError) as error:
                raise ValueError(f"{self._path} cannot be read ({error}). Delete it to start without names.") from None

    def __getitem__(self, code: int) -> str:
        return self._given.get(code) or f"code {code + 1}"

    def give(self, code: int, name: str) -> str:
        """Name a code, and write it down; an empty name takes the old one away. Returns the name it has now."""
        given = {**self._given, code: clean_name(name)}
        given = {code: name for code, name in given.items() if name}
        if self._path is not None:
            with written_whole(self._path) as part:
                part.write_text(json.dumps({str(code): name for code, name in sorted(given.items())}, indent=1))
        self._given = given
        return self[code]


def clean_name(name: str) -> str:
    """One line of at most 60 characters.

    >>> clean_name("  position \\n in x ")
    'position in x'
    """
    if not isinstance(name, str):
        raise TypeError(f"a name must be a string; received a {type(name).__name__}.")
    return " ".join("".join(c if c.isprintable() else " " for c in name).split())[:LONGEST_NAME]


@dataclass(frozen=True)
class Opening:
    """What a page of one run asks first, answered by its model when the run was written.

    Attributes
    ----------
    overview : dict
        What the page needs to start.
    answer : bytes
        The row decoded where the sliders start, as it is sent.
    media_type : str
        Of the answer.
    """

    overview: dict[str, Any]
    answer: bytes
    media_type: str

    def answers(self, question: dict[str, Any]) -> bool:
        """Whether the row where the sliders start, and nothing else, is asked for."""
        return question.get("run", 0) == 0 and question.get("codes") == [self.overview["runs"][0]["start"]]


def keep_opening(run: Path, workspace: "Workspace") -> None:
    """Write what a page of this run alone shows first, so that the next one has it before the model is loaded.

    Parameters
    ----------
    run : Path
        Of a saved model with its examples.
    workspace : Workspace
        Of these examples, and of this run alone.
    """
    overview = workspace.overview()
    row = workspace.decode(0, np.array([overview["runs"][0]["start"]]))
    answer, media_type = workspace.look.answer(row)
    kept = {
        "made_of": _made_of(run),
        "overview": overview,
        "media_type": media_type,
        "answer": base64.b64encode(answer).decode(),
    }
    with written_whole(run / OPENING) as part:
        part.write_text(json.dumps(kept), encoding="utf-8")


def read_opening(run: Path) -> Opening | None:
    """What :func:`keep_opening` wrote; None where nothing is kept, or where model or examples have changed since."""
    if not all((run / name).is_file() for name in (OPENING, CONFIG, EXAMPLES)):
        return None
    try:
        kept = json.loads((run / OPENING).read_bytes())
        if kept["made_of"] != _made_of(run) or kept["media_type"] not in MEDIA_TYPES:
            return None
        found = Opening(kept["overview"], base64.b64decode(kept["answer"]), kept["media_type"])
        names = Names(run)
        for slider in found.overview["runs"][0]["sliders"]:
            slider["name"] = names[slider["code"]]
    except (ValueError, KeyError, TypeError, IndexError):  # damaged or edited: the page waits for the model instead
        return None
    return found


def _made_of(run: Path) -> list[str]:
    """The version, the run's name, and checksums of its head, which has those of its arrays, and of its examples."""
    sums = [f"{zlib.crc32((run / name).read_bytes()):08x}" for name in (CONFIG, EXAMPLES)]
    return [__version__, run.resolve().name, *sums]
