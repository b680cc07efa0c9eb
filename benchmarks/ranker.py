"""What the ranker gains, on simulated worlds and on public data: writes docs/method_tables.md.

    python benchmarks/ranker.py            # all of it: hours of two cores; finished units are kept and not run again
    python benchmarks/ranker.py --seeds 2  # fewer cohorts

Worlds: train on 30,000 patients, rank another 100,000, judge by the true expected life of the top of a waitlist of 256.
The seeds here (2000 on) were not used in the search for the settings (it used 1000, 3000 to 3003, and for small tables
7000 to 7005). Of the crossing
world, where cohorts differ most, there are twice as many as asked for.
Public sets: two halves, each ranked by models of the other, judged by cross-fitted doubly robust waitlist value.
"""

import os

for library in ("OPENBLAS", "OMP", "MKL", "NUMBA"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import argparse
import json
import warnings
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone

import lifeyears as ly
from lifeyears.data import TablePreprocessor, simulate_registry
from lifeyears.experiments.results import to_markdown
from lifeyears.metrics import policy_value
from lifeyears.ranking import BoostedYears, HybridObjective, TreeSettings, make_members
from lifeyears.ranking.splines import _hazards, _terms
from lifeyears.ranking.stacked._weights import SHRINKAGE, TOLERANCE
from lifeyears.ranking.trees import SHALLOW_TREES, BoosterSettings, YearsTrees, bin_columns, train_booster

ROWS, TEST_ROWS, TAU, WAITLIST, FIRST_SEED = 30_000, 100_000, 20.0, 256, 2000
WORLDS = ("proportional", "registry", "interactions", "crossing")
CONSTANTS = (  # of the stacked ranker
    *(TOLERANCE, SHRINKAGE, _hazards.SPLINE_PRIOR, _hazards.INTERACTION_PRIOR, _hazards.ENOUGH_EVENTS),
    *(_terms.KNOTS, _hazards.MOST_TERMS, _terms.LARGEST_FACTOR, _hazards.VARIANCE_UPDATES, _hazards.STRONGEST),
)
HERE = Path(__file__).parent
YEARS, HAZARDS, SPLINES, INTERACTIONS = (name for name, _ in make_members())


def stack(*names: str, **settings) -> ly.StackedRanker:
    """A stacked ranker with some of its members."""
    return ly.StackedRanker(members=make_members(names=names or None, **settings))


def stack_with_hybrid_loss() -> ly.StackedRanker:
    """The stacked ranker whose boosted years have the paper's loss."""
    others = make_members(names=(HAZARDS, SPLINES, INTERACTIONS))
    return ly.StackedRanker(members=[(YEARS, BoostedYears(alpha=0.3)), *others])


MAIN_ARMS = {
    "stacked": ly.StackedRanker(),
    "paper": ly.BootstrappedRanker(),
    "plain squared error, cross-fitted": stack(YEARS).set_params(with_base=False),
    "stacked, fast": ly.StackedRanker(effort="fast"),
}
LEVERS = {
    "stacked, hybrid loss (α .3) in place of squared error": stack_with_hybrid_loss(),
    "stacked without boosted hazards": stack(YEARS, SPLINES, INTERACTIONS),
    "stacked without boosted years": stack(HAZARDS, SPLINES, INTERACTIONS),
    "stacked without spline interactions": stack(YEARS, HAZARDS, SPLINES),
    "stacked without splines": stack(YEARS, HAZARDS),
    "splines only": stack(SPLINES, INTERACTIONS),
    "stacked without the base": ly.StackedRanker(with_base=False),
    "stacked, effects constant in time": stack(n_intervals=1),
    "stacked with EY labels": ly.StackedRanker(label="ey"),
    "paper with squared error": ly.BootstrappedRanker(alpha=1.0),
    "paper with slow small trees": ly.BootstrappedRanker(
        learning_rate=0.02,
        n_estimators=600,
        trees=TreeSettings(num_leaves=15),
        early_stopping_rounds=0,
        validation_fraction=0.0,
    ),
    "paper with DR labels": ly.BootstrappedRanker(label="dr"),
    "started from Cox, squared error": None,
}
RANKERS = {"paper": ly.BootstrappedRanker, "stacked": ly.StackedRanker}
PUBLIC = ("support2", "rhc", "flchain", "hdfail", "Framingham", "nwtco", "smarto", "UnempDur", "rott2", "Aids2")


def kept(folder: Path, name: str, make) -> list[dict]:
    """What `make` returns, from the file of an earlier run if there is one."""
    path = folder / f"{zlib.crc32(name.encode()):08x}.json"
    if path.exists():
        return json.loads(path.read_text())
    if make is None:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = make()
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(json.dumps(found))
    temporary.replace(path)
    print(name.split("{")[0], [round(row["value"], 3) for row in found], flush=True)
    return found


def chosen(arm: str, ranker: ly.ranking.Ranker | None) -> str:
    """The settings of an arm, by which its finished units are known."""
    return "" if arm == "Cox" else f"{ranker!r} {CONSTANTS}"


def world_unit(world: str, seed: int, arm: str, ranker: ly.ranking.Ranker | None) -> list[dict]:
    """One arm on one cohort."""
    train = simulate_registry(ROWS, world, random_state=seed)
    test = simulate_registry(TEST_ROWS, world, random_state=seed + 500_000)
    truth = test.truth.expected(TAU)
    table = TablePreprocessor().fit(train.X)
    X, new = table.transform(train.X), table.transform(test.X)
    if arm == "Cox":
        scores = {"Cox": ly.models.Cox(tau=TAU).fit(X, train.y).predict(new), "ceiling": truth}
    elif ranker is None:
        scores = {arm: from_cox(X, train.y, new)}
    else:
        seeded = clone(ranker).set_params(tau=TAU, random_state=seed, n_jobs=1)
        scores = {arm: seeded.fit(X, train.y).predict(new)}
    return [
        {"world": world, "seed": seed, "arm": name, "value": policy_value(truth, score, waitlist=WAITLIST)}
        for name, score in scores.items()
    ]


def from_cox(X: np.ndarray, y: ly.Outcome, new: np.ndarray) -> np.ndarray:
    """Squared error on EY labels, boosting from Cox's own years with the stacked ranker's trees, 200 rounds."""
    cox = ly.models.Cox(tau=TAU).fit(X, y)
    labels = ly.relevance.ExpectedYears(cox, tau=TAU).estimate(X, y).values
    settings = BoosterSettings(200, trees=SHALLOW_TREES.resolve(len(X)))
    objective = HybridObjective(labels, 1.0, 1.0, 256)
    booster = train_booster(bin_columns(X, settings, 0), objective, cox.predict(X), settings, 0, threads=1)
    return cox.predict(new) + YearsTrees(booster, 0.0, 200).predict(new)


def cohorts(world: str, seeds: int, arm: str) -> int:
    """How many: twice as many where they differ most."""
    return 2 * seeds if world == "crossing" and arm not in LEVERS else seeds


def worlds(folder: Path, seeds: int, lever_seeds: int, jobs: int) -> pd.DataFrame:
    """All arms on all cohorts: the main ones first."""
    units = [
        (world, seed, arm, options)
        for arm, options in {"Cox": None, **MAIN_ARMS, **LEVERS}.items()
        for world in WORLDS
        for seed in range(FIRST_SEED, FIRST_SEED + cohorts(world, lever_seeds if arm in LEVERS else seeds, arm))
    ]
    found = Parallel(n_jobs=max(jobs, 1), batch_size=1)(
        delayed(kept)(
            folder,
            f"{ROWS} {TEST_ROWS} {w} {seed} {arm} {chosen(arm, opt)}",
            (lambda u=(w, seed, arm, opt): world_unit(*u)) if jobs else None,
        )
        for w, seed, arm, opt in units
    )
    return pd.DataFrame([row for rows in found for row in rows])


def public_unit(name: str, base: str) -> list[dict]:
    """Both rankers over one base on one public set, against the base: paired differences of waitlist value."""
    from lifeyears.experiments import build_model

    data = ly.data.load(name)
    rng = np.random.default_rng(0)
    rows = np.sort(rng.permutation(len(data))[:8000])
    X, y, tau = data.X.iloc[rows], data.y[rows], data.horizon
    half = rng.permutation(len(rows)) % 2
    scores = {arm: np.empty(len(rows)) for arm in ("base", *RANKERS)}
    for test in (0, 1):
        train, held = np.flatnonzero(half != test), np.flatnonzero(half == test)
        for method, make in RANKERS.items():
            model = build_model(base, tau, 0)
            ranker = make(model, tau=tau, random_state=0, n_jobs=1)
            ranker.fit(X.iloc[train], y[train])
            scores[method][held] = ranker.predict(X.iloc[held])
            scores["base"][held] = ranker.base_.predict(ranker.preprocessor_.transform(X.iloc[held]))
    matrix = TablePreprocessor().fit_transform(X)
    judge = ly.relevance.DoublyRobust(
        ly.models.Cox(alpha=10.0), ly.models.Cox(alpha=10.0), tau=tau, on_violation="clip"
    )
    relevance = ly.relevance.cross_fit(judge, matrix, y)
    waitlist = min(WAITLIST, len(rows) // 20)
    found = ly.metrics.compare(relevance, scores, k=1, waitlist=waitlist, n_resamples=1000, random_state=0)
    values = {arm: policy_value(relevance, score, waitlist=waitlist) for arm, score in scores.items()}
    table = []
    for method in RANKERS:
        row = found.differences.loc[next(pair for pair in found.differences.index if set(pair) == {"base", method})]
        sign = 1.0 if row.name[0] == method else -1.0
        ends = sorted((sign * row["low"], sign * row["high"]))
        table.append(
            {
                "set": name,
                "n": len(rows),
                "tau": tau,
                "unit": data.unit,
                "waitlist": waitlist,
                "base": base,
                "arm": method,
                "base_value": values["base"],
                "value": sign * row["value"],
                "low": ends[0],
                "high": ends[1],
            }
        )
    return table


def feasible(name: str, base: str) -> list[dict]:
    """A unit, or nothing where the base model refuses the data (Weibull and deaths at time 0)."""
    try:
        return public_unit(name, base)
    except ValueError as error:
        print(f"{name}, {base}: {error}")
        return []


def public(folder: Path, jobs: int) -> pd.DataFrame:
    units = [(name, base) for base in ("Cox", "KM", "AFT", "DeepSurv", "DeepHit") for name in PUBLIC]
    found = Parallel(n_jobs=max(jobs, 1), batch_size=1)(
        delayed(kept)(folder, f"public {u} {list(RANKERS)} {CONSTANTS}", (lambda u=u: feasible(*u)) if jobs else None)
        for u in units
    )
    return pd.DataFrame([row for rows in found for row in rows])


def world_tables(found: pd.DataFrame) -> str:
    """Years against Cox, and the share of the room to the ceiling that is closed, with 95% intervals over cohorts."""
    from scipy import stats

    wide = found.pivot(index=["world", "seed"], columns="arm", values="value").dropna(subset=["Cox"])
    text = []
    for arms, title in ((list(MAIN_ARMS), "Rankers"), (list(LEVERS), "Levers, one changed at a time")):
        rows = []
        for arm in [a for a in arms if a in wide]:
            row = {"arm": arm}
            for world in WORLDS:
                part = wide.loc[world].dropna(subset=[arm])
                gain, room = part[arm] - part["Cox"], part["ceiling"] - part["Cox"]
                share = gain.mean() / room.mean()
                many = len(part)
                reach = stats.t.ppf(0.975, many - 1) / np.sqrt(many) if many > 1 else np.nan
                cell = f"{gain.mean():+.3f} ± {reach * gain.std():.3f}"
                if world != "proportional":  # a ratio of means: its error is that of gain − share·room (delta method)
                    half = reach * (gain - share * room).std() / room.mean()
                    cell += f" ({share:.0%}, at least {share - half:.0%})"
                if np.isnan(gain.mean()):
                    cell = "–"
                row[world] = cell.replace(" ± nan", "").replace(", at least nan%", "")  # one cohort has no spread
            many = wide[arm].dropna().groupby("world").size()
            rows.append({**row, "cohorts": ", ".join(str(many.get(world, 0)) for world in WORLDS)})
        text.append(f"### {title}\n\n{to_markdown(pd.DataFrame(rows))}\n")
    head = wide.groupby("world")[["Cox", "ceiling"]].mean().loc[list(WORLDS)].round(2)
    return f"{to_markdown(head.reset_index())}\n\n" + "\n".join(text)


def public_table(found: pd.DataFrame) -> str:
    cells = found.assign(
        cell=[f"{r.value:+.3g} ({r.low:+.3g}, {r.high:+.3g})" for r in found.itertuples()],
        row=[f"{r.set} (n {r.n:,}, τ {r.tau:.4g} {r.unit}, W {r.waitlist})" for r in found.itertuples()],
    )
    wide = cells.pivot(index=["base", "row"], columns="arm", values="cell")
    wide.insert(
        0,
        "base model's value",
        cells.drop_duplicates(["base", "row"]).set_index(["base", "row"])["base_value"].round(3),
    )
    tally = [
        f"{arm}: better in {(part.value > 0).sum()} of {len(part)}, clearly in {(part.low > 0).sum()}; worse in "
        f"{(part.value < 0).sum()}, clearly in {(part.high < 0).sum()}"
        for arm, part in found.groupby("arm")
    ]
    return to_markdown(wide.reset_index()) + "\n\n" + "; ".join(tally) + ".\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--lever-seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2, help="0: tables of what is finished, nothing is run")
    parser.add_argument("--part", choices=("worlds", "public", "all"), default="all")
    parser.add_argument("--cache", type=Path, default=HERE / ".ranker")
    parser.add_argument("--out", type=Path, default=HERE.parent / "docs" / "method_tables.md")
    options = parser.parse_args()
    options.cache.mkdir(exist_ok=True)
    text = ["<!-- made by `python benchmarks/ranker.py` -->\n"]
    if options.part != "public":
        text.append(
            "## Simulated worlds\n\n"
            + world_tables(worlds(options.cache, options.seeds, options.lever_seeds, options.jobs))
        )
    if options.part != "worlds":
        text.append("## Public data sets\n\n" + public_table(public(options.cache, options.jobs)))
    options.out.write_text("\n".join(text))
    print("\n".join(text))


if __name__ == "__main__":
    main()
