"""The service on a port: loopback by default, a token anywhere else."""

from __future__ import annotations

import gc
import ipaddress
import secrets
import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import uvicorn

from .._threads import one_thread
from ..errors import Message, RequestError, Setting
from ..scoring import MatchModel
from ._guard import LOOPBACK
from ._service import create_app

if TYPE_CHECKING:
    from ..experiments.types import Summary

BACKLOG = 2048
Say = Callable[[str], object]


def serve(
    models: Mapping[str, MatchModel],
    run: Summary | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str | None = None,
    names: tuple[str, ...] = (),
    say: Say = print,
) -> None:
    """Serve until interrupted.

    Requests are logged to ``lifeyears.service``, one line for each: method, route, status and time, never what was
    sent.

    Parameters
    ----------
    models, run
        As `create_app` takes them.
    host, port : str, int
        Where to listen; port 0 takes any that is free, and its number is shown.
    token : str, optional
        Needed by callers; one is made, and shown, if the host is not loopback and none is given.
    names : tuple of str
        Further host names the service answers to.
    say : callable
        Called with the address that the service listens on.

    Raises
    ------
    RequestError
        If nothing can listen on that host and port.
    """
    local = is_loopback(host)
    if not local and token is None:
        token = secrets.token_urlsafe(24)
        say(f"Bound to {host}, so a token is needed: {token}")
    hosts = (*LOOPBACK, host, *names) if local else ((*LOOPBACK, host, *names) if names else None)
    app = create_app(models, run, token=token, hosts=hosts)
    _warm(models)
    listening = _socket(host, port)
    shown = f"[{host}]" if ":" in host else host
    say(f"Lifeyears on http://{shown}:{listening.getsockname()[1]} (Ctrl-C ends it). Research use only.")
    gc.collect()
    gc.freeze()  # models live as long as the service: not to be looked through at each collection
    settings = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=20,
        h11_max_incomplete_event_size=32_768,
        backlog=BACKLOG,
        ws="none",
    )
    with one_thread():
        uvicorn.Server(settings).run(sockets=[listening])


def is_loopback(host: str) -> bool:
    """Whether a name or address can only be reached from this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _socket(host: str, port: int) -> socket.socket:
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = addresses[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)  # at once: who reads the port may call it
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error)
        hint = Message("Choose another port, or any that is free with ", Setting("port", 0), ".")
        raise RequestError(f"cannot listen on {host}, port {port}: {why}", hint=hint) from None
    listening.set_inheritable(True)
    return listening


def _warm(models: Mapping[str, MatchModel]) -> None:
    """Compile and build the tables before the first request."""
    for model in models.values():
        row = {column.name: None for column in model.schema.columns}
        table = model.schema.table([row, row])
        model.rank(table)
        model.curves(table)
