"""The server of the viewer, on this machine and protected by a token; it sends rows as Arrow streams, and media in parts."""

from __future__ import annotations

import contextlib
import hmac
import io
import json
import os
import secrets
import socket
import sys
import tempfile
import urllib.parse
import webbrowser
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, TypeAlias

import pyarrow as pa

from datasets_core._version import __version__
from datasets_core.engines.threads import Daemons, Job
from datasets_core.errors import ConfigurationError, DatasetsCoreError, MediaDecodeError, logger_of
from datasets_core.optional import needed
from datasets_core.viewer.media import THUMBNAIL, first_page, picture, wave
from datasets_core.viewer.opening import Opened, open_rows
from datasets_core.viewer.queries import View

_STATIC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "static")
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".txt": "text/plain"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}
_MEDIA_POLICY = "default-src 'none'; sandbox"
_SHOWN_TYPES = ("image/", "audio/", "video/", "application/pdf")
_FULL_PIXELS = 4096
_PART_BYTES = 1 << 20
_MOST_WHOLE_BYTES = 64 << 20
_MOST_QUESTION_BYTES = 1 << 20
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}

Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]


# Answers: what the page asks for, by name; the same in a browser and in a notebook.


class Answers:
    """Answers the requests of the page of a dataset.

    Args:
        opened: the dataset.
    """

    def __init__(self, opened: Opened) -> None:
        self.opened = opened
        self.session = secrets.token_hex(4)

    def answer(self, name: str, asked: Mapping[str, Any]) -> Any:
        """Return a JSON value, or the bytes of an Arrow stream.

        Args:
            name: name of the request.
            asked: arguments of the request.

        Raises:
            ConfigurationError: the request is unknown.
            DatasetsCoreError: the request cannot be answered.
        """
        known: dict[str, Callable[[Mapping[str, Any]], Any]] = {
            "about": self._about, "open": self._open, "rows": self._rows, "row": self._row, "pictures": self._pictures,
            "code": self._code, "dataset": self._dataset, "diff": self._diff, "more": self._more, "read": self._read,
            "wave": self._wave,
        }  # fmt: skip
        if name not in known:
            raise ConfigurationError(f"The page asks for {name!r}. Available: {', '.join(known)}.")
        return known[name](asked)

    def _view(self, asked: Mapping[str, Any]) -> View:
        return View.of(asked.get("view"), self.opened.split)

    def _about(self, asked: Mapping[str, Any]) -> Any:
        return {**self.opened.about(), "session": self.session, "version": __version__}

    def _open(self, asked: Mapping[str, Any]) -> Any:
        return self.opened.queries.opened(self._view(asked))

    def _read(self, asked: Mapping[str, Any]) -> Any:
        return {"bytes": self.opened.bytes_read(str(asked.get("split")))}

    def _rows(self, asked: Mapping[str, Any]) -> bytes:
        names = asked.get("columns")
        return stream_bytes(self.opened.queries.page(self._view(asked), _int(asked, "start"), _int(asked, "stop"), names))

    def _row(self, asked: Mapping[str, Any]) -> Any:
        return self.opened.queries.row(self._view(asked), _int(asked, "row"))

    def _pictures(self, asked: Mapping[str, Any]) -> Any:
        names = asked.get("columns")
        return self.opened.queries.pictures(self._view(asked), names, min(20.0, float(asked.get("wait") or 0)))

    def _code(self, asked: Mapping[str, Any]) -> Any:
        return {"text": self.opened.queries.python(self._view(asked))}

    def _dataset(self, asked: Mapping[str, Any]) -> Any:
        return self.opened.facts()

    def _diff(self, asked: Mapping[str, Any]) -> Any:
        found = self.opened.difference().to_dict()
        other = self.opened.other
        return {**found, "old": self.opened.title, "new": "" if other is None else other.title}

    def _more(self, asked: Mapping[str, Any]) -> Any:
        return {"rows": self.opened.read_more(str(asked.get("split")))}

    def _wave(self, asked: Mapping[str, Any]) -> Any:
        content, _ = self.opened.queries.content(self._view(asked), str(asked.get("column")), _int(asked, "row"), _path(asked))
        return wave(content)

    def drawn(self, asked: Mapping[str, Any], shape: str) -> tuple[bytes, str]:
        """Return a picture of a medium of a row as bytes, and its type: `thumb`, `page` or `full`."""
        content, kind = self.opened.queries.content(
            self._view(asked), str(asked.get("column")), _int(asked, "row"), _path(asked)
        )
        if kind == "pdf":
            return first_page(content, _FULL_PIXELS // 4 if shape == "full" else 2 * THUMBNAIL)
        if kind != "image":
            raise MediaDecodeError(kind or "file", "it cannot be drawn")
        return picture(content, 2 * THUMBNAIL if shape == "thumb" else _FULL_PIXELS)

    def medium(self, asked: Mapping[str, Any]) -> tuple[bytes, str]:
        """Return a whole medium of a row and its type, for a page that cannot request parts: drawn, or the bytes of the file.

        Raises:
            MediaDecodeError: the medium cannot be drawn, or is too large.
        """
        shape = str(asked.get("as") or "file")
        if shape != "file":
            return self.drawn(asked, shape)
        content, kind = self.opened.queries.content(
            self._view(asked), str(asked.get("column")), _int(asked, "row"), _path(asked)
        )
        if content.size > _MOST_WHOLE_BYTES:
            raise MediaDecodeError(kind or "file", f"its {content.size:,} bytes are too many for a notebook. Use view()")
        return content.read(0, content.size), content.type


def stream_bytes(batch: pa.RecordBatch) -> bytes:
    """Return a record batch as an Arrow stream."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def _int(asked: Mapping[str, Any], name: str) -> int:
    try:
        return int(asked[name])
    except (KeyError, TypeError, ValueError):
        raise ConfigurationError(f"The page sent {name}={asked.get(name)!r}, which is not a number.") from None


def _path(asked: Mapping[str, Any]) -> list[str | int]:
    found = asked.get("path") or []
    if not isinstance(found, list) or not all(type(step) in (str, int) for step in found):
        raise ConfigurationError(f"The page sent path={found!r}, which is not a list of fields and numbers.", value=found)
    return found


# The application: who may ask, and how.


class Guard:
    """Checks host, origin and token of each request before the application answers it.

    Args:
        app: answers the accepted requests.
        token: the token in the address.
        hosts: names and ports under which the page is reached; None: any.
        cookie: name of the cookie that holds the token after the first visit.
    """

    def __init__(self, app: Any, token: str, hosts: set[str] | None, cookie: str) -> None:
        self._app, self._token, self._hosts, self._cookie = app, token, hosts, cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request or close a connection, by the ASGI protocol."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if scope["type"] != "http":
            raise ValueError(f"unexpected {scope['type']} connection")
        refusal = self._refusal(headers, scope["method"])
        if refusal is not None:
            await _send(send, 403, refusal)
            return
        query = urllib.parse.parse_qs(scope["query_string"].decode("latin-1"))
        given = query.get("token", [""])[0]
        if scope["path"] == "/" and scope["method"] == "GET" and given and self._is_token(given):
            cookie = f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
            await _send(send, 303, "", {"location": "/", "set-cookie": cookie})
            return
        if not (self._is_token(self._kept(headers)) or self._is_token(_bearer(headers))):
            await _send(send, 403, "This address needs its token. Open the whole address that the viewer printed.")
            return

        async def guarded(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in message["headers"]}
                extra = [(name.encode(), value.encode()) for name, value in _HEADERS.items() if name.encode() not in own]
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        await self._app(scope, receive, guarded)

    def _refusal(self, headers: Mapping[str, str], method: str) -> str | None:
        host = headers.get("host", "")
        if self._hosts is not None and host.lower() not in self._hosts:
            return "The viewer does not answer under this host name."
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"http://{host}".lower():
            return "The viewer does not answer to pages of other sites."
        site = headers.get("sec-fetch-site", "none")
        is_visit = (
            method == "GET" and headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        )
        if site not in ("same-origin", "none") and not is_visit:
            return "The viewer does not answer to pages of other sites."
        return None

    def _kept(self, headers: Mapping[str, str]) -> str:
        for part in headers.get("cookie", "").split(";"):
            name, _, value = part.strip().partition("=")
            if name == self._cookie:
                return value
        return ""

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())


def _bearer(headers: Mapping[str, str]) -> str:
    kind, _, value = headers.get("authorization", "").partition(" ")
    return value if kind.lower() in ("bearer", "token") else ""


async def _send(send: Send, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
    given = {**_HEADERS, "content-type": "text/plain; charset=utf-8", **(headers or {})}
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        }
    )
    await send({"type": "http.response.body", "body": text.encode()})


def application(opened: Opened, token: str, hosts: set[str] | None, cookie: str = "datasets_core_view") -> Any:
    """Return the viewer of a dataset as an ASGI application.

    Args:
        opened: the dataset.
        token: the token that a visitor must have.
        hosts: `name:port` of each address at which it answers; None: any.
        cookie: name of the cookie that holds the token.

    Raises:
        MissingDependencyError: starlette is not installed.
    """
    needed("starlette", "The viewer", "datasets_core[view]")
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
    from starlette.routing import Route

    answers = Answers(opened)

    def failed(error: Exception) -> Response:
        if isinstance(error, DatasetsCoreError):
            return JSONResponse({"error": str(error)}, 400)
        logger_of(__name__).error("The viewer could not answer.", exc_info=error)
        return JSONResponse({"error": f"{type(error).__name__}: {error}"}, 500)

    async def ask(request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return JSONResponse({"error": "Ask with JSON."}, 415)
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > _MOST_QUESTION_BYTES:
                return JSONResponse({"error": "The request is too long."}, 413)
        try:
            asked = json.loads(body or b"{}")
            if not isinstance(asked, dict):
                raise ValueError(f"expected an object, found {type(asked).__name__}")
        except ValueError as error:
            return JSONResponse({"error": f"Invalid JSON: {error}."}, 400)
        try:
            found = await run_in_threadpool(answers.answer, request.path_params["name"], asked)
        except Exception as error:  # whatever fails is told by the page, and the viewer goes on
            return failed(error)
        if isinstance(found, bytes):
            return Response(found, media_type="application/vnd.apache.arrow.stream")
        return Response(
            json.dumps(found, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace"), media_type="application/json"
        )

    def question(request: Request) -> dict[str, Any]:
        given = dict(request.query_params)
        try:
            return {**given, "view": json.loads(given.get("view") or "{}"), "path": json.loads(given.get("path") or "[]")}
        except ValueError as error:
            raise ConfigurationError(f"The address is invalid: {error}.") from error

    def media(request: Request) -> Response:
        try:
            asked = question(request)
            shape = asked.get("as", "file")
            if shape != "file":
                data, kind = answers.drawn(asked, shape)
                return Response(data, media_type=kind, headers={"cache-control": "private, max-age=600"})
            view = View.of(asked["view"], opened.split)
            content, _ = opened.queries.content(view, str(asked.get("column")), _int(asked, "row"), _path(asked))
            return part_of(content, request.headers.get("range"))
        except Exception as error:
            return failed(error)

    def part_of(content: Any, asked: str | None) -> Response:
        size, kind = content.size, content.type
        is_shown = kind.startswith(_SHOWN_TYPES)
        name = urllib.parse.quote(content.name or "file")
        headers = {
            "accept-ranges": "bytes",
            "content-security-policy": _MEDIA_POLICY,
            "content-disposition": f"{'inline' if is_shown else 'attachment'}; filename*=UTF-8''{name}",
            "cache-control": "private, max-age=600",
        }
        start, stop, status = 0, size, 200
        if asked is not None:
            found = _range(asked, size)
            if found is None:
                return Response(status_code=416, headers={**headers, "content-range": f"bytes */{size}"})
            start, stop, status = *found, 206
            headers["content-range"] = f"bytes {start}-{stop - 1}/{size}"
        headers["content-length"] = str(stop - start)

        def parts() -> Iterator[bytes]:
            for place in range(start, stop, _PART_BYTES):
                yield content.read(place, min(place + _PART_BYTES, stop))

        return StreamingResponse(parts(), status, headers, kind)

    def save(request: Request) -> Response:
        from starlette.background import BackgroundTask

        folder = tempfile.mkdtemp(prefix="datasets_core-view-")
        kind = request.query_params.get("format", "csv")
        path = os.path.join(folder, "rows")

        def remove() -> None:
            if os.path.exists(path):
                os.remove(path)
            os.rmdir(folder)

        try:
            opened.queries.save(View.of(question(request)["view"], opened.split), kind, path)
        except Exception as error:
            remove()
            return failed(error)
        name = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in opened.title) or "rows"
        return FileResponse(
            path, filename=f"{name}.{kind}", media_type="application/octet-stream", background=BackgroundTask(remove)
        )

    def static(request: Request) -> Response:
        name = request.path_params.get("path") or "index.html"
        path = os.path.normpath(os.path.join(_STATIC, name))
        kind = _TYPES.get(os.path.splitext(path)[1])
        if not path.startswith(_STATIC + os.sep) or kind is None or not os.path.isfile(path):
            return Response("Not found", 404, media_type="text/plain")
        with open(path, "rb") as file:
            return Response(file.read(), media_type=kind)

    app = Starlette(
        routes=[
            Route("/api/{name}", ask, methods=["POST"]),
            Route("/media", media),
            Route("/save", save),
            Route("/", static),
            Route("/static/{path:path}", static),
        ]
    )
    return Guard(app, token, hosts, cookie)


def _range(text: str, size: int) -> tuple[int, int] | None:
    """Return start and stop of a range of bytes; None if it cannot be satisfied.

    >>> _range("bytes=0-9", 100), _range("bytes=90-", 100), _range("bytes=-5", 100), _range("bytes=200-", 100)
    ((0, 10), (90, 100), (95, 100), None)
    """
    unit, _, given = text.partition("=")
    first, mark, last = given.split(",")[0].strip().partition("-")
    if unit.strip() != "bytes" or not mark or not (first + last).isdigit():
        return None
    if not first:
        start, stop = max(0, size - int(last)), size
    else:
        start, stop = int(first), size if not last else min(size, int(last) + 1)
    return (start, stop) if start < stop else None


# A server that runs.


class Viewer:
    """A running viewer.

    Args:
        opened: the dataset.
        host: the address it listens on.
        port: port of the server; 0: any free port.
        token: the token in the address; None: a random one.

    Attributes:
        url: the address of the page, with its token.

    Raises:
        MissingDependencyError: starlette or uvicorn is not installed.
        ConfigurationError: the port is in use, or another machine could connect and there is no token.
    """

    def __init__(self, opened: Opened, *, host: str = "127.0.0.1", port: int = 0, token: str | None = None) -> None:
        uvicorn = needed("uvicorn", "The viewer", "datasets_core[view]")
        self._is_open = host not in _LOOPBACK
        if self._is_open and not token:
            raise ConfigurationError(
                f"--host {host} lets other machines connect",
                advice="Pass --token with a secret: anyone who has it sees the dataset, over an unencrypted connection",
            )
        self.opened = opened
        self._socket = _bound(host, port)
        self.port: int = self._socket.getsockname()[1]
        token = token or secrets.token_urlsafe(24)
        hosts = None if self._is_open else {f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        shown = f"[{host}]" if ":" in host else "127.0.0.1" if host == "localhost" else host
        self.url = f"http://{shown}:{self.port}/?token={urllib.parse.quote(token)}"
        app = application(opened, token, hosts, f"datasets_core_view_{self.port}")
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_level="error",
                access_log=False,
                lifespan="off",
                ws="none",
                timeout_graceful_shutdown=1,
                server_header=False,
            )
        )
        self._pool = Daemons("datasets_core-viewer", lambda: 1)
        self._job: Job[None] | None = None

    def run(self) -> None:
        """Answer requests until the program is interrupted."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._end()

    def start(self) -> Viewer:
        """Answer requests in a separate thread."""
        self._job = self._pool.submit(lambda: self._server.run(sockets=[self._socket]))
        while not self._server.started and not self._job.wait(0.005):
            pass
        return self

    def wait(self) -> None:
        """Wait until the viewer has ended."""
        while self._job is not None and not self._job.wait(0.2):
            pass

    def close(self) -> None:
        """Stop the server, and free the port."""
        self._server.should_exit = True
        if self._job is not None:
            self._job.wait()
            self._job = None
            self._pool.close()
        self._end()

    def _end(self) -> None:
        self._socket.close()
        self.opened.close()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Viewer({self.url})"


def _bound(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        found = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise ConfigurationError(f"--host {host} is not an address of this machine: {error.strerror or error}.") from error
    try:
        if os.name == "posix":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(128)  # what connects before the server runs is answered when it does
    except (OSError, OverflowError) as error:
        found.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigurationError(
            f"Port {port} of {host} cannot be used: {reason}", advice="Pass another --port, or omit it"
        ) from error
    return found


def browse(url: str) -> None:
    """Open an address in the browser of this machine.

    Raises:
        ConfigurationError: no browser was found.
    """
    try:
        webbrowser.get()
        is_open = webbrowser.open(url)
    except webbrowser.Error:
        is_open = False
    if not is_open:
        raise ConfigurationError(
            "No browser was found on this machine", advice="Pass --no-browser, and open the printed address elsewhere"
        )


def _is_interactive() -> bool:
    """Return True in a notebook or at a prompt of Python."""
    return hasattr(sys, "ps1") or ("IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None)


def view(dataset: Any, other: Any = None, *, port: int = 0, open_browser: bool = True, block: bool | None = None) -> Viewer:
    """Show a dataset in the browser of this machine: a table of all rows, with charts of the columns that filter it.

    Args:
        dataset: a `Dataset`, a `DatasetDict`, an `IterableDataset` or an `IterableDatasetDict`.
        other: a dataset to compare it with: the page shows the differences.
        port: port of the server on 127.0.0.1; 0: any free port.
        open_browser: False to print the address only.
        block: True to return only when the program is interrupted; None blocks in a script, but not at a prompt or in a
            notebook.

    Returns:
        The running viewer: `url` is its address, `close()` ends it.

    Raises:
        MissingDependencyError: the extra `view` is not installed.
        ConfigurationError: the dataset has no rows or no columns, the port is in use, or there is no browser.
        ArgumentTypeError: the object is not a dataset.

    Example:
        >>> viewer = view(Dataset.from_dict({"a": [1, 2, 3]}), open_browser=False, block=False)  # doctest: +ELLIPSIS
        http://127.0.0.1:...
        >>> viewer.close()
    """
    viewer = Viewer(open_rows(dataset, other), port=port).start()
    try:
        print(viewer.url)
        if open_browser:
            browse(viewer.url)
    except BaseException:
        viewer.close()
        raise
    if block or (block is None and not _is_interactive()):
        with contextlib.suppress(KeyboardInterrupt):
            viewer.wait()
        viewer.close()
    return viewer
