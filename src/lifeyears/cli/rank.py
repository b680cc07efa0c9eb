"""`lifeyears rank`: the candidates of one organ, best first."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


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
    if id is not None and id not in source.frame:
        raise ValueError(f"--id names {id}; {source.label} has {', '.join(map(str, source.frame))}")
    given = {} if donor is None else _donor(donor, loaded.schema.names)
    try:
        table = loaded.schema.frame(source.frame, given)
    except RowError as error:
        of_donor = donor is not None and error.column in given
        place = [donor.name if donor is not None and of_donor else source.label]
        place += [] if error.row is None else [f"{source.row_word} {source.row_numbers[error.row]}"]
        place += [] if error.column is None else [f"column {error.column}"]
        lacking = error.code == "missing_column" and error.column in loaded.schema.donor_names
        advice = "; what belongs to the donor can be given with --donor" if lacking else ""
        problem = error.problem if of_donor else error.problem.replace("null where", "a blank cell where")
        raise ValueError(f"{', '.join(place)}: {problem}{advice}") from None
    ranking = loaded.rank(table, k)
    found = ranking.frame()
    if id is not None:
        found.insert(2, id, source.frame[id].to_numpy()[ranking.order])
    found["row"] += 1  # as people count, and errors do
    unit = loaded.card["data"]["unit"]
    marks = _marks(unit, loaded.tau)
    found[list(marks)] = loaded.ranker.predict_curves(table.frame(), list(marks.values())).survival[ranking.order]
    shown = found.drop(columns=[*marks, "reasons"]).head(10)  # what fits in 80 columns
    texts = {name: found[name].map(_no_formula) for name in found if found[name].dtype.kind not in "iuf"}
    written = found.assign(**texts).rename(columns=_no_formula).to_csv(index=False)  # numbers with all their digits
    write_whole(folder / "ranked.csv", written.encode())
    many = f"{len(found):,} candidate{'s' if len(found) > 1 else ''}"
    show(shown, title=f"{many} by {loaded.name}" + (": the first 10" if len(found) > 10 else ""), digits=2)
    told = "in the unit of the training table" if unit == "time units" else f"in {unit}"
    print(f"Why the first: {found['reasons'][0]}")
    print("row: of the table, the first is 1 (its header not counted)")
    print(f"years: expected within {loaded.tau:.4g}, {told}")
    if "low" in found:
        print("low, high: 95% interval of the mean of held-out people with like predictions")
    print(f"probability: of being drawn by Algorithm 1, which draws among the first {k}")
    print(f"{', '.join(marks)}: chance to be without the event then; with the reasons, in the file")
    outside = loaded.schema.outside(table)
    if outside:
        named = ", ".join(f"{column} ({many})" for column, many in list(outside.items())[:5])
        print(f"Outside what training saw, so extrapolated: {named}{' and more' if len(outside) > 5 else ''}.")
    print(loaded.card["use"])
    print(f"All of them: {folder / 'ranked.csv'}")


def _marks(unit: str, tau: float) -> dict[str, float]:
    """Columns of chances to be alive, and their times: after 1, 5 and 10 years, whatever the data's unit is.

    At half of the horizon and at its end where that is before the first of them, or the unit is not one of time.
    """
    from ..data.tables._outcome import DAYS_IN

    days = DAYS_IN.get(unit)
    times = [] if days is None else [float(round(years * DAYS_IN["years"] / days)) for years in (1, 5, 10)]
    marks = [time for time in times if time <= tau] or [tau / 2, tau]
    end = "" if unit == "years" else f"_{unit}"
    return {f"alive_at_{mark:.10g}{end}": mark for mark in marks}


def _no_formula(value: Any) -> Any:
    """Text that a spreadsheet would take for a formula, with an apostrophe, as in the page's downloads."""
    from ..data.tables._numbers import readings

    risky = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) and not readings([value])
    return f"'{value}" if risky else value


def _donor(path: Path, names: list[str]) -> dict[str, Any]:
    """The donor's columns, each known to the model."""
    import json

    def refuse(text: str) -> Any:
        raise ValueError(f"{path.name}: {text} is no number that can be used; write null where it is not known")

    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"), parse_constant=refuse)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}. Check the name and the folder") from None
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path.name} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f'{path.name} must hold an object of columns and values, such as {{"donor_age": 34}}')
    unknown = [name for name in found if name not in names]
    if unknown:
        from difflib import get_close_matches

        close = get_close_matches(unknown[0], names, 1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise ValueError(f"{path.name}: the model has no column {unknown[0]!r}{hint}")
    return found
