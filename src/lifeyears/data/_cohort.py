"""The paper's two tables of a cohort (A4 and A5), for any data: `cohort_summary`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .._frames import as_pandas, is_category
from ..errors import DataError
from ..outcome import as_outcome

if TYPE_CHECKING:
    from .._typing import TableLike
    from ..outcome import OutcomeLike

QUANTILES = {
    "Median": 0.5,
    "75th percentile": 0.75,
    "90th percentile": 0.9,
    "95th percentile": 0.95,
    "99th percentile": 0.99,
    "Maximum": 1.0,
}


@dataclass(frozen=True, eq=False, repr=False)
class CohortSummary:
    """Who is in a data set, and for how long they were followed.

    Attributes
    ----------
    cohort : DataFrame
        One row: patients, censored and their percentage, features, categorical features (the paper's
        Table A4).
    followup : DataFrame
        Median, upper percentiles and maximum of the observed times: entire cohort, observed, censored
        (Table A5). Empty groups have missing values.
    """

    cohort: pd.DataFrame
    followup: pd.DataFrame

    def _shown(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Format both tables as the paper does: the censored share beside the count, two decimals."""
        row = self.cohort.iloc[0]
        cells = {
            "Total patients": f"{int(row['Total patients']):,}",
            "Censored (%)": f"{int(row['Censored']):,} ({row['Censored (%)']:.2f}%)",
        }
        for name in self.cohort.columns[3:]:
            cells[name] = f"{int(row[name]):,}"
        followup = self.followup.map(lambda time: "" if pd.isna(time) else f"{time:,.2f}")
        return pd.DataFrame([cells]), followup

    def __str__(self) -> str:
        cohort, followup = self._shown()
        return f"{cohort.to_string(index=False)}\n\n{followup.to_string()}"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from .._views import html_table

        return html_table(self.cohort) + html_table(self.followup.rename_axis("follow-up"))


def cohort_summary(y: OutcomeLike, X: TableLike | None = None) -> CohortSummary:
    """Summarise a cohort and its follow-up as the paper's Tables A4 and A5 do.

    Parameters
    ----------
    y : Outcome, structured array, DataFrame, or (event, time) pair
        Right-censored outcome.
    X : DataFrame or array, optional
        Features. Columns of categories, texts or True/False count as categorical, as `TablePreprocessor` takes
        them. Without X, features are left out.

    Returns
    -------
    CohortSummary
        Prints, and shows in a notebook, as both tables; `cohort` and `followup` are DataFrames of plain
        numbers.

    Examples
    --------
    >>> cohort_summary(([1, 0, 1, 0], [2.0, 8.0, 4.0, 6.0])).followup.loc["Median"].tolist()
    [5.0, 3.0, 7.0]
    """
    y = as_outcome(y)
    censored = len(y) - y.n_events
    cohort: dict[str, float] = {
        "Total patients": len(y),
        "Censored": censored,
        "Censored (%)": 100 * censored / len(y),
    }
    if X is not None:
        features = _features(X)
        if len(features) != len(y):
            raise DataError(f"X has {len(features)} rows and y has {len(y)}; one row of each per subject is expected")
        cohort["Total features"] = features.shape[1]
        cohort["Categorical features"] = sum(is_category(column) for _, column in features.items())
    groups = {"Entire cohort": y.time, "Observed": y.time[y.event], "Censored": y.time[~y.event]}
    levels = list(QUANTILES.values())
    followup = {
        name: np.quantile(time, levels) if len(time) else np.full(len(levels), np.nan) for name, time in groups.items()
    }
    return CohortSummary(pd.DataFrame([cohort]), pd.DataFrame(followup, index=list(QUANTILES)))


def _features(X: TableLike) -> pd.DataFrame:
    frame = as_pandas(X)
    if frame is not None:
        return frame
    values = np.asarray(X)
    if values.ndim != 2:
        raise DataError(f"X must be a table with one row per subject; its shape is {values.shape}")
    return pd.DataFrame(values)
