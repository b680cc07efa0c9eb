"""The page as one file: head, contents, sections, style and scripts, and a policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from ._static import static_text
from ._templates import load_environment

if TYPE_CHECKING:
    from ..experiments.types import Finding

SCRIPTS = ("plotly-basic.min.js", "report.js")
STYLE = "report.css"

View = TypeVar("View")


@dataclass(frozen=True)
class Fact:
    """A name and a value in the head of the page."""

    name: str
    value: str


@dataclass(frozen=True)
class Section(Generic[View]):
    """A section that a report can have.

    Attributes
    ----------
    key : str
        Its anchor.
    title : str or callable
        Its heading; a function of the view where the heading depends on it.
    template : str
        Below ``templates/``; it gets `view`, the data of the whole report.
    applies : callable
        Of the view: whether the section is shown.
    findings : tuple of str
        Codes of the findings that it shows.
    """

    key: str
    title: str | Callable[[View], str]
    template: str
    applies: Callable[[View], bool] = lambda view: True
    findings: tuple[str, ...] = ()


@dataclass(frozen=True)
class SectionView:
    """A section of one page: its anchor, heading and template, the data that the template gets, and its findings."""

    key: str
    title: str
    template: str
    view: object
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class PageView:
    """All that the page is made of."""

    title: str
    subtitle: str
    facts: tuple[Fact, ...]
    sections: tuple[SectionView, ...]
    policy: str


def view_sections(
    sections: Iterable[Section[View]], view: View, findings: Sequence[Finding] = ()
) -> tuple[SectionView, ...]:
    """Prepare the sections that apply.

    A finding is shown by the section that names its code; serious ones, and those that no section names, by the first.
    """
    shown = [section for section in sections if section.applies(view)]
    owners = {code: section.key for section in shown for code in section.findings}
    placed: dict[str, list[Finding]] = {section.key: [] for section in shown}
    for finding in findings:
        owner = None if finding.severity == "serious" else owners.get(finding.code)
        placed[owner or shown[0].key].append(finding)
    return tuple(
        SectionView(
            section.key,
            section.title if isinstance(section.title, str) else section.title(view),
            section.template,
            view,
            tuple(placed[section.key]),
        )
        for section in shown
    )


def render_page(title: str, subtitle: str, facts: Sequence[Fact], sections: Sequence[SectionView]) -> str:
    """Render the whole page. Scripts and style run only if their hash is the one given in the head."""
    page = PageView(title, subtitle, tuple(facts), tuple(sections), _write_policy())
    return load_environment().get_template("page.html.j2").render(page=page)


def _write_policy() -> str:
    scripts = " ".join(_hash(static_text(name)) for name in SCRIPTS)
    # plotly adds one empty style element and fills it by rules; it sets positions by style attributes
    return (
        f"default-src 'none'; script-src {scripts}; style-src-elem {_hash(static_text(STYLE))} {_hash('')}; "
        "style-src-attr 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
