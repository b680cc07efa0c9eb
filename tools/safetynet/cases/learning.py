"""Survival models, rankers, and saving what was fitted."""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from ..names import fit_on_relevance, ly, paper_ranker, read, stacked_ranker
from ..record import Record
from . import case
from ._shared import matrix, plain, registry

GRID = [0.5, 2.0, 5.0, 9.0]
FEW_TREES = {"n_estimators": 30, "random_state": 0, "n_jobs": 1, "tau": 10}


def add_model(record: Record, key: str, model: Any, X: Any, *attributes: str) -> None:
    """Record predictions, curves and some fitted attributes."""
    record.add(f"{key}/predict", model.predict(X))
    record.add(f"{key}/curves", model.predict_curves(X[:6]))
    record.add(f"{key}/curves on a grid", model.predict_curves(X[:30], GRID))
    record.attributes(key, model, "tau_", *attributes)


@case
def survival_models(record: Record, folder: Path) -> None:
    """KaplanMeier, Cox with both tie rules and a warm start, WeibullAFT, weights, AdministrativeCensoring, wrap."""
    X, y = plain()
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    wide, of_wide = matrix(), registry().y
    cox = ("coef_", "standard_error_", "log_likelihood_", "mean_", "baseline_times_", "baseline_hazard_", "n_iter_")
    models: dict[str, tuple[Any, tuple[str, ...]]] = {
        "km": (ly.models.KaplanMeier(tau=10), ("times_", "survival_")),
        "breslow": (ly.models.Cox(tau=10), cox),
        "efron": (ly.models.Cox(ties="efron", alpha=0.0, tau=10), cox),
        "ridge": (ly.models.Cox(alpha=50.0), cox),
        "aft": (ly.models.WeibullAFT(tau=10), ("coef_",)),
        "aft unpenalised": (ly.models.WeibullAFT(penalizer=0.0), ("coef_",)),
    }
    for name, (model, attributes) in models.items():
        add_model(record, f"plain/{name}", model.fit(X, y), X, *attributes)
        record.add(f"plain/{name}/score", model.score(X, y))
        function = model.predict_survival_function(X[:2])[1]
        record.add(f"plain/{name}/function", [function(time) for time in GRID])
        add_model(record, f"weighted/{name}", model.fit(X, y, sample_weight=weight), X, *attributes)
        add_model(record, f"registry/{name}", model.fit(wide, of_wide), wide, *attributes)
        if hasattr(model, "survival_at"):
            for left in (False, True):
                record.add(f"registry/{name}/own {left}", model.survival_at(wide[:50], of_wide.time[:50], left=left))
    record.add("summary", ly.models.Cox(tau=10).fit(pd.DataFrame(X, columns=list("abcd")), y).summary())
    add_model(record, "one step", ly.models.Cox(max_iter=1, tol=1e-12).fit(X, y), X, "coef_")
    many, of_many = plain(20_500, 6, 12)
    add_model(record, "large/cox", ly.models.Cox(tau=10).fit(many, of_many), many[:200], "coef_", "standard_error_")
    add_model(record, "large/aft", ly.models.WeibullAFT(tau=10).fit(many, of_many), many[:200], "coef_")

    data = registry()
    entered = np.column_stack([data.entry, wide[:, :3]])
    for name, model in administrative().items():
        model.fit(entered, data.y.censoring())
        add_model(record, f"administrative/{name}", model, entered)
    pipeline = make_pipeline(ly.data.TablePreprocessor(), ly.models.Cox(tau=10))
    add_model(record, "wrapped/pipeline", ly.models.wrap(pipeline).fit(data.X, data.y), data.X)
    for name, model in strangers().items():
        wrapped = ly.models.wrap(model, tau=6).fit(X, y)
        record.add(f"wrapped/{name}/predict", wrapped.predict(X))
        record.add(f"wrapped/{name}/curves", wrapped.predict_curves(X[:6], GRID))


