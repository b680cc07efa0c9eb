"""`lifeyears rank`: the candidates of one organ, best first."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._files import wrap_file_errors
from ..errors import RequestError

if TYPE_CHECKING:
    from .._typing import Json

log = logging.getLogger(__name__)

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def command(
    model: Annotated[Path, typer.Argument(help="A folder that `lifeyears fit` wrote.")],
    candidates: Annotated[Path, typer.Argument(help="A table with one row a candidate.")],
    out: Annotated[Path, typer.Option(help="Folder for ranked.csv.")],
    donor: Annotated[Path | None, typer.Option(help="A JSON file: the donor's columns and values.")] = None,
    k: Annotated[int, typer.Option(help="Places among which Algorithm 1 draws.", min=1)] = 5,
    id: Annotated[str | None, typer.Option(help="A column of the table to carry along.")] = None,
) -> None:
    """Rank candidates by expected years, with intervals, Algorithm 1's chances and the reasons.

    Example: lifeyears rank model waitlist.csv --donor donor.json --k 5 --out match
    """
    from .._files import check_out_folder, write_whole
    from ..data.tables import read_candidates
    from ..scoring import MatchModel, RowError
    from ._tables import show

    folder = check_out_folder(out)
    loaded = MatchModel.load(model)
    source = read_candidates(candidates, [column.name for column in loaded.schema.columns if column.kind == "category"])
    log.info("read %d candidates from %s", len(source.frame), source.label)
    if id is not None and id not in source.frame:
        raise RequestError(f"--id names {id}; {source.label} has {', '.join(map(str, source.frame))}")
    shared = {} if donor is None else _read_donor(donor, loaded.schema.names)
    try:
        table = loaded.schema.frame(source.frame, shared)
    except RowError as error:
        in_donor = donor is not None and error.column in shared
        file = donor.name if donor is not None and in_donor else source.label
        row = "" if error.row is None else f", {source.row_word} {source.row_numbers[error.row]}"
        lacking = error.code == "missing_column" and error.column in loaded.schema.donor_names
        advice = "; what belongs to the donor can be given with --donor" if lacking else ""
        raise RequestError(f"{error.placed(file + row)}{advice}", code=error.code) from None
    ranking = loaded.rank(table, k)
    ranked = ranking.frame()
    if id is not None:
        ranked.insert(2, id, source.frame[id].to_numpy()[ranking.order])
    ranked["row"] += 1  # as people count, and errors do
    unit = loaded.card["data"]["unit"]
    marks = choose_times(unit, loaded.tau)
    ranked[list(marks)] = loaded.ranker.predict_curves(table.frame(), list(marks.values())).survival[ranking.order]
    shown = ranked.drop(columns=[*marks, "reasons"]).head(10)  # what fits in 80 columns
    texts = {name: ranked[name].map(defuse_formula) for name in ranked if ranked[name].dtype.kind not in "iuf"}
    written = ranked.assign(**texts).rename(columns=defuse_formula).to_csv(index=False)  # numbers with all their digits
    write_whole(folder / "ranked.csv", written.encode())
    count = f"{len(ranked):,} candidate{'s' if len(ranked) > 1 else ''}"
    show(shown, title=f"{count} by {loaded.name}" + (": the first 10" if len(ranked) > 10 else ""), digits=2)
    in_unit = "in the unit of the training table" if unit == "time units" else f"in {unit}"
    print(f"Why the first: {ranked['reasons'][0]}")
    print("row: of the table, the first is 1 (its header not counted)")
    print(f"years: expected within {loaded.tau:.4g}, {in_unit}")
    if "low" in ranked:
        print("low, high: 95% interval of the mean of held-out people with like predictions")
    print(f"probability: of being drawn by Algorithm 1, which draws among the first {k}")
    print(f"{', '.join(marks)}: chance to be without the event then; with the reasons, in the file")
    outside = loaded.schema.outside(table)
    if outside:
        columns = ", ".join(f"{column} ({count})" for column, count in list(outside.items())[:5])
        print(f"Outside what training saw, so extrapolated: {columns}{' and more' if len(outside) > 5 else ''}.")
    print(loaded.card["use"])
    print(f"All of them: {folder / 'ranked.csv'}")


def choose_times(unit: str, tau: float) -> dict[str, float]:
    """Choose the columns of survival probabilities, and their times: 1, 5 and 10 years, whatever the data's unit is.

    At half of the horizon and at its end where that is before the first of them, or the unit is not one of time.
    """
    from ..units import is_known_unit, year_in

    times = [float(round(years * year_in(unit))) for years in (1, 5, 10)] if is_known_unit(unit) else []
    marks = [time for time in times if time <= tau] or [tau / 2, tau]
    end = "" if unit == "years" else f"_{unit}"
    return {f"alive_at_{mark:.10g}{end}": mark for mark in marks}


def defuse_formula(value: object) -> object:
    """Put an apostrophe before text that a spreadsheet would take for a formula, as in the page's downloads."""
    from ..data.tables import find_decimal_marks

    if isinstance(value, str) and value.startswith(FORMULA_STARTS) and not find_decimal_marks([value]):
        return f"'{value}"
    return value


def _read_donor(path: Path, names: list[str]) -> Json:
    """Read the donor's columns, each known to the model."""
    import json

    from ..text import did_you_mean

    def refuse(text: str) -> None:
        raise RequestError(f"{path.name}: {text} is no number that can be used; write null where it is not known")

    try:
        with wrap_file_errors(path):
            values = json.loads(path.read_text(encoding="utf-8-sig"), parse_constant=refuse)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RequestError(f"{path.name} is not JSON: {error}") from None
    if not isinstance(values, dict):
        raise RequestError(f'{path.name} must hold an object of columns and values, such as {{"donor_age": 34}}')
    unknown = [name for name in values if name not in names]
    if unknown:
        raise RequestError(f"{path.name}: the model has no column {unknown[0]!r}{did_you_mean(unknown[0], names)}")
    return values
