"""What a run keeps beside its model so that it can be looked at: some of the data, and the names given to its codes."""

import json
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from unbraid.runtime.writing import written_whole
from unbraid.saving.persistence import NotARunError

EXAMPLES, NAMES = "examples.npz", "names.json"
MOST_ROWS, FEWEST_ROWS, MOST_BYTES = 2000, 50, 32 * 2**20
LONGEST_NAME = 60


@dataclass(frozen=True)
class Examples:
    """Rows (n, ...) as the model sees them, pictures in [0, 1], and their codes (n, d)."""

    rows: NDArray
    codes: NDArray


def keep(run: Path, rows: NDArray, codes: NDArray | None) -> None:
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
        np.savez_compressed(part, rows=bytes_of if whole else kept, codes=codes[chosen])


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
    except (ValueError, KeyError, OSError, EOFError, BadZipFile) as error:
        raise NotARunError(run, f"{EXAMPLES} cannot be read ({error})", "Fit it again.") from error
    if len(rows) != len(codes) or codes.ndim != 2:
        raise NotARunError(run, f"{EXAMPLES} holds {len(rows)} rows and codes of shape {codes.shape}", "Fit it again.")
    return Examples(rows.astype(np.float32) / np.float32(255) if rows.dtype == np.uint8 else rows, codes)


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
                raise ValueError(f"{self._path} cannot be read ({error}). Delete it to start with new names.") from None

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
        raise TypeError(f"a name is a text; received a {type(name).__name__}.")
    return " ".join("".join(c if c.isprintable() else " " for c in name).split())[:LONGEST_NAME]