def strangers() -> dict[str, Any]:
    """A function, and models of other libraries as far as they are installed."""
    found: dict[str, Any] = {"function": lambda X: (np.array([1.0, 3.0, 6.0]), np.tile([0.9, 0.4, 0.1], (len(X), 1)))}
    with contextlib.suppress(ImportError):
        from sksurv.ensemble import RandomSurvivalForest
        from sksurv.linear_model import CoxPHSurvivalAnalysis

        found["forest"] = RandomSurvivalForest(n_estimators=5, random_state=0, n_jobs=1)
        found["sksurv cox"] = CoxPHSurvivalAnalysis(alpha=0.1)
    with contextlib.suppress(ImportError):
        from lifelines import KaplanMeierFitter, WeibullAFTFitter

        found["lifelines aft"] = WeibullAFTFitter(penalizer=0.1)
        found["lifelines km"] = KaplanMeierFitter()
    return found


def administrative() -> dict[str, Any]:
    """Models of censoring by the end of a study, in what ways they can be asked for."""
    made = ly.models.AdministrativeCensoring
    return {
        "plain": made(entry=0, tau=10),
        "cox": made(ly.models.Cox(alpha=5.0), entry=0, keep_entry=True, end=2024.0, tau=10),
    }


@case
def deep_models(record: Record, folder: Path) -> None:
    """DeepSurv and DeepHit with a few epochs."""
    X, y = matrix(), registry().y
    small = {"epochs": 4, "hidden": (16, 8), "batch_size": 64, "tau": 10, "random_state": 0}
    for name, model in {
        "deepsurv": ly.models.DeepSurv(**small),
        "deephit": ly.models.DeepHit(**small),
        "deepsurv plain": ly.models.DeepSurv(**small, batch_norm=False, dropout=0.0, validation_fraction=0.3),
        "deephit bins": ly.models.DeepHit(**small, bins=8, alpha=0.6),
    }.items():
        add_model(record, name, model.fit(X, y), X)


def add_ranker(record: Record, key: str, ranker: Any, X: Any, curves: bool = True) -> None:
    """Record what a ranker predicts, explains and reports."""
    new = X[:60]
    record.add(f"{key}/predict", ranker.predict(X))
    record.attributes(key, ranker, "tau_", "weights_", "intercept_", "pseudo_labels_")
    for name in ("held_out_", "held_out_outcomes_"):
        if read(ranker, name) is not None:
            record.add(f"{key}/{name}", read(ranker, name))
    if curves:
        record.add(f"{key}/curves", ranker.predict_curves(new, GRID))
        record.add(f"{key}/own curves", ranker.predict_curves(X[:4]))
    found = ranker.explain(new)
    record.attributes(f"{key}/explain", found, "contributions", "typical", "years")
    record.add(f"{key}/reasons", found.top_reasons(3))
    record.add(f"{key}/movers", found.movers(5))
    report = read(ranker, "report_")
    record.attributes(f"{key}/report", report, "weights", "rounds", "terms", "kept_base", "calibrated")
    record.add(f"{key}/notes", list(read(report, "notes")))
    labels = read(report, "labels")
    if labels is not None:
        record.attributes(f"{key}/labels", labels, "n_observed", "n_at_horizon", "n_imputed", "n_fallback")
        record.attributes(f"{key}/labels", labels, "diagnostics")


