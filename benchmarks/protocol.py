"""One fold of the paper's full protocol, ours and glued from the peers, in one run: `python benchmarks/protocol.py`.

The glue is what a competent user would write today: Kaplan–Meier and Weibull from lifelines, Cox from scikit-survival
(faster than lifelines), DeepSurv and DeepHit from pycox, the ranker as LightGBM with a numpy objective, curves on a
monthly grid, each base model fitted once. Equal epochs and trees (none is stopped early), one thread each, seconds of
processor time, of each part the best of three passes, ours and the peers' in turn: the machine is shared and noisy. It
writes docs/protocol_tables.md.
"""

import os

for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import lifeyears as ly
from lifeyears.data import TablePreprocessor
from lifeyears.experiments import Plan, build_model
from lifeyears.experiments.jobs import Source, judge_scores, split_rows
from lifeyears.metrics import policy_value
from lifeyears.ranking import fit_together
from lifeyears.relevance import IPCW, ExpectedYears, cross_fit

warnings.simplefilter("ignore")
TAU, KS = 20.0, (1, 5, 10, 50, 100)
GRID = np.linspace(0, TAU, 241)
SHALLOW, DEEP = ("KM", "Cox", "AFT"), ("DeepSurv", "DeepHit")
Curves = Callable[[np.ndarray], np.ndarray]


class Clock:
    """Processor seconds by part of the work and model."""

    def __init__(self, quiet: bool = False) -> None:
        self.parts: dict[tuple[str, str], float] = {}
        self.quiet = quiet

    def __call__(self, part: str, model: str, work: Callable, *given: Any) -> Any:
        start = time.process_time()
        made = work(*given)
        self.parts[part, model] = self.parts.get((part, model), 0.0) + time.process_time() - start
        if not self.quiet:
            print(f"  {part}, {model}: {self.parts[part, model]:.1f} s", flush=True)
        return made

    def keep_best(self, other: "Clock") -> None:
        """Of each part the smaller."""
        self.parts = {part: min(seconds, other.parts[part]) for part, seconds in self.parts.items()}


# the peers


def fitted_curves(name: str, X: np.ndarray, y: ly.Outcome, epochs: int, alpha: float = 0.1) -> Curves:
    """Fit a peer's model: a function from rows to survival on the grid."""
    if name == "KM":
        from lifelines import KaplanMeierFitter

        survival = KaplanMeierFitter().fit(y.time, y.event).survival_function_at_times(GRID).to_numpy()
        return lambda new: np.tile(survival, (len(new), 1))
    if name == "Cox":
        from sksurv.linear_model import CoxPHSurvivalAnalysis

        model = CoxPHSurvivalAnalysis(alpha=alpha, ties="breslow").fit(X, y.to_structured())
        step = model.cum_baseline_hazard_
        hazard = np.append(0.0, step.y)[np.searchsorted(step.x, GRID, side="right")]
        return lambda new: np.exp(-np.outer(np.exp(model.predict(new)), hazard))
    if name == "AFT":
        from lifelines import WeibullAFTFitter

        columns = [f"x{i}" for i in range(X.shape[1])]
        table = pd.DataFrame(X, columns=columns).assign(time=np.maximum(y.time, 1e-6), event=y.event)
        aft = WeibullAFTFitter(penalizer=0.1).fit(table, "time", "event")
        return lambda new: (
            aft.predict_survival_function(pd.DataFrame(new, columns=columns), times=GRID).to_numpy().T  # type: ignore[union-attr]
        )
    import torchtuples as tt
    from pycox.models import CoxPH, DeepHitSingle

    kept = np.random.default_rng(0).permutation(len(X)) >= len(X) // 10  # ours holds out a tenth to stop on
    X, y = X[kept], y[kept]
    floats, event = X.astype(np.float32), y.event.astype(np.float32)
    if name == "DeepSurv":
        net = tt.practical.MLPVanilla(X.shape[1], [64, 32], 1, True, 0.4, output_bias=False)
        deep = CoxPH(net, tt.optim.Adam(1e-3, weight_decay=1e-4))
        deep.fit(floats, (y.time.astype(np.float32), event), 256, epochs, verbose=False)
        hazard = baseline_of(deep.predict(floats)[:, 0], y)
        return lambda new: np.exp(-np.outer(np.exp(deep.predict(new.astype(np.float32))[:, 0]), hazard))
    transform = DeepHitSingle.label_transform(30)
    target = transform.fit_transform(y.time, event)
    net = tt.practical.MLPVanilla(X.shape[1], [64, 32], transform.out_features, True, 0.5)
    deep = DeepHitSingle(net, tt.optim.Adam(1e-3), alpha=0.3, sigma=0.3, duration_index=transform.cuts)
    deep.fit(floats, target, 256, epochs, verbose=False)

    def on_grid(new: np.ndarray) -> np.ndarray:
        surv = deep.predict_surv(new.astype(np.float32), numpy=True)
        return np.array([np.interp(GRID, transform.cuts, row) for row in surv])

    return on_grid


