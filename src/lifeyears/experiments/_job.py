"""One unit of a run: fit on the training folds, rank the test fold, judge (section 6, appendix F)."""

from __future__ import annotations

import importlib.util
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold

from ..data import Dataset, TablePreprocessor
from ..data.dataset import require_features
from ..metrics import auc_at, concordance_index, ndcg_score, policy_value
from ..models import Cox, DeepHit, DeepSurv, KaplanMeier, SurvivalModel, WeibullAFT, refuse_time_zero
from ..outcome import Outcome
from ..ranking import BootstrappedRanker, fit_together
from ..relevance import IPCW, DoublyRobust, ExpectedYears, cross_fit, temporal_folds
from ..units import DAYS_IN
from ._columns import ERAS, column_of, era_columns
from ._plan import KS, Plan

TOLD = {  # words of a warning, and how its kind is called in a run
    "beyond the longest follow-up": "horizon beyond the follow-up of a nuisance's rows",
    "was seen in training": "column without a known category in a test fold",
}
SMALLEST_CHANCE = 1e-3  # IPCW as the paper writes it, but for chances below this; how many is kept in the unit


@dataclass(frozen=True, eq=False)
class UnitResult:
    """What one unit leaves behind: measures by arm, and for pooled measures the scores and outcomes of its rows."""

    rows: np.ndarray
    scores: np.ndarray  # (arms, rows)
    outcomes: dict[str, np.ndarray]  # relevance by name: truth, EY, IPCW, DR
    measures: dict[str, dict[str, float]]  # "Cox ranker" → measure → value
    counts: dict[str, int]  # weights clipped, fits that did not converge, rankers that kept their base, …


def base_model(name: str, plan: Plan, seed: int) -> SurvivalModel:
    """The paper's five predictors with its settings (appendix E)."""
    deep: dict[str, Any] = {"tau": plan.tau, "epochs": plan.epochs, "random_state": seed}
    made: dict[str, Any] = {
        "KM": lambda: KaplanMeier(tau=plan.tau),
        "Cox": lambda: Cox(alpha=0.1, tau=plan.tau),
        "AFT": lambda: WeibullAFT(penalizer=0.1, tau=plan.tau),
        "DeepSurv": lambda: DeepSurv(**deep),
        "DeepHit": lambda: DeepHit(**deep),
    }
    return made[name]()


def seed_of(plan: Plan, *parts: int) -> int:
    """A seed of its own for each thing drawn, the same however the units are run."""
    return int(np.random.SeedSequence([plan.seed, *parts]).generate_state(1)[0] % 2**31)


def cohort_of(data: Dataset, plan: Plan) -> np.ndarray:
    """Rows the protocol uses: all, or those whose event was seen."""
    return np.flatnonzero(data.y.event) if plan.protocol == "artificial" else np.arange(len(data))


def outcome_of(y: Outcome, plan: Plan, iteration: int) -> Outcome:
    """What the models may see in this iteration."""
    if plan.protocol == "full":
        return y
    rng = np.random.default_rng(seed_of(plan, iteration, 1))
    life = y.time
    if plan.censoring == "paper":
        chosen = rng.permutation(len(life)) < round(plan.censored_share * len(life))
        cut = np.where(chosen, rng.uniform(0, life), np.inf)
    else:  # exponential, its mean such that the share comes out
        waits = rng.standard_exponential(len(life))
        cut = waits * np.quantile(life / waits, 1 - plan.censored_share)
    seen = np.minimum(life, cut)
    return Outcome(np.maximum(seen, np.finfo(float).tiny), life <= cut)


