"""Metrics, relevance, policies and their bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..names import called, ly, read
from ..record import Record
from . import case
from ._shared import matrix, plain, registry


def scored(n: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Relevance, scores with ties, and scores of another model."""
    rng = np.random.default_rng(9)
    years = rng.exponential(5, n)
    return years, np.round(years + rng.normal(0, 4, n), 1), years + rng.normal(0, 6, n)


@case
def metrics(record: Record, folder: Path) -> None:
    """DCG, NDCG, policy value, C-index, AUC, Brier score, calibration, selection measures and scorers."""
    years, one, two = scored()
    for k in (None, 1, 5, 50):
        for waitlist in (None, 60, 256):
            key = f"k={k} waitlist={waitlist}"
            record.add(f"dcg/{key}", ly.metrics.dcg_score(years, one, k=k, waitlist=waitlist))
            record.add(f"ndcg/{key}", ly.metrics.ndcg_score(years, one, k=k, waitlist=waitlist))
            if k is not None:
                record.add(f"value/{key}", ly.metrics.policy_value(years - 3, one, k=k, waitlist=waitlist))
    for name in ("dcg_score", "ndcg_score"):
        drawn = getattr(ly.metrics, name)(years, one, k=5, ties="random", random_state=4)
        record.add(f"{name} with ties drawn", drawn)

    X, y = plain()
    scores = np.round(X[:, 0] - 0.5 * X[:, 1], 1)
    record.add("concordance", ly.metrics.concordance_index(y, scores))
    record.add("concordance of risk", ly.metrics.concordance_index(y, risk=-X[:, 2]))
    record.add("auc", ly.metrics.auc_at(y, scores, [1.0, 3.0, 6.0]))
    record.add("auc at one time", ly.metrics.auc_at(y, scores, 4.0, censoring=y[:200]))
    curves = ly.models.Cox(tau=10).fit(X, y).predict_curves(X)
    record.add("brier", ly.metrics.brier_score(y, curves, [1.0, 3.0, 6.0]))
    record.add("brier at one time", ly.metrics.brier_score(y, curves.at(2.0), 2.0))
    record.add("integrated brier", ly.metrics.integrated_brier_score(y, curves, np.linspace(0.5, 8, 12)))
    for bins in (4, 10):
        found = ly.metrics.calibration(y, curves, 4.0, n_bins=bins)
        record.attributes(f"calibration/{bins}", found, "predicted", "observed", "low", "high", "count", "error")
    record.add("selection", ly.metrics.selection_measures(years[:12], one[:12]))
    record.add("pairwise", ly.metrics.pairwise_accuracy(years[:12], two[:12]))

    model = ly.models.Cox(tau=8).fit(X[:200], y[:200])
    estimator, fitted = (ly.relevance.ExpectedYears(ly.models.Cox(alpha=5.0), tau=8.0) for _ in range(2))
    scorers = {
        "concordance": ly.metrics.make_scorer("concordance"),
        "auc": ly.metrics.make_scorer("auc", time=4.0),
        "ndcg": ly.metrics.make_scorer("ndcg", k=1, waitlist=20, relevance=estimator, cv=2),
        "value": ly.metrics.make_scorer("policy_value", k=5, waitlist=20, relevance=estimator, cv=2),
        "fitted": ly.metrics.make_scorer("ndcg", k=3, relevance=fitted.fit(X[:200], y[:200])),
    }
    for name, scorer in scorers.items():
        record.add(f"scorer/{name}", scorer(model, X[200:], y[200:]))


@case
def comparison(record: Record, folder: Path) -> None:
    """metrics.compare: values, NDCG, paired differences and resamples, with negative relevance too."""
    years, one, two = scored()
    scores = {"one": one, "two": two, "lot": np.zeros(len(years))}
    settings: dict[str, dict[str, Any]] = {
        "top": {"k": 1, "waitlist": 20},
        "five": {"k": 5, "waitlist": 60, "confidence": 0.9, "random_state": 3},
        "whole list": {"k": 2, "waitlist": None},
    }
    for name, options in settings.items():
        for sign, relevance in (("years", years), ("centred", years - 4.0)):
            found = ly.metrics.compare(relevance, scores, n_resamples=120, **options)
            key = f"{name}/{sign}"
            record.attributes(key, found, "values", "differences", "k", "waitlist", "n", "confidence", "resamples")
            record.add(f"{key}/best", found.best() if isinstance(found.best(), str) else read(found.best(), "name"))


