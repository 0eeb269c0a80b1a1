"""One fixture for real data that lies beside the project, and a printed note of what was left out without it."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = "unbraid_left_out"


class Shared:
    """Files of the folder ``shared`` beside the project (or of ``UNBRAID_SHARED``)."""

    def __init__(self, note):
        self.folder = Path(os.environ.get("UNBRAID_SHARED", ROOT.parent / "shared"))
        self._note = note

    def path(self, name):
        """The file, or None without it: the test then uses small made data, and the summary says so."""
        path = self.folder / name
        if path.exists():
            return path
        self._note(name)
        return None


@pytest.fixture
def shared(request):
    return Shared(lambda name: request.node.user_properties.append((LEFT_OUT, name)))


def pytest_terminal_summary(terminalreporter):
    missing = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for key, name in getattr(report, "user_properties", []):
                if key == LEFT_OUT:
                    missing.setdefault(name, set()).add(report.nodeid)
    if missing:
        terminalreporter.section("made data in place of real files")
        for name, tests in sorted(missing.items()):
            terminalreporter.line(f"{name}: {len(tests)} test(s) ran on made data: {', '.join(sorted(tests)[:3])}")
