"""Public survival data sets through the optional package SurvSet: offline, checked one by one, no leaks."""

from __future__ import annotations

import difflib
import tomllib
import warnings
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from ...errors import DataError, MissingExtraError, RequestError
from ...outcome import Outcome
from ..dataset import DataReport, Dataset

if TYPE_CHECKING:
    import pandas as pd

    from ..._typing import Json

CHECKED_WITH = "0.2.11"  # the SurvSet release every entry of the catalogue was checked against
MISSING_LEVELS = ("missing", "na", "")  # how SurvSet writes a missing category
COLUMNS = ["name", "subjects", "events", "features", "unit", "horizon", "field", "source", "licence", "note"]


def _read_entries() -> tuple[dict[str, Json], dict[str, str]]:
    text = resources.files(__package__).joinpath("_catalogue.toml").read_text(encoding="utf-8")
    entries = tomllib.loads(text)
    return entries, entries.pop("excluded")


SETS, EXCLUDED = _read_entries()
"""What the catalogue holds, and why the other sets of SurvSet are left out (name → reason)."""


def datasets() -> pd.DataFrame:
    """List the public data sets that `load` knows, the largest first.

    Returns
    -------
    DataFrame
        One row per set: name, subjects, events, features, unit (of time), horizon (suggested τ, in that unit),
        field, source, licence and note (what the event is, and known problems). The licence is that of the
        source as far as it is known; SurvSet, which carries the data, is GPL-3.

    Examples
    --------
    >>> datasets().query("field == 'organ transplant'")["name"].tolist()
    ['dataDIVAT3', 'dataDIVAT2']
    """
    import pandas as pd

    table = pd.DataFrame([{"name": name, **entry} for name, entry in SETS.items()])[COLUMNS]
    table["horizon"] = table["horizon"].astype(float)
    return table.sort_values("subjects", ascending=False, kind="stable", ignore_index=True)


def load(name: str) -> Dataset:
    """Load a public data set by its name in `datasets()`.

    Numeric columns are floats, the others categories. Columns that are known only after time zero, repeat another
    one or do not vary are excluded, and `report` says so.

    Parameters
    ----------
    name : str
        A name from ``datasets()``, such as ``"support2"``.

    Returns
    -------
    Dataset
        With `horizon` the 95th percentile of the censored times, unless the source documents a better one.

    Raises
    ------
    RequestError
        If there is no such set, or it was excluded on purpose; the message says why.
    MissingExtraError
        If SurvSet is not installed.

    Examples
    --------
    >>> load("flchain")
    Dataset('flchain': 7,874 subjects, 8 features (2 categorical), 2,169 events, horizon 4989 days)
    """
    entry = _find_entry(name)
    raw = _read(name, entry)
    rows_read = len(raw)
    dropped_rows: dict[str, int] = {}
    if "longest" in entry:
        wrong = raw["time"].to_numpy() > entry["longest"]
        raw = raw[~wrong]
        dropped_rows[entry["longest_why"]] = int(wrong.sum())
    features, dropped_columns = _features(raw, entry)
    y = Outcome(raw["time"].to_numpy(float), np.isin(raw["event"].to_numpy(), entry.get("event_codes", [1])))
    report = DataReport(
        rows_read=rows_read,
        rows_kept=len(raw),
        dropped_rows=dropped_rows,
        dropped_columns=dropped_columns,
        warnings=tuple(_warnings(entry, y, features)),
    )
    return Dataset(
        X=features,
        y=y,
        name=name,
        unit=entry["unit"],
        source=f"{entry['source']}; licence: {entry['licence']}; through SurvSet (GPL-3)",
        horizon=float(entry["horizon"]),
        report=report,
    )


def _find_entry(name: str) -> Json:
    if name in SETS:
        return SETS[name]
    if name in EXCLUDED:
        raise RequestError(
            f"{name!r} is left out of the catalogue: {EXCLUDED[name]}", hint="datasets() lists what can be loaded."
        )
    names = {candidate.lower(): candidate for candidate in SETS}
    close = [names[match] for match in difflib.get_close_matches(str(name).lower(), names, n=4, cutoff=0.5)]
    hint = f"Did you mean {' or '.join(map(repr, close))}?" if close else "There is 'support2', for example."
    raise RequestError(
        f"there is no data set {name!r}", hint=f"{hint} datasets() lists all {len(SETS)} of them.", name=name
    )


