"""What a careful reader asks of a run: calibration, support at the horizon, the cohort, and what to be warned of."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..curves import product_limit
from ..data import TablePreprocessor
from ..models import Cox, KaplanMeier
from ..outcome import Outcome
from ..relevance import PositivityReport, check_positivity
from ._job import cohort_of, eras_of, outcome_of
from ._plan import CEILING

if TYPE_CHECKING:
    import pandas as pd

    from ._results import Run

MOST_ROWS = 20_000  # of the check of support: curves of more would not fit the memory, and would say the same
MOST_LINES = 7
MOST_COLUMNS = 400
TENTHS = 10
FEW_EVENTS = 100


def calibration_table(run: Run) -> pd.DataFrame:
    """Predicted years against the judge's, in tenths of the predictions; all rows of the first iteration."""
    import pandas as pd

    rows = []
    for arm, predicted, outcome, constant in _predictions(run):
        cuts = np.unique(np.quantile(predicted, np.linspace(0, 1, TENTHS + 1)[1:-1]))
        tenth = np.zeros(len(predicted), int) if constant else np.searchsorted(cuts, predicted, side="left")
        for place in np.unique(tenth):
            members = tenth == place
            mean, half = outcome[members].mean(), _half(outcome[members])
            rows.append(
                {
                    "arm": arm,
                    "tenth": int(place) + 1,
                    "patients": int(members.sum()),
                    "predicted": float(predicted[members].mean()),
                    "outcome": float(mean),
                    "outcome low": float(mean - half),
                    "outcome high": float(mean + half),
                }
            )
    return pd.DataFrame(rows)


def calibration_by_arm(run: Run) -> pd.DataFrame:
    """Mean prediction less mean outcome, and the slope of outcomes on predictions (1 is right)."""
    import pandas as pd

    rows = []
    for arm, predicted, outcome, constant in _predictions(run):
        gap, half = float((predicted - outcome).mean()), _half(predicted - outcome)
        slope, reach = (np.nan, np.nan) if constant else _slope(predicted, outcome)
        rows.append(
            {
                "arm": arm,
                "predicted": float(predicted.mean()),
                "outcome": float(outcome.mean()),
                "predicted less outcome": gap,
                "gap low": gap - half,
                "gap high": gap + half,
                "slope": slope,
                "slope low": slope - reach,
                "slope high": slope + reach,
            }
        )
    return pd.DataFrame(rows)


def _predictions(run: Run) -> list[tuple[str, np.ndarray, np.ndarray, bool]]:
    """Of each arm: predictions, the judge's outcomes, and whether it says one thing of all in a fold, as KM does."""
    first = run.first
    outcome = np.concatenate([unit.outcomes[run.judge] for unit in first])
    return [
        (
            arm,
            np.concatenate([unit.scores[j] for unit in first]),
            outcome,
            all(np.ptp(unit.scores[j]) <= 1e-9 * max(1.0, float(np.abs(unit.scores[j]).max())) for unit in first),
        )
        for j, arm in enumerate(run.arms)
        if arm != CEILING
    ]


