"""Something to begin with: a sample model and run, made once; candidates and donors for any model."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .._version import __version__
from ..checks import is_number
from ..data import Population, simulate_registry
from ..experiments import read_summary
from ..experiments.types import Arm, Summary
from ..progress import Progress, no_progress
from ..scoring import QUANTILES, Column, MatchModel, RowError, Schema, fit_model
from ._errors import ApiError

if TYPE_CHECKING:
    from .._typing import Json

CANDIDATES, DONORS = 200, 6
SAMPLE_ROWS, RUN_ROWS, HORIZON = 3000, 1500, 20.0
PEOPLE = Population()


def find_cache() -> Path:
    """Find where the sample is kept: LIFEYEARS_CACHE, or a folder of the user's cache."""
    chosen = os.environ.get("LIFEYEARS_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or (Path.home() / ".cache")
    return Path(base) / "lifeyears"


def sample_models(progress: Progress = no_progress) -> dict[str, MatchModel]:
    """Load the sample's two models, a ranker and the Cox model under it; made on first use, in under a minute.

    Parameters
    ----------
    progress : Progress
        Called with the name of each step as it begins.

    Returns
    -------
    dict of str to MatchModel
        By the keys under which the service offers them.
    """
    folder = find_cache() / f"sample-{__version__}"
    models: dict[str, MatchModel] = {}
    for name, method in (("ranker", "stacked"), ("cox", "none")):
        path = folder / name
        try:
            models[name] = MatchModel.load(path)
            continue
        except (ValueError, OSError):
            progress(f"making the sample model {name!r} (once; simulated patients)")
        data = replace(simulate_registry(SAMPLE_ROWS, random_state=0), horizon=HORIZON)
        title = f"Sample: {Arm('Cox', method).label}"
        models[name] = fit_model(data, method=method, name=title, n_jobs=1, progress=progress)
        try:
            models[name].save(path, overwrite=path.exists())
        except OSError as error:  # nowhere to keep it: it is made again next time
            progress(f"it cannot be kept: {error.strerror or error}")
    return models


def sample_run(progress: Progress = no_progress) -> Summary:
    """Load the sample's run: three models and a ranker compared on simulated patients; made on first use.

    It is made again if it cannot be read, and in a temporary folder if it cannot be kept.

    Parameters
    ----------
    progress : Progress
        Called with the name of each step as it begins.

    Returns
    -------
    Summary
        As `create_app` takes it.
    """
    path = find_cache() / f"sample-{__version__}" / "run"
    try:
        if (path / "summary.json").is_file():
            return read_summary(path)
        progress("making the sample run (once; simulated patients)")
    except (ValueError, OSError):
        progress("making the sample run again: what was kept of it cannot be read")
        shutil.rmtree(path, ignore_errors=True)
    try:
        return _make_run(path)
    except OSError as error:
        progress(f"it cannot be kept: {error.strerror or error}; making it in a temporary folder")
    with TemporaryDirectory(prefix="lifeyears-") as folder:
        return _make_run(Path(folder) / "run")


def _make_run(path: Path) -> Summary:
    from ..experiments import run

    run(
        "full",
        replace(simulate_registry(RUN_ROWS, random_state=1), horizon=HORIZON),
        path,
        n_jobs=1,
        iterations=1,
        folds=2,
        models=("KM", "Cox", "AFT"),
        stacked_over=("Cox",),
        waitlist=RUN_ROWS // 40,
        tau=HORIZON,
    )
    return read_summary(path)


class Sample:
    """Candidates and donors to try a model with; none of them is real."""

    def __init__(self, model: MatchModel) -> None:
        self.model = model
        names = set(model.schema.names)
        self.simulated = bool(model.card["data"]["simulated"]) and {"donor_age", "blood_match", "age"} <= names
        if self.simulated:
            self.candidates, self.donors = PEOPLE.candidates(CANDIDATES, 11), PEOPLE.donors(DONORS, 12)
        else:
            self.candidates = _draw(model.schema.columns, CANDIDATES, "candidate")
            self.donors = _draw(model.schema.columns, DONORS, "donor")

    def donor_rows(self) -> list[Json]:
        """The donors' columns that the model knows."""
        if not self.model.schema.donor_names:
            return []
        return _plain(self.donors[self.model.schema.donor_names])

    def content(self) -> Json:
        """As it is sent."""
        kind = (
            "simulated candidates and donors; nobody in it is real"
            if self.simulated
            else "rows drawn column by column from the model card; nobody in it is real, and they fit together badly"
        )
        return {"kind": kind, "donors": self.donor_rows(), "pair": self.pair_names(), **self.run(0, {})}

    def pair_names(self) -> list[str]:
        """Columns of the candidates that change with the donor; none is known but for simulated people."""
        if not self.simulated:
            return []
        one, two = (PEOPLE.pairs(self.candidates, self.donors, donor=i, incompatible="keep") for i in (0, 1))
        known = set(self.model.schema.names) - set(self.model.schema.donor_names)
        return [name for name in one if name in known and not one[name].equals(two[name])]

    def run(self, number: object, changes: Mapping[str, object]) -> Json:
        """The candidates whom a donor's organ fits, as rows, with what belongs to each pair."""
        last = max(len(self.donors), 1) - 1
        if not (isinstance(number, int) and is_number(number) and 0 <= number <= last):
            raise ApiError(422, "bad_donor", f"donor must be a whole number from 0 to {last}")
        columns = [name for name in self.model.schema.names if name not in self.model.schema.donor_names]
        if not self.simulated:
            return {"donor": self._changed(number, changes)[0], "candidates": _plain(self.candidates[columns])}
        row, donor = self._changed(number, changes)
        fits = PEOPLE.compatible(str(donor["donor_blood_group"].iloc[0]), self.candidates["blood_group"])
        pairs = PEOPLE.pairs(self.candidates, donor, candidate=np.flatnonzero(fits != "incompatible"), donor=0)
        return {"donor": row, "candidates": _plain(pairs[columns])}

    def _changed(self, number: int, changes: Mapping[str, object]) -> tuple[Json, pd.DataFrame]:
        """A donor with some columns filled in by hand, checked."""
        known = self.model.schema.donor_names
        wrong = [str(name)[:40] for name in changes if name not in known]
        if wrong:
            raise ApiError(422, "unknown_column", f"the donor has no column {wrong[0]!r}", None, wrong[0])
        if not known:
            return {}, self.donors
        row = self.donor_rows()[number] | dict(changes)
        try:
            donor = Schema(tuple(column for column in self.model.schema.columns if column.role == "donor"))
            table = donor.table([row]).frame()
        except RowError as error:
            raise ApiError(
                422, error.code, f"of the donor, column {error.column}: {error.problem}", None, error.column
            ) from None
        if not self.simulated:
            return row, table
        rest = self.donors.iloc[[number]].reset_index(drop=True)
        for name in known:
            rest[name] = table[name] if table[name].dtype.kind == "f" else table[name].astype(object)
        for name in ("donor_age", "donor_height_cm", "donor_weight_kg", "donor_sex", "donor_blood_group"):
            if rest[name].isna().any():
                raise ApiError(422, "missing_value", f"of the donor, {name} is needed to pair candidates", None, name)
        return row, rest


def _draw(columns: tuple[Column, ...], n: int, role: str) -> pd.DataFrame:
    """Rows drawn column by column from what the card says of each."""
    rng = np.random.default_rng(5)
    cells: dict[str, object] = {}
    for column in columns:
        if column.role != role:
            continue
        if column.kind == "category":
            names = column.categories or ()
            shares = np.array([share or 0.0 for share in column.shares or ()]) + 1e-9
            cells[column.name] = rng.choice(names, n, p=shares / shares.sum()) if names else [None] * n
        elif column.quantiles is None:
            cells[column.name] = np.full(n, np.nan)
        else:
            whole = all(float(value).is_integer() for value in column.quantiles)
            values = np.interp(rng.uniform(QUANTILES[0], QUANTILES[-1], n), QUANTILES, column.quantiles)
            cells[column.name] = values.round() if whole else values.round(3)
    return pd.DataFrame(cells, index=range(n))


def _plain(table: pd.DataFrame) -> list[Json]:
    rows: list[Json] = json.loads(table.to_json(orient="records", double_precision=15))
    return rows
