"""The command line: one module a command, each thin; nothing heavy is imported before a command runs."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import typer

from . import compare, datasets, demo, describe, fit, rank, report, reproduce, serve, simulate, status, version
from ._data import in_options

# What a wrong request raises; anything else (a full disk, a singular matrix, a bug) is the work that failed.
REQUEST_ERRORS = (ValueError, FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError, ImportError)

NO_ROOM = {
    errno.ENOSPC: "the disk is full. Make room there",
    errno.EDQUOT: "your share of the disk is full. Make room there",
    errno.EROFS: "the disk is read-only. Make it writable",
}

app = typer.Typer(
    name="lifeyears",
    help="Survival models judged and trained by what an allocation gains from them: life-years.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Research use only. Set LIFEYEARS_TRACEBACK=1 to see where an error came from.",
)
app.command("demo", short_help="See it work on simulated patients.")(demo.command)
app.command("reproduce", short_help="Rerun the paper's experiments.")(reproduce.command)
app.command("compare", short_help="Compare models on your own table.")(compare.command)
app.command("report", short_help="Write the report of a run again.")(report.command)
app.command("datasets", short_help="List the data sets, or describe one.")(datasets.command)
app.command("fit", short_help="Fit a model, judge it and save it.")(fit.command)
app.command("rank", short_help="Rank candidates by a saved model.")(rank.command)
app.command("describe", short_help="Show a saved model's card.")(describe.command)
app.command("serve", short_help="Serve models: REST and a web page.")(serve.command)
app.command("simulate", short_help="Simulate a waiting list by policies.")(simulate.command)
app.command("status", short_help="See how far a run is.")(status.command)
app.command("version", short_help="Show versions.")(version.command)


def main() -> None:
    """Run the command line; exit with 0 (done), 1 (the work failed), 2 (the request was wrong) or 130 (interrupted)."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: workers go with their parent
    try:
        result = app(arguments, standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        return _fail(_interrupted(arguments), 130)
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stdout = None
        return 0
    except typer.Exit as leave:
        return leave.exit_code
    except Exception as error:
        if hasattr(error, "format_message"):  # the parser's own: an unknown option, a missing argument
            return _fail(error.format_message(), 2) if arguments else _show_help(error)
        if os.environ.get("LIFEYEARS_TRACEBACK"):
            raise
        if isinstance(error, REQUEST_ERRORS) and not isinstance(error, ArithmeticError) and "LinAlg" not in repr(error):
            return _fail(_words(error), 2)
        if isinstance(error, OSError) and error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
            return _fail(_words(error), 2)
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            return _fail(_no_room(error, arguments), 1)
        return _fail(f"the work failed: {type(error).__name__}: {error}", 1)
    if result == 130:  # the parser turns Ctrl-C into this code, and says nothing
        return _fail(_interrupted(arguments), 130)
    return result if isinstance(result, int) else 0


def _words(error: BaseException) -> str:
    """What an error says; of the system's own, without their numbers."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror.lower()}"
    return in_options(str(error))


def _no_room(error: OSError, arguments: list[str]) -> str:
    """That a folder cannot be written to, which, and what to do."""
    folders = Path(error.filename).parents if error.filename else ()
    seen = next((f"to {folder}" for folder in folders if not folder.name.startswith(".")), "")  # not one half written
    where = f"nothing more can be written {seen}".rstrip()
    return f"{where}: {NO_ROOM[error.errno or 0]}, or choose another folder with --out{_goes_on(arguments)}"


def _interrupted(arguments: list[str]) -> str:
    return f"interrupted{_goes_on(arguments)}"


def _goes_on(arguments: list[str]) -> str:
    resumes = bool(arguments) and arguments[0] in ("demo", "compare", "reproduce")
    return "; finished units are kept, and the same command goes on from them" if resumes else ""


def _show_help(error: Any) -> int:
    print(error.format_message())
    return 0


def _fail(message: str, code: int) -> int:
    print(f"lifeyears: {message}", file=sys.stderr)
    return code
