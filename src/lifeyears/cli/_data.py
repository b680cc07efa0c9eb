"""What a command's DATA means: the simulated registry, a set of the catalogue, or a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._options import RUN, TABLE

if TYPE_CHECKING:
    from ..data import Dataset


def named_data(
    data: str, horizon: float | None = None, rows: int | None = None, seed: int = 0, **table: str | list[str] | None
) -> Dataset:
    """Load what was asked for, `table` being the options of `_options.TABLE`; errors say what there is."""
    from dataclasses import replace

    from ..data import datasets, load, read_star, simulate_registry

    if horizon is not None and not 0 < horizon < float("inf"):
        raise ValueError(f"--horizon must be a time above 0; got {horizon:g}")
    own = {name: value for name, value in table.items() if name != "drop"}
    drop = names_in(table.get("drop"))
    path = Path(data)
    if data == "registry":
        _refuse(table, "the registry is simulated")
        made = simulate_registry(60_055 if rows is None else rows, random_state=seed)
        return made if horizon is None else replace(made, horizon=horizon)
    names = list(datasets()["name"])
    if path.is_dir() and data not in names:  # a run of a set may well lie in a folder of its name
        _refuse(own, f"{path.name} is taken for a STAR release, whose columns are known")
        found = _without(read_star(path), drop)
    elif path.is_file():
        found = _own_table(path, drop=drop, horizon=horizon, **own)
    elif path.suffix or "/" in data:
        raise FileNotFoundError(f"there is no file {data}")
    else:
        if data not in names:
            raise ValueError(
                f"there is no file and no data set called {data!r}; the {len(names)} there are: lifeyears datasets"
            )
        _refuse(own, f"{data} is a set of the catalogue")
        found = _without(load(data), drop)
    if rows is not None and rows < len(found):
        found = _some_rows(found, rows, seed)
    return found if horizon is None else replace(found, horizon=horizon)


def data_to_split(
    split: str | None, data: str, horizon: float | None, rows: int | None, seed: int, own: dict[str, Any]
) -> tuple[Dataset, dict[str, Any]]:
    """Load what was asked for, and tell with what options.

    For a split by centre, a table's column of centres is found by its name if it is not named, and then is no feature.
    """
    found = named_data(data, horizon, rows, seed, **own)
    if split != "centre" or own.get("centre") or not Path(data).is_file():
        return found, own
    from ..experiments.columns import find_column

    centre = find_column(found, "centre")
    if centre is None:
        return found, own
    own = own | {"centre": str(centre.name)}
    print(f"Split by centre: by column {own['centre']!r}, which is no feature then; --centre names another.")
    return named_data(data, horizon, rows, seed, **own), own


def _own_table(path: Path, **given: Any) -> Dataset:
    """A file, with its column of centres, if there is one, under the name that splits by centre look for."""
    import warnings
    from dataclasses import replace

    from ..data import read_table

    if not given.get("event"):
        raise ValueError(f"say which columns of {path.name} hold the outcome: --time COLUMN --event COLUMN")
    centre = given.pop("centre", None)
    for name in ("keep", "categorical"):
        given[name] = names_in(given.get(name))
    given["event_values"] = [_number_or_text(value) for value in names_in(given.get("event_values"))] or None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the report, which is printed, says the same
            found = read_table(path, subgroups=centre or (), **given)
    except ValueError as error:
        raise ValueError(str(error).replace("subgroups=", "centre=")) from None
    if found.report is not None:
        told = tuple(map(in_options, found.report.warnings)) + _unit_not_known(found)
        left_out = {name: in_options(why) for name, why in found.report.dropped_columns.items()}
        found = replace(found, report=replace(found.report, warnings=told, dropped_columns=left_out))
    return found if found.subgroups is None else replace(found, subgroups=found.subgroups.set_axis(["centre"], axis=1))


def _unit_not_known(found: Dataset) -> tuple[str, ...]:
    from ..units import DAYS_IN

    if found.unit in DAYS_IN:
        return ()
    *others, last = DAYS_IN
    return (
        f"the unit of the times is not known: pass --unit {', '.join(others)} or {last} (it sets the margin of the "
        "paper's loss to a year)",
    )


def in_options(text: str) -> str:
    """Words for Python in those of the command line; what is said to Python alone, in brackets, is left out.

    Examples
    --------
    >>> in_options("Say which with event_values=: one value, as event_values=2. Or leave it out with drop=['a b']")
    "Say which with --event-values: one value, as --event-values 2. Or leave it out with --drop 'a b'"
    >>> in_options("tau= was 5, is 8: use --horizon 5 (in Python, run(…, tau=5))")
    '--horizon was 5, is 8: use --horizon 5'
    >>> in_options("there is no file out/time=2020/my.csv")  # a folder's name
    'there is no file out/time=2020/my.csv'
    """
    import re

    text = re.sub(r" \(in Python,(?:[^()]|\([^()]*\))*\)", "", text)
    text = re.sub(r"\btau=", "horizon=", text)
    names = "|".join((*TABLE, *RUN))
    text = re.sub(rf"(?<!/)\b({names})=\[('[^']*')\]", r"\1=\2", text)
    return re.sub(
        rf"(?<!/)\b({names})=(?=(\w|'|\"|\[)?)",
        lambda found: f"--{found[1].replace('_', '-')}" + (" " if found[2] else ""),
        text,
    )


def _number_or_text(value: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def _refuse(given: dict[str, Any], why: str) -> None:
    asked = [f"--{name.replace('_', '-')}" for name, value in given.items() if value]
    if asked:
        raise ValueError(f"{why}: {', '.join(asked)} {'is' if len(asked) == 1 else 'are'} for tables of your own")


def _without(data: Dataset, drop: list[str]) -> Dataset:
    from dataclasses import replace

    absent = [name for name in drop if name not in data.X]
    if absent:
        raise ValueError(f"--drop names {', '.join(absent)}; the columns are {', '.join(map(str, data.X))}")
    return replace(data, X=data.X.drop(columns=drop))


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


def names_in(given: Any) -> list[str]:
    """Names between commas, or a list of them as it is."""
    if isinstance(given, list):
        return given
    return [] if given is None else [name.strip() for name in given.split(",") if name.strip()]