def baseline_of(risk: np.ndarray, y: ly.Outcome) -> np.ndarray:
    """Breslow's cumulative hazard on the grid."""
    order = np.argsort(y.time)
    at_risk = np.cumsum(np.exp(risk[order])[::-1])[::-1]
    hazard = np.cumsum(y.event[order] / at_risk)
    return np.append(0.0, hazard)[np.searchsorted(y.time[order], GRID, side="right")]


def conditional_means(curves: np.ndarray, y: ly.Outcome) -> np.ndarray:
    """τ, the time of an event, or the mean remaining life: the paper's label and EY."""
    step = GRID[1]
    areas = (curves[:, :-1] + curves[:, 1:]) / 2 * step
    after = np.append(np.cumsum(areas[:, ::-1], axis=1)[:, ::-1], np.zeros((len(curves), 1)), axis=1)
    place = np.minimum((y.time / step).astype(int), len(GRID) - 1)
    rows = np.arange(len(y))
    alive = np.maximum(curves[rows, place], 1e-9)
    expected = np.minimum(y.time + after[rows, place] / alive, TAU)
    return np.where(y.event, np.minimum(y.time, TAU), np.where(y.time >= TAU, TAU, expected))


def hybrid(labels: np.ndarray, rng: np.random.Generator, alpha: float = 0.3, margin: float = 1.0) -> Callable:
    """The paper's loss in numpy, one group of 256 after the other."""
    discount = 1 / np.log2(np.arange(2, 10_000))

    def objective(scores: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
        gradient, hessian = np.zeros(len(scores)), np.zeros(len(scores))
        for rows in np.array_split(rng.permutation(len(scores)), len(scores) // 256):
            f, y, n = labels.mean() + scores[rows], labels[rows], len(rows)
            order = np.argsort(-f, kind="stable")
            d = np.empty(n)
            d[order] = discount[:n]
            ideal = np.sort(y)[::-1] @ discount[:n]
            above = y[:, None] > y[None, :]
            swap = np.abs(y[:, None] - y[None, :]) * np.abs(d[:, None] - d[None, :]) / ideal
            hinge = np.maximum(0.0, margin - (f[:, None] - f[None, :])) * above
            pull, curve = swap * hinge, swap * (hinge > 0)
            gradient[rows] = 2 * alpha * (f - y) / n + (1 - alpha) * (pull.sum(axis=0) - pull.sum(axis=1))
            hessian[rows] = 2 * alpha / n + (1 - alpha) * (curve.sum(axis=0) + curve.sum(axis=1))
        return gradient, hessian

    return objective


def peer_ranker(X: np.ndarray, labels: np.ndarray, new: np.ndarray) -> np.ndarray:
    import lightgbm

    rng = np.random.default_rng(0)
    train = rng.permutation(len(X)) >= len(X) // 10  # as many rows as ours has, which holds out a tenth
    parameters = {
        "objective": hybrid(labels[train], rng),
        "learning_rate": 0.05,
        "num_leaves": 31,
        "min_data_in_leaf": 40,
        "bagging_fraction": 0.8,
        "bagging_freq": 1,
        "feature_fraction": 0.8,
        "min_sum_hessian_in_leaf": 1e-6,
        "num_threads": 1,
        "verbosity": -1,
    }
    return lightgbm.train(parameters, lightgbm.Dataset(X[train]), 100).predict(new)


def peer_judge(scores: np.ndarray, y: ly.Outcome, train: ly.Outcome, relevances: dict[str, np.ndarray]) -> None:
    from lifelines.utils import concordance_index
    from sklearn.metrics import ndcg_score
    from sksurv.metrics import cumulative_dynamic_auc

    concordance_index(y.time, scores, y.event)
    cumulative_dynamic_auc(train.to_structured(), y.to_structured(), -scores, [5.0])
    for relevance in relevances.values():
        for k in (*KS, None):
            ndcg_score(np.maximum(relevance, 0)[None], scores[None], k=k)


def peers(models: tuple[str, ...], X: Any, y: Any, new: Any, test: Any, epochs: int, clock: Clock) -> dict[str, Any]:
    from sklearn.model_selection import KFold

    scores, relevances = {}, {}
    for name in models:
        curves = clock("model", name, fitted_curves, name, X, y, epochs)
        said = clock("model", name, lambda curves=curves: np.trapezoid(curves(new), GRID, axis=1))
        labels = clock("labels and ranker", name, lambda curves=curves: conditional_means(curves(X), y))
        scores[name], scores[f"{name} ranker"] = said, clock("labels and ranker", name, peer_ranker, X, labels, new)
    halves = list(KFold(2, shuffle=True, random_state=0).split(new))
    for name in models:
        relevances[f"EY {name}"] = np.empty(len(test))
        for rest, part in halves:
            curves = clock("nuisances", name, fitted_curves, name, new[rest], test[rest], epochs)
            relevances[f"EY {name}"][part] = clock(
                "nuisances", name, lambda c=curves, p=part: conditional_means(c(new[p]), test[p])
            )
    for name in ("KM", "Cox"):
        relevances[f"IPCW {name}"] = np.empty(len(test))
        for rest, part in halves:
            censoring = clock("nuisances", name, fitted_curves, name, new[rest], test[rest].censoring(), epochs, 10.0)
            held = test[part].restrict(TAU)
            place = np.minimum((held.time / GRID[1]).astype(int), len(GRID) - 1)
            chance = clock("nuisances", name, lambda c=censoring, p=part, at=place: c(new[p])[np.arange(len(p)), at])
            relevances[f"IPCW {name}"][part] = held.event * held.time / np.maximum(chance, 1e-3)
    for name, said in scores.items():
        clock("measures", name.split()[0], peer_judge, said, test, y, relevances)
    return {"scores": scores, "relevances": relevances}


# ours


def ours(models: tuple[str, ...], X: Any, y: Any, new: Any, test: Any, epochs: int, clock: Clock) -> dict[str, Any]:
    plan = Plan("full", models=models, stacked_over=(), epochs=epochs)
    scores, relevances = {}, {}
    paper = {"early_stopping_rounds": 0, "n_jobs": 1}
    rankers = [
        ly.BootstrappedRanker(build_model(name, plan.tau, 0, epochs), tau=TAU, random_state=0, **paper)  # type: ignore[arg-type]
        for name in models
    ]
    together = fit_together(rankers, X, y)  # as the runner does
    for name in models:
        base = clock("model", name, build_model(name, plan.tau, 0, epochs).fit, X, y)
        fit = clock.parts["model", name]
        scores[name] = clock("model", name, base.predict, new)
        scores[f"{name} ranker"] = clock("labels and ranker", name, lambda: next(together).predict(new))
        clock.parts["labels and ranker", name] -= fit  # a ranker fits its base model again
    for name in models:
        relevances[f"EY {name}"] = clock(
            "nuisances",
            name,
            lambda n=name: (
                cross_fit(ExpectedYears(build_model(n, plan.tau, 0, epochs), tau=TAU), new, test, cv=2).values
            ),
        )
    for name, model in {"KM": ly.models.KaplanMeier(), "Cox": ly.models.Cox(alpha=10.0)}.items():
        weighted = IPCW(model, tau=TAU, on_violation="clip", floor=1e-3)
        relevances[f"IPCW {name}"] = clock("nuisances", name, lambda w=weighted: cross_fit(w, new, test, cv=2).values)
    sources = {Source(*name.split()): values for name, values in relevances.items()}
    for name, said in scores.items():
        clock("measures", name.split()[0], judge_scores, plan, said, test, None, sources, None, (5.0,))
    return {"scores": scores, "relevances": relevances}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=60_055)
    options.add_argument(
        "--epochs", type=int, default=25, help="of the deep models, for both; as early stopping leaves"
    )
    options.add_argument("--passes", type=int, default=3)
    options.add_argument("--out", default=str(Path(__file__).parents[1] / "docs" / "protocol_tables.md"))
    given = options.parse_args()
    import torch

    torch.set_num_threads(1)
    data = ly.data.simulate_registry(given.rows, random_state=0)
    plan = Plan("full")
    rows = np.arange(len(data))
    train, held = split_rows(data, rows, data.y, plan, 0)[0]
    prepare = TablePreprocessor().fit(data.X.iloc[train])
    X, new = prepare.transform(data.X.iloc[train]), prepare.transform(data.X.iloc[held])
    y, test = data.y[train], data.y[held]
    for work in (ours, peers):  # compile, and import, before the clock runs
        work(SHALLOW + DEEP, X[:2000], y[:2000], new[:600], test[:600], 1, Clock(quiet=True))
    expected = data.truth.expected(TAU)[held]
    clocks, found = {}, {}
    for passed in range(given.passes):
        for side, work in (("ours", ours), ("peers", peers)):
            print(f"{side}, pass {passed + 1}", flush=True)
            clock = Clock()
            found[side] = work(SHALLOW + DEEP, X, y, new, test, given.epochs, clock)
            clocks.setdefault(side, clock).keep_best(clock)
    text = tables(given, X, new, clocks, found, expected)
    Path(given.out).write_text(text, encoding="utf-8")
    print(text)


def tables(given: Any, X: np.ndarray, new: np.ndarray, clocks: Any, found: Any, expected: np.ndarray) -> str:
    parts = pd.DataFrame({side: clock.parts for side, clock in clocks.items()})
    values = pd.DataFrame(
        {
            side: {name: policy_value(expected, said, waitlist=256) for name, said in result["scores"].items()}
            for side, result in found.items()
        }
    ).loc[list(found["ours"]["scores"])]
    alike = {
        name: np.corrcoef(found["ours"]["relevances"][name], found["peers"]["relevances"][name])[0, 1]
        for name in found["ours"]["relevances"]
    }
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    lines = [
        "<!-- made by `python benchmarks/protocol.py`; do not edit -->",
        f"One fold of `full`: {len(X):,} × {X.shape[1]} to train, {len(new):,} to test, {given.epochs} epochs of the "
        f"deep models on both sides, one thread, processor seconds, of each part the best of {given.passes} passes. "
        f"Both sides in one process took at most {memory:.1f} GB.",
        "",
        "| part | model | ours, s | peers, s | ratio |",
        "|---|---|---:|---:|---:|",
    ]

    def line(part: str, model: str, times: Any) -> str:
        return f"| {part} | {model} | {times.ours:.1f} | {times.peers:.1f} | {times.peers / times.ours:.1f}× |"

    lines += [line(*place, row) for place, row in parts.iterrows()]
    shallow = parts[parts.index.get_level_values(1).isin(SHALLOW)]
    lines += [line("**all**", "without the deep models", shallow.sum()), line("**all**", "five models", parts.sum())]
    lines += ["", "Years per allocation by the known truth (waitlists of 256), to see that both do the same work:", ""]
    lines += ["| arm | ours | peers |", "|---|---:|---:|"]
    lines += [f"| {name} | {row.ours:.2f} | {row.peers:.2f} |" for name, row in values.iterrows()]
    lines += [
        "",
        "Correlation of the two sides' relevance: " + ", ".join(f"{n} {r:.3f}" for n, r in alike.items()) + ".",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
