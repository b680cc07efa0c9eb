"""`lifeyears compare`: which model should drive allocation on this data."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from .._files import wrap_file_errors
from ..checks import check_number, check_whole
from ..errors import RequestError
from . import _options as table

if TYPE_CHECKING:
    from .._typing import Json

_Value = TypeVar("_Value")

# The least value of every number, on the command line and in a file; the horizon alone need not be whole.
LEAST = {"horizon": 0, "waitlist": 1, "k": 1, "iterations": 1, "folds": 2, "rows": 100, "seed": 0, "jobs": 1}
MOST = 2**63
COMMAND_LINE_ONLY = ("config", "out", "dask", "dry_run")
LISTS = ("drop", "keep", "categorical", "event_values", "models", "methods", "subgroups")


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
    models: Annotated[
        str | None,
        typer.Option(
            help="Survival models, comma-separated: keys of the catalogue, package.module:Class or ./file.py:Class "
            "(default: the paper's five; an unknown name lists all)."
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            help="Ranking methods over every model, comma-separated (default: bootstrapped, and stacked over Cox; an "
            "unknown name lists all)."
        ),
    ] = None,
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
    jobs: Annotated[int | None, typer.Option(help="Number of parallel jobs (default: one per core).")] = None,
    dask: Annotated[str | None, typer.Option(help="A Dask scheduler (tcp://…), or local:2.")] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed (0).", min=LEAST["seed"])] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
) -> None:
    """Compare survival models, and ranking methods over them, by what an allocation gains from them.

    Examples: lifeyears compare support2; lifeyears compare my.csv --time years --event died --drop patient_id;
    lifeyears compare my.csv --time days --event died --entry listed --split temporal
    """
    asked: Json = {name: value for name, value in locals().items() if name not in ("data", *COMMAND_LINE_ONLY)}
    from ..experiments import MODELS
    from ..scoring import needs_positive_times
    from ._data import load_data_to_split, split_names
    from ._runs import (
        choose_arms,
        count_jobs,
        print_plan,
        resolve_methods,
        resolve_models,
        run_and_show,
        write_command,
    )

    asked = _add_config(asked, config)
    jobs = count_jobs(asked["jobs"])
    used_seed: int = _or(asked["seed"], 0)
    own = table.select_table_options(asked)
    dataset, own = load_data_to_split(asked["split"], data, asked["horizon"], asked["rows"], used_seed, own)
    if dataset.report is not None:
        print(dataset.report)
    used_folds: int = _or(asked["folds"], 5)
    bases = MODELS if asked["models"] is None else resolve_models(asked["models"], "--models")
    rankers = None if asked["methods"] is None else resolve_methods(asked["methods"], "--methods")
    at_once = int((dataset.y.event & (dataset.y.time == 0)).sum())
    if at_once and asked["models"] is None:
        events = f"{at_once:,} events are" if at_once > 1 else "1 event is"
        for model in filter(needs_positive_times, bases):
            print(f"{model} is left out: {events} at time 0, and it works with the logarithm of time.")
        bases = tuple(model for model in bases if not needs_positive_times(model))
    options: Json = {
        "iterations": _or(asked["iterations"], 1),
        "folds": used_folds,
        "tau": float(dataset.horizon),
        **choose_arms(bases, rankers),
        "waitlist": _or(asked["waitlist"], max(2, min(256, len(dataset) // used_folds // 8))),
        "k": _or(asked["k"], 1),
        "split": _or(asked["split"], "random"),
        "subgroups": tuple("centre" if name == own["centre"] else name for name in split_names(asked["subgroups"])),
        "seed": used_seed,
    }
    if dry_run:
        print_plan("full", dataset, jobs, options)
        return
    again = write_command(
        "compare",
        data,
        **own,
        rows=asked["rows"],
        horizon=options["tau"],
        methods=rankers,
        **{name: options[name] for name in ("models", "waitlist", "k", "iterations", "folds", "split", "seed")},
        subgroups=options["subgroups"] or None,
    )
    folder = out or Path(f"comparison-{dataset.name}")
    finished = run_and_show("full", dataset, folder, jobs, dask, again, options)
    used = finished.summary.waitlist.used
    if asked["waitlist"] is None and used < 256:
        print(f"Waitlists of {used}, not 256: an eighth of a test fold.")


def _add_config(options: Json, path: Path | None) -> Json:
    """Options of a file, beneath those of the command line."""
    if path is None:
        return options
    import tomllib

    try:
        with wrap_file_errors(path):
            content = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise RequestError(f"{path} is not TOML: {error}") from None
    except UnicodeDecodeError as error:
        raise RequestError(f"{path} is not UTF-8 text (byte {error.start:,}): save it as UTF-8") from None
    held: dict[str, object] = {}
    for key, value in content.items():
        name = key.replace("-", "_")
        _check_key(path, key, name, options)
        if name in held:
            raise RequestError(f"{path} has {name} twice, with - and with _: keep one")
        held[name] = _check_option(path, name, value)
    return {name: held.get(name) if value is None else value for name, value in options.items()}


def _check_key(path: Path, key: str, name: str, known: Iterable[str]) -> None:
    """Refuse what is no option, or none that a file may have."""
    from ..text import did_you_mean

    if name in COMMAND_LINE_ONLY:
        raise RequestError(f"{path} has {key}, which is for the command line alone: --{name.replace('_', '-')}")
    if name not in known:
        close = did_you_mean(name, known)
        raise RequestError(f"{path} has {key}, which is no option{close}; known are {', '.join(known)}")


def _check_option(path: Path, name: str, value: object) -> object:
    """Return an option of a file as the command line would have taken it: a number, or text, names by commas."""
    if name in LEAST:
        check = check_number if name == "horizon" else check_whole
        try:
            return check(name, value, LEAST[name], MOST)
        except RequestError as error:
            raise RequestError(f"{path}: {error}") from None
    parts = value if name in LISTS and isinstance(value, list) else [value]
    if name == "event_values" and not isinstance(value, str):  # codes may be numbers
        parts = value = [str(part) if isinstance(part, (int, float)) else part for part in parts]
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) < len(parts):
        raise RequestError(f"{path}: {name} must be text{' or a list of texts' * (name in LISTS)}; got {value!r}")
    return value if name in LISTS and name not in ("models", "methods") else ",".join(texts)


def _or(value: _Value | None, default: _Value) -> _Value:
    return default if value is None else value
