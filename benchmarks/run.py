"""Ours and the peers side by side in one run: `make bench` writes docs/benchmarks.md.

Every row checks that both give the same answer before it says anything about time. All of it runs on one thread, and
the times are the best of a few interleaved repeats: the machine is noisy, ratios are what counts.
"""

import os

for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import argparse
import platform
import time
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import lifeyears as ly

warnings.simplefilter("ignore")


@dataclass
class Row:
    work: str
    peer: str
    peer_seconds: float
    our_seconds: float
    wanted: str
    agreement: str
    note: str = ""

    @property
    def ratio(self) -> float:
        return self.peer_seconds / self.our_seconds


def best_times(repeats: int, **runs: Callable) -> tuple[dict[str, float], dict]:
    """Best time of each, the repeats interleaved, and what each returned."""
    times: dict[str, float] = {}
    results: dict = {}
    for _ in range(repeats):
        for name, run in runs.items():
            start = time.perf_counter()
            results[name] = run()
            times[name] = min(times.get(name, np.inf), time.perf_counter() - start)
    return times, results


def peak_megabytes(run: Callable) -> float:
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return peak


def registry_like(n: int = 48_000, p: int = 200, seed: int = 0) -> tuple[np.ndarray, ly.Outcome]:
    """A table of the size of the paper's training folds after one-hot encoding; days as the unit of follow-up."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + rng.normal(size=(p, p)) / 30)
    life = 10 * rng.weibull(1.2, n) * np.exp(-X @ rng.normal(0, 0.05, p) / 1.2)
    end = rng.uniform(0, 25, n)
    return X, ly.Outcome(np.ceil(np.minimum(life, end) * 365.25) / 365.25, life <= end)


def bench_concordance() -> list[Row]:
    from lifelines.utils import concordance_index
    from sksurv.metrics import concordance_index_censored

    rng = np.random.default_rng(0)
    n = 1_000_000
    t, e = np.ceil(rng.exponential(5, n) * 365) / 365, rng.random(n) < 0.5
    s = np.round(np.log(t) + 3 * rng.normal(size=n), 3)
    ly.metrics.concordance_index((e[:10], t[:10]), s[:10])  # compile
    times, found = best_times(
        2, ours=lambda: ly.metrics.concordance_index((e, t), s), lifelines=lambda: concordance_index(t, s, e)
    )
    assert abs(found["ours"] - found["lifelines"]) < 1e-12
    few = slice(5_000)
    small = abs(
        ly.metrics.concordance_index((e[few], t[few]), s[few]) - concordance_index_censored(e[few], t[few], -s[few])[0]
    )
    return [
        Row(
            "C-index, n = 1,000,000, ties",
            "lifelines",
            times["lifelines"],
            times["ours"],
            "≥ 15×",
            f"equal to {abs(found['ours'] - found['lifelines']):.0e} (scikit-survival at 5,000: {small:.0e})",
        )
    ]


def bench_cox(X: np.ndarray, y: ly.Outcome) -> list[Row]:
    from lifelines import CoxPHFitter
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    table = pd.DataFrame(X / X.std(axis=0, ddof=1)).assign(t=y.time, e=y.event)
    times, found = best_times(
        2,
        ours=lambda: ly.models.Cox(alpha=0.1).fit(X, y),
        sksurv=lambda: CoxPHSurvivalAnalysis(alpha=0.1).fit(X, y.to_structured()),
        ours_efron=lambda: ly.models.Cox(alpha=0.1, ties="efron").fit(table.drop(columns=["t", "e"]), y),
        lifelines=lambda: CoxPHFitter(penalizer=0.1 / len(y)).fit(table, "t", "e"),
    )
    apart = np.abs(found["ours"].coef_ - found["sksurv"].coef_).max()
    apart_lifelines = np.abs(found["ours_efron"].coef_ - found["lifelines"].params_.to_numpy()).max()
    assert max(apart, apart_lifelines) < 1e-6
    size = f"{len(X):,} × {X.shape[1]}"
    return [
        Row(f"Cox, {size}", "scikit-survival", times["sksurv"], times["ours"], "≥ 8×", f"coefficients to {apart:.0e}"),
        Row(
            f"Cox (Efron), {size}",
            "lifelines",
            times["lifelines"],
            times["ours_efron"],
            "≥ 8×",
            f"coefficients to {apart_lifelines:.0e}",
        ),
    ]


def bench_weibull(X: np.ndarray, y: ly.Outcome) -> list[Row]:
    from lifelines import WeibullAFTFitter

    table = pd.DataFrame(X).assign(t=y.time, e=y.event).rename(columns=str)
    times, found = best_times(
        2,
        ours=lambda: ly.models.WeibullAFT(penalizer=0.1).fit(X, y),
        lifelines=lambda: WeibullAFTFitter(penalizer=0.1).fit(table, "t", "e"),
    )
    ours, theirs = found["ours"].log_likelihood_, found["lifelines"].score(table) * len(y)
    assert abs(ours / theirs - 1) < 1e-6
    agreement = f"log-likelihood to {abs(ours / theirs - 1):.0e} relative"
    size = f"{len(X):,} × {X.shape[1]}"
    return [Row(f"Weibull AFT, {size}", "lifelines", times["lifelines"], times["ours"], "≥ 10×", agreement)]


def bench_curves(X: np.ndarray, y: ly.Outcome) -> list[Row]:
    from lifelines import CoxPHFitter
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    few, grid = X[:, :20], np.arange(1, 241) / 12
    ours = ly.models.Cox(alpha=0.1).fit(few, y)
    theirs = CoxPHSurvivalAnalysis(alpha=0.1).fit(few, y.to_structured())
    fitter = CoxPHFitter(penalizer=0.1 / len(y)).fit(pd.DataFrame(few).assign(t=y.time, e=y.event), "t", "e")
    new, new_table = few[:12_000], pd.DataFrame(few[:12_000])
    runs = {
        "ours": lambda: ours.predict_curves(new, grid).survival,
        "sksurv": lambda: np.vstack([f(grid) for f in theirs.predict_survival_function(new)]),
        "lifelines": lambda: fitter.predict_survival_function(new_table, times=grid).to_numpy().T,
    }
    times, found = best_times(3, **runs)
    memory = {name: peak_megabytes(run) for name, run in runs.items()}
    apart = np.abs(found["ours"] - found["sksurv"]).max()
    apart_lifelines = np.abs(found["ours"] - found["lifelines"]).max()
    assert apart < 1e-9
    note = ", ".join(f"{name} {size:,.0f} MB" for name, size in memory.items())
    work = "curves of 12,000 on a grid of 240"
    return [
        Row(work, "scikit-survival", times["sksurv"], times["ours"], "≥ 100×", f"equal to {apart:.0e}", note),
        Row(
            work, "lifelines", times["lifelines"], times["ours"], "≥ 3×", f"to {apart_lifelines:.0e} (it interpolates)"
        ),
    ]


def bench_deep(X: np.ndarray, y: ly.Outcome) -> list[Row]:
    """Seconds an epoch: the difference between fits of five epochs and of one, which leaves out the set-up of both."""
    import torch
    import torchtuples as tt
    from pycox.models import CoxPH, DeepHitSingle

    torch.set_num_threads(1)
    floats = X.astype(np.float32)
    surv_target = (y.time.astype(np.float32), y.event.astype(np.float32))
    transform = DeepHitSingle.label_transform(30)
    hit_target = transform.fit_transform(y.time, y.event.astype(np.float32))

    def pycox_surv(epochs: int) -> None:
        net = tt.practical.MLPVanilla(X.shape[1], [64, 32], 1, True, 0.4, output_bias=False)
        CoxPH(net, tt.optim.Adam(1e-3, weight_decay=1e-4)).fit(floats, surv_target, 256, epochs, verbose=False)

    def pycox_hit(epochs: int) -> None:
        net = tt.practical.MLPVanilla(X.shape[1], [64, 32], 30, True, 0.5)
        model = DeepHitSingle(net, tt.optim.Adam(1e-3), alpha=0.3, sigma=0.3, duration_index=transform.cuts)
        model.fit(floats, hit_target, 256, epochs, verbose=False)

    def our_surv(epochs: int) -> None:
        ly.models.DeepSurv(epochs=epochs, validation_fraction=0, random_state=0).fit(X, y)

    def our_hit(epochs: int) -> None:
        ly.models.DeepHit(epochs=epochs, validation_fraction=0, random_state=0).fit(X, y)

    runs = {"ours_surv": our_surv, "pycox_surv": pycox_surv, "ours_hit": our_hit, "pycox_hit": pycox_hit}
    for run in runs.values():
        run(1)  # first use of torch is slow
    timed = {f"{name} {epochs}": partial(run, epochs) for name, run in runs.items() for epochs in (1, 5)}
    times, _ = best_times(4, **timed)
    epoch = {name: (times[f"{name} 5"] - times[f"{name} 1"]) / 4 for name in runs}
    agreement = "losses equal (tests/models/test_deep.py)"
    work = f"an epoch of {{}}, {len(X):,} × {X.shape[1]}"
    return [
        Row(work.format("DeepSurv"), "pycox", epoch["pycox_surv"], epoch["ours_surv"], "≥ 1.33×", agreement),
        Row(work.format("DeepHit"), "pycox", epoch["pycox_hit"], epoch["ours_hit"], "≥ 1.25×", agreement),
    ]


def bench_resampling() -> list[Row]:
    rng = np.random.default_rng(0)
    n = 12_000
    years = rng.exponential(5, n)
    scores = {"a": years + rng.normal(0, 8, n), "b": years + rng.normal(0, 12, n)}
    ly.metrics.compare(years, scores, n_resamples=20)  # compile
    times, found = best_times(2, ours=lambda: ly.metrics.compare(years, scores, n_resamples=10_000))
    plain = ly.metrics.policy_value(years, scores["a"], waitlist=256)
    apart = abs(found["ours"].values.loc["a", "value"] / plain - 1)
    work = "10,000 paired bootstrap replicates, n = 12,000, W = 256"
    return [Row(work, "limit of 5 s", 5.0, times["ours"], "≥ 1×", f"value to {apart:.0e} of policy_value")]


def bench_relevance() -> list[Row]:
    data = ly.data.simulate_registry(12_000)
    truth = data.truth
    assert truth is not None
    months = np.arange(0, 241) / 12
    S, G = truth.curves(months), truth.censoring(months)
    X = np.zeros((len(data), 1))
    runs = {
        "EY": lambda: ly.relevance.ExpectedYears(S, tau=20).estimate(X, data.y),
        "IPCW": lambda: ly.relevance.IPCW(G, tau=20, on_violation="clip").estimate(X, data.y),
        "DR": lambda: ly.relevance.DoublyRobust(S, G, tau=20, on_violation="clip").estimate(X, data.y),
    }
    times, _ = best_times(3, **runs)
    return [
        Row(
            f"{name} of 12,000 on a monthly grid of 240",
            "limit of 1 s",
            1.0,
            times[name],
            "≥ 1×",
            "formula equal to its loop (tests/relevance)",
            f"{peak_megabytes(run):.0f} MB",
        )
        for name, run in runs.items()
    ]


def bench_ranker(X: np.ndarray, y: ly.Outcome) -> list[Row]:
    """The objective against LightGBM's lambdarank, the fit against plain regression, and a whole default fit."""
    import lightgbm

    from lifeyears.ranking import HybridObjective
    from lifeyears.ranking.trees import BoosterSettings, bin_columns, train_booster

    n, size = 48_000, 256
    labels = ly.relevance.ExpectedYears(ly.models.KaplanMeier(), tau=20).fit(X, y).estimate(X, y).values
    objective = HybridObjective(labels, 0.3, 1.0, size)
    rng = np.random.default_rng(0)
    scores = rng.normal(10, 1, n)
    objective(scores)  # compile
    # lambdarank takes whole labels up to 30; its round less a plain round with the same trees is its objective
    ranked = np.minimum(np.round(labels), 30).astype(int)
    groups = np.append(np.full(n // size, size), n % size or [])
    stump = {"num_leaves": 2, "verbosity": -1, "num_threads": 1, "max_bin": 15, "feature_pre_filter": False}
    few = np.ascontiguousarray(X[:, :2])

    def rounds(objective_name: str, **extra: Any) -> float:
        data = lightgbm.Dataset(
            few, ranked, group=groups if "rank" in objective_name else None, params=stump
        ).construct()
        start = time.perf_counter()
        lightgbm.train({**stump, "objective": objective_name, **extra}, data, 20)
        return (time.perf_counter() - start) / 20

    theirs = min(rounds("lambdarank", lambdarank_truncation_level=size) - rounds("regression") for _ in range(3))
    ours = best_times(10, ours=lambda: objective(scores))[0]["ours"]
    paper = BoosterSettings()
    table = bin_columns(X, paper, 0).construct()
    plain = lightgbm.Dataset(X, labels, params={"verbosity": -1, "num_threads": 1}).construct()
    same = {
        "learning_rate": 0.05,
        "num_leaves": 31,
        "min_data_in_leaf": 40,
        "bagging_fraction": 0.8,
        "bagging_freq": 1,
        "feature_fraction": 0.8,
        "verbosity": -1,
        "num_threads": 1,
        "objective": "regression",
    }
    fits, _ = best_times(
        2,
        ours=lambda: train_booster(
            table, HybridObjective(labels, 0.3, 1.0, size), float(labels.mean()), paper, 0, threads=1
        ),
        plain=lambda: lightgbm.train(same, plain, 100),
    )
    whole = {}
    for effort, rows, columns in (("fast", 24_000, 42), ("balanced", 24_000, 42), ("balanced", 48_000, 190)):
        start = time.perf_counter()
        ly.StackedRanker(tau=20, effort=effort, random_state=0, n_jobs=2).fit(X[:rows, :columns], y[:rows])
        whole[f"a {effort} fit of StackedRanker, {rows:,} × {columns}"] = time.perf_counter() - start
    limits = dict(zip(whole, (5.0, 8.0, 40.0), strict=True))
    return [
        Row(
            "a round of the hybrid objective, 48,000 in groups of 256",
            "LightGBM lambdarank",
            theirs,
            ours,
            "≥ 4×",
            "equal to its loop (tests/ranking)",
            "one thread; lambdarank without truncation",
        ),
        Row(
            "100 trees on the hybrid loss, 48,000 × 200",
            "LightGBM regression",
            fits["plain"],
            fits["ours"],
            "≥ 0.5×",
            "the paper's trees for both",
            "one thread",
        ),
        *(
            Row(name, f"limit of {limits[name]:.0f} s", limits[name], seconds, "≥ 1×", "", "two jobs")
            for name, seconds in whole.items()
        ),
    ]


def bench_simulation() -> list[Row]:
    """One replicate of the default seven policies at US size: everything but fitting the models, by policy-year."""
    from lifeyears.simulation import World
    from lifeyears.simulation._replicate import run_replicate
    from lifeyears.simulation.policies import as_policies, attach_models, fit_models

    world, years = World(), 3.0
    policies = as_policies()
    ready = attach_models(policies, fit_models(policies, world, 10_000, 0, lambda *progress: None))
    run_replicate(world.scaled(0.02), ready, 0.5, np.random.SeedSequence(0))  # compile
    start = time.process_time()  # there is no peer whose wait for the processor would cancel out
    run_replicate(world, ready, years, np.random.SeedSequence(1))
    seconds = (time.process_time() - start) / (years * len(policies))
    work = "a policy-year of the simulator, US size, seven policies"
    agreement = "list equal to its plain loop, and to queues in closed form (tests/simulation)"
    return [Row(work, "limit of 0.5 s", 0.5, seconds, "≥ 1×", agreement, "processor time, scoring included")]


def machine() -> str:
    """What the rows were measured on: processor, cores, memory, and how busy it was with other work."""
    model = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), model)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = ", ".join(f"{number:.1f}" for number in os.getloadavg())
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}; load average at the end {load}"


