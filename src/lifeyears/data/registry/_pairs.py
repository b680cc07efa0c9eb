"""Candidates and donors of the registry's population, and what becomes of a pair: for simulating allocation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..._typing import IntArray, RandomState
from ...checks import check_choice, check_random_state, check_whole
from ...errors import DataError, RequestError
from ._features import FIRST_YEAR
from ._lifetimes import Lifetimes
from ._match import classify_compatibility, match_pairs
from ._outcome import compute_lifetimes, find_world
from ._population import CANDIDATE_KEY, DONOR_KEY, DONOR_PLACE, draw_donors, draw_recipients

if TYPE_CHECKING:
    from ._match import Texts


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
        find_world(self.world)
        if not (np.isfinite(self.year) and self.year >= FIRST_YEAR):
            raise RequestError(f"year must be {FIRST_YEAR:g}, when the registry begins, or later; got {self.year!r}")

    def candidates(self, n: int, random_state: RandomState = None) -> pd.DataFrame:
        """Waitlist candidates of the year: features, subgroups, and a key for what chance adds to a pair."""
        return draw_recipients(np.full(check_whole("n", n, low=0), self.year), check_random_state(random_state))

    def donors(self, n: int, random_state: RandomState = None) -> pd.DataFrame:
        """Donors of the year, drawn without regard to a recipient: features, place (nautical miles) and a key."""
        return draw_donors(np.full(check_whole("n", n, low=0), self.year), check_random_state(random_state))

    def pairs(
        self,
        candidates: pd.DataFrame,
        donors: pd.DataFrame,
        candidate: ArrayLike | None = None,
        donor: ArrayLike | None = None,
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
        check_choice("incompatible", incompatible, ("raise", "keep"))
        _check_columns(candidates, ("centre", CANDIDATE_KEY), "candidates")
        _check_columns(donors, (*DONOR_PLACE, DONOR_KEY), "donors")
        theirs, ours = _positions(candidate, len(candidates)), _positions(donor, len(donors))
        if len(theirs) != len(ours) and 1 not in (len(theirs), len(ours)):
            raise RequestError(f"there are {len(theirs)} candidates and {len(ours)} donors; give one donor each")
        theirs, ours = np.broadcast_arrays(theirs, ours)
        return match_pairs(candidates, donors, self.year, theirs, ours, incompatible)

    def lifetimes(self, pairs: pd.DataFrame) -> Lifetimes:
        """The law of life of each pair after transplant."""
        return compute_lifetimes(pairs, self.world)

    @staticmethod
    def compatible(donor_group: Texts, candidate_group: Texts) -> str | np.ndarray:
        """Whether blood groups fit: "primary", "secondary" or "incompatible", for one pair or many.

        Primary: O to O and B, A to A and AB, B to B and AB, AB to AB. Secondary: O to A and AB.

        Examples
        --------
        >>> Population.compatible("O", ["O", "A", "B"])
        array(['primary', 'secondary', 'primary'], dtype='<U12')
        """
        return classify_compatibility(donor_group, candidate_group)


def _positions(rows: ArrayLike | None, n: int) -> IntArray:
    return np.arange(n) if rows is None else np.atleast_1d(np.asarray(rows))


def _check_columns(table: pd.DataFrame, needed: tuple[str, ...], whose: str) -> None:
    lacking = [name for name in needed if name not in table.columns]
    if lacking:
        raise DataError(f"{whose} lack the column {', '.join(lacking)}; take them from Population.{whose}(n)")
