"""`lifeyears serve`: the web service and its page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._files import wrap_file_errors
from ..errors import MissingExtraError, RequestError

if TYPE_CHECKING:
    from ..scoring import MatchModel


def command(
    model: Annotated[list[Path] | None, typer.Option(help="A folder of `lifeyears fit`; twice to compare.")] = None,
    run: Annotated[Path | None, typer.Option(help="A run's folder, for Compare.")] = None,
    host: Annotated[str, typer.Option(help="Where to listen; anything but loopback needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 takes one that is free, and prints it.", min=0, max=65535)] = 8000,
    token_file: Annotated[
        Path | None, typer.Option(help="A file with the token callers must send (or LIFEYEARS_TOKEN).")
    ] = None,
    allow_host: Annotated[list[str] | None, typer.Option(help="A further host name to answer to.")] = None,
) -> None:
    """Serve models over REST, with a page for people; without --model, a sample is made on first start.

    With --verbose, one line for each request is logged: method, route, status and time, never what was sent.

    Examples: lifeyears serve; lifeyears serve --model model --run comparison --port 0
    """
    import os

    token = _read_token(token_file)
    # One thread a request. LightGBM's are OpenMP's, whose number each thread of a process has for itself: what is set
    # here, before LightGBM loads, holds in those that answer requests too.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        from ..service import serve
    except ImportError:
        raise MissingExtraError("the service needs FastAPI and uvicorn: pip install 'lifeyears[app]'") from None
    from ..experiments import read_summary
    from ..service import sample_models, sample_run
    from ._progress import show_progress

    def say(message: str) -> None:
        print(message, flush=True)

    with show_progress() as progress:
        models = _load_models(model) if model else sample_models(progress)
        summary = read_summary(run) if run is not None else None if model else sample_run(progress)
    serve(models, summary, host, port, token, tuple(allow_host or ()), say)


def _load_models(folders: list[Path]) -> dict[str, MatchModel]:
    """Load models by the names of their folders."""
    from ..scoring import MatchModel

    models: dict[str, MatchModel] = {}
    for folder in folders:
        name = folder.resolve().name
        while name in models:
            name += "'"
        models[name] = MatchModel.load(folder)
    return models


def _read_token(path: Path | None) -> str | None:
    import os

    if path is None:
        token = os.environ.get("LIFEYEARS_TOKEN")
    else:
        with wrap_file_errors(path):
            token = path.read_text(encoding="utf-8", errors="replace").strip()
    if token is None:
        return None
    if len(token) < 16 or not token.isascii() or not token.isprintable() or " " in token:
        raise RequestError("a token is at least 16 plain characters without spaces")
    return token
