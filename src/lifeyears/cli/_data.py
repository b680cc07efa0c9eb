"""What a command's DATA means: the simulated registry, a set of the catalogue, or a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..data import Dataset


def named_data(
    data: str,
    time: str | None = None,
    event: str | None = None,
    drop: str | None = None,
    horizon: float | None = None,
    rows: int | None = None,
    seed: int = 0,
) -> Dataset:
    """Load what was asked for; errors say what there is."""
    from dataclasses import replace

    from ..data import catalogue, load, read_star, read_table, simulate_registry

    if horizon is not None and not 0 < horizon < float("inf"):
        raise ValueError(f"--horizon must be a time above 0; got {horizon:g}")
    if data == "registry":
        if time or event or drop:
            raise ValueError("the registry is simulated: --time, --event and --drop are for tables of your own")
        made = simulate_registry(60_055 if rows is None else rows, random_state=seed)
        return made if horizon is None else replace(made, horizon=horizon)
    path = Path(data)
    if path.is_dir():
        found = read_star(path)
    elif path.exists():
        if not event:
            raise ValueError(f"say which columns of {path.name} hold the outcome: --time COLUMN --event COLUMN")
        found = read_table(path, time=time, event=event, drop=_names(drop), horizon=horizon)
    elif path.suffix or "/" in data:
        raise FileNotFoundError(f"there is no file {data}")
    else:
        names = list(catalogue()["name"])
        if data not in names:
            raise ValueError(
                f"there is no file and no data set called {data!r}; the {len(names)} there are: lifeyears datasets"
            )
        found = load(data)
        if time or event:
            raise ValueError(f"{data} is a set of the catalogue: --time and --event are for tables of your own")
        if drop:
            absent = [name for name in _names(drop) if name not in found.X]
            if absent:
                raise ValueError(f"--drop names {', '.join(absent)}; the columns are {', '.join(map(str, found.X))}")
            found = replace(found, X=found.X.drop(columns=_names(drop)))
    if rows is not None and rows < len(found):
        found = _some_rows(found, rows, seed)
    return found if horizon is None else replace(found, horizon=horizon)


def _some_rows(data: Dataset, rows: int, seed: int) -> Dataset:
    from dataclasses import replace

    import numpy as np

    chosen = np.sort(np.random.default_rng(seed).permutation(len(data))[:rows])
    return replace(
        data,
        X=data.X.iloc[chosen],
        y=data.y[chosen],
        subgroups=None if data.subgroups is None else data.subgroups.iloc[chosen],
        entry=None if data.entry is None else data.entry[chosen],
    )


def _names(text: str | None) -> list[str]:
    return [] if text is None else [name.strip() for name in text.split(",") if name.strip()]
