"""Start the page: from Python and notebooks in the background, from the command line until Ctrl-C."""

import html
import os
import secrets
import socket
import threading
import time
import webbrowser
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbraid.app.kept import keep_opening, read_opening
from unbraid.app.loading import Loading
from unbraid.runtime.extras import require

if TYPE_CHECKING:  # these bring scikit-learn, and the page of a saved run is there before
    from unbraid.app.workspace import Workspace

START_SECONDS = 30  # after which a server that does not come up is an error


class Explorer:
    """The page of a workspace, served on this machine only.

    Parameters
    ----------
    workspace : Workspace or Loading
        One that is not there yet is loaded as soon as the page is served.
    port : int
        0 takes a free one.

    Attributes
    ----------
    address : str
        With the token that lets in who has it.
    """

    def __init__(self, workspace: "Workspace | Loading", port: int = 0):
        uvicorn = require("uvicorn", "app")
        require("starlette", "app")
        from unbraid.app.server import application

        self._loading = workspace if isinstance(workspace, Loading) else Loading(lambda: workspace)
        self._socket = _bound(port)
        port, token = self._socket.getsockname()[1], secrets.token_urlsafe(24)
        self.address = f"http://127.0.0.1:{port}/{token}/"
        config = uvicorn.Config(
            application(self._loading, token, port), log_level="warning", access_log=False, lifespan="off",
            server_header=False, timeout_graceful_shutdown=2,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread: threading.Thread | None = None

    def run(self) -> None:
        """Serve until Ctrl-C, or until the model turns out to be one that cannot be loaded."""
        self._server.config.load()
        loaded = self._loading.workspace
        loaded.add_done_callback(self._stop_if_failed)
        self._loading.start()
        with self._socket:
            self._server.run(sockets=[self._socket])
        if loaded.done():
            loaded.result()

    def _stop_if_failed(self, loaded: "Future[Workspace]") -> None:
        self._server.should_exit |= loaded.exception() is not None

    def start(self) -> "Explorer":
        """Serve in the background."""
        self._thread = threading.Thread(target=self.run, name="unbraid explorer", daemon=True)
        self._thread.start()
        end = time.monotonic() + START_SECONDS
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > end:
                raise RuntimeError(f"the server at {self.address} did not start; its log is above.")
            time.sleep(0.01)
        return self

    def wait(self) -> None:
        """Keep a script alive while the page is in use; Ctrl-C ends it."""
        try:
            while self._thread is not None and self._thread.is_alive():
                self._thread.join(0.5)
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Stop serving."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join()
        self._socket.close()

    def __repr__(self) -> str:
        return f"<explorer at {self.address}>"

    def _repr_html_(self) -> str:
        address = html.escape(self.address)
        return f'<a href="{address}" target="_blank" rel="noreferrer">Open the explorer</a> ({address})'


def explore(model: Any, X: Any = None, *, port: int = 0, open_browser: bool = True) -> Explorer:
    """Look at a model in the browser: move a factor, see the data change.

    The page is served from this process, in the background, to this machine alone. In a script, end with
    ``explore(model, X).wait()``.

    Parameters
    ----------
    model : estimator, (encode, decode), path, or list of these
        A fitted estimator; a pair of functions, from rows (n, ...) to codes (n, d) and back, of which ``decode`` may be
        None; or the folder of a run. Several are shown side by side, with matched factors.
    X : array (n, ...), or anything that the model's ``transform`` takes
        Observations; of many, 2000 or fewer are shown. A run that ``unbraid fit`` wrote has its own.
    port : int
        0 takes a free one.
    open_browser : bool
        Open the page in the default browser.

    Returns
    -------
    Explorer
        With ``address``, ``wait()`` and ``close()``.

    Examples
    --------
    >>> import unbraid as ub
    >>> X, _ = ub.datasets.load("shapes-xy", image_size=16).sample(300, random_state=0)
    >>> page = ub.explore(ub.PCAICA(2, random_state=0).fit(X), X, open_browser=False)
    >>> page.address.startswith("http://127.0.0.1:")
    True
    >>> page.close()
    """
    explorer = Explorer(_workspace_of(model if isinstance(model, list) else [model], X), port).start()
    if open_browser:
        webbrowser.open(explorer.address)
    return explorer


def loading_of(runs: Sequence[Path], X: Any = None) -> Loading:
    """The workspace of saved runs: at once, or in a thread where the run keeps what the page shows first."""
    opening = read_opening(runs[0]) if len(runs) == 1 and X is None else None
    if opening is not None:
        return Loading(lambda: _workspace_of(runs), opening)
    workspace = _workspace_of(runs, X)
    if len(runs) == 1 and X is None and os.access(runs[0], os.W_OK):
        keep_opening(runs[0], workspace)
    return Loading(lambda: workspace)


def _workspace_of(models: Sequence[Any], X: Any = None) -> "Workspace":
    from unbraid.app.workspace import workspace_of

    return workspace_of(models, X)


def _bound(port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise ValueError(f"port is {port}; it must be from 1 to 65535, or 0 for a free one.")
    # by its protocol asyncio knows that it may send at once; without, every answer waits 40 ms for an acknowledgement
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(("127.0.0.1", port))
        found.listen()  # from here on the address can be opened: who comes early waits
    except OSError as error:
        found.close()
        raise OSError(f"port {port} cannot be used ({error.strerror}). Give another, or none for a free one.") from None
    return found
