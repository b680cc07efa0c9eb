"""What every request passes first: the right host, no other site's page, a token where one is needed; and headers."""

from __future__ import annotations

import hmac
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, TypeAlias

from pydantic_core import to_json

from ..errors import LifeyearsError
from ._errors import INTERNAL, ApiError

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Scope]]
Send: TypeAlias = Callable[[Scope], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
log = logging.getLogger("lifeyears.service")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
OPEN = ("/api/health",)  # needs no token
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Guard:
    """ASGI middleware around the whole service.

    Parameters
    ----------
    app : ASGI app
    hosts : tuple of str or None
        Names under which the service may be called; a page of another name (DNS rebinding) is refused. None: any.
    token : str or None
        What ``Authorization: Bearer …`` must hold, for everything that is not the page itself.
    """

    def __init__(self, app: App, hosts: tuple[str, ...] | None, token: str | None) -> None:
        self.app = app
        self.hosts = None if hosts is None else tuple(host.lower() for host in hosts)
        self.token = None if token is None else token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0
        private = scope["path"].startswith(("/api", "/openapi"))

        async def with_headers(message: Scope) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                keep = b"no-store" if private else b"no-cache"
                message["headers"] = [*message.get("headers", ()), *HEADERS, (b"cache-control", keep)]
            await send(message)

        try:
            self._check(scope, private)
            await self.app(scope, receive, with_headers)
        except LifeyearsError as error:
            await respond(with_headers, ApiError.of(error))
        except Exception as error:
            log_error(error)
            if not status:
                await respond(with_headers, ApiError(500, "internal", INTERNAL))
        # neither the query nor the path as sent: a name in it might be a person's
        route = getattr(scope.get("route"), "path", None) or "(no such page)"
        log.info("%s %s %d %.0f ms", scope["method"], route, status, 1000 * (time.perf_counter() - start))

    def _check(self, scope: Scope, private: bool) -> None:
        headers = dict(scope["headers"])  # of a header sent twice, the last
        host = headers.get(b"host", b"").decode("latin-1")
        if self.hosts is not None and _name(host) not in self.hosts:
            raise ApiError(421, "wrong_host", "this service does not answer to that host name")
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").partition("://")[2] != host:
            raise ApiError(403, "wrong_origin", "requests from pages of other sites are refused")
        if private and self.token is not None and scope["path"] not in OPEN:
            kind, _, token = headers.get(b"authorization", b"").partition(b" ")
            if kind.lower() != b"bearer" or not hmac.compare_digest(token.strip(), self.token):
                raise ApiError(401, "no_token", "this service needs a token: send Authorization: Bearer and the token")


async def respond(send: Send, error: ApiError) -> None:
    """Send an error."""
    body = to_json(error.content())
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if error.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def log_error(error: Exception) -> None:
    """Log the class and the place of an error; not its message, which may hold a row."""
    log.error("%s at %s", type(error).__name__, _where(error))


def _where(error: Exception) -> str:
    """File and line of an error."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "?" if trace is None else f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"


def _name(host: str) -> str:
    """A host without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()
