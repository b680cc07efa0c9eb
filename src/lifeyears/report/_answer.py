"""The answer in a sentence or two, and the four numbers that stand under it."""

from __future__ import annotations

from .._typing import Json
from .._views import format_number
from ._elements import escape
from ._reading import Summary

FRAMEWORKS = {
    "standard": "{} as it is",
    "ranker": "{} with the paper's ranker on top",
    "default": "{} with the default ranker on top",
}
MODELS = {
    "KM": "the Kaplan–Meier estimate",
    "Cox": "the Cox model",
    "AFT": "the Weibull model",
    "DeepSurv": "DeepSurv",
    "DeepHit": "DeepHit",
}
JUDGES = {
    "truth": "the true lifetimes",
    "expected": "the true expected life, which the simulation knows",
    "DR": "doubly robust estimates",
    "EY": "expected years (EY)",
}

CORRECTED = ", corrected for the number of comparisons"


def describe_arm(arm: str) -> str:
    """Describe an arm: "Cox ranker" is the Cox model with the paper's ranker on top.

    Examples
    --------
    >>> describe_arm("Cox ranker")
    "the Cox model with the paper's ranker on top"
    """
    model, _, framework = arm.partition(" ")
    return FRAMEWORKS.get(framework, "{}").format(MODELS.get(model, model))


def format_interval(estimate: Json, value: str = "gain", digits: int = 2) -> str:
    """Format a value with its interval."""
    low, high = (format_number(estimate[end], digits) for end in ("low", "high"))
    text = format_number(estimate[value], digits)
    return f"{text} ({low} to {high})" if estimate["low"] is not None else text


def describe_answer(summary: Summary) -> tuple[str, str]:
    """Describe the answer in a first and a second part."""
    answer, unit, digits = summary["answer"], summary.unit, summary.digits
    best, after = answer["best"], answer["next"]
    value = f"{format_interval(answer, 'years', digits)} {unit} per allocation"
    if after is None:
        return f"There is one model, {best}: {value}.", "With nothing to compare, there is nothing to choose."
    lead = format_interval(after, digits=digits)
    table, alike = summary.tables["audit"], answer["alike"]
    others = [arm for arm in table["model"] + " " + table["framework"] if arm != best]
    count, beaten = len(others), [arm for arm in others if arm not in alike]
    if not alike and lacks_support(summary):
        first = f"By estimates that lack support at the horizon, {best} gives the most."
        second = (
            f"It gives {value}, {lead} more than the next best, {after['arm']}. That is more than chance, but no "
            "interval covers what was never observed."
        )
    elif not alike:
        first = f"Use {best}: {describe_arm(best)}."
        second = (
            f"It gives {value}, {lead} more than the next best, {after['arm']}. The evidence is enough to say that it "
            "is better" + (f" than each of the other {count}{CORRECTED}." if count > 1 else ".")
        )
    elif not beaten:
        first = "The evidence is not enough to prefer any model to another."
        second = (
            f"{best} has the most, {value}, but no difference from the other {count} is beyond chance; over the "
            f"next best, {after['arm']}, it is {lead}. More patients, or another reason, must decide."
        )
    else:
        first = f"{best} gives the most, but the evidence is not enough to prefer it to {join_names(alike)}."
        rest = beaten[0] if len(beaten) == 1 else f"each of the other {len(beaten)}"
        second = (
            f"It gives {value}; the difference from the next best, {after['arm']}, is {lead}. It is better than {rest} "
            f"by more than chance{CORRECTED}."
        )
    if beaten and not summary["intervals"].startswith("corrected"):
        second += " Models are held fixed in this: others, trained on other patients, may come out otherwise."
    if any(warning["serious"] for warning in summary["warnings"]):
        second += " Read the warning above before relying on this."
    return first, second


def lacks_support(summary: Summary) -> bool:
    """Return whether years are estimated without support at the horizon."""
    return bool(summary["support"]["violated"]) and summary["judge"] == "DR"


def join_names(names: list[str], most: int = 4) -> str:
    """Join names for a sentence."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def format_time(value: float) -> str:
    """Format a time without digits that nobody needs.

    Examples
    --------
    >>> format_time(20.0), format_time(15.7975), format_time(2313.0)
    ('20', '15.8', '2,313')
    """
    return format_number(value, 0 if float(value).is_integer() or value >= 1000 else 1 if value >= 10 else 2)


def render_warnings(summary: Summary, serious: bool) -> str:
    """Render the serious warnings, which come before the answer, or the others, which come after it."""
    boxes = []
    for warning in summary["warnings"]:
        if warning["serious"] is not serious:
            continue
        kind = "serious" if warning["serious"] else "mild"
        word = "Warning" if warning["serious"] else "Note"
        boxes.append(
            f'<div class="warning {kind}" role="note"><strong>{word}: {escape(warning["title"])}.</strong> '
            f"{escape(warning['text'])}</div>"
        )
    return "".join(boxes)


def render_tiles(summary: Summary) -> str:
    """Render four numbers: the years, the gain, the evidence, the cost of C-index."""
    answer, audit, unit, digits = summary["answer"], summary["audit"], summary.unit, summary.digits
    after, cost = answer["next"], audit["cost"]
    tiles = [(f"{unit} per allocation", format_number(answer["years"], digits), _span(answer, digits), answer["best"])]
    if after is not None:
        tiles.append(
            ("over the next best", format_difference(after["gain"], digits), _span(after, digits), after["arm"])
        )
        alike, count = answer["alike"], len(summary.tables["audit"]) - 1
        words = ("Enough", "better than every other, by more than chance")
        if alike:
            words = ("Not enough", f"cannot be told from {len(alike)} of {count}")
        if lacks_support(summary):
            words = ("No support", "at the horizon: see the warning")
        tiles.append(("evidence for the best", words[0], words[1], ""))
    if cost is None:
        tiles.append(("choosing by C-index", "Same", "it picks the same model", audit["by_c_index"]))
    else:
        lost = f"{unit} lost, {_span(cost, digits)}"
        tiles.append(("choosing by C-index", format_number(cost["gain"], digits), lost, audit["by_c_index"]))
    cells = "".join(
        f"<div><dt>{escape(name)}</dt><dd><b>{escape(value)}</b><span>{escape(span)}</span><span "
        f'class="arm">{escape(arm)}</span>'
        "</dd></div>"
        for name, value, span, arm in tiles
    )
    return f'<dl class="tiles">{cells}</dl>'


def format_difference(value: float | None, digits: int) -> str:
    """Format a difference with its sign."""
    text = format_number(value, digits)
    return f"+{text}" if value is not None and value > 0 else text


def _span(estimate: Json, digits: int) -> str:
    if estimate["low"] is None:
        return "no interval"
    return f"95% interval {format_number(estimate['low'], digits)} to {format_number(estimate['high'], digits)}"
