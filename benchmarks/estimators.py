"""EY, IPCW and DR measured where the truth is known: writes docs/estimators_tables.md and docs/images/estimators.png.

`python benchmarks/estimators.py` takes about forty minutes on two cores; `--quick` a few, with fewer replicates.
"""

import os

for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import pandas as pd

from lifeyears.experiments import estimator_bench

DOCS = Path(__file__).parents[1] / "docs"


def markdown(table: pd.DataFrame, digits: int = 3) -> str:
    head = "| " + " | ".join(name.replace("_", " ") for name in table.columns) + " |"
    rows = [
        "| " + " | ".join(f"{v:.{digits}f}" if isinstance(v, float) else f"{v}" for v in row) + " |"
        for row in table.itertuples(index=False)
    ]
    return "\n".join([head, "|" + "---|" * len(table.columns), *rows])


def coverage(replicates: int, jobs: int) -> str:
    """Coverage and bias at n = 12,000, W = 256, with true curves and with fitted ones."""
    bench = estimator_bench(
        n=12_000,
        replicates=replicates,
        mechanisms=["independent"],
        only=["right", "both right", "DR fitted"],
        n_jobs=jobs,
        n_resamples=300,
    )
    columns = ["estimator", "nuisances", "bias", "standard_error", "sd", "coverage", "difference_coverage"]
    return (
        f"### Coverage of 95% intervals, {replicates:,} cohorts of 12,000, lists of 256, independent censoring\n\n"
        + markdown(bench.table[columns])
    )


def coverage_by_size(replicates: int, jobs: int) -> str:
    """What is lost where few patients carry the value."""
    rows = []
    for n in (1_500, 3_000, 12_000):
        bench = estimator_bench(
            n=n,
            replicates=replicates,
            mechanisms=["independent"],
            only=["right", "both right"],
            n_jobs=jobs,
            random_state=1,
        )
        for line in bench.table.itertuples():
            rows.append((f"{n:,}", line.estimator, line.coverage, line.difference_coverage))
    table = pd.DataFrame(rows, columns=["n", "estimator", "coverage", "coverage of differences"])
    return f"### Coverage by the number of rows, lists of 256, {replicates:,} cohorts each, true curves\n\n" + markdown(
        table
    )


def bias_by_size(jobs: int, quick: bool) -> str:
    """With fitted nuisances the bias shrinks as n grows."""
    rows = []
    for n, replicates in ((1_000, 300), (10_000, 60), (100_000, 8)):
        bench = estimator_bench(
            n=n,
            replicates=max(4, replicates // 10) if quick else replicates,
            mechanisms=["covariate"],
            only=["fitted"],
            waitlist=64,
            n_resamples=50,
            n_jobs=jobs,
            random_state=2,
        )
        for line in bench.table.itertuples():
            rows.append((f"{n:,}", bench.replicates, line.estimator, line.bias, line.standard_error, line.rmse))
    table = pd.DataFrame(rows, columns=["n", "cohorts", "estimator", "bias", "standard error", "rmse"])
    return "### Fitted nuisances as n grows, censoring by covariates, lists of 64\n\n" + markdown(table)


def all_mechanisms(replicates: int, jobs: int) -> str:
    bench = estimator_bench(n=12_000, replicates=replicates, n_resamples=200, n_jobs=jobs, random_state=3)
    bench.plot().figure.savefig(DOCS / "images" / "estimators.png", dpi=120)
    columns = ["mechanism", "estimator", "nuisances", "bias", "standard_error", "sd", "rmse", "coverage"]
    return f"### Every mechanism, {replicates} cohorts of 12,000, horizon 15, lists of 256\n\n" + markdown(
        bench.table[columns]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=DOCS / "estimators_tables.md")
    parser.add_argument("--parts", type=int, nargs="*", default=[0, 1, 2, 3], help="coverage, by size, all, bias")
    options = parser.parse_args()
    few = options.quick
    parts = ["<!-- made by python benchmarks/estimators.py" + (" --quick" if few else "") + " -->"]
    makers = (
        lambda: coverage(40 if few else 1000, options.jobs),
        lambda: coverage_by_size(40 if few else 300, options.jobs),
        lambda: all_mechanisms(6 if few else 20, options.jobs),
        lambda: bias_by_size(options.jobs, few),
    )
    for part in options.parts:
        parts.append(makers[part]())
        print(parts[-1], flush=True)
        options.out.write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
