"""Measures as columns of tables: their keys for files, and their headings for people."""

from __future__ import annotations

from dataclasses import replace

from .. import catalogue
from ._plan import KS
from .types import Measure

C_INDEX = Measure(None, "c_index")
NDCGS = (*(Measure(None, "ndcg", k=k) for k in KS), Measure(None, "ndcg"))
RELEVANCES = {
    "truth": "the true lifetimes",
    "restricted": "the true lifetimes within the horizon",
    "expected": "the true expected life",
}


def describe_relevance(relevance: str) -> str:
    """Describe by what relevance something is judged, for a sentence.

    Parameters
    ----------
    relevance : str
        As in `Measure.relevance`.

    Examples
    --------
    >>> describe_relevance("restricted"), describe_relevance("DR")
    ('the true lifetimes within the horizon', 'doubly robust (DR) estimates')
    """
    if relevance in RELEVANCES:
        return RELEVANCES[relevance]
    label = catalogue.estimators[relevance].label if relevance in catalogue.estimators else relevance
    return f"{label} estimates"


def column_key(measure: Measure) -> str:
    """Return the key of a measure's column: "ndcg_5", "EY_ndcg_5", "ndcg_waitlist", "auc_5". It is never read back.

    Examples
    --------
    >>> column_key(Measure("EY", "ndcg", k=5)), column_key(Measure(None, "ndcg", k=1, waitlist=256))
    ('EY_ndcg_5', 'ndcg_waitlist')
    """
    parts = [part for part in (measure.relevance, measure.nuisance, measure.metric) if part is not None]
    if measure.waitlist is not None:
        parts += [] if measure.metric == "value" else ["waitlist"]
    elif measure.k is not None:
        parts.append(str(measure.k))
    if measure.time is not None:
        parts.append(f"{measure.time:g}")
    return "_".join(parts)


def column_heading(measure: Measure, unit: str) -> str:
    """Return the heading of a measure's column, with the unit of the data.

    Examples
    --------
    >>> column_heading(Measure("EY", "ndcg", k=5), "days"), column_heading(Measure("DR", "value", 1, 256), "days")
    ('EY NDCG@5', 'days per allocation by DR')
    >>> column_heading(Measure(None, "ndcg", k=1, waitlist=256), "days")
    'NDCG over waitlists'
    """
    if measure.metric == "value":
        text = f"{unit} per allocation"
        return text if measure.relevance is None else f"{text} by {measure.relevance}"
    text = catalogue.metrics[measure.metric].label if measure.metric in catalogue.metrics else measure.metric
    if measure.waitlist is not None:
        text += " over waitlists"
    elif measure.k is not None:
        text += f"@{measure.k}"
    if measure.time is not None:
        text += f"@{measure.time:g}"
    by = " ".join(part for part in (measure.relevance, measure.nuisance) if part is not None)
    return f"{by} {text}" if by else text


def judged_by(measure: Measure, relevance: str, nuisance: str | None = None) -> Measure:
    """Return the same measure by a relevance."""
    return replace(measure, relevance=relevance, nuisance=nuisance)
