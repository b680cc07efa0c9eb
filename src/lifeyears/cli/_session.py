"""What holds for one command: its name and options, and how much it prints beside its result."""

from __future__ import annotations

import functools
import inspect
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Annotated, TextIO

import typer

from ..errors import RequestError

Verbose = Annotated[bool, typer.Option("--verbose", help="Log what is done to standard error, with times.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress and no log: only results and errors.")]


@dataclass(frozen=True)
class Session:
    """The command under way.

    Attributes
    ----------
    command : str
        Its name; empty before it is known.
    options : frozenset of str
        The names of its parameters, in Python's spelling.
    verbose, quiet : bool
    """

    command: str = ""
    options: frozenset[str] = frozenset()
    verbose: bool = False
    quiet: bool = False


ALL_OPTIONS: set[str] = set()
"""The names of the parameters of all commands, for messages that point to another command."""

_SESSION: ContextVar[Session] = ContextVar("lifeyears command", default=Session())  # noqa: B039 - it is frozen


def current_session() -> Session:
    """Return the command under way."""
    return _SESSION.get()


@contextmanager
def new_session() -> Iterator[None]:
    """Begin with no command, and with warnings and errors of Lifeyears on standard error."""
    token, log, handler = _SESSION.set(Session()), logging.getLogger("lifeyears"), _StandardError()
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s"))
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.WARNING)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        _SESSION.reset(token)


def set_verbosity(verbose: bool = False, quiet: bool = False) -> None:
    """Set how much is printed; what was set before the command's name holds, too."""
    session = current_session()
    session = replace(session, verbose=session.verbose or verbose, quiet=session.quiet or quiet)
    if session.verbose and session.quiet:
        raise RequestError("--verbose and --quiet exclude each other: give one of them")
    _SESSION.set(session)
    level = logging.DEBUG if session.verbose else logging.ERROR if session.quiet else logging.WARNING
    logging.getLogger("lifeyears").setLevel(level)


def as_command(name: str, function: Callable[..., int | None]) -> Callable[..., int | None]:
    """Give a command the options that every command has, and let the session know which one is run."""
    signature = inspect.signature(function, eval_str=True)
    ALL_OPTIONS.update(signature.parameters)

    @functools.wraps(function)
    def command(verbose: bool = False, quiet: bool = False, **options: object) -> int | None:
        _SESSION.set(replace(current_session(), command=name, options=frozenset(signature.parameters)))
        set_verbosity(verbose, quiet)
        return function(**options)

    keyword, shared = inspect.Parameter.KEYWORD_ONLY, {"verbose": Verbose, "quiet": Quiet}
    added = [inspect.Parameter(each, keyword, default=False, annotation=kind) for each, kind in shared.items()]
    parameters = [parameter.replace(kind=keyword) for parameter in signature.parameters.values()]
    command.__signature__ = signature.replace(parameters=[*parameters, *added])  # type: ignore[attr-defined]
    command.__annotations__ = {**function.__annotations__, **shared}
    return command


class _StandardError(logging.StreamHandler[TextIO]):
    """Writes to standard error as it is when a message comes: a progress bar redirects it."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        return sys.stderr