def folds_of(data: Dataset, rows: np.ndarray, y: Outcome, plan: Plan, iteration: int) -> list[tuple[Any, Any]]:
    """(train, test) of every fold: random as in the paper, later on earlier entries, or by centre."""
    seed = seed_of(plan, iteration, 2)
    if plan.split == "temporal":
        if data.entry is None:
            raise ValueError(
                "a temporal split needs the time of entry, which this data set has not: name its column with --entry "
                "(in Python, read_table(…, entry=…))"
            )
        if data.unit not in DAYS_IN:
            raise ValueError(
                f"a temporal split has to know how long a unit of time is, and {data.unit!r} is none of "
                f"{', '.join(DAYS_IN)}: name it with --unit (in Python, read_table(…, unit=…))"
            )
        blocks = [test for _, test in temporal_folds(np.asarray(data.entry)[rows], plan.folds + 1)]
        return [(np.concatenate(blocks[:later]), blocks[later]) for later in range(1, len(blocks))]
    if plan.split == "centre":
        centre = column_of(data, "centre")
        if centre is None:
            raise ValueError(
                "a split by centre needs to know each row's centre, which this data set does not tell: name its column "
                "with --centre (in Python, a column called centre in `Dataset.subgroups`)"
            )
        return _folds_of_groups(centre.astype(str).to_numpy()[rows], plan.folds, seed)
    rarest = min(y.n_events, len(y) - y.n_events)
    splitter = StratifiedKFold if rarest >= plan.folds else KFold
    return list(splitter(plan.folds, shuffle=True, random_state=seed).split(rows, y.event))


def known_then(data: Dataset, rows: np.ndarray, y: Outcome, plan: Plan, train: Any, test: Any) -> Outcome:
    """What models may learn from: in a temporal split, what was known of training rows when the first test row entered.

    Entry is in decimal years, time in the unit of the data.
    """
    seen = y[train]
    if plan.split != "temporal" or data.entry is None:
        return seen
    entry = np.asarray(data.entry, dtype=float)[rows]
    since = (entry[test].min() - entry[train]) * DAYS_IN["years"] / DAYS_IN[data.unit]
    return Outcome(np.maximum(np.minimum(seen.time, since), np.finfo(float).tiny), seen.event & (seen.time <= since))


def eras_of(data: Dataset, plan: Plan, rows: np.ndarray) -> np.ndarray | None:
    """The decade of entry of each row, where lists are to be within one."""
    return None if plan.era != "within" or data.entry is None else np.asarray(data.entry)[rows] // 10


def _folds_of_groups(groups: np.ndarray, folds: int, seed: int) -> list[tuple[Any, Any]]:
    """Whole groups, in random order, each to the fold that is smallest so far."""
    names, place, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if len(names) < folds:
        use = (
            f"use --folds {len(names)} (in Python, folds=)"
            if len(names) > 1
            else "use another --split (in Python, split=)"
        )
        there = "is 1" if len(names) == 1 else f"are {len(names)}"
        raise ValueError(f"{folds} folds of whole centres need {folds} centres; there {there}: {use}")
    fold_of, filled = np.empty(len(names), dtype=int), np.zeros(folds)
    for group in np.random.default_rng(seed).permutation(len(names)):
        fold_of[group] = int(filled.argmin())
        filled[fold_of[group]] += sizes[group]
    return [(np.flatnonzero(fold_of[place] != fold), np.flatnonzero(fold_of[place] == fold)) for fold in range(folds)]


def auc_times(plan: Plan, unit: str) -> tuple[float, ...]:
    """The paper's 5, 10, 15 and 20 years; with other units or horizons, quarters of the horizon."""
    times = (
        (5.0, 10.0, 15.0, 20.0) if unit == "years" and plan.tau >= 20 else tuple(plan.tau * q / 4 for q in (1, 2, 3, 4))
    )
    return times if plan.protocol == "artificial" else times[:1]


