"""The TRIPOD+AI checklist: which section of the report covers an item, and what is left to the authors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..experiments.types import ColumnNote, Table
from ._tables import view_table

if TYPE_CHECKING:
    from ._tables import TableView

TOP = "top"  # the anchor of the head of the page


@dataclass(frozen=True)
class ChecklistItem:
    """An item of TRIPOD+AI.

    Attributes
    ----------
    number, topic : str
    section : str
        Key of the section that covers it; empty if none can.
    left : str
        What the authors have to add.
    """

    number: str
    topic: str
    section: str = ""
    left: str = ""


# Collins et al., TRIPOD+AI statement, BMJ 2024
CHECKLIST = (
    ChecklistItem("1", "Title", "top", "name the target population and outcome"),
    ChecklistItem("2", "Abstract", "answer", "see TRIPOD+AI for Abstracts"),
    ChecklistItem("3a–c", "Background: context, target population, known inequalities", "", "for the authors"),
    ChecklistItem("4", "Objectives", "answer"),
    ChecklistItem(
        "5a–b", "Data: sources and dates", "cohort", "dates of collection, and which population the data represent"
    ),
    ChecklistItem("6a–c", "Participants: setting, eligibility, treatments", "cohort", "setting and treatments"),
    ChecklistItem("7", "Data preparation", "methods"),
    ChecklistItem(
        "8a–c", "Outcome: definition, assessment, blinding", "methods", "how and by whom the outcome was assessed"
    ),
    ChecklistItem(
        "9a–c", "Predictors: choice, definition, assessment", "cohort", "how and when predictors were measured"
    ),
    ChecklistItem("10", "Sample size", "cohort", "why it is enough"),
    ChecklistItem("11", "Missing data", "methods"),
    ChecklistItem("12a–g", "Analytical methods: use of data, models, performance measures", "methods"),
    ChecklistItem("13", "Class imbalance", "methods", "not applicable: nothing is resampled to balance classes"),
    ChecklistItem("14", "Fairness: approaches and rationale", "subgroups", "why these groups"),
    ChecklistItem("15", "Model output", "methods"),
    ChecklistItem("16", "Training versus evaluation", "methods"),
    ChecklistItem("17", "Ethical approval", "", "for the authors"),
    ChecklistItem("18a–b", "Funding and conflicts of interest", "", "for the authors"),
    ChecklistItem("18c–d", "Protocol and registration", "rerun", "whether the plan was registered"),
    ChecklistItem("18e–f", "Sharing of data and code", "rerun", "how others get the data"),
    ChecklistItem("19", "Patient and public involvement", "", "for the authors"),
    ChecklistItem("20a–c", "Participants: flow, characteristics, comparison of splits", "cohort"),
    ChecklistItem("21", "Model development: participants and events in each analysis", "cohort"),
    ChecklistItem(
        "22", "Full model specification", "rerun", "save fitted models with ly.save: a run keeps scores, not models"
    ),
    ChecklistItem("23a–b", "Model performance with intervals, also in subgroups; heterogeneity", "values"),
    ChecklistItem("24", "Model updating", "", "not applicable: nothing was updated"),
    ChecklistItem("25", "Interpretation, with fairness and earlier studies", "audit", "the authors' interpretation"),
    ChecklistItem("26", "Limitations", "limits"),
    ChecklistItem(
        "27a–c", "Usability: poor input, user interaction, next steps", "limits", "how it would be used in care"
    ),
)


def view_checklist(titles: Mapping[str, str]) -> TableView:
    """Prepare the checklist; `titles` are the headings of the page's sections by key."""
    names = {**titles, TOP: "top of the page"}
    columns = (
        ColumnNote("item", "item", "text"),
        ColumnNote("topic", "requires", "text"),
        ColumnNote("section", "section", "text"),
        ColumnNote("left", "left to the authors", "text"),
    )
    rows = tuple((item.number, item.topic, names.get(item.section), item.left) for item in CHECKLIST)
    return view_table(
        "tripod",
        Table("Items, and where they are covered", columns, rows),
        link=lambda key, row: CHECKLIST[row].section if key == "section" else "",
    )
