"""One unit of a run: fit on the training folds, rank the test fold, judge (section 6, appendix F)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from ..data import Dataset, TablePreprocessor
from ..metrics import auc_at, concordance_index, ndcg_score, policy_value
from ..models import Cox, DeepHit, DeepSurv, KaplanMeier, SurvivalModel, WeibullAFT
from ..outcome import Outcome
from ..ranking import BootstrappedRanker
from ..relevance import IPCW, DoublyRobust, ExpectedYears, cross_fit, temporal_folds
from ._plan import KS, Plan

ERA_COLUMNS = ("transplant_year", "era", "year", "tx_year")
SMALLEST_CHANCE = 1e-3  # IPCW as the paper writes it, but for chances below this; how many is kept in the unit
AUC_TIMES = {"artificial": (5.0, 10.0, 15.0, 20.0), "full": (5.0,)}


@dataclass(frozen=True, eq=False)
class UnitResult:
    """What one unit leaves behind: measures by arm, and for pooled measures the scores and outcomes of its rows."""

    rows: np.ndarray
    scores: np.ndarray  # (arms, rows)
    outcomes: dict[str, np.ndarray]  # relevance by name: truth, EY, IPCW, DR
    measures: dict[str, dict[str, float]]  # "Cox ranker" → measure → value
    counts: dict[str, int]


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
            raise ValueError("a temporal split needs the time of entry, which this data set has not")
        blocks = [test for _, test in temporal_folds(np.asarray(data.entry)[rows], plan.folds + 1)]
        return [(np.concatenate(blocks[:later]), blocks[later]) for later in range(1, len(blocks))]
    if plan.split == "centre":
        if data.subgroups is None or "centre" not in data.subgroups:
            raise ValueError('a split by centre needs a column "centre" among the subgroups')
        groups = data.subgroups["centre"].to_numpy()[rows]
        return list(GroupKFold(plan.folds).split(rows, groups=groups))
    rarest = min(y.n_events, len(y) - y.n_events)
    splitter = StratifiedKFold if rarest >= plan.folds else KFold
    return list(splitter(plan.folds, shuffle=True, random_state=seed).split(rows, y.event))


def run_unit(data: Dataset, plan: Plan, iteration: int, fold: int, expected: np.ndarray | None = None) -> UnitResult:
    """Compute one unit, on one thread.

    `expected` is the true expected life of each subject, where a simulation knows it: then the ceiling is an arm of its
    own, and all arms are judged by it too.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence and positivity of hundreds of fits: counted, not printed
        return _run_unit(data, plan, iteration, fold, expected)


def _run_unit(data: Dataset, plan: Plan, iteration: int, fold: int, expected: np.ndarray | None) -> UnitResult:
    rows = cohort_of(data, plan)
    truth = data.y[rows]
    y = outcome_of(truth, plan, iteration)
    train, test = folds_of(data, rows, y, plan, iteration)[fold]
    table = data.X.iloc[rows]
    if plan.era == "drop":
        table = table.drop(columns=[name for name in ERA_COLUMNS if name in table])
    prepare = TablePreprocessor().fit(table.iloc[train])
    X, new = prepare.transform(table.iloc[train]), prepare.transform(table.iloc[test])
    scores = fitted_scores(plan, X, y[train], new, seed_of(plan, iteration, fold, 3))
    found, counts = relevances(plan, new, y[test], seed_of(plan, iteration, fold, 4))
    if expected is not None:
        found["expected"] = expected[rows][test]
        scores["truth", "known"] = found["expected"]
    life = truth.time[test] if plan.protocol == "artificial" else None
    eras = np.asarray(data.entry)[rows][test] // 10 if plan.era == "within" and data.entry is not None else None
    measures = {" ".join(arm): judged(plan, score, y[test], life, found, eras) for arm, score in scores.items()}
    outcomes: dict[str, np.ndarray] = {name: found[name] for name in ("EY", "IPCW", "DR", "expected") if name in found}
    if life is not None:
        outcomes["truth"] = np.minimum(life, plan.tau)
    return UnitResult(rows[test], np.array(list(scores.values())), outcomes, measures, counts)


