"""Options that several commands share: how a table of one's own is read (`read_table` has the same, by these names)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias, cast

import typer

Time = Annotated[str | None, typer.Option(help="The column of the observed time.")]
Event = Annotated[str | None, typer.Option(help="The column of the event.")]
EventValues = Annotated[
    str | None,
    typer.Option(help="Its values that mean an event, comma-separated, if not obvious (2; died,lost)."),
]
Entry = Annotated[str | None, typer.Option(help="The column of the date of entry.")]
Exit = Annotated[str | None, typer.Option(help="With --entry, in place of --time: the column of the last date.")]
Unit = Annotated[str | None, typer.Option(help="Of the times: hours, days, weeks, months or years.")]
Centre = Annotated[str | None, typer.Option(help="The column of the centre, for splits by it; it is no feature then.")]
Drop = Annotated[str | None, typer.Option(help="Columns to leave out, comma-separated.")]
Keep = Annotated[str | None, typer.Option(help="Columns to keep that look like identifiers, comma-separated.")]
Categorical = Annotated[str | None, typer.Option(help="Columns of codes that look like numbers, comma-separated.")]
Sheet = Annotated[str | None, typer.Option(help="Of a spreadsheet, by name.")]
Delimiter = Annotated[str | None, typer.Option(help="Between fields of a text file, if it cannot be detected.")]
Encoding = Annotated[str | None, typer.Option(help="Of a text file, if it cannot be detected.")]
Decimal = Annotated[str | None, typer.Option(help="The decimal mark, . or , if it cannot be detected.")]
DateFormat = Annotated[str | None, typer.Option(help="How dates are written (%d/%m/%Y), if it cannot be detected.")]

TABLE = (
    *("time", "event", "event_values", "entry", "exit", "unit", "centre", "drop", "keep", "categorical"),
    *("sheet", "delimiter", "encoding", "decimal", "date_format"),
)
TableOptions: TypeAlias = dict[str, str | list[str] | None]


def select_table_options(options: Mapping[str, object]) -> TableOptions:
    """Select those of a command's options that say how its table is read; None for those it does not have."""
    return cast(TableOptions, {name: options.get(name) for name in TABLE})
