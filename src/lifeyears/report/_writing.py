"""From a run's folder to its page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .._files import write_whole
from ._answer import format_time
from ._page import assemble_page
from ._reading import Summary, read_summary
from ._sections import make_report_page
from ._side_by_side import make_side_by_side_page, name_runs

if TYPE_CHECKING:
    from .._typing import PathLike


def as_html(summary: Summary) -> str:
    """Render the report of a run as one page of HTML.

    Parameters
    ----------
    summary : Summary
        From `read_summary`.

    Returns
    -------
    str
        The whole page, style and scripts within it.
    """
    data, plan, unit = summary["data"], summary["plan"], summary.unit
    facts = [
        ("patients", f"{data['used']:,}"),
        ("events", f"{data['events']:,}"),
        ("predictors", f"{data['features']:,}"),
        ("horizon", f"{format_time(plan['tau'])} {unit}"),
        ("waitlist", f"{summary['waitlist']['used']:,}"),
        ("evaluation", f"{plan['iterations']} × {plan['folds']} folds, {plan['split']}"),
    ]
    subtitle = f"Survival models judged by what an allocation gains from them: {unit} of life. " + (
        "Artificial censoring, judged by the truth." if summary["protocol"] == "artificial" else "The data as they are."
    )
    if data["simulated"]:
        subtitle += " The patients are simulated: none is real, and this is no evidence on care."
    title = f"{data['name']}: which model should drive allocation?"
    return assemble_page(make_report_page(summary), title, subtitle, facts)


def as_html_beside(first: Summary, second: Summary) -> str:
    """Render two runs side by side as one page of HTML.

    Parameters
    ----------
    first, second : Summary
        From `read_summary`.

    Returns
    -------
    str
        The whole page, style and scripts within it.
    """
    names = name_runs(first, second)
    facts = [(name, f"{s['data']['name']}, {s['protocol']}") for name, s in zip(names, (first, second), strict=True)]
    title = f"{names[0]} and {names[1]}, side by side"
    return assemble_page(
        make_side_by_side_page(first, second), title, "Two runs, and what changed between them.", facts
    )


def write_report(folder: PathLike, other: PathLike | None = None, out: PathLike | None = None) -> Path:
    """Write the report of a run, or of two side by side.

    Parameters
    ----------
    folder : path
        The run's folder, with its summary.json: nothing else is read.
    other : path, optional
        A second run, to put beside it.
    out : path, optional
        The file, if it ends in ``.html`` or ``.htm``, or a folder, which gets ``report.html``; by default
        ``report.html`` in the run's folder (``report-beside-OTHER.html`` with two).

    Returns
    -------
    Path
        The file.
    """
    first = read_summary(folder)
    if other is None:
        path, text = Path(folder) / "report.html", as_html(first)
    else:
        second = read_summary(other)
        path, text = Path(folder) / f"report-beside-{second.name}.html", as_html_beside(first, second)
    if out is not None:
        path = _choose_file(Path(out))
    write_whole(path, text.encode())
    return path


def _choose_file(out: Path) -> Path:
    is_file = not out.is_dir() and (out.is_file() or out.suffix.lower() in (".html", ".htm"))
    return out if is_file else out / "report.html"
