"""What a reader of a run must know before its answer: lack of support, impossible estimates, small samples, …."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..jobs import assign_decades
from ._support import find_supported_horizon

if TYPE_CHECKING:
    from ..._typing import Json
    from ...relevance import PositivityReport
    from ._run import Run

FEW_EVENTS = 100


def list_warnings(run: Run, support: dict[str, PositivityReport]) -> list[Json]:
    """List what a reader must know before the answer, the gravest first."""
    checks = (
        _warn_of_leaks(run),
        _warn_of_support(run, support),
        _warn_of_impossible_years(run),
        _warn_of_few_patients(run),
        _warn_of_few_events(run),
        _warn_of_short_lists(run),
        _warn_of_short_lists_in_decades(run),
        _warn_of_fixed_models(run),
        _warn_of_fits(run),
    )
    return sorted((warning for warning in checks if warning is not None), key=lambda warning: not warning["serious"])


def _warning(title: str, text: str, serious: bool = False) -> Json:
    return {"serious": serious, "title": title, "text": text}


def _warn_of_leaks(run: Run) -> Json | None:
    report = run.dataset.report
    if report is None or not report.leaks:
        return None
    text = f"{'. '.join(report.leaks)}. Until then no number here can be trusted, the support at the horizon included."
    return _warning("The table may tell the outcome", text, serious=True)


def _warn_of_support(run: Run, support: dict[str, PositivityReport]) -> Json | None:
    unit, tau = run.dataset.unit, run.plan.tau
    by, worst = max(support.items(), key=lambda item: item[1].share_out_of_reach)
    if not worst.violated:
        return None
    text = (
        f"{worst.share_out_of_reach:.0%} of the patients could not have been followed for {tau:.4g} {unit}: no "
        "comparable patient was followed that long. "
    )
    least = min(report.share_out_of_reach for report in support.values())
    if by == "Cox" and least <= worst.share_out_of_reach / 10:
        text += (
            f"That is by a Cox model of censoring; by Kaplan–Meier, which uses no columns, it is {least:.0%}. If a "
            "column shows when people entered, Cox is right; with many columns and few censored rows it may overfit. "
        )
    frontier = worst.frontier
    if frontier is not None and len(frontier):
        last = frontier.iloc[-1]
        text += f"At {last['tau']:g} {unit} there is support for those who entered up to {last['latest']:g}. "
    if run.judge != "DR":
        judge = "the true lifetimes" if run.judge == "truth" else "the simulation, which knows the truth"
        text += (
            f"EY, IPCW and DR rely on models there; the years of this run are judged by {judge}, and are not affected."
        )
    else:
        text += (
            "For them, all numbers here rest on a model of survival and not on observations; weighting cannot make up "
            "for what was never observed. "
        )
        if run.dataset.entry is not None:
            text += "Use a shorter horizon, or leave out late entries."
        else:
            shorter = find_supported_horizon(run)
            text += f"Use a shorter horizon: {shorter:g} {unit} is supported." if shorter else ""
    return _warning(f"No support at {tau:.4g} {unit}", text, serious=run.judge == "DR")


def _warn_of_impossible_years(run: Run) -> Json | None:
    """Warn where the judge's estimate of an arm is no possible number of years."""
    years, tau, unit = run.years, run.plan.tau, run.dataset.unit
    impossible = years[(years["years"] > tau) | (years["years"] < 0)]
    if not len(impossible):
        return None
    named = ", ".join(
        f"{row['model']} {row['framework']} {row['years']:.4g}"
        + (f" (EY: {row['years by EY']:.4g})" if "years by EY" in years else "")
        for _, row in impossible.iterrows()
    )
    text = (
        f"Nobody can live for less than 0 or, counted up to the horizon, for more than {tau:.4g} {unit}, and yet: "
        f"{named}. Doubly robust estimates divide by probabilities of being followed, and here a handful of patients "
        "decide: prefer no model by these numbers. A shorter horizon, fewer columns or more patients help."
    )
    return _warning("Impossible estimates", text, serious=True)


def _warn_of_few_patients(run: Run) -> Json | None:
    if run.by_folds or not run.few_rows:
        return None
    rows = sum(len(job.rows) for job in run.first)
    text = (
        f"There are {rows / run.waitlist:.0f} patients for each place on the list, fewer than needed: the top depends "
        "on a handful of them, and intervals cover less often than their level."
    )
    return _warning("Few patients", text, serious=True)


def _warn_of_few_events(run: Run) -> Json | None:
    y, unit, tau = run.dataset.y, run.dataset.unit, run.plan.tau
    events = int(np.count_nonzero(y.event & (y.time <= tau)))
    if events >= FEW_EVENTS:
        return None
    text = f"There are {events} events within {tau:.4g} {unit} in {len(y):,} rows"
    text += f" ({y.n_events:,} in all: is the horizon in {unit}?)" if events < y.n_events / 10 else ""
    return _warning("Few events", text + ": too few to fit many predictors or to compare.", serious=True)


def _warn_of_short_lists(run: Run) -> Json | None:
    if run.waitlist >= run.plan.waitlist:
        return None
    text = (
        f"Lists of {run.plan.waitlist} were requested; the smallest test fold has {run.waitlist} rows, so lists have "
        "that many."
    )
    return _warning("Shorter lists", text)


def _warn_of_short_lists_in_decades(run: Run) -> Json | None:
    decades = [assign_decades(run.dataset, run.plan, job.rows) for job in run.jobs]
    sizes = [int(np.unique(each, return_counts=True)[1].min()) for each in decades if each is not None]
    smallest = min(sizes, default=None)
    if smallest is None or smallest >= run.waitlist:
        return None
    text = (
        f"Lists are drawn within a decade of entry. One has only {smallest} rows in a test fold: lists there have "
        f"{smallest} candidates and not {run.waitlist}."
    )
    return _warning("Shorter lists in some decades", text)


def _warn_of_fixed_models(run: Run) -> Json | None:
    if run.by_folds:
        return None
    text = (
        "Intervals resample the patients and hold the fitted models fixed: they do not include how models change from "
        "one training set to another. More iterations, such as three of five folds, include that too."
    )
    return _warning("Models held fixed", text)


def _warn_of_fits(run: Run) -> Json | None:
    counts = {name: count for name, count in run.counts.items() if not name.endswith(" clipped")}
    if not counts:
        return None
    text = f"In {len(run.jobs)} jobs: {'; '.join(f'{name}, {_times(count)}' for name, count in counts.items())}."
    return _warning("Warnings raised while fitting", text)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")
