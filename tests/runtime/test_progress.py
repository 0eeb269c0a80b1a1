"""Work of unknown length says that it goes on."""

import io
import threading

from unbraid.runtime import progress


class Watched(io.StringIO):
    """A stream that says when something was written."""

    def __init__(self):
        super().__init__()
        self.written = threading.Event()

    def write(self, text):
        count = super().write(text)
        self.written.set()
        return count


def test_a_line_while_a_step_takes_long(monkeypatch):
    err = Watched()
    monkeypatch.setattr(progress, "LINE_EVERY", 0.01)
    monkeypatch.setattr("sys.stderr", err)
    with progress.progress_style("lines"), progress.heartbeat("diagnose") as now:
        now("are the data curved")
        assert err.written.wait(60)
    assert err.getvalue().startswith("diagnose: are the data curved, after 0 s\n")
    before = threading.active_count()
    with progress.progress_style("off"), progress.heartbeat("diagnose") as now:
        now("nothing")
        assert threading.active_count() == before
