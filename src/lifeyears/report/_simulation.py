"""The report of a simulation: policies compared on one waiting list."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .._files import write_whole
from .._views import Chart, Series, forest, format_number
from ._elements import Page, bullets, details, escape, paragraphs
from ._page import assemble_page

if TYPE_CHECKING:
    import pandas as pd

    from .._typing import PathLike
    from ..simulation import Simulation

SHOWN = {
    "life_years_gained": ("years gained, a year", 0),
    "life_years_per_transplant": ("years a transplant", 2),
    "waitlist_deaths_per_100_patient_years": ("deaths per 100 patient-years", 1),
    "transplants_per_year": ("transplants a year", 0),
    "hearts_lost_per_year": ("hearts lost a year", 0),
    "waiting_days_median": ("median wait, days", 1),
}
DRAWN = tuple(SHOWN)[:3]
RATE = "transplants_per_100_patient_years"
ASSUMPTIONS = [
    "No patient, donor or rate is real. Rates are set by hand so that totals under the US policy come near published "
    "ones; what follows under other policies is a direction, not a forecast.",
    "Findings do not change on the list; who worsens is more likely to die, but lives as long after a transplant.",
    "Who accepts a heart depends on status and on the heart; centres have no habits, and nobody adapts to a policy.",
    "Intervals tell how well the simulation was averaged over its replicates, not how well it describes the world. "
    "Models are fitted once, before the first replicate: their own luck is not in the intervals.",
    "The policy that knows the truth is myopic: it gives each heart to the longest life, and does not ask who could "
    "have waited.",
]


def render_simulation(result: Simulation) -> str:
    """Render the report of a simulation as one page of HTML.

    Parameters
    ----------
    result : Simulation

    Returns
    -------
    str
        The whole page, style and scripts within it.
    """
    config, world = result.config, result.config.world
    facts = [
        ("policies", f"{len(config.policies)}"),
        ("years", f"{config.years:g}"),
        ("replicates", f"{config.replicates:,}"),
        ("listed a year", f"{world.listed_per_year:,.0f}"),
        ("hearts a year", f"{world.donors_per_year:,.0f}"),
        ("horizon", f"{world.tau:g} years"),
    ]
    page = Page("years")
    for add in (_answer, _differences, _groups, _settings):
        add(page, result)
    subtitle = str(result.summary()["label"])
    return assemble_page(page, "Policies on a simulated heart waiting list", subtitle, facts)


def write_simulation_report(result: Simulation, folder: PathLike) -> Path:
    """Write the report of a simulation, whole or not at all.

    Parameters
    ----------
    result : Simulation
    folder : path
        It gets ``report.html``.

    Returns
    -------
    Path
        The file.
    """
    path = Path(folder) / "report.html"
    write_whole(path, render_simulation(result).encode())
    return path


POLICIES = {
    "us_status": "the US policy: by status, zone and blood group, then by time on the list",
    "first_come": "by time on the list alone",
    "uniform": "by lot",
    "greedy": "the most expected years, by a Cox model",
    "greedy_ranker": "the most expected years, by the ranker",
    "position_weighted": "Algorithm 1 of the paper over the ranker: drawn by position among the first 5",
    "lyg": "the most life-years gained, with a heart less without it, by a Cox model",
    "oracle": "the most expected years, by who knows the truth",
    "oracle_lyg": "the most life-years gained, by who knows the truth",
}


def _policies(result: Simulation) -> str:
    """What the policies are, where they are first named."""
    from ..simulation import NAMED_POLICIES, as_policy

    chosen = [as_policy(policy) for policy in result.config.policies]
    described = [f"{one.name}: {POLICIES[one.name]}." for one in chosen if NAMED_POLICIES.get(one.name) is one]
    others = [one.name for one in chosen if NAMED_POLICIES.get(one.name) is not one]
    return bullets(described + ([f"{', '.join(others)}: see the settings."] if others else []))


def _answer(page: Page, result: Simulation) -> None:
    reference, label = str(result.config.reference), str(result.summary()["label"])
    figures = [_forest(page, f"policies-{name}", result.table, name, reference) for name in DRAWN]
    page.section(
        "answer",
        "The answer",
        f'<p class="answer">{escape(result.reading().removesuffix(label))}</p>',
        _policies(result),
        *figures,
        page.table("measures", _wide(result.table), f"What each policy did, {result.intervals}"),
        paragraphs(
            "Years gained count everybody on the list: expected years with each heart less those without it. Years a "
            "transplant count recipients alone, and reward passing over the urgent. The median wait is of those who "
            "were transplanted."
        ),
    )


def _differences(page: Page, result: Simulation) -> None:
    if not len(result.differences):
        return
    reference = str(result.config.reference)
    common = result.config.common_random_numbers
    page.section(
        "differences",
        f"Against {reference}",
        paragraphs(
            f"Each policy less {reference}, replicate by replicate"
            + (", on the same candidates and the same hearts." if common else ", each policy with people of its own.")
        ),
        *(_forest(page, f"differences-{name}", result.differences, name, None) for name in DRAWN),
        page.table("differences", _wide(result.differences), f"Paired differences against {reference}"),
    )


def _groups(page: Page, result: Simulation) -> None:
    parts = []
    for grouping in result.by_group.index.unique("grouping"):
        key = str(grouping).replace(" ", "-")
        parts += [
            f"<h3>{escape(str(grouping).capitalize())}</h3>",
            page.figure(f"group-{key}", _by_level(result, str(grouping)), f"Transplants by {grouping}.", f"by-{key}"),
            page.table(f"by-{key}", _group_table(result.by_group, grouping), f"By {grouping}"),
        ]
        if len(result.group_differences):
            gaps = _group_table(result.group_differences, grouping)
            title = f"By {grouping}: paired differences against {result.config.reference}"
            parts.append(details("Paired differences", page.table(f"differences-by-{key}", gaps, title)))
    page.section("groups", "Who gains, who waits", *parts)


def _settings(page: Page, result: Simulation) -> None:
    import pandas as pd

    settings = result.config.to_dict()
    world = settings.pop("world")
    policies = [{"policy": each.pop("name"), **each} for each in settings.pop("policies")]
    rows = [(name, str(value)) for name, value in {**settings, **world}.items()]
    page.section("limits", "Limits", bullets(ASSUMPTIONS))
    page.section(
        "settings",
        "Settings",
        page.table("policies", pd.DataFrame(policies).astype(object), "Policies"),
        page.table("world", pd.DataFrame(rows, columns=["setting", "value"]), "What was simulated"),
        paragraphs("config.json, beside this page, holds them too: lifeyears simulate config.json does it again."),
    )


def _wide(table: pd.DataFrame) -> pd.DataFrame:
    """One row a policy; of each measure value, low and high."""
    return _side_by_side(table, {name: words for name, (words, _) in SHOWN.items()})


def _group_table(table: pd.DataFrame, grouping: str) -> pd.DataFrame:
    part = table.xs(grouping, level="grouping")
    return _side_by_side(part, {name: _words(name) for name in part.index.unique("measure")})


def _side_by_side(table: pd.DataFrame, measures: dict[str, str]) -> pd.DataFrame:
    """Value, low and high of each measure, under its words."""
    import pandas as pd

    columns: dict[str, pd.Series] = {}
    for name, words in measures.items():
        rows = table.xs(name, level="measure")
        columns |= {words: rows["value"], f"{words} low": rows["low"], f"{words} high": rows["high"]}
    return pd.DataFrame(columns)


def _forest(page: Page, key: str, table: pd.DataFrame, measure: str, reference: str | None) -> str:
    """A measure of every policy (with the reference's as a line), or of every difference (with a line at 0)."""
    words, digits = SHOWN[measure]
    rows = table.xs(measure, level="measure").dropna(subset="value")
    if rows.empty:
        return ""
    names = [str(name) for name in rows.index]
    text = ", ".join(f"{name} {format_number(value, digits)}" for name, value in zip(names, rows["value"], strict=True))
    line = (0.0, "") if reference is None else None
    if reference in rows.index:
        line = (float(rows.loc[reference, "value"]), str(reference))
    value, low, high = (rows[part].tolist() for part in ("value", "low", "high"))
    chart = forest(names, value, low, high, words, f"{words}: {text}.", line)
    caption = f"{words.capitalize()}" + (", less the reference's." if reference is None else ".")
    lines = "" if rows["low"].isna().all() else " Lines are 95% Monte Carlo intervals."
    return page.figure(key, chart, f"{caption}{lines}", key.split("-")[0])


def _by_level(result: Simulation, grouping: str) -> Chart:
    """Transplants per 100 patient-years of every level, a series a policy."""
    rates = result.by_group.xs((grouping, RATE), level=("grouping", "measure"))
    levels = tuple(str(level) for level in rates.index.unique("level"))
    names = [str(name) for name in rates.index.unique("policy")]
    series = tuple(
        Series(name, [float(rates.loc[(name, level), "value"]) for level in levels], levels, colour=place, marker=place)
        for place, name in enumerate(names)
    )
    text = "; ".join(
        f"{one.name}: " + ", ".join(f"{level} {format_number(x, 0)}" for level, x in zip(levels, one.x, strict=True))
        for one in series
    )
    return Chart(f"{text}.", _words(RATE), "", series, rows=levels)


def _words(measure: object) -> str:
    return str(measure).replace("_", " ").replace("patient years", "patient-years")
