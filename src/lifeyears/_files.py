"""Files written beside their places and renamed there: whole, or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from .errors import FileReadError, Message, RequestError, Setting


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place and rename it there."""
    write_together({path: content})


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write files beside their places, and rename them there, in their order, once all of them are on the disk."""
    beside = {path: path.with_name(f".{path.name}.{os.getpid()}") for path in files}
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_to_disk(beside[path], content)
        for path, written in beside.items():
            written.replace(path)
    finally:
        for written in beside.values():
            written.unlink(missing_ok=True)


def write_to_disk(path: Path, content: bytes) -> None:
    """Write a file and wait until it is on the disk; an error says which, on a full disk too."""
    try:
        with open(path, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if error.errno is not None:
            error.filename = error.filename or str(path)
        raise


def remove_half_written(folder: Path) -> None:
    """Remove what was left beside its place by a process that was killed while it wrote, and nothing else."""
    for left in folder.rglob(".*"):
        if left.is_file() and re.fullmatch(r"\..+\.\d+", left.name):
            left.unlink()


def check_out_folder(out: str | Path) -> Path:
    """Check, before any work begins, that results can be written to a folder and would replace no run of experiments.

    Raises
    ------
    FileReadError
        If `out` is a file, or cannot be written to.
    RequestError
        If `out` holds a run of experiments, whose summary and report would be lost.

    Examples
    --------
    >>> check_out_folder(__file__)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    lifeyears.errors.FileReadError: out must be a folder; ..._files.py is a file. Name another folder with out=.
    """
    folder, hint = Path(out), Message("Name another folder with ", Setting("out"), ".")
    if folder.exists() and not folder.is_dir():
        raise FileReadError(f"out must be a folder; {out} is a file", hint=hint, path=str(out))
    if (folder / "manifest.json").exists() or (folder / "jobs").exists():
        raise RequestError(
            f"{out} holds a run of `lifeyears compare` or `reproduce`, whose summary and report would be lost",
            hint=hint,
            path=str(out),
        )
    nearest = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not os.access(nearest, os.W_OK):
        raise FileReadError(f"{nearest} cannot be written to: permission denied", hint=hint, path=str(nearest))
    return folder
