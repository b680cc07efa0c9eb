"""The cohort of a run described: survival and follow-up, and the predictors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...curves import product_limit
from ...data import cohort_summary
from ...outcome import Outcome

if TYPE_CHECKING:
    import pandas as pd

    from ..._typing import FloatArray

MOST_COLUMNS = 400


COHORT_KEYS = {
    "Total patients": "patients",
    "Censored": "censored",
    "Censored (%)": "censored_percent",
    "Total features": "features",
    "Categorical features": "categorical_features",
}
FOLLOW_UP_KEYS = {"Entire cohort": "all", "Observed": "observed", "Censored": "censored"}


def tabulate_cohort(y: Outcome, X: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Tabulate the cohort and its follow-up, the paper's Tables A4 and A5."""
    described = cohort_summary(y, X)
    return {
        "cohort": described.cohort.rename(columns=COHORT_KEYS),
        "follow_up": described.followup.rename(columns=FOLLOW_UP_KEYS).reset_index(names="follow_up"),
    }


def tabulate_survival(y: Outcome, tau: float) -> pd.DataFrame:
    """Tabulate Kaplan–Meier of the event and of follow-up, and the number at risk, at 81 times up to the horizon."""
    import pandas as pd

    times = np.linspace(0, tau, 81)
    return pd.DataFrame(
        {
            "time": times,
            "without_event": _steps(y, times),
            "still_followed": _steps(y.censoring(), times),
            "at_risk": [int((y.time >= time).sum()) for time in times],
        }
    )


def _steps(y: Outcome, times: FloatArray) -> FloatArray:
    curve = product_limit(y)
    return np.append(1.0, curve.survival)[np.searchsorted(curve.times, times, side="right")]


def tabulate_predictors(X: pd.DataFrame) -> pd.DataFrame:
    """Tabulate every predictor: its kind, the share that is missing, and quartiles or the commonest category."""
    import pandas as pd

    rows = []
    for name in X.columns[:MOST_COLUMNS]:
        column = X[name]
        known = column.dropna()
        row = {"predictor": str(name), "share_missing": float(column.isna().mean())}
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            quartiles = known.astype(float).quantile([0.5, 0.25, 0.75]).tolist() if len(known) else [np.nan] * 3
            row |= {"kind": "number", **dict(zip(("median", "quartile_low", "quartile_high"), quartiles, strict=True))}
        else:
            counts = known.astype(str).value_counts()
            row |= {"kind": f"{len(counts)} categories"}
            if len(counts):
                row |= {"commonest": str(counts.index[0]), "share_of_commonest": float(counts.iloc[0] / len(known))}
        rows.append(row)
    columns = ["predictor", "kind", "share_missing", "median", "quartile_low", "quartile_high", "commonest"]
    return pd.DataFrame(rows, columns=[*columns, "share_of_commonest"])