@case
def paper_rankers(record: Record, folder: Path) -> None:
    """The paper's ranker: bases, labels, loss settings, early stopping, a network, known relevance, fit_together."""
    data, X = registry(), matrix()
    few, y = plain()
    add_ranker(record, "table", paper_ranker(**FEW_TREES).fit(data.X, data.y), data.X)
    rankers = {
        "km": paper_ranker(ly.models.KaplanMeier(), **FEW_TREES),
        "aft": paper_ranker(ly.models.WeibullAFT(), **FEW_TREES),
        "dr": paper_ranker(ly.models.Cox(), label="dr", cross_fit_base=True, **FEW_TREES),
        "squares": paper_ranker(ly.models.Cox(), alpha=1.0, min_child_samples=10, **FEW_TREES),
        "small groups": paper_ranker(ly.models.Cox(), alpha=0.1, margin=0.5, group_size=32, **FEW_TREES),
        "no validation": paper_ranker(ly.models.Cox(), validation_fraction=0.0, **FEW_TREES),
        "stopping": paper_ranker(
            ly.models.Cox(), **{**FEW_TREES, "n_estimators": 80}, early_stopping_rounds=3, learning_rate=0.3
        ),
        "mlp": paper_ranker(ly.models.KaplanMeier(), second_stage="mlp", **FEW_TREES),
    }
    for name, ranker in rankers.items():
        add_ranker(record, name, ranker.fit(few, y), few)
    known = paper_ranker(min_child_samples=10, **{**FEW_TREES, "tau": None})
    add_ranker(record, "relevance", fit_on_relevance(known, few, np.exp(few[:, 0])), few, curves=False)
    together = [paper_ranker(base, **FEW_TREES) for base in (ly.models.KaplanMeier(), ly.models.Cox())]
    for number, ranker in enumerate(ly.ranking.fit_together(together, X, data.y)):
        record.add(f"together/{number}", ranker.predict(X))
    rng = np.random.default_rng(3)
    labels, scores = rng.exponential(5, 200), rng.normal(size=200)
    for alpha in (0.0, 0.3, 1.0):
        objective = ly.ranking.HybridObjective(labels, alpha, 1.0, 64, 0)
        for round_ in range(2):
            record.add(f"objective/{alpha}/{round_}", list(objective(scores)))
        record.add(f"loss/{alpha}", ly.ranking.HybridLoss(labels, alpha, 1.0, 64)(scores))


@case
def stacked_rankers(record: Record, folder: Path) -> None:
    """The ensemble: all members, some of them, phases, folds, a network, known relevance, too few events."""
    data = registry(600, 4)
    few, y = plain()
    add_ranker(record, "table", stacked_ranker(**{**FEW_TREES, "n_estimators": 120}).fit(data.X, data.y), data.X)
    rankers = {
        "km": stacked_ranker(ly.models.KaplanMeier(), **FEW_TREES),
        "lines": stacked_ranker(ly.models.Cox(), members=("base", "lines", "pairs"), phases=2, **FEW_TREES),
        "hazard": stacked_ranker(ly.models.Cox(), members=("base", "hazard"), folds=2, phases=1, **FEW_TREES),
        "without base": stacked_ranker(ly.models.Cox(), members=("years", "hazard"), folds=3, **FEW_TREES),
        "base alone": stacked_ranker(ly.models.WeibullAFT(), members=("base",), **FEW_TREES),
        "ey": stacked_ranker(ly.models.Cox(), label="ey", cross_fit_base=False, folds=2, **FEW_TREES),
        "censoring": stacked_ranker(
            ly.models.Cox(), censoring=ly.models.KaplanMeier(), members=("base", "years"), folds=2, **FEW_TREES
        ),
        "mlp": stacked_ranker(ly.models.Cox(), second_stage="mlp", folds=2, **FEW_TREES),
    }
    for name, ranker in rankers.items():
        add_ranker(record, name, ranker.fit(few, y), few)
    known = stacked_ranker(folds=2, **{**FEW_TREES, "tau": None})
    add_ranker(record, "relevance", fit_on_relevance(known, few, few[:, 0] ** 2), few, curves=False)
    scarce = stacked_ranker(ly.models.KaplanMeier(), **FEW_TREES).fit(few[:40], (np.arange(40) % 8 == 0, y[:40].time))
    record.add("scarce", scarce.predict(few))
    record.add("score", rankers["km"].score(few, y))


