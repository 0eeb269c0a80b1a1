"""The server: a table of addresses behind a guard, one model call at a time, and the newest slider position wins."""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

import anyio
import numpy as np
from numpy.typing import NDArray
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from unbraid.app.loading import Loading

if TYPE_CHECKING:
    from unbraid.app.workspace import Workspace

Handler = Callable[[Request], Awaitable[Response]]
KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}  # media types of the page's own files
MOST_BODY, MOST_UPLOAD = 2**20, 20 * 2**20  # bytes of a question, and of a file
MOST_CLIENTS, MOST_POINTS = 64, 300  # whose newest position is known; positions decoded at once
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Guard:
    """Lets in who knows the token, under this host's own name, from this page.

    The token keeps out other users of the machine; Host and Origin keep out web pages that the browser has open.
    """

    def __init__(self, app: ASGIApp, token: str, port: int):
        self._app, self._token = app, token
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(Request(scope)) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, request: Request) -> Response | None:
        if request.headers.get("host", "") not in self._hosts:
            return _error(421, "this server answers under 127.0.0.1 and localhost only.")
        origin = request.headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self._hosts}:
            return _error(403, "the question comes from another page.")
        given = request.url.path.split("/")[1]
        if not secrets.compare_digest(given.encode(), self._token.encode()):
            return _error(403, "the token in the address is wrong. Open the address that `unbraid explore` printed.")
        return None


def application(loading: Loading, token: str, port: int) -> ASGIApp:
    """The page of a workspace, at /TOKEN/."""
    asked = Questions(loading)
    got: dict[str, Handler] = {"runs": asked.runs, "loaded": asked.loaded, "codes.csv": asked.table}
    for file in (files("unbraid.app") / "static").iterdir():
        got["" if file.name == "index.html" else file.name] = _static(file)
    posted: dict[str, Handler] = {"decode": asked.decode, "encode": asked.encode}
    posted |= {name: asked.answered_by(answer) for name, answer in ANSWERS.items()}
    routes = [
        Route(f"/{token}/{path}", handler, methods=[method])
        for method, handlers in (("GET", got), ("POST", posted))
        for path, handler in handlers.items()
    ]
    refusals: Any = {HTTPException: _refused}
    return Guard(Starlette(routes=routes, exception_handlers=refusals), token, port)


def _static(file: Traversable) -> Handler:
    text, kind = file.read_text(encoding="utf-8"), KINDS[file.name.rpartition(".")[2]]

    async def serve(request: Request) -> Response:
        return Response(text, media_type=kind, headers=HEADERS)

    return serve


async def _refused(request: Request, error: HTTPException) -> Response:
    return _error(error.status_code, error.detail)


def _error(status: int, sentence: str) -> Response:
    headers = HEADERS | ({"Connection": "close"} if status == 413 else {})
    return JSONResponse({"error": sentence}, status, headers=headers)


class Questions:
    """What the page may ask; models are called one at a time, in a thread of their own.

    Parameters
    ----------
    loading : Loading
        What its opening cannot answer waits for the workspace.
    """

    def __init__(self, loading: Loading):
        self._loading = loading
        self._turn = anyio.CapacityLimiter(1)
        self._newest: dict[str, int] = {}  # in the order in which clients were last heard of

    async def _call(self, function: Callable[..., Any], *args: Any) -> Any:
        """A model's answer; what it refuses is a sentence for the page."""
        try:
            return await anyio.to_thread.run_sync(function, *args, limiter=self._turn)
        except ValueError as error:
            raise HTTPException(getattr(error, "status", 422), str(error)) from error

    def answered_by(self, answer: "Callable[[Workspace, dict[str, Any]], Response]") -> Handler:
        """A handler of questions that the workspace alone can answer."""

        async def handle(request: Request) -> Response:
            question = await _question(request)
            return await self._call(answer, await self._there(), question)

        return handle

    async def _there(self) -> "Workspace":
        """The workspace, as soon as it is loaded."""
        try:
            return await asyncio.shield(asyncio.wrap_future(self._loading.workspace))
        except Exception as error:  # of any kind: it also stops the server, which reports it in full
            raise HTTPException(500, f"the model cannot be loaded: {error}") from error

    async def loaded(self, request: Request) -> Response:
        """An answer once the model is there."""
        await self._there()
        return JSONResponse({"loaded": True}, headers=HEADERS)

    async def runs(self, request: Request) -> Response:
        if (opening := self._loading.opening) is not None:
            return JSONResponse(opening.overview | {"loading": True}, headers=HEADERS)
        return JSONResponse(await self._call((await self._there()).overview), headers=HEADERS)

    async def decode(self, request: Request) -> Response:
        """Rows of codes; nothing (204) where the same client has asked for a newer position meanwhile."""
        question = await _question(request)
        opening = self._loading.opening
        if opening is not None and opening.answers(question):
            return Response(opening.answer, media_type=opening.media_type, headers=HEADERS)
        space = await self._there()
        run, codes = _run(space, question), _codes(space, question)
        client, number = str(question.get("client", ""))[:64], question.get("number")
        if isinstance(number, int):
            self._newest[client] = max(number, self._newest.pop(client, number))
            while len(self._newest) > MOST_CLIENTS:
                del self._newest[next(iter(self._newest))]

        def work() -> Response:
            if isinstance(number, int) and self._newest.get(client, number) > number:
                return Response(status_code=204, headers=HEADERS)
            return _drawn(space, space.decode(run, codes))

        return await self._call(work)

    async def encode(self, request: Request) -> Response:
        upload, space = await _body(request, MOST_UPLOAD), await self._there()
        codes = await self._call(lambda: space.encode(space.look.row_of(upload)))
        return JSONResponse({"codes": codes}, headers=HEADERS)

    async def table(self, request: Request) -> Response:
        text = request.query_params.get("run", "0")
        space = await self._there()
        run = _run(space, {"run": int(text) if text.isdecimal() else text})
        headers = HEADERS | {"Content-Disposition": 'attachment; filename="codes.csv"'}
        return Response(await self._call(space.table, run), media_type="text/csv", headers=headers)