def _half(values: np.ndarray) -> float:
    """Half of a 95% interval of a mean."""
    return float(1.96 * values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def _slope(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope of y on x by least squares, and half of its 95% interval, whatever the spread (White's)."""
    centred = x - x.mean()
    total = float(centred @ centred)
    slope = float(centred @ y) / total
    residual = y - y.mean() - slope * centred
    return slope, 1.96 * float(np.sqrt((centred**2 * residual**2).sum())) / total


def within_reach(run: Run) -> float | None:
    """The longest of nine shorter horizons that all can reach, by both models of censoring; None if none is."""
    for share in np.arange(9, 0, -1) / 10:
        tau = float(f"{share * run.plan.tau:.3g}")
        if not any(report.violated for report in support(run, tau).values()):
            return tau
    return None


def support(run: Run, tau: float | None = None) -> dict[str, PositivityReport]:
    """Whether everybody could have been followed to the horizon, by the Kaplan–Meier and the Cox model of censoring."""
    tau = run.plan.tau if tau is None else tau
    rows = cohort_of(run.dataset, run.plan)
    y = outcome_of(run.dataset.y[rows], run.plan, 0)
    if len(rows) > MOST_ROWS:
        chosen = np.sort(np.random.default_rng(0).permutation(len(rows))[:MOST_ROWS])
        rows, y = rows[chosen], y[chosen]
    entry = None if run.dataset.entry is None else np.asarray(run.dataset.entry, dtype=float)[rows]
    if entry is not None and run.dataset.unit == "years":
        entry = np.floor(entry).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = TablePreprocessor().fit_transform(run.dataset.X.iloc[rows])
        models = {"Kaplan–Meier": KaplanMeier(), "Cox": Cox(alpha=10.0)}
        return {name: check_positivity(model, X, y, tau, by=entry) for name, model in models.items()}


def support_tables(found: dict[str, PositivityReport], rows: int) -> dict[str, pd.DataFrame]:
    """Support by model of censoring; and, by Cox, of each group of entry, the frontier and the curves."""
    import pandas as pd

    made = {
        "positivity": pd.DataFrame(
            [
                {
                    "model of censoring": name,
                    "rows": rows,
                    "smallest chance to be followed": report.smallest_reach,
                    "share out of reach": report.share_out_of_reach,
                    "effective sample size": report.effective_sample_size,
                    "share of the heaviest weight": report.largest_weight_share,
                    "rows below the floor": report.n_below_floor,
                    "floor": report.floor,
                }
                for name, report in found.items()
            ]
        )
    }
    report = found["Cox"]
    names = ["all"]
    if report.groups is not None:
        names = [f"{name:g}" for name in report.groups.index]
        groups = report.groups.set_axis(names).rename_axis("entered").reset_index()
        made["positivity_groups"] = groups.rename(
            columns={
                "reach": "chance to be followed",
                "longest_followup": "longest follow-up",
                "out_of_reach": "share out of reach",
            }
        )
        if report.frontier is not None and len(report.frontier):
            frontier = report.frontier.rename(columns={"tau": "horizon", "latest": "supported up to entry"})
            made["positivity_frontier"] = frontier.astype({"supported up to entry": str})
    chosen = np.unique(np.linspace(0, len(names) - 1, min(MOST_LINES, len(names))).round().astype(int))
    keep = np.flatnonzero(report.curves.times <= report.tau * 1.1)[::2]
    curves = {names[place]: np.append(1.0, report.curves.survival[place][keep]) for place in chosen}
    made["positivity_curves"] = pd.DataFrame({"time": np.append(0.0, report.curves.times[keep]), **curves})
    return made


def survival_table(y: Outcome, tau: float) -> pd.DataFrame:
    """Kaplan–Meier of the event and of follow-up, and how many are at risk, at 81 times up to the horizon."""
    import pandas as pd

    times = np.linspace(0, tau, 81)
    return pd.DataFrame(
        {
            "time": times,
            "without event": _steps(y, times),
            "still followed": _steps(y.censoring(), times),
            "at risk": [int((y.time >= time).sum()) for time in times],
        }
    )


def _steps(y: Outcome, times: np.ndarray) -> np.ndarray:
    curve = product_limit(y)
    return np.append(1.0, curve.survival)[np.searchsorted(curve.times, times, side="right")]


def predictor_table(X: pd.DataFrame) -> pd.DataFrame:
    """Every predictor: its kind, the share that is missing, and quartiles or the commonest category."""
    import pandas as pd

    rows = []
    for name in X.columns[:MOST_COLUMNS]:
        column = X[name]
        known = column.dropna()
        row = {"predictor": str(name), "share missing": float(column.isna().mean())}
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            quartiles = known.astype(float).quantile([0.5, 0.25, 0.75]).tolist() if len(known) else [np.nan] * 3
            row |= {"kind": "number", **dict(zip(("median", "quartile low", "quartile high"), quartiles, strict=True))}
        else:
            counts = known.astype(str).value_counts()
            row |= {"kind": f"{len(counts)} categories"}
            if len(counts):
                row |= {"commonest": str(counts.index[0]), "share of commonest": float(counts.iloc[0] / len(known))}
        rows.append(row)
    wanted = ["predictor", "kind", "share missing", "median", "quartile low", "quartile high", "commonest"]
    return pd.DataFrame(rows, columns=[*wanted, "share of commonest"])


def warnings_of(run: Run, found: dict[str, PositivityReport]) -> list[dict[str, Any]]:
    """What a reader must know before the answer, the gravest first."""
    unit, tau = run.dataset.unit, run.plan.tau
    made = []
    report = run.dataset.report
    if report is not None and report.leaks:
        text = (
            f"{'. '.join(report.leaks)}. Until then no number here can be trusted, the support at the horizon included."
        )
        made.append({"serious": True, "title": "The table may tell the outcome", "text": text})
    by, worst = max(found.items(), key=lambda item: item[1].share_out_of_reach)
    if worst.violated:
        text = (
            f"{worst.share_out_of_reach:.0%} of the patients could not have been followed for {tau:.4g} {unit}: nobody "
            "like them was seen for so long. "
        )
        least = min(report.share_out_of_reach for report in found.values())
        if by == "Cox" and least <= worst.share_out_of_reach / 10:
            text += (
                f"That is by a Cox model of censoring; by Kaplan–Meier, which sees no columns, it is {least:.0%}. If a "
                "column tells when people entered, Cox is right; with many columns and few censored rows it may see "
                "what is not there. "
            )
        frontier = worst.frontier
        if frontier is not None and len(frontier):
            last = frontier.iloc[-1]
            text += f"At {last['tau']:g} {unit} there is support for those who entered up to {last['latest']:g}. "
        if run.judge == "DR":
            text += (
                "All numbers here rest, for them, on a model of survival and not on what happened; weighting cannot "
                "make up for what was never seen. "
            )
            if run.dataset.entry is not None:
                text += "Use a shorter horizon (--horizon), or leave out late entries."
            else:
                shorter = within_reach(run)
                text += f"Use a shorter horizon: --horizon {shorter:g} is within reach." if shorter else ""
        else:
            text += (
                "EY, IPCW and DR lean on models there; the years of this run are judged by "
                f"{'the true lifetimes' if run.judge == 'truth' else 'the simulation, which knows the truth'}, and do "
                "not suffer from it."
            )
        made.append({"serious": run.judge == "DR", "title": f"No support at {tau:.4g} {unit}", "text": text})
    made += _impossible(run)
    rows = sum(len(unit.rows) for unit in run.first)
    if not run.by_folds and run.few_rows:
        text = (
            f"There are {rows / run.waitlist:.0f} patients for each place on the list, fewer than needed: the "
            "top hangs on a handful of them, and intervals cover less often than they say."
        )
        made.append({"serious": True, "title": "Few patients", "text": text})
    every = run.dataset.y
    events = int(np.count_nonzero(every.event & (every.time <= tau)))
    if events < FEW_EVENTS:
        text = f"There are {events} events within {tau:.4g} {unit} in {len(every):,} rows"
        text += f" ({every.n_events:,} in all: is the horizon in {unit}?)" if events < every.n_events / 10 else ""
        text += ": too few to fit many predictors or to compare."
        made.append({"serious": True, "title": "Few events", "text": text})
    if run.waitlist < run.plan.waitlist:
        text = (
            f"Lists of {run.plan.waitlist} were asked for; the smallest test fold has {run.waitlist} rows, so lists "
            "have that many."
        )
        made.append({"serious": False, "title": "Shorter lists", "text": text})
    eras = [eras_of(run.dataset, run.plan, unit.rows) for unit in run.units]
    smallest = min((int(np.unique(era, return_counts=True)[1].min()) for era in eras if era is not None), default=None)
    if smallest is not None and smallest < run.waitlist:
        text = (
            f"Lists lie within a decade of entry. One has only {smallest} rows in a test fold: lists there are of "
            f"{smallest} and not of {run.waitlist}."
        )
        made.append({"serious": False, "title": "Shorter lists in some decades", "text": text})
    if not run.by_folds:
        text = (
            "Intervals resample the patients and hold the fitted models fixed: how models change from one training set "
            "to another is not in them. More iterations (--iterations 3 of five folds) show that too."
        )
        made.append({"serious": False, "title": "Models held fixed", "text": text})
    told = {name: count for name, count in run.counts.items() if not name.endswith(" clipped")}
    if told:
        text = f"In {len(run.units)} units: {'; '.join(f'{name}, {_times(count)}' for name, count in told.items())}."
        made.append({"serious": False, "title": "What fits had to say", "text": text})
    return sorted(made, key=lambda warning: not warning["serious"])


def _impossible(run: Run) -> list[dict[str, Any]]:
    """A warning where the judge's estimate of an arm is no possible number of years."""
    years, tau, unit = run.years, run.plan.tau, run.dataset.unit
    off = years[(years["years"] > tau) | (years["years"] < 0)]
    if not len(off):
        return []
    named = ", ".join(
        f"{row['model']} {row['framework']} {row['years']:.4g}"
        + (f" (EY: {row['years by EY']:.4g})" if "years by EY" in years else "")
        for _, row in off.iterrows()
    )
    text = (
        f"Nobody can live for less than 0 or, counted up to the horizon, for more than {tau:.4g} {unit}, and yet: "
        f"{named}. Doubly robust estimates divide by chances to be followed, and here a handful of patients decide: "
        "prefer no model by these numbers. A shorter horizon, fewer columns or more patients help."
    )
    return [{"serious": True, "title": "Impossible estimates", "text": text}]


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")
