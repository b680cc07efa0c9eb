"""Experiments, the command line and simulations."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ..names import called, ly, paper_ranker, read, run_protocol
from ..record import Record, named_file
from . import case
from ._shared import done, lifeyears, patients, registry

SMALL = {"iterations": 1, "folds": 2, "tau": 10.0, "waitlist": 20, "epochs": 2}
WORLD = {"world": {"scale": 0.02, "burn_in_years": 0.5}, "training_rows": 1000}


# experiments


def add_run(record: Record, folder: Path, key: str = "") -> None:
    """Record a run's folder: every CSV table, summary.json, and how many jobs there were."""
    for path in sorted(named_file(folder, "tables").glob("*.csv")):
        record.csv(f"{key}tables/{path.stem}", path)
    record.json(f"{key}summary", named_file(folder, "summary.json"))
    record.add(f"{key}jobs", len(list(named_file(folder, "units").iterdir())))


@case
def experiment_artificial(record: Record, folder: Path) -> None:
    """The artificial protocol: five models, both rankers; every table, summary.json and the report's numbers."""
    run_protocol("artificial", registry(700, 6), folder / "run", **SMALL)
    add_run(record, folder / "run")
    add_report(record, folder / "run")


@case
def experiment_full(record: Record, folder: Path) -> None:
    """The full protocol: five models, both rankers; every table, summary.json and the report's numbers."""
    run_protocol("full", registry(500, 7), folder / "run", **{**SMALL, "default_over": ("Cox", "KM")})
    add_run(record, folder / "run")
    add_report(record, folder / "run")


@case
def experiment_variants(record: Record, folder: Path) -> None:
    """Splits by time and centre, eras, independent censoring, more units, k above 1; the estimator bench."""
    plain = {**SMALL, "models": ("KM", "Cox"), "default_over": ()}
    variants: dict[str, tuple[str, dict[str, Any]]] = {
        "temporal": ("full", {"split": "temporal"}),
        "centre": ("full", {"split": "centre", "era": "drop"}),
        "within": ("full", {"era": "within", "k": 3, "waitlist": 15}),
        "independent": ("artificial", {"censoring": "independent", "censored_share": 0.3}),
        "many": ("full", {"iterations": 3, "folds": 4, "models": ("Cox", "AFT"), "seed": 5, "nuisance_folds": 3}),
    }
    for name, (protocol, options) in variants.items():
        data = registry(600, 9)
        data = replace(data, unit="years") if name != "many" else replace(data, truth=None)
        run_protocol(protocol, data, folder / name, **{**plain, **options})
        add_run(record, folder / name, f"{name}/")
    mechanisms = ("independent", "covariate", "administrative", "informative", "paper")
    settings: dict[str, Any] = {"n": 250, "replicates": 2, "waitlist": 10, "n_resamples": 40, "n_jobs": 1}
    record.add("bench", ly.experiments.estimator_bench(mechanisms=mechanisms, **settings).table)
    add_report(record, folder / "temporal", folder / "centre")
    check = ly.experiments.registry_check(models=("KM", "Cox"), n=800, folds=2)
    record.attributes("registry check", check, "follow_up", "survival", "events_only", "full")


def add_report(record: Record, folder: Path, other: Path | None = None) -> None:
    """Record the numbers of a run's report and of its tables in Markdown: charts, and cells of tables."""
    text = Path(ly.report.write_report(folder, other)).read_text(encoding="utf-8")
    charts = re.search(r'<script type="application/json" id="charts">(.*?)</script>', text, re.DOTALL)
    assert charts is not None
    record.json("report/charts", charts.group(1).replace("\\u003c", "<"))
    cells = re.findall(r"<td[^>]*>(.*?)</td>", text, re.DOTALL)
    record.printed_numbers("report/cells", " | ".join(re.sub(r"<[^>]*>", " ", cell) for cell in cells))
    rows = re.findall(r"^\|.*$", named_file(folder, "tables.md").read_text(encoding="utf-8"), re.MULTILINE)
    body = [row for row, after in zip(rows, [*rows[1:], ""], strict=True) if not after.startswith("|---")]
    record.printed_numbers("markdown/cells", "\n".join(body))


# the command line


@case
def compare_command(record: Record, folder: Path) -> None:
    """`lifeyears compare` on two public sets and on a file, `reproduce` at a small size: all tables."""
    table = patients(260)
    table.to_csv(folder / "patients.csv", index=False)
    runs = {
        "Melanoma": ("Melanoma", "--models", "KM,Cox,AFT", "--folds", "2"),
        "cancer": ("cancer", "--models", "Cox", "--folds", "3", "--k", "2", "--waitlist", "15", "--seed", "4"),
        "patients": (
            *(str(folder / "patients.csv"), "--time", "days", "--event", "died", "--entry", "listed", "--models", "KM"),
            *("--centre", "hospital", "--split", "centre", "--folds", "2", "--horizon", "3000", "--rows", "240"),
            *("--subgroups", "device"),
        ),
    }
    (folder / "small.toml").write_text('models = ["KM", "Cox"]\nfolds = 2\nwaitlist = 12\nevent-values = "yes"\n')
    runs["config"] = (
        *(str(folder / "patients.csv"), "--time", "days", "--event", "died", "--drop", "listed,hospital"),
        *("--config", str(folder / "small.toml"), "--horizon", "2000", "--categorical", "device"),
    )
    for name, words in runs.items():
        done(record, name, "compare", *words, "--jobs", "1", "--out", str(folder / name))
        add_run(record, folder / name, f"{name}/")
    words = (
        "artificial",
        "--rows",
        "600",
        "--iterations",
        "1",
        "--folds",
        "2",
        "--models",
        "KM,Cox",
        "--waitlist",
        "20",
    )
    words += ("--default-over", "none", "--jobs", "1", "--out", str(folder / "reproduced"))
    done(record, "reproduce", "reproduce", *words)
    add_run(record, folder / "reproduced" / "artificial", "reproduce/")


