"""Files that are written whole or not at all."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
