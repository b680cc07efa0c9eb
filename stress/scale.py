"""How far it reaches: every model, the metrics and the comparison at 10⁴, 10⁵ and 10⁶ patients × 50 features.

Each piece of work runs in a process of its own on one thread, so that its peak memory is its own (with the table,
400 MB at 10⁶ rows, and the libraries in it):

    python stress/scale.py                      # all; what is in results/scale.json already is not run again
    python stress/scale.py --afresh             # again
    python stress/scale.py --rows 10000 --work cox,aft
    python stress/scale.py --draw               # only docs/images/stress-growth.png
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from common import HERE, ONE_THREAD, RESULTS, read, write

ROWS, FEATURES, SEED, TAU = (10_000, 100_000, 1_000_000), 50, 0, 15.0
LIMIT_SECONDS = 3 * 3600


def patients(n: int):
    """Features, outcome, and the true expected life within τ; half of the rows censored, days as the unit."""
    import numpy as np
    from scipy.special import gamma, gammainc

    import lifeyears as ly

    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(n, FEATURES))
    shape = 1.2
    scale = 10 * np.exp(-(X @ rng.normal(0, 0.1, FEATURES) + 0.2 * X[:, 0] * X[:, 1]) / shape)
    life, end = scale * rng.weibull(shape, n), rng.uniform(0, 25, n)
    time_ = np.ceil(np.minimum(life, end) * 365.25) / 365.25
    # ∫₀^τ exp(−(t/λ)^k) dt = λ/k · γ(1/k, (τ/λ)^k)
    expected = scale / shape * gamma(1 / shape) * gammainc(1 / shape, (TAU / scale) ** shape)
    return X, ly.Outcome(time_, life <= end), expected


def fit_and_predict(make: Callable) -> Callable:
    """Fit, predict, and what the ranking is worth by the truth."""

    def work(n: int) -> dict:
        import lifeyears as ly

        X, y, expected = patients(n)
        start = time.perf_counter()
        model = make(ly).fit(X, y)
        fitted = time.perf_counter()
        scores = model.predict(X)
        predicted = time.perf_counter()
        worth = ly.metrics.policy_value(expected, scores, waitlist=256)
        best = ly.metrics.policy_value(expected, expected, waitlist=256)
        return {
            "fit s": fitted - start,
            "predict s": predicted - fitted,
            "years per allocation": worth,
            "by the truth": best,
        }

    return work


def evaluate(n: int) -> dict:
    """Every metric, and doubly robust relevance cross-fitted over two folds."""
    import numpy as np

    import lifeyears as ly

    X, y, expected = patients(n)
    scores = expected + np.random.default_rng(1).normal(0, 1, n)
    seconds = {}

    def timed(name: str, run: Callable):
        start = time.perf_counter()
        found = run()
        seconds[f"{name} s"] = time.perf_counter() - start
        return found

    timed("concordance", lambda: ly.metrics.concordance_index(y, scores))
    timed("auc at 5 times", lambda: ly.metrics.auc_at(y, scores, [1.0, 3.0, 5.0, 10.0, 15.0]))
    model = ly.models.Cox(tau=TAU).fit(X, y)
    times = np.arange(1.0, TAU)
    curves = timed("curves at 14 times", lambda: model.predict_curves(X, times))
    timed("integrated brier", lambda: ly.metrics.integrated_brier_score(y, curves, times))
    timed("calibration", lambda: ly.metrics.calibration(y, curves, 5.0))
    robust = ly.relevance.DoublyRobust(ly.models.Cox(), ly.models.Cox(), tau=TAU, on_violation="clip")
    relevance = timed("relevance, 2 folds", lambda: ly.relevance.cross_fit(robust, X, y, cv=2, random_state=0))
    timed("policy value", lambda: ly.metrics.policy_value(relevance, scores, waitlist=256))
    return seconds | {"error of mean relevance": float(relevance.values.mean() - expected.mean())}


def compare(n: int) -> dict:
    """`metrics.compare`: three models, 1,000 resamples."""
    import numpy as np

    import lifeyears as ly

    _, _, expected = patients(n)
    rng = np.random.default_rng(1)
    scores = {f"noise {sd}": expected + rng.normal(0, sd, n) for sd in (0.5, 1.0, 2.0)}
    start = time.perf_counter()
    found = ly.metrics.compare(expected, scores, waitlist=256, n_resamples=1000)
    return {"compare s": time.perf_counter() - start, "best": found.best()}


def experiment(n: int) -> dict:
    """The full protocol that `lifeyears compare` runs: Kaplan–Meier and Cox with their rankers, two folds."""
    import tempfile

    import numpy as np
    import pandas as pd

    import lifeyears as ly

    X, y, _ = patients(n)
    data = ly.data.Dataset(pd.DataFrame(X, columns=[f"x{i}" for i in range(FEATURES)]), y, name="scale", unit="years")
    options = {"iterations": 1, "folds": 2, "models": ("KM", "Cox"), "stacked_over": (), "tau": TAU}
    with tempfile.TemporaryDirectory() as out:
        start = time.perf_counter()
        made = ly.experiments.run("full", data, f"{out}/run", n_jobs=1, **options)
        seconds = time.perf_counter() - start
    table = made.tables["allocation"]
    return {"run s": seconds, "rows of the table": len(table), "finite": bool(np.isfinite(table["value"]).all())}


def read_table(n: int) -> dict:
    """A CSV file of all columns written and read."""
    import tempfile

    import pandas as pd

    import lifeyears as ly

    X, y, _ = patients(n)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(FEATURES)]).round(4).assign(years=y.time, died=y.event)
    with tempfile.TemporaryDirectory() as out:
        path = Path(out) / "big.csv"
        frame.to_csv(path, index=False)
        size = path.stat().st_size
        del frame, X
        start = time.perf_counter()
        found = ly.data.read_table(path, time="years", event="died")
        seconds = time.perf_counter() - start
    return {"read s": seconds, "file MB": size / 1e6, "rows": len(found), "features": found.X.shape[1]}


WORK: dict[str, Callable[[int], dict]] = {
    "km": fit_and_predict(lambda ly: ly.models.KaplanMeier(tau=TAU)),
    "cox": fit_and_predict(lambda ly: ly.models.Cox(tau=TAU)),
    "aft": fit_and_predict(lambda ly: ly.models.WeibullAFT(tau=TAU)),
    "evaluate": evaluate,
    "compare": compare,
    "read": read_table,
    "ranker paper": fit_and_predict(lambda ly: ly.BootstrappedRanker(tau=TAU, random_state=0, n_jobs=1)),
    "experiment": experiment,
    "ranker default": fit_and_predict(lambda ly: ly.StackedRanker(tau=TAU, random_state=0, n_jobs=1)),
}


def one(work: str, n: int) -> None:
    """In its own process: do it, and print what it took."""
    import warnings

    warnings.simplefilter("ignore")
    WORK[work](1_000)  # compile and import
    start, used = time.perf_counter(), time.process_time()
    found = WORK[work](n)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found |= {"total s": time.perf_counter() - start, "cpu s": time.process_time() - used, "peak MiB": peak}
    print(json.dumps({name: round(value, 3) if isinstance(value, float) else value for name, value in found.items()}))


def measured(work: str, n: int) -> dict:
    command = [sys.executable, str(HERE / "scale.py"), "--one", work, "--rows", str(n)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=os.environ | ONE_THREAD, timeout=LIMIT_SECONDS
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"not done after {LIMIT_SECONDS} s"}
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [""]
        return {"failed": f"exit code {done.returncode}: {last[0]}"}
    return json.loads(done.stdout.splitlines()[-1])


def draw(found: dict, path: Path) -> None:
    """Processor time and peak memory against n, both axes logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for work, by_rows in found.items():
        done = {int(n): row for n, row in by_rows.items() if "failed" not in row}
        for ax, what, divisor in zip(axes, ("cpu s", "peak MiB"), (1, 1024), strict=True):
            ax.plot(list(done), [row[what] / divisor for row in done.values()], "o-", label=work, linewidth=1.5)
    for line in axes[1].lines:
        line.set_label(None)  # one legend for both
    for ax, label in zip(axes, ("processor time, s", "peak memory, GiB"), strict=True):
        ax.set(xscale="log", yscale="log", xlabel="patients", ylabel=label)
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    low = min(ROWS)
    axes[0].plot([low, max(ROWS)], [1, max(ROWS) / low], "k:", linewidth=1, label="proportional to n")
    axes[1].yaxis.set_major_formatter("{x:g}")
    axes[1].yaxis.set_minor_formatter("{x:.1g}")
    figure.legend(loc="outside right center", fontsize=9, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120, metadata={"Software": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=",".join(map(str, ROWS)))
    parser.add_argument("--work", default=",".join(WORK))
    parser.add_argument("--one")
    parser.add_argument("--afresh", action="store_true")
    parser.add_argument("--draw", action="store_true")
    asked = parser.parse_args()
    if asked.one:
        one(asked.one, int(asked.rows))
        return
    found = read("scale").get("found", {})
    failed = False
    for n in () if asked.draw else map(int, asked.rows.split(",")):
        for work in asked.work.split(","):
            if "total s" in found.get(work, {}).get(str(n), {}) and not asked.afresh:
                continue
            row = measured(work, n)
            failed |= "failed" in row
            print(f"{work}, {n:,}: {row}", flush=True)
            by_rows = found.setdefault(work, {}) | {str(n): row}
            found[work] = dict(sorted(by_rows.items(), key=lambda item: int(item[0])))
            found = {name: found[name] for name in WORK if name in found}
            settings = {"rows": list(ROWS), "features": FEATURES, "seed": SEED, "tau": TAU}
            write("scale", "python stress/scale.py", {"settings": settings, "found": found})
    if HERE / "results" == RESULTS:
        draw(found, HERE.parent / "docs" / "images" / "stress-growth.png")
    sys.exit(failed)


if __name__ == "__main__":
    main()
