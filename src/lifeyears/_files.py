"""Files written beside their places and renamed there: whole, or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path


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