def fitted_scores(
    plan: Plan, X: np.ndarray, y: Outcome, new: np.ndarray, seed: int
) -> dict[tuple[str, str], np.ndarray]:
    """Expected years of the test rows by every arm."""
    scores = {}
    for model, framework in plan.arms:
        base = base_model(model, plan, seed)
        if framework == "standard":
            scores[model, framework] = base.fit(X, y).predict(new)
            continue
        preset: Literal["paper", "default"] = "paper" if framework == "ranker" else "default"
        ranker = BootstrappedRanker(base, tau=plan.tau, preset=preset, random_state=seed, n_jobs=1)
        scores[model, framework] = ranker.fit(X, y).predict(new)
    return scores


def relevances(plan: Plan, X: np.ndarray, y: Outcome, seed: int) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """EY by every model, IPCW by KM and Cox, their means, and DR: cross-fitted within the test fold."""
    folds = min(plan.nuisance_folds, max(2, y.n_events))

    def estimated(estimator: Any) -> Any:
        return cross_fit(estimator, X, y, cv=folds, random_state=seed)

    found, counts = {}, {}
    for model in plan.models:
        found[f"EY {model}"] = estimated(ExpectedYears(base_model(model, plan, seed), tau=plan.tau)).values
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
) -> dict[str, float]:
    """All measures of one arm on one test fold."""
    n = len(scores)
    waitlist = min(plan.waitlist, n)
    measures: dict[str, float] = {}
    seen = y if life is None else Outcome(life, np.ones(n, dtype=bool))
    measures["C-index"] = _quietly_concordance(seen, scores)
    for time in AUC_TIMES[plan.protocol]:
        measures[f"AUC@{time:g}"] = _auc(seen, scores, time)
    sources = dict(found)
    if life is not None:
        measures |= _ndcgs("truth", life, scores, n)  # Table 1: the unrestricted T*
        restricted = np.minimum(life, plan.tau)
        measures |= _ndcgs("restricted", restricted, scores, n)  # what EY and IPCW estimate
        measures["truth value"] = _value(restricted, scores, waitlist, eras)
        measures["truth waitlist NDCG@1"] = ndcg_score(restricted, scores, k=1, waitlist=waitlist)
    for name, values in sources.items():
        measures[f"{name} value"] = _value(values, scores, waitlist, eras)
        if values.min() >= 0:
            measures |= _ndcgs(name, values, scores, n)
    for kind in ("EY", "IPCW"):  # the paper's ensemble: the mean of the estimates, not the estimate of the mean
        for k in (*KS, None):
            key = f"NDCG@{k}" if k else "NDCG"
            parts = [
                v
                for name, v in measures.items()
                if name.startswith(f"{kind} ") and name.endswith(f" {key}") and name != f"{kind} {key}"
            ]
            if parts:
                measures[f"{kind} {key}"] = float(np.mean(parts))
    return measures


def _ndcgs(name: str, relevance: np.ndarray, scores: np.ndarray, n: int) -> dict[str, float]:
    found = {f"{name} NDCG@{k}": ndcg_score(relevance, scores, k=min(k, n)) for k in KS}
    return found | {f"{name} NDCG": ndcg_score(relevance, scores)}


def _value(relevance: np.ndarray, scores: np.ndarray, waitlist: int, eras: np.ndarray | None) -> float:
    """Years of the top pick of a waitlist; within eras, their mean weighted by size."""
    if eras is None:
        return policy_value(relevance, scores, waitlist=waitlist)
    parts = [np.flatnonzero(eras == era) for era in np.unique(eras)]
    values = [policy_value(relevance[rows], scores[rows], waitlist=min(waitlist, len(rows))) for rows in parts]
    return float(np.average(values, weights=[len(rows) for rows in parts]))


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
