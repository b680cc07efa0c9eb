"""A run's folder: summary, tables and the configuration, each written beside and renamed."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from .._files import write_together
from .._typing import Json
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
        "config.json": _json(_drop_unset(result.config.to_dict())),
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


def _drop_unset(settings: Json) -> Json:
    """Return the settings as `read_config` takes them."""
    return {name: value for name, value in settings.items() if value is not None}


def _json(content: Json) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _csv(table: pd.DataFrame) -> str:
    return str(table.to_csv(float_format="%.10g", lineterminator="\n"))
