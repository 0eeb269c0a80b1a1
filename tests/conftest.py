"""Real data that lies beside the project, inputs that are counted, and what the end of a run says of both."""

import importlib.util
import os
from pathlib import Path

import pytest

from unbraid.report import html

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = "unbraid_left_out"
INPUTS = "unbraid_inputs"
SCRIPT = ROOT / "scripts" / "browser.py"


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


@pytest.fixture(autouse=True, scope="session")
def _coarse_figures():
    """Pages are drawn with a sixteenth of the pixels: no test looks at them, and a page takes a quarter less time."""
    html.DPI = 36


def script():
    """The module of ``scripts/browser.py``."""
    spec = importlib.util.spec_from_file_location("browser", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests of a process: Playwright refuses a second beside it."""
    from playwright.sync_api import sync_playwright

    path = script().chromium()
    assert path, f"these tests need Chromium: run {SCRIPT}"
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


class Inputs:
    """Counts the odd inputs of a test, and those that were refused by a sentence; the summary adds them up."""

    def __init__(self):
        self.count, self.n_refused = 0, 0

    def __call__(self):
        self.count += 1

    def refused(self):
        self.n_refused += 1


@pytest.fixture
def inputs(request):
    counted = Inputs()
    yield counted
    request.node.user_properties.append((INPUTS, (counted.count, counted.n_refused)))


def pytest_terminal_summary(terminalreporter):
    _tell_made_data(terminalreporter)
    _tell_inputs(terminalreporter)


def _tell_inputs(terminalreporter):
    """How many odd inputs were tried, what became of them, and how long the tests of them took together."""
    groups = terminalreporter.stats.values()
    reports = [report for group in groups for report in group if isinstance(report, pytest.TestReport)]
    counts = {r.nodeid: value for r in reports for key, value in r.user_properties if key == INPUTS}
    seconds = sum(r.duration for r in reports if r.nodeid in counts)
    if counts:
        tried, refused = map(sum, zip(*counts.values()))
        became = f"{tried - refused} right, {refused} refused"
        terminalreporter.line(f"{tried} odd inputs in {len(counts)} test(s): {became}, {seconds:.1f} s")


def _tell_made_data(terminalreporter):
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
