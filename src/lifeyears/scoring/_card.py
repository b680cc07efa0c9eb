"""A model card: what a model is, what it was trained on, how good it is on rows it had not seen, and its limits.

It holds counts, shares, quantiles and metrics; no row of a patient, and nothing that fewer than ten patients stand
behind.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..allocation import guarantee
from ..data import cohort_summary
from ..experiments.results import FEWEST_IN_SUBGROUP, tabulate_subgroups
from ..experiments.types import Arm
from ..metrics import compare, concordance_index
from ..models import Cox
from ..relevance import NUISANCE_RIDGE, ExpectedYears, cross_fit
from ._evaluate import choose_waitlist, group_by_prediction, summarise_support
from ._schema import Schema

if TYPE_CHECKING:
    import pandas as pd

    from .._typing import FloatArray, Json
    from ..data import Dataset
    from ..outcome import Outcome
    from ..ranking import Ranker

FORMAT, VERSION = "lifeyears card", 2
RESEARCH_ONLY = "Research use only. Not a medical device, and no forecast for a patient."
MOST_BOUNDED = 20  # places of a list for which the card has a bound
WEIGHTS = "fitted to outcomes of held-out rows, not shares: they need not add up to 1"
LIMITS = (
    "It was learnt from the people of its training table: what it says of others rests on their being alike.",
    "It says what is expected for people like this one, not what becomes of one of them.",
    "It is an association: changing a feature of a person need not change their life by what the reasons say.",
    "Metrics are of cross-validated rows of the training data; another place or another time may differ.",
    "The value of an allocation is that of the top pick among people of the past: no forecast of one allocation.",
)
LIMITS_OF_TRANSPLANTS = (
    "It was learnt from people who got an organ: what it says of others rests on their being alike.",
    *LIMITS[1:-1],
    "The value of an allocation is that of the top pick among past recipients, each with their own donor: no forecast "
    "of a match run.",
)


def make_card(
    data: Dataset,
    ranker: Ranker,
    name: str,
    donor: Sequence[str] | None = None,
    settings: Json | None = None,
) -> Json:
    """Describe a ranker fitted to a data set.

    Parameters
    ----------
    data : Dataset
        What it was fitted to.
    ranker : BootstrappedRanker or StackedRanker
        As fitted, with what it held out.
    name : str
    donor : list of str, optional
        Columns that belong to the donor; by default those whose names begin with ``donor_``.
    settings : dict
        How it was fitted.

    Returns
    -------
    dict
        Plain values only.
    """
    tau, unit = float(ranker.tau_), data.unit
    schema = Schema.of(data.X, ranker.preprocessor_, donor)
    transplants = has_transplants(data)
    quantiles = cohort_summary(data.y, data.X).followup.drop(index="Maximum")  # one patient's
    follow_up = {
        str(column): {str(level): _plain(value) for level, value in quantiles[column].items()}
        for column in quantiles.columns
    }
    matrix = ranker.preprocessor_.transform(data.X)
    report = ranker.report_
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "made_with": f"lifeyears {__version__}",
        "use": RESEARCH_ONLY,
        "estimates": (
            (
                f"The number is the expected {unit} of life within {tau:g} {unit} after the transplant of a person "
                if transplants
                else f"The number is the expected {unit} until the event, within {tau:g} {unit} of the start, of one "
            )
            + "with these features: E[min(T*, τ)|x]"
            + (", calibrated on held-out rows." if report.calibrated else "; not calibrated on held-out rows.")
        ),
        "data": {
            "name": data.name,
            "source": data.source,
            "simulated": data.truth is not None,
            "rows": len(data),
            "events": int(data.y.n_events),
            "censored_percent": round(100 * (1 - data.y.n_events / len(data)), 2),
            "features": data.X.shape[1],
            "categorical_features": len(ranker.preprocessor_.categories_),
            "unit": unit,
            "follow_up": follow_up,
        },
        "horizon": {"tau": tau, "unit": unit, **asdict(summarise_support(matrix, data.y, tau))},
        "model": {
            **(settings or {}),
            "weights_are": WEIGHTS,
            "weights": {part: round(float(weight), 4) for part, weight in report.weights.items()},
            "trees": {part: int(rounds) for part, rounds in report.rounds.items()},
            "base_alone": bool(report.kept_base),
            "calibrated": bool(report.calibrated),
            "notes": list(report.notes),
        },
        **_performance(data, ranker, matrix),
        "columns": schema.as_list(),
        "limits": list(LIMITS_OF_TRANSPLANTS if transplants else LIMITS),
    }


def has_transplants(data: Dataset) -> bool:
    """Return whether rows are known to be transplants: the simulated registry, and UNOS' STAR files."""
    return data.time_origin == "transplant"


