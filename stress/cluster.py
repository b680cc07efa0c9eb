"""Beyond one machine: the ranker's second stage on two local Dask workers, beside one machine, judged by the truth.

    python stress/cluster.py

Training rows are those of the simulated registry in the order of entry, as a registry keeps them: without the shuffle
one worker would see old eras and the other new ones. Five cohorts, each with its own seed; fresh rows judge.
"""

import argparse
import os
import sys
import time

from common import ONE_THREAD, write

os.environ |= ONE_THREAD

ROWS, COHORTS, WORKERS, PARTITIONS, TAU, WAITLIST = 40_000, 5, 2, 6, 20.0, 256


def one_cohort(client, seed: int, rows: int) -> dict:
    import dask.array as da
    import numpy as np

    import lifeyears as ly
    from lifeyears.ranking import fit_on_dask

    train = ly.data.simulate_registry(rows, random_state=seed)
    fresh = ly.data.simulate_registry(rows, random_state=1000 + seed)
    by_entry = np.argsort(train.entry, kind="stable")
    table = ly.data.TablePreprocessor().fit(train.X)
    X, y = table.transform(train.X.iloc[by_entry]), train.y[by_entry]
    cut = -(-rows // PARTITIONS)
    outcome = np.column_stack([y.event, y.time])
    ranker = ly.BootstrappedRanker(tau=TAU, random_state=seed, n_jobs=1)
    start = time.perf_counter()
    alone = ly.BootstrappedRanker(**ranker.get_params()).fit(X, y)
    middle = time.perf_counter()
    spread = fit_on_dask(ranker, da.from_array(X, (cut, -1)), da.from_array(outcome, (cut, -1)), client)
    end = time.perf_counter()
    truth, new = fresh.truth.expected(TAU), table.transform(fresh.X)
    said = {
        "one machine": alone.predict(new),
        "two workers": spread.predict(new),
        "base model": alone.base_.predict(new),
    }
    worth = {name: ly.metrics.policy_value(truth, scores, waitlist=WAITLIST) for name, scores in said.items()}
    worth["the truth"] = ly.metrics.policy_value(truth, truth, waitlist=WAITLIST)
    found = {"seed": seed, **{f"{name}, years": round(value, 4) for name, value in worth.items()}}
    return found | {
        "correlation of scores": round(float(np.corrcoef(said["one machine"], said["two workers"])[0, 1]), 4),
        "rounds": [alone.report_.rounds["years"], spread.report_.rounds["years"]],
        "one machine s": round(middle - start, 1),
        "two workers s": round(end - middle, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--cohorts", type=int, default=COHORTS)
    asked = parser.parse_args()
    import numpy as np
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address="127.0.0.1:0") as workers,
        Client(workers) as client,
    ):
        found = []
        for seed in range(asked.cohorts):
            found.append(one_cohort(client, seed, asked.rows))
            print(found[-1], flush=True)
    lost = np.array([row["one machine, years"] - row["two workers, years"] for row in found])
    error = lost.std(ddof=1) / np.sqrt(len(lost)) if len(lost) > 1 else float("nan")
    summary = {"lost on two workers, years": round(float(lost.mean()), 4), "standard error": round(float(error), 4)}
    print(summary)
    settings = {"rows": asked.rows, "workers": WORKERS, "partitions": PARTITIONS, "tau": TAU, "waitlist": WAITLIST}
    if asked.rows == ROWS and asked.cohorts == COHORTS:
        write("cluster", "python stress/cluster.py", {"settings": settings, "summary": summary, "cohorts": found})
    sys.exit(bool(lost.mean() > 0.25))


if __name__ == "__main__":
    main()
