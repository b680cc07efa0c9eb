"""What a command's DATA means: the simulated registry, a set of the catalogue, or a file."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from .._files import wrap_file_errors
from ..errors import Message, MissingFileError, RequestError, Setting
from ._dialect import option_terms, render_report, table_terms
from ._options import TableOptions

if TYPE_CHECKING:
    from .._typing import Json
    from ..data import Dataset

log = logging.getLogger(__name__)

Columns: TypeAlias = Callable[[Sequence[str]], list[str]]
"""Chooses columns by the names that a table has."""


def load_data(
    data: str,
    horizon: float | None,
    rows: int | None,
    seed: int,
    table: TableOptions,
    subgroups: Columns | None = None,
) -> Dataset:
    """Load what DATA names, with the options of `_options.TABLE`; errors list what there is."""
    from dataclasses import replace

    from ..data import datasets, load, read_star, simulate_registry

    if horizon is not None and not 0 < horizon < float("inf"):
        raise RequestError(f"--horizon must be a time above 0; got {horizon:g}")
    own = {name: value for name, value in table.items() if name != "drop"}
    drop = split_names(table.get("drop"))
    path = Path(data)
    if data == "registry":
        _refuse(table, "the registry is simulated")
        registry = simulate_registry(60_055 if rows is None else rows, random_state=seed)
        return registry if horizon is None else replace(registry, horizon=horizon)
    names = list(datasets()["name"])
    with wrap_file_errors(data):
        is_folder, is_file = path.is_dir(), path.is_file()
    if is_folder and data not in names:  # a run of a set may well lie in a folder of its name
        _refuse(own, f"{path.name} is taken for a STAR release, whose columns are known")
        dataset = _drop_columns(read_star(path), drop)
    elif is_file:
        dataset = _read_own_table(path, horizon, table, subgroups)
    elif path.suffix or "/" in data:
        raise MissingFileError(f"there is no file {data}", path=data)
    elif data in names:
        _refuse(own, f"{data} is a set of the catalogue")
        dataset = _drop_columns(load(data), drop)
    else:
        raise RequestError(
            f"there is no file and no data set called {data!r}; the {len(names)} there are: lifeyears datasets"
        )
    log.info("read %r", dataset)
    if rows is not None and rows < len(dataset):
        dataset = _draw_rows(dataset, rows, seed)
    return dataset if horizon is None else replace(dataset, horizon=horizon)


def load_data_to_split(
    split: str | None, data: str, horizon: float | None, rows: int | None, seed: int, table: TableOptions
) -> tuple[Dataset, TableOptions]:
    """Load what DATA names, and return it with the options that were used.

    For a split by centre, a table's column of centres is found by its name if it is not named, and then is excluded
    from the features.
    """
    from ..experiments.columns import COLUMN_NAMES

    if split != "centre" or table.get("centre"):
        return load_data(data, horizon, rows, seed, table), table
    chosen: list[str] = []

    def find_centre(columns: Sequence[str]) -> list[str]:
        by_name = {name.lower(): name for name in reversed(columns) if name not in split_names(table.get("drop"))}
        chosen.extend([by_name[name] for name in COLUMN_NAMES["centre"] if name in by_name][:1])
        return chosen

    dataset = load_data(data, horizon, rows, seed, table, find_centre)
    if not chosen:
        return dataset, table
    print(f"Split by centre: by column {chosen[0]!r}, which is excluded from the features; --centre names another.")
    return dataset, table | {"centre": chosen[0]}


def _read_own_table(path: Path, horizon: float | None, table: TableOptions, subgroups: Columns | None) -> Dataset:
    """Read a file, with its column of centres, if there is one, under the name that splits by centre look for."""
    import warnings
    from dataclasses import replace

    from ..data import read_table

    if not table.get("event"):
        raise RequestError(f"say which columns of {path.name} hold the outcome: --time COLUMN --event COLUMN")
    options: Json = {name: value for name, value in table.items() if name not in ("centre", "event_values")}
    for name in ("drop", "keep", "categorical"):
        options[name] = split_names(table.get(name))
    options["event_values"] = [_number_or_text(value) for value in split_names(table.get("event_values"))] or None
    options["subgroups"] = table.get("centre") or subgroups or ()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the report, which is printed, says the same
            dataset = read_table(path, horizon=horizon, **options)
    except RequestError as error:
        raise type(error)(error.render(table_terms), code=error.code) from None
    if dataset.report is not None:
        report = render_report(dataset.report, table_terms)
        dataset = replace(dataset, report=replace(report, warnings=report.warnings + _unknown_unit(dataset)))
    if dataset.subgroups is None:
        return dataset
    return replace(dataset, subgroups=dataset.subgroups.set_axis(["centre"], axis=1))


def _unknown_unit(dataset: Dataset) -> tuple[str, ...]:
    from ..units import DAYS_IN, is_known_unit

    if is_known_unit(dataset.unit):
        return ()
    *others, last = DAYS_IN
    names = f"{', '.join(others)} or {last}"
    why = "(it sets the margin of the paper's loss to a year)"
    warning = Message("the unit of the times is not known: pass ", Setting("unit"), f" {names} {why}")
    return (warning.render(option_terms),)


def _number_or_text(value: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def _refuse(options: Mapping[str, object], why: str) -> None:
    names = [f"--{name.replace('_', '-')}" for name, value in options.items() if value]
    if names:
        raise RequestError(f"{why}: {', '.join(names)} {'is' if len(names) == 1 else 'are'} for tables of your own")


def _drop_columns(dataset: Dataset, drop: list[str]) -> Dataset:
    from dataclasses import replace

    absent = [name for name in drop if name not in dataset.X]
    if absent:
        raise RequestError(f"--drop names {', '.join(absent)}; the columns are {', '.join(map(str, dataset.X))}")
    report = None if dataset.report is None else render_report(dataset.report)
    return replace(dataset, X=dataset.X.drop(columns=drop), report=report)


def _draw_rows(dataset: Dataset, rows: int, seed: int) -> Dataset:
    from dataclasses import replace

    import numpy as np

    chosen = np.sort(np.random.default_rng(seed).permutation(len(dataset))[:rows])
    return replace(
        dataset,
        X=dataset.X.iloc[chosen],
        y=dataset.y[chosen],
        subgroups=None if dataset.subgroups is None else dataset.subgroups.iloc[chosen],
        entry=None if dataset.entry is None else dataset.entry[chosen],
    )


def split_names(names: str | list[str] | None) -> list[str]:
    """Return the names between commas; a list of names as it is."""
    if isinstance(names, list):
        return names
    return [] if names is None else [name.strip() for name in names.split(",") if name.strip()]
