"""Candidates and donors of the registry's population, and what becomes of a pair: for simulating allocation."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ._features import FIRST_YEAR
from ._lifetimes import Lifetimes
from ._match import compatible, match
from ._outcome import lifetimes, world_named
from ._population import CANDIDATE_KEY, DONOR_KEY, DONOR_PLACE, draw_donors, draw_recipients


@dataclass(frozen=True, eq=False)
class Population:
    """Where candidates and donors come from, and what becomes of a pair: for simulating allocation.

    A candidate has a centre, which lies in one region; a donor has a place. Distance, hours and tissue mismatches of a
    pair follow from these and from two keys, so that a pair is the same whether it is looked at alone, in a match
    run or under another policy.

    Parameters
    ----------
    year : float
        The year (2023.5 is the middle of 2023) in which all this happens.
    world : str
        How life depends on the features, as in `simulate_registry`.

    Examples
    --------
    >>> people = Population()
    >>> candidates, donors = people.candidates(100, random_state=0), people.donors(10, random_state=1)
    >>> group = donors["donor_blood_group"].iloc[7]
    >>> fit = np.flatnonzero(people.compatible(group, candidates["blood_group"]) != "incompatible")
    >>> run = people.pairs(candidates, donors, candidate=fit, donor=7)    # all whom the eighth heart fits
    >>> len(people.lifetimes(run).expected(20.0)) == len(fit)
    True
    """

    year: float = 2023.0
    world: str = "registry"

    def __post_init__(self) -> None:
        world_named(self.world)
        if not (np.isfinite(self.year) and self.year >= FIRST_YEAR):
            raise ValueError(f"year must be {FIRST_YEAR:g}, when the registry begins, or later; got {self.year!r}")

    def candidates(self, n: int, random_state: Any = None) -> pd.DataFrame:
        """Waitlist candidates of the year: features, subgroups, and a key for what chance adds to a pair."""
        return draw_recipients(np.full(whole_number(n, least=0), self.year), generator(random_state))

    def donors(self, n: int, random_state: Any = None) -> pd.DataFrame:
        """Donors of the year, drawn without regard to a recipient: features, place (nautical miles) and a key."""
        return draw_donors(np.full(whole_number(n, least=0), self.year), generator(random_state))

    def pairs(
        self,
        candidates: pd.DataFrame,
        donors: pd.DataFrame,
        candidate: Any = None,
        donor: Any = None,
        incompatible: str = "raise",
    ) -> pd.DataFrame:
        """Candidates with donors: all features of the registry, subgroup columns included.

        Parameters
        ----------
        candidates, donors : DataFrame
            As `candidates` and `donors` return them, or rows of these.
        candidate, donor : int or sequence of int, optional
            Positions of the rows to pair, first with first; one goes with all. By default all rows in their order.
        incompatible : {"raise", "keep"}
            What to do if blood groups do not fit: refuse, or let `blood_match` say "incompatible". The law of life
            knows nothing of incompatible hearts.
        """
        if incompatible not in ("raise", "keep"):
            raise ValueError(f'incompatible must be "raise" or "keep"; got {incompatible!r}')
        _check_columns(candidates, ("centre", CANDIDATE_KEY), "candidates")
        _check_columns(donors, (*DONOR_PLACE, DONOR_KEY), "donors")
        theirs, ours = _positions(candidate, len(candidates)), _positions(donor, len(donors))
        if len(theirs) != len(ours) and 1 not in (len(theirs), len(ours)):
            raise ValueError(f"there are {len(theirs)} candidates and {len(ours)} donors; give one donor each")
        theirs, ours = np.broadcast_arrays(theirs, ours)
        return match(candidates, donors, self.year, theirs, ours, incompatible)

    def lifetimes(self, pairs: pd.DataFrame) -> Lifetimes:
        """The law of life of each pair after transplant."""
        return lifetimes(pairs, self.world)

    @staticmethod
    def compatible(donor_group: Any, candidate_group: Any) -> Any:
        """Whether blood groups fit: "primary", "secondary" or "incompatible", for one pair or many.

        Primary: O to O and B, A to A and AB, B to B and AB, AB to AB. Secondary: O to A and AB.

        Examples
        --------
        >>> Population.compatible("O", ["O", "A", "B"])
        array(['primary', 'secondary', 'primary'], dtype='<U12')
        """
        return compatible(donor_group, candidate_group)


def whole_number(n: Any, least: int) -> int:
    """How many to draw, checked."""
    try:
        number = operator.index(n)
    except TypeError:
        raise ValueError(f"n must be a whole number, as {least + 1000}; got {n!r}") from None
    if number < least:
        raise ValueError(f"n must be at least {least}; got {n}")
    return number


def generator(random_state: Any) -> np.random.Generator:
    """A random generator from a seed, or an error that says what a seed is."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(f"random_state must be a whole number from 0 on, or None; got {random_state!r}") from None


def _positions(rows: Any, n: int) -> np.ndarray:
    return np.arange(n) if rows is None else np.atleast_1d(np.asarray(rows))


def _check_columns(table: pd.DataFrame, needed: tuple[str, ...], whose: str) -> None:
    lacking = [name for name in needed if name not in table.columns]
    if lacking:
        raise ValueError(f"{whose} lack the column {', '.join(lacking)}; take them from Population.{whose}(n)")