def check_feasible(data: Dataset, plan: Plan) -> None:
    """Refuse, before anything is computed, what would fail half-way."""
    if plan.era == "within" and data.entry is None:
        raise ValueError('era="within" needs the time of entry, which this data set has not')
    if plan.era == "drop" and not era_columns(data):
        raise ValueError(f'era="drop" finds none of {", ".join(ERAS)} among the columns')
    require_features(data.name, data.X.shape[1] - (len(era_columns(data)) if plan.era == "drop" else 0))
    if "AFT" in plan.models:
        others = ",".join(model for model in plan.models if model != "AFT") or "KM,Cox"
        refuse_time_zero(data.y, f"leave AFT out: --models {others} (in Python, models=)")
    absent = [name for name in plan.subgroups if name not in data.table]
    if absent:
        there = ", ".join(map(str, data.table.columns))
        raise ValueError(f"subgroups are asked for by {', '.join(absent)}; the columns are {there}")
    rows = cohort_of(data, plan)
    if not len(rows):
        raise ValueError("no event was seen: is the event column the right way round?")
    if plan.folds > len(rows):
        raise ValueError(f"{plan.folds:,} folds need as many rows; there are {len(rows):,}")
    if any(model.startswith("Deep") for model in plan.models) and importlib.util.find_spec("torch") is None:
        raise ImportError('DeepSurv and DeepHit need torch: pip install "lifeyears[deep]", or name other --models')
    needed = 2 * plan.nuisance_folds
    for iteration in range(plan.iterations):
        y = outcome_of(data.y[rows], plan, iteration)
        folds = folds_of(data, rows, y, plan, iteration)
        if len(folds) < plan.folds:
            raise ValueError(f"the entries make {len(folds)} folds, not {plan.folds}: use --folds {max(2, len(folds))}")
        for fold, (train, test) in enumerate(folds):
            events = min(y[test].n_events, known_then(data, rows, y, plan, train, test).n_events)
            if events < needed:
                raise ValueError(
                    f"fold {fold + 1} has {events} events and needs {needed}: the data have {y.n_events} events in "
                    f"{len(y):,} rows. Use fewer folds, or more data"
                )


def run_unit(data: Dataset, plan: Plan, iteration: int, fold: int, expected: np.ndarray | None = None) -> UnitResult:
    """Compute one unit, on one thread.

    `expected` is the true expected life of each subject, where a simulation knows it: then the ceiling is an arm of its
    own, and all arms are judged by it too.
    """
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = _run_unit(data, plan, iteration, fold, expected)
    return replace(made, counts=made.counts | _counted(told))


def _counted(told: Iterable[warnings.WarningMessage]) -> dict[str, int]:
    """What hundreds of fits warned of, by its kind; weights that were clipped are counted by `relevances`."""
    kinds: Counter[str] = Counter()
    for warning in told:
        text = str(warning.message)
        if issubclass(warning.category, ConvergenceWarning):
            kinds[text.partition(":")[0]] += 1  # "Cox did not converge"
        else:
            kinds.update(kind for words, kind in TOLD.items() if words in text)
    return dict(sorted(kinds.items()))


def _run_unit(data: Dataset, plan: Plan, iteration: int, fold: int, expected: np.ndarray | None) -> UnitResult:
    rows = cohort_of(data, plan)
    truth = data.y[rows]
    y = outcome_of(truth, plan, iteration)
    train, test = folds_of(data, rows, y, plan, iteration)[fold]
    table = data.X.iloc[rows]
    if plan.era == "drop":
        table = table.drop(columns=era_columns(data))
    prepare = TablePreprocessor().fit(table.iloc[train])
    X, new = prepare.transform(table.iloc[train]), prepare.transform(table.iloc[test])
    learned = known_then(data, rows, y, plan, train, test)
    margin = a_year(data.unit, plan.tau)
    scores, counts = fitted_scores(plan, X, learned, new, seed_of(plan, iteration, fold, 3), margin)
    found, clipped = relevances(plan, new, y[test], seed_of(plan, iteration, fold, 4))
    if expected is not None:
        found["expected"] = expected[rows][test]
        scores["truth", "known"] = found["expected"]
    life = truth.time[test] if plan.protocol == "artificial" else None
    eras = eras_of(data, plan, rows[test])
    times = auc_times(plan, data.unit)
    measures = {" ".join(arm): judged(plan, score, y[test], life, found, eras, times) for arm, score in scores.items()}
    outcomes: dict[str, np.ndarray] = {name: found[name] for name in ("EY", "IPCW", "DR", "expected") if name in found}
    if life is not None:
        outcomes["truth"] = np.minimum(life, plan.tau)
    return UnitResult(rows[test], np.array(list(scores.values())), outcomes, measures, clipped | counts)


