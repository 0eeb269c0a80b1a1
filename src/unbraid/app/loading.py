"""A workspace on its way to the page: the model loads in a thread, and what its run kept is shown meanwhile."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unbraid.app.kept import Opening
    from unbraid.app.workspace import Workspace


class Loading:
    """A workspace that ``start`` makes in a thread.

    Parameters
    ----------
    make : callable () -> Workspace
    opening : Opening, optional
        What is shown until it is there.

    Attributes
    ----------
    workspace : Future
    """

    def __init__(self, make: "Callable[[], Workspace]", opening: "Opening | None" = None):
        self._make, self._opening = make, opening
        self.workspace: Future[Workspace] = Future()

    @property
    def opening(self) -> "Opening | None":
        """What is shown until the workspace is there."""
        return None if self.workspace.done() else self._opening

    def start(self) -> None:
        threading.Thread(target=self._work, name="unbraid loading", daemon=True).start()

    def _work(self) -> None:
        try:
            self.workspace.set_result(self._make())
        except BaseException as error:  # of any kind: it is raised where the workspace is waited for
            self.workspace.set_exception(error)
