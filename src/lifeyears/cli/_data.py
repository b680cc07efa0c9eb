"""What a command's DATA means: the simulated registry, a set of the catalogue, or a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    entry: str | None = None,
    centre: str | None = None,
    unit: str | None = None,
) -> Dataset:
    """Load what was asked for; errors say what there is."""
    from dataclasses import replace

    from ..data import catalogue, load, read_star, simulate_registry

    if horizon is not None and not 0 < horizon < float("inf"):
        raise ValueError(f"--horizon must be a time above 0; got {horizon:g}")
    own = {"time": time, "event": event, "entry": entry, "centre": centre, "unit": unit}
    path = Path(data)
    if data == "registry":
        _refuse(own | {"drop": drop}, "the registry is simulated")
        made = simulate_registry(60_055 if rows is None else rows, random_state=seed)
        return made if horizon is None else replace(made, horizon=horizon)
    if path.is_dir():
        _refuse(own, f"{path.name} is taken for a STAR release, whose columns are known")
        found = _without(read_star(path), drop)
    elif path.exists():
        found = _own_table(path, drop=names_in(drop), horizon=horizon, **own)
    elif path.suffix or "/" in data:
        raise FileNotFoundError(f"there is no file {data}")
    else:
        names = list(catalogue()["name"])
        if data not in names:
            raise ValueError(
                f"there is no file and no data set called {data!r}; the {len(names)} there are: lifeyears datasets"
            )
        _refuse(own, f"{data} is a set of the catalogue")
        found = _without(load(data), drop)
    if rows is not None and rows < len(found):
        found = _some_rows(found, rows, seed)
    return found if horizon is None else replace(found, horizon=horizon)


def _own_table(path: Path, event: str | None, centre: str | None, **options: Any) -> Dataset:
    """A file, with its column of centres, if there is one, under the name that splits by centre look for."""
    from dataclasses import replace

    from ..data import read_table

    if not event:
        raise ValueError(f"say which columns of {path.name} hold the outcome: --time COLUMN --event COLUMN")
    found = read_table(path, event=event, subgroups=centre or (), **options)
    return found if found.subgroups is None else replace(found, subgroups=found.subgroups.set_axis(["centre"], axis=1))


def _refuse(given: dict[str, str | None], why: str) -> None:
    asked = [f"--{name}" for name, value in given.items() if value]
    if asked:
        raise ValueError(f"{why}: {', '.join(asked)} {'is' if len(asked) == 1 else 'are'} for tables of your own")


def _without(data: Dataset, drop: str | None) -> Dataset:
    from dataclasses import replace

    absent = [name for name in names_in(drop) if name not in data.X]
    if absent:
        raise ValueError(f"--drop names {', '.join(absent)}; the columns are {', '.join(map(str, data.X))}")
    return replace(data, X=data.X.drop(columns=names_in(drop)))


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


def names_in(text: str | None) -> list[str]:
    return [] if text is None else [name.strip() for name in text.split(",") if name.strip()]