def a_year(unit: str, tau: float) -> float:
    """A year in the unit of the times, the margin of the paper's loss; of an unknown unit, its share of the horizon."""
    return DAYS_IN["years"] / DAYS_IN[unit] if unit in DAYS_IN else tau / 20


def fitted_scores(
    plan: Plan, X: np.ndarray, y: Outcome, new: np.ndarray, seed: int, margin: float = 1.0
) -> tuple[dict[tuple[str, str], np.ndarray], dict[str, int]]:
    """Expected years of the test rows by every arm; a ranker's first stage is the standard model, fitted once.

    And what rankers did otherwise than asked.
    """
    scores: dict[tuple[str, str], np.ndarray] = {}
    counts: Counter[str] = Counter()
    presets: tuple[tuple[str, Literal["paper", "default"]], ...] = (("ranker", "paper"), ("default", "default"))
    arms = [(model, *kind) for model in plan.models for kind in presets if (model, kind[0]) in plan.arms]
    rankers = [
        BootstrappedRanker(
            base_model(model, plan, seed),
            tau=plan.tau,
            preset=preset,
            margin=margin if preset == "paper" else None,
            random_state=seed,
            n_jobs=1,
        )
        for model, _, preset in arms
    ]
    for (model, framework, _), ranker in zip(arms, fit_together(rankers, X, y), strict=True):
        scores.setdefault((model, "standard"), ranker.base_.predict(new))
        scores[model, framework] = ranker.predict(new)
        report = ranker.report_
        said = [*report.notes, *(["the base model is used as it is"] if report.kept_base else [])]
        counts.update(f"{model} {framework}: {note}" for note in said)
    return scores, dict(counts)


def relevances(plan: Plan, X: np.ndarray, y: Outcome, seed: int) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """EY by every model, IPCW by KM and Cox, their means, and DR: cross-fitted within the test fold."""
    rarest, folds = min(y.n_events, len(y) - y.n_events), plan.nuisance_folds
    cv: Any = folds if rarest >= folds or not rarest else KFold(folds, shuffle=True, random_state=seed)

    def estimated(estimator: Any) -> Any:
        return cross_fit(estimator, X, y, cv=cv, random_state=seed)

    found, counts = {}, {}
    for model in plan.models:
        made = estimated(ExpectedYears(base_model(model, plan, seed), tau=plan.tau))
        found[f"EY {model}"] = made.values
        if made.diagnostics.n_fallback:
            counts[f"EY {model} fell back: censored where its curve says that nobody is left"] = (
                made.diagnostics.n_fallback
            )
    weighted = {"KM": KaplanMeier(), "Cox": Cox(alpha=10.0)}
    for name, censoring in weighted.items():
        made = estimated(IPCW(censoring, tau=plan.tau, on_violation="clip", floor=SMALLEST_CHANCE))
        found[f"IPCW {name}"] = made.values
        counts[f"IPCW {name} clipped"] = made.diagnostics.n_clipped
    made = estimated(DoublyRobust(Cox(alpha=10.0), weighted["Cox"], tau=plan.tau, on_violation="clip"))
    found["DR"] = made.values
    counts["DR clipped"] = made.diagnostics.n_clipped
    for kind in ("EY", "IPCW"):
        found[kind] = np.mean([values for name, values in found.items() if name.startswith(f"{kind} ")], axis=0)
    return found, counts


