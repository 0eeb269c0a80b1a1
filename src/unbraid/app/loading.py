"""A workspace on its way to the page: the model loads in a thread, and what its run kept is shown meanwhile."""

import base64
import json
import threading
import zlib
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unbraid import __version__
from unbraid.app.examples import EXAMPLES, Names
from unbraid.app.pictures import MEDIA_TYPES
from unbraid.runtime.writing import written_whole
from unbraid.saving.persistence import CONFIG

if TYPE_CHECKING:
    from unbraid.app.workspace import Workspace

OPENING = "opening.json"


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


class Loading:
    """A workspace that is there, or that ``start`` makes in a thread.

    Parameters
    ----------
    make : callable () -> Workspace
    opening : Opening, optional
        What is shown until it is there.

    Attributes
    ----------
    workspace : Future
    """

    def __init__(self, make: "Callable[[], Workspace]", opening: Opening | None = None):
        self._make, self.opening = make, opening
        self.workspace: Future[Workspace] = Future()

    @classmethod
    def of(cls, workspace: "Workspace") -> "Loading":
        """One that is there."""
        found = cls(lambda: workspace)
        found.workspace.set_result(workspace)
        return found

    @property
    def done(self) -> bool:
        return self.workspace.done()

    def start(self) -> None:
        if not self.done:
            threading.Thread(target=self._work, name="unbraid loading", daemon=True).start()

    def _work(self) -> None:
        try:
            self.workspace.set_result(self._make())
        except BaseException as error:  # of any kind: it is raised where the workspace is waited for
            self.workspace.set_exception(error)


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
    except (ValueError, KeyError, TypeError, IndexError):  # cut short, or by another hand: the model itself will tell
        return None
    return found


def _made_of(run: Path) -> list[str]:
    """The version, the run's name, and checksums of its head, which has those of its arrays, and of its examples."""
    sums = [f"{zlib.crc32((run / name).read_bytes()):08x}" for name in (CONFIG, EXAMPLES)]
    return [__version__, run.resolve().name, *sums]
