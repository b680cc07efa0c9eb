"""The sections of the report of a run."""

from __future__ import annotations

from ._page import Section
from ._run import RunView

# To add a section to the report, write its template in templates/run/ and add one entry here, at its place on the page.
# The template gets `view`, a RunView: `view.table("audit")` and `view.figure("audit")` are the tables and charts of the
# run by key (None where the run has none), `view.summary` is the typed summary. What a table or chart needs beyond that
# is a property of RunView. `parts.html.j2` has the macros that show tables, figures and findings. Conclusions are not
# worded here: name the codes of the findings that the section shows, and call `parts.conclusions(section.findings)`.
SECTIONS: tuple[Section[RunView], ...] = (
    Section("answer", "The answer", "run/answer.html.j2"),
    Section("audit", "The decision audit", "run/audit.html.j2", findings=("c_index", "bound")),
    Section(
        "values",
        lambda view: f"{view.unit.capitalize()} per allocation and NDCG",
        "run/values.html.j2",
        findings=("unreliable_ipcw",),
    ),
    Section(
        "headroom",
        "Headroom: how much a better ranking could gain",
        "run/headroom.html.j2",
        lambda view: view.table("headroom") is not None,
    ),
    Section("paper", "The paper's tables and figures", "run/paper.html.j2", lambda view: view.has_paper_tables),
    Section("support", "Support at the horizon", "run/support.html.j2", findings=("no_support",)),
    Section("calibration", "Calibration", "run/calibration.html.j2"),
    Section("subgroups", "Who receives the allocations", "run/subgroups.html.j2"),
    Section("cohort", "Cohort", "run/cohort.html.j2"),
    Section("methods", "Methods", "run/methods.html.j2"),
    Section("limits", "Limits", "run/limits.html.j2"),
    Section("rerun", "Run it again", "run/rerun.html.j2"),
    Section("tripod", "TRIPOD+AI checklist", "run/tripod.html.j2"),
)