def judged(
    plan: Plan,
    scores: np.ndarray,
    y: Outcome,
    life: np.ndarray | None,
    found: dict[str, np.ndarray],
    eras: np.ndarray | None,
    times: tuple[float, ...],
) -> dict[str, float]:
    """All measures of one arm on one test fold."""
    n = len(scores)
    waitlist = min(plan.waitlist, n)
    measures: dict[str, float] = {}
    seen = y if life is None else Outcome(life, np.ones(n, dtype=bool))
    measures["C-index"] = _quietly_concordance(seen, scores)
    for time in times:
        measures[f"AUC@{time:g}"] = _auc(seen, scores, time)
    falling = np.argsort(-scores, kind="stable")  # once: what is sorted already sorts in no time
    scores, found = scores[falling], {name: values[falling] for name, values in found.items()}
    life, eras = (values if values is None else values[falling] for values in (life, eras))
    if life is not None:
        measures |= _ndcgs("truth", life, scores, n)  # Table 1: the unrestricted T*
        restricted = np.minimum(life, plan.tau)
        measures |= _ndcgs("restricted", restricted, scores, n)  # what EY and IPCW estimate
        measures["truth value"] = _value(restricted, scores, waitlist, plan.k, eras)
        measures["truth waitlist NDCG"] = _waitlist_ndcg(restricted, scores, waitlist, plan.k, eras)
    for name, values in found.items():
        measures[f"{name} value"] = _value(values, scores, waitlist, plan.k, eras)
        if values.min() >= 0:
            measures |= _ndcgs(name, values, scores, n)
            measures[f"{name} waitlist NDCG"] = _waitlist_ndcg(values, scores, waitlist, plan.k, eras)
    for kind in ("EY", "IPCW"):  # the paper's ensemble: the mean of the estimates, not the estimate of the mean
        single = [name for name in found if name.startswith(f"{kind} ")]
        for key in (*(f"NDCG@{k}" for k in KS), "NDCG", "waitlist NDCG"):
            measures[f"{kind} {key}"] = float(np.mean([measures[f"{name} {key}"] for name in single]))
    return measures


def _ndcgs(name: str, relevance: np.ndarray, scores: np.ndarray, n: int) -> dict[str, float]:
    found = {f"{name} NDCG@{k}": ndcg_score(relevance, scores, k=min(k, n)) for k in KS}
    return found | {f"{name} NDCG": ndcg_score(relevance, scores)}


def _value(relevance: np.ndarray, scores: np.ndarray, waitlist: int, k: int, eras: np.ndarray | None) -> float:
    """Years of an allocation from a waitlist; within eras, their mean weighted by size."""
    if eras is None:
        return policy_value(relevance, scores, k=min(k, waitlist), waitlist=waitlist)
    parts = [np.flatnonzero(eras == era) for era in np.unique(eras)]
    values = [_value(relevance[rows], scores[rows], min(waitlist, len(rows)), k, None) for rows in parts]
    return float(np.average(values, weights=[len(rows) for rows in parts]))


def _waitlist_ndcg(relevance: np.ndarray, scores: np.ndarray, waitlist: int, k: int, eras: np.ndarray | None) -> float:
    """Expected DCG over expected ideal DCG of a waitlist; within eras, both as in `_value`."""
    if eras is None:
        return ndcg_score(relevance, scores, k=min(k, waitlist), waitlist=waitlist)
    ideal = _value(relevance, relevance, waitlist, k, eras)
    return _value(relevance, scores, waitlist, k, eras) / ideal if ideal > 0 else float("nan")


def _quietly_concordance(y: Outcome, scores: np.ndarray) -> float:
    try:
        return concordance_index(y, scores)
    except ValueError:  # a small fold without comparable pairs
        return float("nan")


def _auc(y: Outcome, scores: np.ndarray, time: float) -> float:
    try:
        return auc_at(y, scores, time)
    except ValueError:  # nobody known dead, or nobody known alive, at this time
        return float("nan")
