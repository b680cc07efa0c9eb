"""`lifeyears compare`: which model should drive allocation on this data."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from . import _options as table

# The least value of every number, on the command line and in a file; the horizon alone need not be whole.
LEAST = {"horizon": 0, "waitlist": 1, "k": 1, "iterations": 1, "folds": 2, "rows": 100, "seed": 0, "jobs": 1}
MOST = 2**63
COMMAND_LINE_ONLY = ("config", "out", "dask", "dry_run")
LISTS = ("drop", "keep", "categorical", "event_values", "models", "subgroups")


def command(
    data: Annotated[str, typer.Argument(help="A file, a STAR folder, or the name of a data set.")],
    time: table.Time = None,
    event: table.Event = None,
    event_values: table.EventValues = None,
    entry: table.Entry = None,
    exit: table.Exit = None,
    unit: table.Unit = None,
    centre: table.Centre = None,
    drop: table.Drop = None,
    keep: table.Keep = None,
    categorical: table.Categorical = None,
    sheet: table.Sheet = None,
    delimiter: table.Delimiter = None,
    encoding: table.Encoding = None,
    decimal: table.Decimal = None,
    date_format: table.DateFormat = None,
    horizon: Annotated[float | None, typer.Option(help="τ, in the unit of the times; suggested from the data.")] = None,
    models: Annotated[str | None, typer.Option(help="Base models, comma-separated (all five unless given).")] = None,
    waitlist: Annotated[
        int | None, typer.Option(help="Candidates on a list (256, fewer on small data).", min=LEAST["waitlist"])
    ] = None,
    k: Annotated[int | None, typer.Option(help="Places of a list that count (1).", min=LEAST["k"])] = None,
    iterations: Annotated[
        int | None, typer.Option(help="Of the cross-validation (1).", min=LEAST["iterations"])
    ] = None,
    folds: Annotated[int | None, typer.Option(help="Of each iteration (5).", min=LEAST["folds"])] = None,
    rows: Annotated[int | None, typer.Option(help="Use so many rows, drawn at random.", min=LEAST["rows"])] = None,
    split: Annotated[
        str | None, typer.Option(help="random, temporal (learn from the past) or centre; random unless given.")
    ] = None,
    subgroups: Annotated[
        str | None, typer.Option(help="Further columns, comma-separated, whose groups the tables tell.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="A TOML file with any options but --out, --dask and --dry-run.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder (comparison-NAME unless given).")] = None,
    jobs: Annotated[int | None, typer.Option(help="Units at once; one a core unless given.")] = None,
    dask: Annotated[str | None, typer.Option(help="A Dask scheduler (tcp://…), or local:2.")] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed (0).", min=LEAST["seed"])] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
) -> None:
    """Compare survival models, and their rankers, by what an allocation gains from them.

    Examples: lifeyears compare support2; lifeyears compare my.csv --time years --event died --drop patient_id;
    lifeyears compare my.csv --time days --event died --entry listed --split temporal
    """
    own = table.of_table(locals())
    from ..experiments._plan import MODELS
    from ._data import data_to_split, names_in
    from ._runs import all_cores, command_line, named, plan_only, run_and_show

    given: dict[str, Any] = {
        **own,
        "horizon": horizon,
        "models": models,
        "waitlist": waitlist,
        "k": k,
        "iterations": iterations,
        "folds": folds,
        "rows": rows,
        "split": split,
        "subgroups": subgroups,
        "seed": seed,
        "jobs": jobs,
    }
    asked = _with_config(given, config)
    jobs = all_cores(asked["jobs"])
    seed = _or(asked["seed"], 0)
    own = {name: asked[name] for name in own}
    found, own = data_to_split(asked["split"], data, asked["horizon"], asked["rows"], seed, own)
    if found.report is not None:
        print(found.report)
    folds = _or(asked["folds"], 5)
    bases = MODELS if asked["models"] is None else named(asked["models"], MODELS, "--models")
    at_once = int((found.y.event & (found.y.time == 0)).sum())
    if at_once and asked["models"] is None:
        events = f"{at_once:,} events are" if at_once > 1 else "1 event is"
        print(f"AFT is left out: {events} at time 0, and it works with the logarithm of time.")
        bases = tuple(model for model in bases if model != "AFT")
    options = {
        "iterations": _or(asked["iterations"], 1),
        "folds": folds,
        "tau": float(found.horizon),
        "models": bases,
        "default_over": tuple(model for model in bases if model == "Cox") or bases[:1],
        "waitlist": _or(asked["waitlist"], max(2, min(256, len(found) // folds // 8))),
        "k": _or(asked["k"], 1),
        "split": _or(asked["split"], "random"),
        "subgroups": tuple("centre" if name == own["centre"] else name for name in names_in(asked["subgroups"])),
        "seed": seed,
    }
    if dry_run:
        plan_only("full", found, jobs, **options)
        return
    again = command_line(
        "compare",
        data,
        **own,
        rows=asked["rows"],
        horizon=options["tau"],
        **{name: options[name] for name in ("models", "waitlist", "k", "iterations", "folds", "split", "seed")},
        subgroups=options["subgroups"] or None,
    )
    made = run_and_show("full", found, out or Path(f"comparison-{found.name}"), jobs, dask, command=again, **options)
    used = made.summary["waitlist"]
    if asked["waitlist"] is None and used["used"] < 256:
        print(f"Waitlists of {used['used']}, not 256: an eighth of a test fold.")


def _with_config(given: dict[str, Any], path: Path | None) -> dict[str, Any]:
    """Options of a file, beneath those of the command line."""
    if path is None:
        return given
    import tomllib

    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text (byte {error.start:,}): save it as UTF-8") from None
    held: dict[str, Any] = {}
    for key, value in found.items():
        name = key.replace("-", "_")
        _check_key(path, key, name, given)
        if name in held:
            raise ValueError(f"{path} has {name} twice, with - and with _: keep one")
        held[name] = _checked(path, name, value)
    return {name: held.get(name) if value is None else value for name, value in given.items()}


def _check_key(path: Path, key: str, name: str, known: Iterable[str]) -> None:
    """Refuse what is no option, or none that a file may have."""
    from ..data.tables._source import meant

    if name in COMMAND_LINE_ONLY:
        raise ValueError(f"{path} has {key}, which is for the command line alone: --{name.replace('_', '-')}")
    if name not in known:
        raise ValueError(f"{path} has {key}, which is no option{meant(name, known)}; known are {', '.join(known)}")


def _checked(path: Path, name: str, value: Any) -> Any:
    """An option of a file, as the command line would have taken it: a number, or text, a list's names by commas."""
    from ..checks import check_number, check_whole

    if name in LEAST:
        try:
            return (check_number if name == "horizon" else check_whole)(name, value, LEAST[name], MOST)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    parts = value if name in LISTS and isinstance(value, list) else [value]
    if name == "event_values" and not isinstance(value, str):  # codes may be numbers
        parts = value = [str(part) if isinstance(part, (int, float)) else part for part in parts]
    if not all(isinstance(part, str) for part in parts):
        raise ValueError(f"{path}: {name} must be text{' or a list of texts' * (name in LISTS)}; got {value!r}")
    return value if name in LISTS and name != "models" else ",".join(parts)


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value