def saved_models() -> dict[str, tuple[Any, Any, Any]]:
    """Every kind of model that can be saved: unfitted, with the table and outcome to fit it to."""
    data, X = registry(), matrix()
    few = {**FEW_TREES, "n_estimators": 8}
    deep = {"epochs": 2, "hidden": (8,), "tau": 10, "random_state": 0}
    numbers, y = plain()
    entered = np.column_stack([data.entry, X[:, :3]])
    donors = ly.allocation.DonorTypeRanker
    return {
        "km": (ly.models.KaplanMeier(tau=10), X, data.y),
        "cox": (ly.models.Cox(alpha=5.0, tau=10), X, data.y),
        "aft": (ly.models.WeibullAFT(tau=10), X, data.y),
        "deepsurv": (ly.models.DeepSurv(**deep), X, data.y),
        "deephit": (ly.models.DeepHit(**deep), X, data.y),
        "administrative": (next(iter(administrative().values())), entered, data.y.censoring()),
        "preprocessor": (ly.data.TablePreprocessor(), data.X, None),
        "pipeline": (make_pipeline(ly.data.TablePreprocessor(), ly.models.Cox(tau=10)), data.X, data.y),
        "paper": (paper_ranker(ly.models.Cox(alpha=5.0), **few), data.X, data.y),
        "default": (stacked_ranker(ly.models.Cox(alpha=5.0), **few), data.X, data.y),
        "lines": (stacked_ranker(members=("lines", "pairs", "base"), **few), numbers, y),
        "hazard": (stacked_ranker(members=("hazard", "years"), folds=2, **few), numbers, y),
        "mlp": (paper_ranker(ly.models.KaplanMeier(), second_stage="mlp", **few), X, data.y),
        "over deep": (paper_ranker(ly.models.DeepHit(**deep), **few), X, data.y),
        "relevance": (paper_ranker(**{**few, "tau": None}), numbers, np.exp(numbers[:, 0])),
        "donor types": (
            donors(ly.models.Cox(alpha=5.0), n_types=3, min_events=5, prior=20, tau=10, random_state=0),
            data.X,
            data.y,
        ),
        "donor column": (
            donors(ly.models.Cox(alpha=5.0), types="donor_blood_group", prior=np.inf, tau=10, random_state=0),
            data.X,
            data.y,
        ),
        "donor rankers": (
            donors(paper_ranker(ly.models.Cox(), **few), n_types=2, prior=50, tau=10, random_state=0),
            data.X,
            data.y,
        ),
    }


def fitted_gains() -> dict[str, tuple[Any, Any]]:
    """Models of life-years gained, which are fitted to two tables."""
    data, gain = registry(), ly.allocation.LifeYearsGained
    X, y = plain()
    frame = pd.DataFrame(X, columns=list("abcd"))
    by_type = ly.allocation.DonorTypeRanker(ly.models.Cox(alpha=5.0), n_types=2, prior=50, tau=10)
    return {
        "gained": (gain(ly.models.Cox(), tau=8.0, random_state=0).fit(frame, y, frame, y.restrict(6.0)), frame),
        "gained by type": (gain(by_type, tau=10, random_state=0).fit(data.X, data.y, data.X, data.y), data.X),
    }


def said(model: Any, X: Any) -> dict[str, Any]:
    """All that a model says of some rows."""
    found: dict[str, Any] = {}
    if hasattr(model, "predict"):
        found["predict"] = model.predict(X)
    elif hasattr(model, "transform"):
        found["transform"] = model.transform(X)
    if hasattr(model, "predict_curves"):
        try:
            curves = model.predict_curves(X, GRID)
            found |= {"survival": read(curves, "survival"), "times": read(curves, "times")}
        except TypeError:  # a ranker that was given relevance has no curves
            found["survival"] = None
    if hasattr(model, "explain"):
        explained = model.explain(X)
        found |= {"contributions": read(explained, "contributions").to_numpy(), "typical": read(explained, "typical")}
    if hasattr(model, "scores") and getattr(model, "knows_types", True):
        found["scores"] = model.scores(X)
    return found


@case
def saving(record: Record, folder: Path) -> None:
    """Every kind of saved model: the same predictions before, after loading, and in a new process."""
    tables: dict[str, Any] = {}
    before: dict[str, dict[str, Any]] = {}
    for name, (model, X, y) in saved_models().items():
        if name == "relevance":
            fit_on_relevance(model, X, y)
        else:
            model.fit(X) if y is None else model.fit(X, y)
        tables[name] = X[:40]
        before[name] = said(model, tables[name])
        ly.save(model, folder / name)
    for name, (model, X) in fitted_gains().items():
        tables[name], before[name] = X[:40], said(model, X[:40])
        ly.save(model, folder / name)
    for name, found in before.items():
        record.add(name, found)
        record.same(f"{name} after loading", found, said(ly.load(folder / name), tables[name]))
    (folder / "tables.pickle").write_bytes(pickle.dumps(tables))
    subprocess.run([sys.executable, "-m", "safetynet.cases.reloading", str(folder)], check=True)
    again = pickle.loads((folder / "said.pickle").read_bytes())
    for name, found in before.items():
        record.same(f"{name} in a new process", found, again[name])
