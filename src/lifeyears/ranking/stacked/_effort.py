"""How much work the stacked ranker does: its members and folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ...checks import check_choice
from ._boosted import BoostedHazards, BoostedYears
from ._members import Member
from ._splines import SplineHazards, SplineInteractionHazards

Effort: TypeAlias = Literal["fast", "balanced", "best"]
MEMBERS: Mapping[str, type[Member]] = {
    "boosted_years": BoostedYears,
    "boosted_hazards": BoostedHazards,
    "spline_hazards": SplineHazards,
    "spline_interactions": SplineInteractionHazards,
}


@dataclass(frozen=True)
class Work:
    """Members, number of boosting rounds, and folds of an effort."""

    members: tuple[str, ...]
    n_estimators: int
    folds: int


WORK: Mapping[str, Work] = {
    "fast": Work(("boosted_hazards", "spline_hazards"), 300, 3),
    "balanced": Work(tuple(MEMBERS), 600, 5),
    "best": Work(tuple(MEMBERS), 600, 10),
}


def make_members(
    effort: Effort = "balanced",
    names: Sequence[str] | None = None,
    n_estimators: int | None = None,
    n_intervals: int | None = None,
) -> list[tuple[str, Member]]:
    """Make the members of an effort, or some of them, to pass as ``StackedRanker(members=...)``.

    Parameters
    ----------
    effort : {"fast", "balanced", "best"}, default "balanced"
    names : sequence of str, optional
        Those wanted among "boosted_years", "boosted_hazards", "spline_hazards" and "spline_interactions"; by default
        those of the effort.
    n_estimators : int, optional
        Number of boosting rounds; by default that of the effort.
    n_intervals : int, optional
        Number of intervals of time of the spline members; boosted hazards have one fewer. By default 3.

    Returns
    -------
    list of (str, member)

    Examples
    --------
    >>> make_members(names=["spline_hazards"], n_intervals=2)
    [('spline_hazards', SplineHazards(n_intervals=2))]
    """
    check_choice("effort", effort, tuple(WORK))
    work = WORK[effort]
    chosen = work.members if names is None else tuple(names)
    for name in chosen:
        check_choice("names", name, tuple(MEMBERS))
    rounds, intervals = n_estimators or work.n_estimators, n_intervals or 3
    settings = {
        "boosted_years": {"n_estimators": rounds},
        "boosted_hazards": {"n_estimators": rounds, "n_intervals": max(1, intervals - 1)},
        "spline_hazards": {"n_intervals": intervals},
        "spline_interactions": {"n_intervals": intervals},
    }
    return [(name, MEMBERS[name](**settings[name])) for name in chosen]
