"""`lifeyears status`: how far a run is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .._files import wrap_file_errors
from ..errors import MissingFileError, RequestError


def command(folder: Annotated[Path, typer.Argument(help="A run's folder, or one with several runs in it.")]) -> None:
    """Show how many jobs of a run are done, and how long the rest will take.

    Example: lifeyears status reproduction
    """
    from ..experiments import status

    with wrap_file_errors(folder):
        if not folder.is_dir():
            raise MissingFileError(f"there is no folder {folder}")
        runs = [path.parent for path in sorted([*folder.glob("manifest.json"), *folder.glob("*/manifest.json")])]
    if not runs:
        raise RequestError(f"{folder} holds no run (no manifest.json)")
    for run in runs:
        print(f"{run.name}: {status(run)}")
