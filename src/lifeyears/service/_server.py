"""The service on a port: loopback by default, a token anywhere else."""

from __future__ import annotations

import gc
import ipaddress
import logging
import secrets
import socket
import sys
from collections.abc import Callable, Mapping
from typing import Any

import uvicorn

from .._threads import one_thread
from ..scoring import MatchModel
from ._guard import LOOPBACK
from ._service import create_app

BACKLOG = 2048
Say = Callable[[str], object]


def serve(
    models: Mapping[str, MatchModel],
    run: dict[str, Any] | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str | None = None,
    names: tuple[str, ...] = (),
    verbose: bool = False,
    say: Say = print,
) -> None:
    """Serve until interrupted.

    Parameters
    ----------
    models, run
        As `create_app` takes them.
    host, port : str, int
        Where; port 0 takes any that is free, and says which.
    token : str, optional
        Needed by callers; made, and told, if the host is not loopback and none is given.
    names : tuple of str
        Further host names the service answers to.
    verbose : bool
        One line a request: method, route, status and time, never what was sent.
    say : callable
        Told where it listens.
    """
    local = is_loopback(host)
    if not local and token is None:
        token = secrets.token_urlsafe(24)
        say(f"Bound to {host}, so a token is needed: {token}")
    hosts = (*LOOPBACK, host, *names) if local else ((*LOOPBACK, host, *names) if names else None)
    _logging(verbose)
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
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)  # at once: who reads the port may call it
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ValueError(f"cannot listen on {host}, port {port}: {why}. Choose another with --port (0: any)") from None
    listening.set_inheritable(True)
    return listening


def _warm(models: Mapping[str, MatchModel]) -> None:
    """Compile and build the tables before the first request."""
    for model in models.values():
        row = {column.name: None for column in model.schema.columns}
        table = model.schema.table([row, row])
        model.rank(table)
        model.curves(table)


def _logging(verbose: bool) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log = logging.getLogger("lifeyears.service")
    log.handlers, log.propagate = [handler], False
    log.setLevel(logging.INFO if verbose else logging.WARNING)
