"""Choose the transplants among the rows of a STAR file, and count what is dropped and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..._typing import AnyArray
from ...errors import DataError, Message, RequestError, Setting
from ...outcome import Outcome
from ...units import DAYS_IN
from ._columns import AGE, DATE, ORGANS, PATIENT, TRANSPLANT, find_missing_codes
from ._values import parse_codes, parse_dates, parse_numbers

if TYPE_CHECKING:
    import pandas as pd


@dataclass
class Transplants:
    """Which rows are wanted; `choose` takes them piece by piece and keeps count."""

    organ: str
    min_age: float
    time: str
    status: str
    file: str
    rows_read: int = 0
    rows_kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    organs: Counter[str] = field(default_factory=Counter)

    def choose(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Keep transplants of the organ in patients old enough, with an outcome."""
        self._check_columns(rows)
        self.rows_read += len(rows)
        organ = self._organ(rows)
        self.organs.update(organ[organ != ""].tolist())
        age, time, status = (parse_numbers(rows[name])[0] for name in (AGE, self.time, self.status))
        kept = np.ones(len(rows), dtype=bool)
        for why, bad in (
            (f"the organ is not {self.organ}", organ != self.organ),
            (f"no transplant ({DATE} is missing)", parse_dates(rows[DATE]).isna().to_numpy()),
            (f"younger than {self.min_age:g} or of unknown age", ~(age >= self.min_age)),
            (f"{self.time} is missing", np.isnan(time)),
            (f"{self.time} is negative", time < 0),
            (f"{self.status} is neither 0 nor 1", ~np.isin(status, (0, 1))),
        ):
            self.dropped[why] += int(np.count_nonzero(kept & bad))
            kept &= ~bad
        self.rows_kept += int(kept.sum())
        return rows[kept]

    def raise_if_none(self) -> None:
        """Raise an error that says why no row was kept."""
        if self.rows_kept:
            return
        if self.organ not in self.organs:
            organs = ", ".join(f"{organ} in {count:,}" for organ, count in self.organs.most_common(8)) or "nothing"
            raise RequestError(
                f"{self.file} has no transplants of organ {self.organ}: of its {self.rows_read:,} rows, "
                f"ORGAN (else WL_ORG) is {organs}",
                hint=Message(
                    "Choose another organ with ", Setting("organ"), ", or check that it is the thoracic file."
                ),
            )
        reasons = "; ".join(f"{count:,} ({why})" for why, count in self.dropped.items() if count)
        raise DataError(
            f"no transplant of organ {self.organ} is left of the {self.rows_read:,} rows of {self.file}. "
            f"Dropped were {reasons}",
            hint=Message("Check these columns in the release, or lower ", Setting("min_age"), "."),
        )

    def drop_repeats(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Drop the second record of a transplant that is in the file twice."""
        if TRANSPLANT not in frame:
            return frame
        again = (frame[TRANSPLANT].notna() & frame[TRANSPLANT].duplicated()).to_numpy()
        self.dropped[f"the same transplant again ({TRANSPLANT})"] += int(again.sum())
        return frame[~again].reset_index(drop=True)

    def read_outcome(self, frame: pd.DataFrame) -> Outcome:
        """Read the years from the transplant, and whether they ended in the event."""
        return Outcome(parse_numbers(frame[self.time])[0] / DAYS_IN["years"], parse_numbers(frame[self.status])[0] == 1)

    def find_repeated_patients(self, frame: pd.DataFrame) -> list[str]:
        """Warn of patients with more than one transplant, who may be on both sides of a split."""
        if PATIENT not in frame:
            return []
        later = int((frame[PATIENT].notna() & frame[PATIENT].duplicated()).sum())
        if not later:
            return []
        return [f"{later:,} rows are a patient's second or later transplant; splits by row may share patients"]

    def _check_columns(self, rows: pd.DataFrame) -> None:
        absent = [name for name in (AGE, DATE, self.time, self.status) if name not in rows]
        if not any(name in rows for name in ORGANS):
            absent.append(" or ".join(ORGANS))
        if absent:
            raise DataError(
                f"{self.file} has no column {', '.join(absent)}, which is needed to choose the transplants "
                "and their outcome",
                hint="Is this the thoracic file of a STAR release, with its own .htm?",
            )

    def _organ(self, rows: pd.DataFrame) -> AnyArray:
        """Return the organ transplanted; where the file does not say, the organ listed for; else ''."""
        organ = np.full(len(rows), "", dtype=object)
        for name in ORGANS:
            if name in rows:
                recorded = parse_codes(rows[name], find_missing_codes(name)).astype(object).fillna("").to_numpy()
                organ = np.where(organ == "", recorded, organ)
        return organ
