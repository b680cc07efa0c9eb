"""From a run's folder to its page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .._files import write_whole
from ..experiments import read_summary
from ._page import Fact, render_page, view_sections
from ._run import RunView
from ._sections import SECTIONS
from ._side_by_side import SECTIONS as PAIR_SECTIONS
from ._side_by_side import view_pair

if TYPE_CHECKING:
    from .._typing import PathLike
    from ..experiments.types import Summary


def as_html(summary: Summary) -> str:
    """Render the report of a run as one page of HTML.

    Parameters
    ----------
    summary : Summary
        From `lifeyears.experiments.read_summary`.

    Returns
    -------
    str
        The whole page, style and scripts within it.
    """
    view, data = RunView(summary), summary.data
    facts = (
        Fact("patients", f"{data.used:,}"),
        Fact("events", f"{data.events:,}"),
        Fact("predictors", f"{data.features:,}"),
        Fact("horizon", view.horizon),
        Fact("candidates per waitlist", f"{summary.waitlist.used:,}"),
        Fact("evaluation", f"{view.plan['iterations']} × {view.plan['folds']} folds, {view.plan['split']}"),
    )
    subtitle = f"Survival models judged by what an allocation gains from them: {view.unit} of life. " + (
        "Artificial censoring, judged by the true lifetimes."
        if summary.protocol == "artificial"
        else "All patients, with the data as they are."
    )
    if data.simulated:
        subtitle += " The patients are simulated: none is real, and this is not evidence about care."
    title = f"{data.name}: which model should guide allocation?"
    return render_page(title, subtitle, facts, view_sections(SECTIONS, view, summary.findings))


def as_html_beside(first: Summary, second: Summary, names: tuple[str, str] = ("A", "B")) -> str:
    """Render two runs side by side as one page of HTML.

    Parameters
    ----------
    first, second : Summary
        From `lifeyears.experiments.read_summary`.
    names : pair of str
        What the runs are called.

    Returns
    -------
    str
        The whole page, style and scripts within it.
    """
    view = view_pair(first, second, names)
    facts = [Fact(run.name, f"{run.view.data.name}, {run.view.summary.protocol} protocol") for run in view.runs]
    title = f"{names[0]} and {names[1]}, side by side"
    return render_page(title, "Two runs, and what differs between them.", facts, view_sections(PAIR_SECTIONS, view))


def write_report(folder: PathLike, other: PathLike | None = None, out: PathLike | None = None) -> Path:
    """Write the report of a run, or of two side by side.

    Parameters
    ----------
    folder : path
        The run's folder, with its summary.json: nothing else is read.
    other : path, optional
        A second run, to compare with the first.
    out : path, optional
        The file, if it ends in ``.html`` or ``.htm``, or a folder, which gets ``report.html``; by default
        ``report.html`` in the run's folder (``report-beside-OTHER.html`` with two).

    Returns
    -------
    Path
        The file.
    """
    first, name = read_summary(folder), Path(folder).resolve().name
    if other is None:
        path, text = Path(folder) / "report.html", as_html(first)
    else:
        second, other_name = read_summary(other), Path(other).resolve().name
        path = Path(folder) / f"report-beside-{other_name}.html"
        names = (name, other_name) if name != other_name else (f"A {name}", f"B {other_name}")
        text = as_html_beside(first, second, names)
    if out is not None:
        path = _choose_file(Path(out))
    write_whole(path, text.encode())
    return path


def _choose_file(out: Path) -> Path:
    is_file = not out.is_dir() and (out.is_file() or out.suffix.lower() in (".html", ".htm"))
    return out if is_file else out / "report.html"