def as_markdown(rows: list[Row]) -> str:
    from lifeyears._versions import installed_versions

    versions = installed_versions()
    missed = [row for row in rows if row.ratio < float(row.wanted.strip("≥ ×"))]
    reached = f"{len(rows) - len(missed)} of {len(rows)} rows reach what was wanted"
    lines = [
        "# Benchmarks",
        "",
        "Made by `make bench` (benchmarks/run.py): ours and the peers in one run, one thread, best of a few",
        "interleaved repeats. Every row first checks that both give the same answer. The machine is noisy; read the",
        "ratios. Ours includes checking the input.",
        "",
        f"{reached}; {'missed: ' + ', '.join(row.work for row in missed) if missed else 'none is missed'}.",
        "",
        "| work | peer | peer s | ours s | ratio | wanted | agreement | peak memory |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r.work} | {r.peer} | {r.peer_seconds:.3f} | {r.our_seconds:.3f} | "
        f"{'**missed** ' if r in missed else ''}{r.ratio:.1f}× | {r.wanted} | {r.agreement} | {r.note} |"
        for r in rows
    ]
    lines += [
        "",
        f"Machine: {machine()}.",
        "",
        "Versions: "
        + ", ".join(f"{name} {number}" for name, number in versions.items() if name not in ("platform", "lifeyears"))
        + ".",
        "",
        "Measured elsewhere: the paper's protocol beside the peers glued together (`python benchmarks/protocol.py`),",
        "what the ranker gains ([the method](method.md), `python benchmarks/ranker.py`), bias and coverage of the",
        "estimators ([estimators](estimators.md), `python benchmarks/estimators.py`), and a million patients",
        "([hard use](stress.md), `make stress`).",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run the benches with this in their name, and write only to --out")
    parser.add_argument("--out", type=Path, help="docs/benchmarks.md unless given")
    options = parser.parse_args()
    out = options.out or (None if options.only else Path(__file__).parents[1] / "docs" / "benchmarks.md")
    X, y = registry_like()
    rows: list[Row] = []
    benches: dict[str, Callable[[], list[Row]]] = {
        "concordance": bench_concordance,
        "cox": lambda: bench_cox(X, y),
        "weibull": lambda: bench_weibull(X, y),
        "curves": lambda: bench_curves(X, y),
        "deep": lambda: bench_deep(X, y),
        "resampling": bench_resampling,
        "relevance": bench_relevance,
        "ranker": lambda: bench_ranker(X, y),
        "simulation": bench_simulation,
    }
    for name, bench in benches.items():
        if options.only and options.only not in name:
            continue
        for row in bench():
            print(f"{row.work:45} {row.peer:16} {row.ratio:8.1f}× (wanted {row.wanted})  {row.agreement}", flush=True)
            rows.append(row)
    if out is not None:
        out.write_text(as_markdown(rows))
        print(f"written to {out}")


if __name__ == "__main__":
    main()
