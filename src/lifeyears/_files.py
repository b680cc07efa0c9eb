"""Files that a request names: the system's errors about them, and writing that leaves them whole or as they were."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import FileReadError, Message, MissingFileError, RequestError, Setting

# Errors of the system that another path, or another permission, would avoid. A full or broken disk is not among them.
REQUEST_ERRORS = frozenset(
    getattr(errno, name)
    for name in ("ENOENT", "EACCES", "EPERM", "ENOTDIR", "EISDIR", "EEXIST", "ENAMETOOLONG", "ELOOP", "EINVAL")
)


@contextmanager
def wrap_file_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise the system's errors about a file that the request names as a `FileReadError`.

    Errors that no other request would avoid, such as a full disk, are left as they are.

    Examples
    --------
    >>> with wrap_file_errors("nowhere/my.csv"):
    ...     open("nowhere/my.csv")
    Traceback (most recent call last):
    lifeyears.errors.MissingFileError: nowhere/my.csv: no such file or directory
    """
    try:
        yield
    except FileReadError:
        raise
    except OSError as error:
        if error.errno not in REQUEST_ERRORS:
            raise
        kind = MissingFileError if error.errno == errno.ENOENT else FileReadError
        problem = f"{error.filename or os.fspath(path)}: {(error.strerror or 'it cannot be used').lower()}"
        raise kind(problem, path=os.fspath(path)) from None
    except ValueError as error:
        if "null byte" not in str(error) and "null character" not in str(error):
            raise
        raise FileReadError(f"{os.fspath(path)!r} is not a path: it holds a null character") from None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place and rename it there."""
    write_together({path: content})


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write files beside their places, and rename them there, in their order, once all of them are on the disk."""
    beside = {path: path.with_name(f".{path.name}.{os.getpid()}") for path in files}
    try:
        for path, content in files.items():
            with wrap_file_errors(path.parent):
                path.parent.mkdir(parents=True, exist_ok=True)
            write_to_disk(beside[path], content)
        for path, written in beside.items():
            with wrap_file_errors(path):
                written.replace(path)
    finally:
        for written in beside.values():
            with suppress(OSError):  # not there, or in a place where nothing could be written
                written.unlink()


def write_to_disk(path: Path, content: bytes) -> None:
    """Write a file and wait until it is on the disk; an error names the file, on a full disk too."""
    try:
        with wrap_file_errors(path), open(path, "wb") as file:
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