@case
def relevance(record: Record, folder: Path) -> None:
    """EY, IPCW and DR with several nuisance models, cross-fitting, ensembles, positivity and sensitivity."""
    data, X = registry(), matrix()
    y, tau = data.y, 8.0
    few, fewer = plain()
    models = {"km": ly.models.KaplanMeier, "cox": lambda: ly.models.Cox(alpha=10.0), "aft": ly.models.WeibullAFT}
    EY, IPCW, DR = ly.relevance.ExpectedYears, ly.relevance.IPCW, ly.relevance.DoublyRobust
    clipped: dict[str, Any] = {"tau": tau, "on_violation": "clip", "floor": 0.03}
    for name, model in models.items():
        add_relevance(record, f"EY {name}", EY(model(), tau=tau).fit(X, y).estimate(X, y))
        add_relevance(record, f"IPCW {name}", IPCW(model(), **clipped).fit(X, y).estimate(X, y))
        add_relevance(record, f"DR {name}", DR(model(), model(), **clipped).fit(X, y).estimate(X, y))
    for name, estimator in {
        "EY": EY(models["cox"](), tau=tau),
        "EY whole life": EY(ly.models.KaplanMeier(), tail="drop"),
        "IPCW": IPCW(ly.models.KaplanMeier(), tau=tau, on_violation="clip"),
        "DR": DR(models["cox"](), models["cox"](), tau=tau, on_violation="clip"),
        "both": ly.relevance.Ensemble([EY(models["km"](), tau=5.0), EY(models["cox"](), tau=5.0)]),
    }.items():
        add_relevance(record, f"cross/{name}", ly.relevance.cross_fit(estimator, few, fewer, cv=3, random_state=1))
    for name, estimator in {"EY": EY(tau=5.0), "IPCW": IPCW(tau=5.0), "DR": DR(tau=5.0)}.items():
        add_relevance(record, f"default models/{name}", estimator.fit(few, fewer).estimate(few, fewer))
    far: dict[str, Any] = {"tau": 15.0, "on_violation": "clip"}  # where the default floor is reached
    for name, estimator in (
        ("IPCW", IPCW(models["cox"](), **far)),
        ("DR", DR(models["cox"](), models["cox"](), **far)),
    ):
        add_relevance(record, f"floor/{name}", ly.relevance.cross_fit(estimator, X, y, cv=2))
    centres = np.arange(len(few)) % 7
    grouped = ly.relevance.cross_fit(EY(models["cox"](), tau=5.0), few, fewer, cv=3, groups=centres, random_state=2)
    add_relevance(record, "cross/groups", grouped)
    blocks = ly.relevance.temporal_folds(data.entry, 4)
    record.add("temporal folds", [test for _, test in blocks])
    add_relevance(record, "cross/temporal", ly.relevance.cross_fit(EY(models["km"](), tau=tau), X, y, cv=blocks))
    known = EY(ly.models.Cox(tau=5).fit(few, fewer).predict_curves(few), tau=5.0).estimate(few, fewer)
    add_relevance(record, "known curves", known)
    averaged = ly.relevance.averaged(
        [known, IPCW(ly.models.KaplanMeier(), tau=5.0).fit(few, fewer).estimate(few, fewer)]
    )
    add_relevance(record, "averaged", averaged)

    for name, by in (("all", None), ("entry", np.floor(data.entry / 5) * 5), ("group", np.arange(len(y)) % 3)):
        for model in (ly.models.KaplanMeier(), ly.models.Cox(alpha=10.0)):
            found = ly.relevance.check_positivity(model, X, y, 12.0, by=by)
            add_positivity(record, f"positivity/{name}/{type(model).__name__}", found)
    scores = {"first": few[:, 0], "second": few[:, 1] - few[:, 2]}
    record.attributes(
        "compared", ly.metrics.compare(known, scores, waitlist=10, n_resamples=60), "values", "differences"
    )
    record.add("as array", np.asarray(known))
    administrative = ly.models.AdministrativeCensoring(ly.models.Cox(alpha=10.0), entry=0)
    entered = np.column_stack([data.entry, X[:, :5]])
    for name, made in (
        ("IPCW", IPCW(administrative, **clipped)),
        ("DR", DR(models["cox"](), administrative, **clipped)),
    ):
        add_relevance(record, f"administrative/{name}", made.fit(entered, y).estimate(entered, y))
    add_positivity(record, "administrative", ly.relevance.check_positivity(administrative, entered, y, 12.0))
    found = ly.relevance.sensitivity(known, fewer, scores, waitlist=10, n_resamples=60)
    record.attributes("sensitivity", found, "model", "other", "tipping_point", "table")


def add_relevance(record: Record, key: str, found: Any) -> None:
    """Record estimated relevance with its diagnostics."""
    record.attributes(key, found, "values", "tau", "diagnostics")
    record.attributes(f"{key}/diagnostics", read(found, "diagnostics"), "effective_sample_size", "largest_weight_share")
    if read(found, "splits") is not None:
        record.add(f"{key}/splits", [test for _, test in read(found, "splits")])


def add_positivity(record: Record, key: str, found: Any) -> None:
    """Record a positivity report."""
    record.attributes(key, found, "smallest_reach", "share_out_of_reach", "longest_followup", "effective_sample_size")
    record.attributes(key, found, "largest_weight_share", "n_below_floor", "violated", "curves")
    for name in ("groups", "frontier"):
        if read(found, name) is not None:
            record.add(f"{key}/{name}", read(found, name))


