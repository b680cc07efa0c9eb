"""A run's folder: summary, tables and the configuration, each written beside and renamed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pandas as pd

from .._files import write_together
from ._result import Simulation


def write_run(result: Simulation, out: str | Path) -> list[Path]:
    """Write summary.json, the tables as CSV and the configuration that was used.

    Nothing in them holds a time of day or a path: two runs with one seed are equal byte for byte. If something goes
    wrong, each file is either the old one or the new one, whole.

    Parameters
    ----------
    result : Simulation
        From `simulate`.
    out : path
        The folder, made if it is not there; files of these names are replaced.

    Returns
    -------
    list of Path
        The files, summary.json last.

    Examples
    --------
    >>> import tempfile
    >>> from lifeyears.simulation import simulate
    >>> result = simulate(["us_status"], 1, 2, n_jobs=1, config={"world": {"scale": 0.01, "burn_in_years": 0.5}})
    >>> [file.name for file in write_run(result, tempfile.mkdtemp())][:2]
    ['config.json', 'measures.csv']
    """
    folder = Path(out)
    texts = {
        "config.json": _json(_as_settings(result.config.to_dict())),
        "measures.csv": _csv(result.table),
        "differences.csv": _csv(result.differences),
        "by_group.csv": _csv(result.by_group),
        "group_differences.csv": _csv(result.group_differences),
        "replicates.csv": _csv(result.replicates),
        "summary.json": _json(result.summary()),  # the last: where it is, the others are
    }
    files = {folder / name: text.encode() for name, text in texts.items()}
    write_together(files)
    return list(files)


def checked_folder(out: str | Path) -> Path:
    """The folder to write to, or an error before the work begins."""
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"--out must be a folder; {out} is a file")
    if (folder / "manifest.json").exists() or (folder / "jobs").exists():
        raise ValueError(
            f"{out} holds a run of `lifeyears compare` or `reproduce`, whose summary and report would be lost: choose "
            "another folder with --out"
        )
    nearest = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not os.access(nearest, os.W_OK):
        raise PermissionError(f"cannot write to {nearest}; choose another folder with --out")
    return folder


def _as_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """As `read_config` takes it."""
    return {name: value for name, value in settings.items() if value is not None}


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _csv(table: pd.DataFrame) -> str:
    return table.to_csv(float_format="%.10g", lineterminator="\n")