def _read(name: str, entry: Json) -> pd.DataFrame:
    """Read SurvSet's own frame: pid, event, time, and the features as num_* and fac_*."""
    try:
        import SurvSet
        from SurvSet.data import SurvLoader
    except ImportError as error:
        raise MissingExtraError(
            f"the data set {name!r} comes with the package SurvSet, which is not installed",
            hint='Install it with: pip install "lifeyears[data]"',
            package="SurvSet",
        ) from error
    release = getattr(SurvSet, "__version__", "unknown")
    loader = SurvLoader()
    if name not in set(loader.df_ds["ds"]):
        raise DataError(
            f"SurvSet {release} has no data set {name!r}, though {CHECKED_WITH} had",
            hint=f'Install that one with: pip install "SurvSet=={CHECKED_WITH}"',
        )
    with warnings.catch_warnings():  # SurvSet's files are pickles that name numpy's modules by their old paths
        warnings.simplefilter("ignore", DeprecationWarning)
        raw = loader.load_dataset(ds_name=name)["df"].reset_index(drop=True)
    columns = {column[4:] for column in raw.columns}
    lost = [column for column in entry.get("left_out", {}) if column not in columns]
    if lost:  # a leak under a new name would pass unnoticed
        raise DataError(
            f"{name!r} of SurvSet {release} has no column {', '.join(lost)}, which the catalogue leaves out: "
            "its columns have changed since they were checked",
            hint=f'Install the release that was: pip install "SurvSet=={CHECKED_WITH}"',
        )
    return raw


def _features(raw: pd.DataFrame, entry: Json) -> tuple[pd.DataFrame, dict[str, str]]:
    """Floats and categories under their plain names, and what was left out of them and why."""
    import pandas as pd

    left_out: dict[str, str] = dict(entry.get("left_out", {}))
    numeric = [column for column in raw.columns if column.startswith("num_") and column[4:] not in left_out]
    numbers = raw[numeric].astype(float).rename(columns=lambda column: column[4:])
    varies = (numbers.max() > numbers.min()).to_numpy()  # far quicker than nunique over thousands of columns
    dropped = left_out | dict.fromkeys(map(str, numbers.columns[~varies]), "one value only")
    numbers = numbers.loc[:, varies]

    categories = {}
    for column in raw.columns:
        name = column[4:]
        if not column.startswith("fac_") or name in left_out:
            continue
        if "num_" + name in raw.columns:
            dropped[f"{name} (as a category)"] = "the same values are kept as a number"
            continue
        codes = _codes(raw[column], empty_is_none=name in entry.get("empty_is_none", ()))
        if codes.nunique() < 2:
            dropped[name] = "one value only"
        else:
            categories[name] = codes
    features = pd.concat([numbers, pd.DataFrame(categories, index=raw.index)], axis=1)
    order = [column[4:] for column in raw.columns if column[4:] in features.columns]
    return features[list(dict.fromkeys(order))].reset_index(drop=True), dropped


def _codes(column: pd.Series, empty_is_none: bool) -> pd.Series:
    """Categories as text, in SurvSet's order; an empty one is missing, or 'none' where it means that."""
    column = column.astype("category").cat.rename_categories(str)
    levels = column.cat.categories
    empty = [level for level in levels if level in MISSING_LEVELS]
    if empty_is_none:
        return column.cat.rename_categories(dict.fromkeys(empty, "none"))
    return column.cat.remove_categories(empty).cat.remove_unused_categories()


def _warnings(entry: Json, y: Outcome, features: pd.DataFrame) -> list[str]:
    notes = [entry["note"]]
    if "horizon_why" in entry:
        notes.append(f"the horizon of {entry['horizon']:g} {entry['unit']} is {entry['horizon_why']}")
    expected = (entry["subjects"], entry["events"], entry["features"])
    counts = (len(y), y.n_events, features.shape[1])
    if counts != expected:
        notes.append(
            f"SurvSet gives {counts} subjects, events and features where the catalogue, checked with "
            f"{CHECKED_WITH}, has {expected}"
        )
    return notes