def _performance(data: Dataset, ranker: Ranker, matrix: FloatArray) -> Json:
    """Metrics, bounds, calibration and subgroups of held-out rows; nothing where no row was held out."""
    predicted, observed = ranker.held_out_, ranker.held_out_outcomes_
    if predicted is None or observed is None:
        return {"metrics": None, "bounds": [], "calibration": [], "subgroups": []}
    rows = np.flatnonzero(~np.isnan(predicted))
    scores, outcomes, y = predicted[rows], observed[rows], data.y[rows]
    waitlist = choose_waitlist(len(rows))
    nuisance = Cox(alpha=NUISANCE_RIDGE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few rows: the card says how many there are
        at_random = np.zeros(len(rows))
        comparison = compare(outcomes, {"model": scores, "random": at_random}, k=1, waitlist=waitlist, n_resamples=500)
        expected = cross_fit(ExpectedYears(nuisance, tau=ranker.tau_), matrix, data.y, cv=5).values[rows]
        bounds = [_bound(expected, scores, k, waitlist) for k in range(1, min(MOST_BOUNDED, waitlist) + 1)]
        c_index = _c_index(y.restrict(ranker.tau_), scores)
        groups = tabulate_subgroups(data, rows, outcomes, {Arm("model"): scores}, waitlist)
    top, random = comparison.values.loc["model"], comparison.values.loc["random"]
    gain = comparison.differences.loc[("model", "random")]
    return {
        "metrics": {
            "rows": len(rows),
            "waitlist": waitlist,
            "judged_by": "doubly robust outcomes of rows that the model had not seen",
            "intervals": "95%, by resampling rows",
            "c_index": c_index,
            "value": _interval(top),
            "at_random": _interval(random),
            "gain": _interval(gain),
        },
        "bounds": bounds,
        "calibration": [asdict(group) for group in group_by_prediction(scores, outcomes)],
        "subgroups": _subgroups(groups, len(rows)),
    }


def _bound(expected: FloatArray, scores: FloatArray, k: int, waitlist: int) -> Json:
    """NDCG@k by expected years, and Theorem 1's bound with it put in."""
    comparison = compare(expected, {"model": scores}, k=k, waitlist=waitlist, n_resamples=200)
    row, bound = comparison.values.loc["model"], guarantee(comparison).values.loc["model"]
    return {
        "k": k,
        "ndcg": _plain(row["ndcg"]),
        "ndcg_low": _plain(row["ndcg_low"]),
        "ndcg_high": _plain(row["ndcg_high"]),
        "bound": _plain(bound["bound"]),
        "low": _plain(bound["low"]),
        "high": _plain(bound["high"]),
    }


def _c_index(y: Outcome, scores: FloatArray) -> Json:
    """With a normal interval from 100 resamples of the rows."""
    value = concordance_index(y, scores)
    rng, again = np.random.default_rng(0), []
    for _ in range(100):
        rows = rng.integers(0, len(scores), len(scores))
        if y.event[rows].any():
            again.append(concordance_index(y[rows], scores[rows]))
    half = 1.96 * float(np.std(again, ddof=1))
    return {"value": _plain(value), "low": _plain(value - half), "high": _plain(value + half)}


def _subgroups(table: pd.DataFrame, total: int) -> list[Json]:
    """Groups of thirty or more, in plain names; one more is left out where the rest would add up to all but so few."""
    names = {
        "by": "by",
        "group": "group",
        "patients": "patients",
        "share_of_patients": "share_of_patients",
        "share_of_allocations": "share_of_allocations",
        "low": "low",
        "high": "high",
        "gap": "predicted_less_outcome",
        "gap_low": "gap_low",
        "gap_high": "gap_high",
    }
    if not len(table):
        return []
    for _, groups in table.groupby("by", sort=False):
        if 0 < total - groups["patients"].sum() < FEWEST_IN_SUBGROUP:
            table = table.drop(index=groups["patients"].idxmin())
    rows = table[list(names)].rename(columns=names).to_dict("records")
    return [{name: _plain(value) for name, value in row.items()} for row in rows]


def _interval(row: pd.Series) -> Json:
    return {name: _plain(row[name]) for name in ("value", "low", "high")}


def _plain(value: str | float | np.number[Any] | None) -> str | float | None:
    """A value that JSON knows; six digits of a number, None for NaN."""
    if isinstance(value, (str, bool, int)) or value is None:
        return value
    if isinstance(value, np.integer):
        return int(value)
    return round(float(value), 6) if np.isfinite(value) else None
