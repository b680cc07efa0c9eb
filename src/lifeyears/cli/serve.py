"""`lifeyears serve`: the web service and its page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
    verbose: Annotated[bool, typer.Option("--verbose", help="One line a request; never what was sent.")] = False,
) -> None:
    """Serve models over REST, with a page for people; without --model, a sample is made on first start.

    Examples: lifeyears serve; lifeyears serve --model model --run comparison --port 0
    """
    import os

    token = _token(token_file)
    # One thread a request. LightGBM's are OpenMP's, whose number each thread of a process has for itself: what is set
    # here, before LightGBM loads, holds in those that answer requests too.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        from ..service import serve
    except ImportError:
        raise ImportError("the service needs FastAPI and uvicorn: pip install 'lifeyears[app]'") from None
    from ..report import read_summary
    from ..service._sample import sample_models, sample_run

    def say(message: str) -> None:
        print(message, flush=True)

    models = _loaded(model) if model else sample_models(say)
    summary = read_summary(run).content if run is not None else None if model else sample_run(say)
    serve(models, summary, host, port, token, tuple(allow_host or ()), verbose, say)


def _loaded(folders: list[Path]) -> dict[str, MatchModel]:
    """Models by the names of their folders."""
    from ..scoring import MatchModel

    found: dict[str, MatchModel] = {}
    for folder in folders:
        name = folder.resolve().name
        while name in found:
            name += "'"
        found[name] = MatchModel.load(folder)
    return found


def _token(path: Path | None) -> str | None:
    import os

    given = path.read_text(encoding="utf-8").strip() if path is not None else os.environ.get("LIFEYEARS_TOKEN")
    if given is None:
        return None
    if len(given) < 16 or not given.isascii() or not given.isprintable() or " " in given:
        raise ValueError("a token is at least 16 plain characters without spaces")
    return given
