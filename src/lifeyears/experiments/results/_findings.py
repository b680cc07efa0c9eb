"""The findings of a run: which arm is best, how sure that is, what the C-index would have cost, what lacks support.

They are drawn and worded here alone; the terminal, the report, the page and REST render them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._views import format_number
from ...text import count_noun
from ..jobs import assign_decades, name_model
from ..measures import describe_relevance
from ..types import Answer, Arm, Estimate, Finding, Severity
from ._audit import audit_c_index, bound_utility, choose_best, list_models
from ._support import find_supported_horizon

if TYPE_CHECKING:
    from ._run import Run

FEW_EVENTS = 100
MOST_NAMED = 4
ORDER: tuple[Severity, ...] = ("serious", "answer", "warning", "note")
CORRECTED = "after correction for the number of comparisons (Holm)"


def draw_findings(run: Run) -> tuple[Finding, ...]:
    """Draw the conclusions of a run, the gravest first."""
    answer = choose_best(run)
    findings = (
        _find_leaks(run),
        _find_lack_of_support(run),
        _find_impossible_values(run),
        _find_few_patients(run),
        _find_few_events(run),
        _find_best(run, answer),
        _find_certainty(run, answer),
        _find_gain_over_base(run, answer),
        _find_choice_of_c_index(run, answer),
        _find_fits(run),
        _find_bound(run, answer),
        _find_unreliable_ipcw(run),
        _find_short_lists(run),
        _find_short_lists_in_decades(run),
        _find_fixed_models(run),
    )
    known = [finding for finding in findings if finding is not None]
    return tuple(sorted(known, key=lambda finding: ORDER.index(finding.severity)))


def render_reading(findings: Iterable[Finding]) -> str:
    """Render the answers as a few sentences, and what must be read before them by its title."""
    findings = list(findings)
    text = " ".join(finding.text for finding in findings if finding.severity == "answer")
    serious = [finding.title for finding in findings if finding.severity == "serious"]
    return f"{text} Read the warnings first: {'; '.join(serious)}." if serious else text


def describe_pick(k: int) -> str:
    """Describe who gets the allocation: Algorithm 1's choice.

    Examples
    --------
    >>> describe_pick(1), describe_pick(5)
    ('top pick', 'draw by position among the first 5')
    """
    return "top pick" if k == 1 else f"draw by position among the first {k}"


def format_estimate(estimate: Estimate, digits: int = 2) -> str:
    """Format an estimate with its interval.

    Examples
    --------
    >>> format_estimate(Estimate(14.394, 14.122, 14.665)), format_estimate(Estimate(14.394))
    ('14.39 (14.12 to 14.66)', '14.39')
    """
    text = format_number(estimate.value, digits)
    if estimate.low is None or estimate.high is None:
        return text
    return f"{text} ({format_number(estimate.low, digits)} to {format_number(estimate.high, digits)})"


def choose_digits(size: float | None) -> int:
    """Choose the digits of a time in words: years need two, days none."""
    largest = abs(size or 0.0)
    return 0 if largest >= 1000 else 1 if largest >= 100 else 2


def list_names(names: Sequence[str], word: str = "or") -> str:
    """List names for a sentence, the first few of many.

    Examples
    --------
    >>> list_names(["Cox", "AFT"]), list_names(["A", "B", "C", "D", "E"])
    ('Cox or AFT', 'A, B, C and 2 more')
    """
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[: MOST_NAMED - 1])} and {len(names) - MOST_NAMED + 1} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def lacks_support(run: Run) -> bool:
    """Return whether values are estimated without support at the horizon."""
    return run.relevance == "DR" and any(report.violated for report in run.support.values())


def _estimate(run: Run, estimate: Estimate) -> str:
    return format_estimate(estimate, choose_digits(run.value_of(run.best())[0]))


def _labels(arms: Iterable[Arm]) -> list[str]:
    return [arm.label for arm in arms]


def _facts(**facts: Any) -> dict[str, Any]:
    """Facts as plain values."""

    def plain(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [plain(part) for part in value]
        return asdict(value) if isinstance(value, (Arm, Estimate)) else value

    return {name: plain(value) for name, value in facts.items()}


# answers


def _find_best(run: Run, answer: Answer) -> Finding:
    unit, best, k = run.dataset.unit, answer.best, min(run.plan.k, run.waitlist)
    beaten = len(list_models(run)) - 1 - len(answer.alike)
    if answer.next is None:
        title = f"There is one model to judge: {best.label}"
    elif not answer.alike and lacks_support(run):
        title = f"By estimates that lack support at the horizon, {best.label} is best"
    elif not answer.alike:
        title = f"Use {best.label}"
    elif not beaten:
        title = "No model is clearly better than another"
    else:
        title = f"{best.label} is highest, but not clearly better than {list_names(_labels(answer.alike))}"
    text = (
        f"{best.label} has the highest value, {_estimate(run, answer.value)} {unit} per allocation, judged by "
        f"{describe_relevance(run.relevance)}: the expected {unit} of the {describe_pick(k)} of a waitlist of "
        f"{run.waitlist}."
    )
    facts = _facts(
        best=best, value=answer.value, unit=unit, relevance=run.relevance, waitlist=run.waitlist, k=k, beaten=beaten
    )
    return Finding("best_arm", "answer", title, text, facts)


def _find_certainty(run: Run, answer: Answer) -> Finding | None:
    if answer.next is None:
        return None
    unit, others, alike = run.dataset.unit, len(list_models(run)) - 1, answer.alike
    text = f"It gains {_estimate(run, answer.next.gain)} {unit} per allocation over the next best, "
    text += f"{answer.next.arm.label}. "
    compared = f"corrected for {count_noun(others, 'comparison')} (Holm)" if others > 1 else "at the 5% level"
    if not alike:
        title = "The evidence is sufficient"
        text += f"The evidence is sufficient to call it better than every other model, {compared}."
        if lacks_support(run):
            title = "The evidence lacks support"
            text += " No interval covers what was never observed, however."
    elif len(alike) == others:
        title = "The evidence is not sufficient"
        text += (
            f"It cannot be distinguished from any of the other {others}, {compared}: more patients, or another "
            "criterion, must decide."
        )
    else:
        title = "The evidence is not sufficient to single out one model"
        text += (
            f"It cannot be distinguished from {len(alike)} of the other {others}, {compared}: "
            f"{list_names(_labels(alike), 'and')}."
        )
    facts = _facts(next=answer.next.arm, gain=answer.next.gain, alike=alike, others=others, sufficient=not alike)
    return Finding("certainty", "answer", title, text, facts)


def _find_gain_over_base(run: Run, answer: Answer) -> Finding | None:
    base = answer.base
    if base is None or (answer.next is not None and answer.next.arm == base.arm):
        return None
    gain = _estimate(run, base.gain)
    text = f"Over its own base model, {base.arm.label}, it gains {gain} {run.dataset.unit} per allocation."
    title = f"Gain over the base model: {gain}"
    return Finding("gain_over_base", "answer", title, text, _facts(base=base.arm, gain=base.gain, clear=base.clear))


def _find_choice_of_c_index(run: Run, answer: Answer) -> Finding | None:
    audit, unit, best = audit_c_index(run), run.dataset.unit, answer.best
    if answer.next is None:
        return None
    if audit.cost is None:
        title = "The C-index chooses the same model"
        text = f"The C-index would have chosen {best.label} too."
    else:
        cost = _estimate(run, audit.cost.gain)
        title = f"Choosing by the C-index costs {cost} {unit} per allocation"
        text = (
            f"The C-index would have chosen {audit.by_c_index.label}, which costs {cost} {unit} per allocation "
            f"compared with {best.label}; "
        )
        if audit.by_c_index not in answer.alike:
            text += f"the difference is statistically significant {CORRECTED}."
        elif audit.cost.clear:
            text += f"{CORRECTED} the difference may be due to chance."
        else:
            text += "the interval includes 0, so the choice may cost nothing."
    if audit.spearman is not None:
        text += f" Over all models, C-index and value have a rank correlation of {format_number(audit.spearman)}."
    cost_facts = None if audit.cost is None else audit.cost.gain
    facts = _facts(by_c_index=audit.by_c_index, same=audit.same, cost=cost_facts, spearman=audit.spearman)
    return Finding("c_index", "answer", title, text, facts)


def _find_bound(run: Run, answer: Answer) -> Finding | None:
    """The plug-in bound of the best arm; nothing where it is not known."""
    bound, low, high = bound_utility(run)[answer.best]
    if bound != bound:
        return None
    k, relevance = min(run.plan.k, run.waitlist), run.ndcg_relevance
    digits = 0 if high - low >= 0.02 else 1
    share, least, most = (f"{100 * number:.{digits}f}" for number in (bound, low, high))
    way = "the top pick" if k == 1 else f"one of the top {k}, drawn by position,"
    text = (
        f"With NDCG judged by {describe_relevance(relevance)}, allocating to {way} of {answer.best.label} achieves at "
        f"least {share}% ({least} to {most}) of the best possible utility, on average over waitlists. The C-index has "
        "no such bound."
    )
    if relevance == "restricted":
        text += " The best possible ranking knows every lifetime in advance, which no model can."
    elif relevance != "expected":
        text += " NDCG is estimated here, and so is the bound."
    facts = _facts(bound=bound, low=low, high=high, relevance=relevance, k=k)
    return Finding("bound", "note", f"Plug-in bound: at least {share}% of the best possible utility", text, facts)


# what must be read before the answer, and what a reader should know


def _find_leaks(run: Run) -> Finding | None:
    report = run.dataset.report
    if report is None or not report.leaks:
        return None
    text = (
        f"{'. '.join(report.leaks)}. Until this is resolved, no number here can be trusted, the support at the horizon "
        "included."
    )
    return Finding(
        "leaks", "serious", "A column may reveal the outcome", text, _facts(leaks=list(map(str, report.leaks)))
    )


def _find_lack_of_support(run: Run) -> Finding | None:
    unit, tau, support = run.dataset.unit, run.plan.tau, run.support
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
            f"This is according to a Cox model of censoring; by {name_model('KM')}, which uses no columns, it is "
            f"{least:.0%}. If a column shows when patients entered, Cox is right; with many columns and few censored "
            "rows it may overfit. "
        )
    frontier = worst.frontier
    if frontier is not None and len(frontier):
        last = frontier.iloc[-1]
        text += f"At {last['tau']:g} {unit} there is support for those who entered up to {last['latest']:g}. "
    shorter = None
    if run.relevance != "DR":
        text += (
            f"EY, IPCW and DR rely on models there; the values of this run are judged by "
            f"{describe_relevance(run.relevance)}, and are not affected."
        )
    else:
        text += (
            "Without support, all numbers here rest on a model of survival and not on observations; weighting cannot "
            "make up for what was never observed. "
        )
        if run.dataset.entry is not None:
            text += "Use a shorter horizon, or leave out late entries."
        else:
            shorter = find_supported_horizon(run)
            text += f"Use a shorter horizon: {shorter:g} {unit} is supported." if shorter else ""
    facts = _facts(share=float(worst.share_out_of_reach), horizon=tau, unit=unit, supported_horizon=shorter)
    severity: Severity = "serious" if run.relevance == "DR" else "note"
    return Finding("no_support", severity, f"No support at {tau:.4g} {unit}", text.strip(), facts)


def _find_impossible_values(run: Run) -> Finding | None:
    """Warn where the estimated value of an arm is impossible."""
    table, tau, unit = run.allocation, run.plan.tau, run.dataset.unit
    impossible = [
        (arm, row)
        for arm, (_, row) in zip(run.arms, table.iterrows(), strict=True)
        if row["value"] > tau or row["value"] < 0
    ]
    if not impossible:
        return None
    named = ", ".join(
        f"{arm.label} {row['value']:.4g}" + (f" (EY: {row['value_EY']:.4g})" if "value_EY" in table else "")
        for arm, row in impossible
    )
    text = (
        f"Nobody can live for less than 0 or, counted up to the horizon, for more than {tau:.4g} {unit}, but these "
        f"values are outside: {named}. Doubly robust estimates divide by probabilities of being followed, and here a "
        "few patients decide: do not choose a model by these numbers. A shorter horizon, fewer columns or more "
        "patients help."
    )
    return Finding(
        "impossible_values", "serious", "Impossible estimates", text, _facts(arms=[arm for arm, _ in impossible])
    )


def _find_few_patients(run: Run) -> Finding | None:
    if run.by_folds or not run.few_rows:
        return None
    rows = sum(len(job.rows) for job in run.first)
    text = (
        f"There are {rows / run.waitlist:.0f} patients for each place on the list, fewer than needed: the top depends "
        "on a few of them, and intervals cover less often than their nominal level."
    )
    return Finding("few_patients", "serious", "Few patients", text, _facts(rows=rows, waitlist=run.waitlist))


def _find_few_events(run: Run) -> Finding | None:
    y, unit, tau = run.dataset.y, run.dataset.unit, run.plan.tau
    events = int(np.count_nonzero(y.event & (y.time <= tau)))
    if events >= FEW_EVENTS:
        return None
    text = f"There are {events} events within {tau:.4g} {unit} in {len(y):,} rows"
    text += f" ({y.n_events:,} in all: is the horizon in {unit}?)" if events < y.n_events / 10 else ""
    text += ": too few to fit many predictors or to compare models."
    return Finding("few_events", "serious", "Few events", text, _facts(events=events, rows=len(y)))


def _find_unreliable_ipcw(run: Run) -> Finding | None:
    """What to make of IPCW where nobody could be followed; nothing where all could, and no value is impossible."""
    table, tau, unit = run.allocation, run.plan.tau, run.dataset.unit
    if "value_IPCW" not in table:
        return None
    above = [(arm, value) for arm, value in zip(run.arms, table["value_IPCW"], strict=True) if value > tau]
    if not above and not any(report.violated for report in run.support.values()):
        return None
    text = (
        "IPCW can be far off in either direction where support is lacking: it counts nothing for patients who could "
        "not be followed, and a few of the others stand for many."
    )
    if above:
        digits = choose_digits(run.value_of(run.best())[0])
        named = [f"{arm.label} ({format_number(value, digits)})" for arm, value in above]
        text += f" Impossible, since above the horizon of {tau:.4g} {unit}: {list_names(named, 'and')}."
    return Finding("unreliable_ipcw", "note", "IPCW is unreliable here", text, _facts(above=[arm for arm, _ in above]))


def _find_short_lists(run: Run) -> Finding | None:
    if run.waitlist >= run.plan.waitlist:
        return None
    text = (
        f"Lists of {run.plan.waitlist} were requested; the smallest test fold has {run.waitlist} rows, so lists have "
        "that many."
    )
    return Finding("short_lists", "note", "Shorter lists", text, _facts(requested=run.plan.waitlist, used=run.waitlist))


def _find_short_lists_in_decades(run: Run) -> Finding | None:
    decades = [assign_decades(run.dataset, run.plan, job.rows) for job in run.jobs]
    sizes = [int(np.unique(each, return_counts=True)[1].min()) for each in decades if each is not None]
    smallest = min(sizes, default=None)
    if smallest is None or smallest >= run.waitlist:
        return None
    text = (
        f"Lists are drawn within a decade of entry. One has only {smallest} rows in a test fold: lists there have "
        f"{smallest} candidates and not {run.waitlist}."
    )
    facts = _facts(smallest=smallest, used=run.waitlist)
    return Finding("short_lists_in_decades", "note", "Shorter lists in some decades", text, facts)


def _find_fixed_models(run: Run) -> Finding | None:
    if run.by_folds:
        return None
    text = (
        "Intervals resample the patients and hold the fitted models fixed: they do not include how models vary between "
        "training sets. More iterations, such as three of five folds, include that too."
    )
    return Finding("models_held_fixed", "note", "Models held fixed", text)


def _find_fits(run: Run) -> Finding | None:
    if not run.counts:
        return None
    listed = "; ".join(f"{name}, {_times(count)}" for name, count in run.counts.items())
    text = f"In {len(run.jobs)} jobs: {listed}."
    return Finding("fits", "warning", "Warnings raised while fitting", text, _facts(counts=run.counts))


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")
