"""`lifeyears report`: the page of a run, or of two side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .._files import wrap_file_errors
from ..errors import RequestError


def command(
    folder: Annotated[Path, typer.Argument(help="A run's folder, or one with several runs in it.")],
    other: Annotated[Path | None, typer.Argument(help="A second run, to put beside the first.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="A folder, which gets report.html, or the file to write (by default FOLDER/report.html, or "
            "FOLDER/report-beside-OTHER.html)."
        ),
    ] = None,
) -> None:
    """Write the report of a finished run from its summary.json: one HTML file that needs nothing else.

    Examples: lifeyears report lifeyears-demo; lifeyears report first second --out both
    """
    from ..report import write_report

    runs = [folder]
    with wrap_file_errors(folder):
        if folder.is_dir() and not (folder / "summary.json").exists():
            runs = [path.parent for path in sorted(folder.glob("*/summary.json"))] or [folder]
    if len(runs) > 1 and (other is not None or out is not None):
        names = ", ".join(str(run) for run in runs)
        raise RequestError(f"{folder} holds several runs: name one of {names}")
    for run in runs:
        print(f"Report: {write_report(run, other, out)}")