@case
def fit_and_rank_commands(record: Record, folder: Path) -> None:
    """`lifeyears fit`, `describe` and `rank` on a made-up CSV: the card and the ranked CSV, for three rankers."""
    table = patients()
    table[:260].drop(columns="listed").to_csv(folder / "patients.csv", index=False)
    waiting = table[260:].drop(columns=["days", "died", "listed", "donor_age", "donor_sex"])
    waiting.assign(name=[f"P{number}" for number in range(len(waiting))]).to_csv(folder / "waiting.csv", index=False)
    (folder / "donor.json").write_text(json.dumps({"donor_age": 34, "donor_sex": "F"}))
    outcome = ("--time", "days", "--event", "died", "--jobs", "1", "--horizon", "4000")
    for preset, base in (("default", "Cox"), ("paper", "KM"), ("none", "AFT")):
        model = folder / f"model-{preset}"
        words = ("--base", base, "--preset", preset, "--out", str(model))
        done(record, f"{preset}/fit", "fit", str(folder / "patients.csv"), *outcome, *words)
        _, card = lifeyears("describe", str(model), "--json")
        record.json(f"{preset}/card", card)
        ranked = ("--donor", str(folder / "donor.json"), "--k", "3", "--id", "name", "--out", str(folder / preset))
        done(record, f"{preset}/rank", "rank", str(model), str(folder / "waiting.csv"), *ranked)
        found = pd.read_csv(folder / preset / "ranked.csv", float_precision="round_trip")
        reasons = found.pop("reasons")
        record.table(f"{preset}/ranked", found)
        record.printed_numbers(f"{preset}/reasons", " | ".join(reasons))


# simulations


def add_simulation(record: Record, key: str, found: Any) -> None:
    """Record every table of a simulation."""
    record.attributes(key, found, "table", "differences", "by_group", "group_differences", "replicates")
    record.attributes(key, found, "transplants_by_status")
    record.json(f"{key}/summary", found.summary())


@case
def simulations(record: Record, folder: Path) -> None:
    """Policies simulated for a short time: all tables, the command's files, the check against published figures."""
    own = [
        {"name": "paper", "order": "model", "model": "ranker_paper"},
        {"name": "weibull gain", "order": "model", "model": "weibull", "target": "gain", "k": 3},
        {"name": "by type", "order": "model", "model": "cox_by_donor_type"},
    ]
    named = ["us_status", "first_come", "uniform", "greedy", "position_weighted", "lyg", "oracle", "oracle_lyg"]
    simulate = ly.simulation.simulate
    add_simulation(record, "named", simulate(named, 1.0, 2, random_state=1, n_jobs=1, config=WORLD))
    add_simulation(record, "own", simulate(["us_status", *own], 0.5, 2, n_jobs=1, config=WORLD))
    apart = {**WORLD, "common_random_numbers": False, "world": {"scale": 0.02, "burn_in_years": 0.2, "law": "crossing"}}
    add_simulation(record, "apart", simulate(["uniform", "oracle"], 0.5, 2, n_jobs=1, config=apart))
    fitted = ly.allocation.DonorTypeRanker(ly.models.Cox(alpha=5.0), n_types=3, prior=50, tau=20, random_state=0)
    fitted.fit(registry().X, registry().y)
    policy = called(ly.simulation.Policy, "fitted", "model", model=fitted)
    add_simulation(record, "fitted", simulate(["us_status", policy], 0.5, 1, n_jobs=1, config=WORLD))

    check = ly.simulation.steady_state({"world": {"scale": 0.05, "burn_in_years": 1.0}}, 1.0, 2, n_jobs=1)
    record.table("check", check.table.drop(columns="source"))
    record.add("check/holds", read(check, "holds"))

    saved = ly.save(paper_ranker(tau=20, random_state=0, n_jobs=1).fit(registry().X, registry().y), folder / "saved")
    (folder / "own.yaml").write_text(
        "years: 0.5\nreplicates: 2\nreference: first_come\n"
        "world:\n  scale: 0.02\n  burn_in_years: 0.2\n  most_offers: 5\n"
        f"policies:\n  - first_come\n  - {{name: mine, order: model, model: {saved}, k: 2}}\n"
    )
    (folder / "tau.toml").write_text(
        'years = 0.4\nreplicates = 1\npolicies = ["oracle"]\n[world]\nscale = 0.02\ntau = 5.0\n'
    )
    for name in ("own.yaml", "tau.toml"):
        found = simulate(config=ly.simulation.read_config(folder / name), n_jobs=1)
        record.attributes(name, found, "table", "differences", "by_group")
    (folder / "small-world.json").write_text(json.dumps(WORLD))
    words = ("--check", "--years", "0.5", "--replicates", "2", "--jobs", "1", "--out", str(folder / "checked"))
    record.add("check command", lifeyears("simulate", str(folder / "small-world.json"), *words)[0])
    record.csv("check command/measures", named_file(folder / "checked", "measures.csv"))

    config = {"years": 0.5, "replicates": 2, "policies": ["us_status", "oracle"], **WORLD}
    (folder / "small.json").write_text(json.dumps(config))
    out = folder / "simulation"
    done(record, "command", "simulate", str(folder / "small.json"), "--jobs", "1", "--seed", "3", "--out", str(out))
    for name in ("measures", "differences", "by_group", "group_differences", "replicates"):
        record.csv(f"command/{name}", named_file(out, f"{name}.csv"))
    for name in ("summary", "config"):
        record.json(f"command/{name}", named_file(out, f"{name}.json"))
