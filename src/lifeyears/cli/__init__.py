"""The command line: one module for each command, each thin; nothing heavy is imported before a command runs."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from pathlib import Path

import typer

from ..errors import LifeyearsError, RequestError
from . import compare, datasets, demo, describe, fit, rank, report, reproduce, serve, simulate, status, version
from ._dialect import option_terms
from ._session import Quiet, Verbose, as_command, current_session, new_session, set_verbosity

NO_ROOM = {
    errno.ENOSPC: "the disk is full. Make room there",
    errno.EDQUOT: "your share of the disk is full. Make room there",
    errno.EROFS: "the disk is read-only. Make it writable",
}
RESUMABLE = ("demo", "compare", "reproduce")

app = typer.Typer(
    name="lifeyears",
    help="Survival models judged and trained by what an allocation gains from them: life-years.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Research use only. --verbose and --quiet may stand before or after the command. Set LIFEYEARS_TRACEBACK=1 "
    "to see where an error came from.",
)
for name, function, help_text in (
    ("demo", demo.command, "See it work on simulated patients."),
    ("reproduce", reproduce.command, "Rerun the paper's experiments."),
    ("compare", compare.command, "Compare models on your own table."),
    ("report", report.command, "Write the report of a run again."),
    ("datasets", datasets.command, "List the data sets, or describe one."),
    ("fit", fit.command, "Fit a model, judge it and save it."),
    ("rank", rank.command, "Rank candidates by a saved model."),
    ("describe", describe.command, "Show a saved model's card."),
    ("serve", serve.command, "Serve models: REST and a web page."),
    ("simulate", simulate.command, "Simulate a waiting list by policies."),
    ("status", status.command, "See how far a run is."),
    ("version", version.command, "Show versions."),
):
    app.command(name, short_help=help_text)(as_command(name, function))


@app.callback()
def _before_the_command(verbose: Verbose = False, quiet: Quiet = False) -> None:
    set_verbosity(verbose, quiet)


def main() -> None:
    """Run the command line; exit with 0 (done), 1 (the work failed), 2 (the request was wrong) or 130 (interrupted)."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: workers go with their parent
    with new_session():
        try:
            return _run(arguments)
        except BrokenPipeError:  # the reader of a pipe has enough
            sys.stdout = None
            return 0


def _run(arguments: list[str]) -> int:
    try:
        result = app(arguments, standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        return _fail(f"interrupted{_resume_note()}", 130)
    except typer.Exit as leave:
        return leave.exit_code
    except Exception as error:
        if hasattr(error, "format_message"):  # the parser's own: an unknown option, a missing argument
            message = str(error.format_message())
            return _fail(message, 2) if arguments else _show_help(message)
        if isinstance(error, BrokenPipeError) or os.environ.get("LIFEYEARS_TRACEBACK"):
            raise
        return _fail(*explain_failure(error))
    if result == 130:  # the parser turns Ctrl-C into this code, and prints nothing
        return _fail(f"interrupted{_resume_note()}", 130)
    return result if isinstance(result, int) else 0


def explain_failure(error: Exception) -> tuple[str, int]:
    """Return what to print about an error, and the exit code: 2 for a wrong request, 1 for work that failed.

    Only the errors of Lifeyears itself are about the request; of any other, a bug is the likeliest cause.
    """
    if isinstance(error, LifeyearsError):
        return error.render(option_terms), 2 if isinstance(error, RequestError) else 1
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return _explain_no_room(error), 1
    return (
        f"the work failed: {type(error).__name__}: {error}{_resume_note()}\n"
        "This may be a bug in Lifeyears. Set LIFEYEARS_TRACEBACK=1 to see where it comes from.",
        1,
    )


def _explain_no_room(error: OSError) -> str:
    """Name the folder that cannot be written to, and what to do."""
    folders = Path(error.filename).parents if error.filename else ()
    folder = next((f"to {folder}" for folder in folders if not folder.name.startswith(".")), "")  # not a half-written
    where = f"nothing more can be written {folder}".rstrip()
    return f"{where}: {NO_ROOM[error.errno or 0]}, or choose another folder with --out{_resume_note()}"


def _resume_note() -> str:
    resumes = current_session().command in RESUMABLE
    return "; finished jobs are kept, and the same command continues from them" if resumes else ""


def _show_help(text: str) -> int:
    print(text)
    return 0


def _fail(message: str, code: int) -> int:
    print(f"lifeyears: {message}", file=sys.stderr)
    return code