def _examples(space: "Workspace", question: dict[str, Any]) -> Response:
    return _drawn(space, space.rows[_rows(space, question, MOST_POINTS)])


def _mean(space: "Workspace", question: dict[str, Any]) -> Response:
    rows = _rows(space, question, len(space.rows))
    return _drawn(space, space.rows[rows].mean(axis=0, keepdims=True))


def _nearest(space: "Workspace", question: dict[str, Any]) -> Response:
    found = space.nearest(_run(space, question), _codes(space, question)[0], 8)
    return JSONResponse({"rows": found}, headers=HEADERS)


def _position(space: "Workspace", question: dict[str, Any]) -> Response:
    """The codes of one example, in every run."""
    (row,) = _rows(space, question, 1)
    return JSONResponse({"codes": [s.codes[row].tolist() for s in space.shown]}, headers=HEADERS)


def _name(space: "Workspace", question: dict[str, Any]) -> Response:
    shown = space.shown[_run(space, question)]
    code, name = question.get("code"), question.get("name")
    if not isinstance(code, int) or not 0 <= code < shown.codes.shape[1] or not isinstance(name, str):
        raise HTTPException(422, f"code must be from 0 to {shown.codes.shape[1] - 1}, and name a text.")
    try:
        return JSONResponse({"name": shown.view.names.give(code, name)}, headers=HEADERS)
    except OSError as error:
        raise HTTPException(507, f"the name could not be written beside the run: {error}.") from error


def _gif(space: "Workspace", question: dict[str, Any]) -> Response:
    run, codes = _run(space, question), _codes(space, question)
    if not space.look.is_picture:
        raise HTTPException(422, "a GIF needs pictures, and these data are curves.")
    return Response(space.gif(run, codes[0]), media_type="image/gif", headers=HEADERS)


ANSWERS = {
    "examples": _examples, "gif": _gif, "mean": _mean, "name": _name, "nearest": _nearest, "position": _position,
}  # fmt: skip


def _drawn(space: "Workspace", rows: NDArray) -> Response:
    answer, media_type = space.look.answer(rows)
    return Response(answer, media_type=media_type, headers=HEADERS)


def _run(space: "Workspace", question: dict[str, Any]) -> int:
    run, n_runs = question.get("run", 0), len(space.shown)
    if type(run) is not int or not 0 <= run < n_runs:
        raise HTTPException(404, f"there is no run {run!r}; there are {n_runs}, from 0 on.")
    return run


def _codes(space: "Workspace", question: dict[str, Any]) -> NDArray[np.float64]:
    width = space.shown[_run(space, question)].codes.shape[1]
    try:
        codes = np.asarray(question.get("codes"), np.float64)
    except (TypeError, ValueError):
        codes = np.empty(0)
    if codes.ndim != 2 or codes.shape[1] != width or not 1 <= len(codes) <= MOST_POINTS:
        raise HTTPException(422, f"codes must be 1 to {MOST_POINTS} lists of {width} numbers.")
    if not np.isfinite(codes).all():
        raise HTTPException(422, "codes must be finite numbers.")
    return codes


def _rows(space: "Workspace", question: dict[str, Any], most: int) -> list[int]:
    rows, n = question.get("rows"), len(space.rows)
    fits = isinstance(rows, list) and 1 <= len(rows) <= most and all(type(r) is int and 0 <= r < n for r in rows)
    if not isinstance(rows, list) or not fits:
        raise HTTPException(422, f"rows must be 1 to {most} numbers from 0 to {n - 1}.")
    return rows


async def _body(request: Request, most: int) -> bytes:
    """The body, read no further than it may be long."""
    too_long = HTTPException(413, f"the file is too large; at most {most / 2**20:.0f} MB are taken.")
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > most:
        raise too_long
    found = bytearray()
    async for chunk in request.stream():
        found += chunk
        if len(found) > most:
            raise too_long
    return bytes(found)


async def _question(request: Request) -> dict[str, Any]:
    try:
        question = json.loads(await _body(request, MOST_BODY))
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"the question is no JSON ({error}).") from None
    if not isinstance(question, dict):
        raise HTTPException(400, "the question must be a JSON object.")
    return question