@case
def policies(record: Record, folder: Path) -> None:
    """Policies of ly.allocation: chances, draws and offers; bounds, adversary, trade-off and the paper's examples."""
    years, one, two = scored(60)
    table = pd.DataFrame({"status": np.tile(["2", "1", "3"], 20), "days": np.arange(60) * 7 % 40})
    chosen = {
        "greedy": ly.allocation.Greedy(),
        "one": ly.allocation.PositionWeighted(k=1),
        "five": ly.allocation.PositionWeighted(k=5),
        "hundred": ly.allocation.PositionWeighted(k=100),
        "uniform": ly.allocation.UniformRandom(),
        "tiers": ly.allocation.Tiers("status"),
        "tiers by wait": ly.allocation.Tiers("status", waiting="days", order=["3", "1", "2"]),
    }
    for name, policy in chosen.items():
        more = {"candidates": table} if name.startswith("tiers") else {}
        for label, scores in (("tied", one.round()), ("plain", two)):
            record.add(f"{name}/{label}/probabilities", policy.probabilities(scores, **more))
            record.add(f"{name}/{label}/chosen", [policy.choose(scores, seed, **more) for seed in range(5)])
            record.add(f"{name}/{label}/offers", policy.offers(scores, 3, **more))
    record.add("guarantee", [ly.allocation.guarantee(0.9, k=k) for k in (1, 2, 5, 10)])
    record.add("guarantee of many", ly.allocation.guarantee(np.array([0.1, 0.5, 1.0]), k=3))
    compared = ly.metrics.compare(years, {"one": one, "two": two}, k=3, waitlist=15, n_resamples=60)
    record.attributes("plug-in", ly.allocation.guarantee(compared), "values", "k", "waitlist", "n")
    found = ly.allocation.tradeoff(years, {"one": one}, ks=(1, 3, 8), waitlist=12, n_resamples=60)
    record.attributes("trade-off", found, "values", "waitlist", "n")
    cases = {
        "greedy": ly.allocation.adversary(chosen["greedy"]),
        "five": ly.allocation.adversary(chosen["five"], c=0.95, rho=0.05),
        "uniform": ly.allocation.adversary(chosen["uniform"], c=0.9, rho=0.05),
        "paper": ly.allocation.adversary(chosen["five"], c=0.9, rho=0.5, construction="paper"),
        "needle": ly.allocation.adversary(chosen["greedy"], c=0.9, rho=0.1, construction="needle"),
        "motivating": ly.allocation.motivating_example(30, chosen["five"]),
        "green": read(ly.allocation.figure_1(), "green"),
        "red": read(ly.allocation.figure_1(), "red"),
    }
    for name, made in cases.items():
        key = f"adversary/{name}"
        record.attributes(key, made, "scores", "utilities", "probabilities", "c_index", "utility", "utility_ratio")
        record.attributes(key, made, "uniform_ratio", "chosen")
        record.add(f"{key}/ndcg", made.ndcg(1))


@case
def donors_and_gain(record: Record, folder: Path) -> None:
    """Donor-type rankers and life-years gained."""
    data = registry()
    new = registry(80, 8).X
    rankers = {
        "k-means": ly.allocation.DonorTypeRanker(ly.models.Cox(alpha=5.0), n_types=3, min_events=5, tau=10),
        "column": ly.allocation.DonorTypeRanker(
            ly.models.WeibullAFT(), types="donor_blood_group", prior=40, min_events=20, tau=10
        ),
    }
    for name, ranker in rankers.items():
        called(ranker.set_params, random_state=0).fit(data.X, data.y)
        record.attributes(name, ranker, "types_", "report_", "prior_", "representatives_", "tau_")
        record.add(f"{name}/scores", ranker.scores(new))
        record.add(f"{name}/predict", ranker.predict(new))
        record.add(f"{name}/lookup", ranker.lookup(new))
        record.add(f"{name}/one donor", ranker.predict(new, new.iloc[[5]]))
        record.add(f"{name}/score", ranker.score(new, registry(80, 8).y))
    X, y = plain()
    waiting = pd.DataFrame(X[::-1], columns=list("abcd"))
    frame = pd.DataFrame(X, columns=list("abcd"))
    for name, models in {
        "cox and aft": (ly.models.Cox(), None),
        "km": (ly.models.KaplanMeier(), ly.models.KaplanMeier()),
    }.items():
        gained = ly.allocation.LifeYearsGained(*models, tau=8.0, random_state=0)
        gained.fit(frame, y, waiting, y.restrict(6.0))
        record.add(f"gained/{name}", gained.predict(frame))
    by_type = ly.allocation.LifeYearsGained(rankers["k-means"], ly.models.WeibullAFT(), tau=10, random_state=0)
    by_type.fit(None, None, data.X, data.y)
    record.add("gained/by type/scores", by_type.scores(new))
    record.add("gained/by type/predict", by_type.predict(new, new.iloc[[2]]))
    record.add("gained/by type/lookup", by_type.lookup(new))
