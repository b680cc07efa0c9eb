"""The command line's terms: a setting of the library as the option that sets it."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import NOT_GIVEN, Dialect, Setting, python_terms, render
from ._session import ALL_OPTIONS, current_session

if TYPE_CHECKING:
    from ..data import DataReport

# Parameters in Python whose option has another name.
ALIASES = {
    "tau": "horizon",
    "random_state": "seed",
    "n_jobs": "jobs",
    "n": "rows",
    "path": "out",
    "names": "allow_host",
    "token": "token_file",
}


def option_terms(setting: Setting) -> str:
    """Render a setting as an option of the command under way or of another; in Python's terms if none has it.

    Examples
    --------
    >>> option_terms(Setting("event_values", 2)), option_terms(Setting("tau")), option_terms(Setting("drop", ["a b"]))
    ('--event-values 2', '--horizon', "--drop 'a b'")
    >>> option_terms(Setting("models", ["KM", "Cox"])), option_terms(Setting("overwrite", True))
    ('--models KM,Cox', '--overwrite')
    """
    names = (setting.name, ALIASES.get(setting.name, setting.name))
    name = next((name for known in (current_session().options, ALL_OPTIONS) for name in names if name in known), None)
    if name is None:
        return python_terms(setting)
    option = f"--{name.replace('_', '-')}"
    if setting.value is NOT_GIVEN or isinstance(setting.value, bool) or setting.value is None:
        return option
    return f"{option} {shlex.quote(option_text(setting.value))}"


def option_text(value: object) -> str:
    """Write a value as an option takes it: numbers without needless digits, lists with commas.

    Examples
    --------
    >>> option_text(20.0), option_text(("KM", "Cox")), option_text(0.1)
    ('20', 'KM,Cox', '0.1')
    """
    if isinstance(value, (list, tuple, set, frozenset)):
        return ",".join(map(option_text, value))
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def table_terms(setting: Setting) -> str:
    """Render a setting of `read_table`, whose subgroups are, on the command line, the column of the centre."""
    return option_terms(replace(setting, name="centre") if setting.name == "subgroups" else setting)


def render_report(report: DataReport, dialect: Dialect = option_terms) -> DataReport:
    """Render what was noticed while reading."""
    return replace(
        report,
        dropped_rows={render(reason, dialect): count for reason, count in report.dropped_rows.items()},
        dropped_columns={name: render(reason, dialect) for name, reason in report.dropped_columns.items()},
        warnings=tuple(render(warning, dialect) for warning in report.warnings),
        leaks=tuple(render(warning, dialect) for warning in report.leaks),
    )
