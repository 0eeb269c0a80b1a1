"""What experiments record: a line of JSON for each result, appended once it is there, so that a stopped run resumes."""

import json
from pathlib import Path


def read_lines(*paths: Path) -> list[dict]:
    """What was recorded in these files; nothing where there is no file yet."""
    texts = [path.read_text(encoding="utf-8") for path in paths if path.exists()]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def add_line(path: Path, line: dict) -> dict:
    """Append a result, and return it."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    return line
