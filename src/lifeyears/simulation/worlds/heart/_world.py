"""Settings of the heart list: how many are listed, their course while they wait, and how hearts are offered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from ....checks import check_choice, check_number, check_whole
from ....data.registry import WORLDS
from ....errors import RequestError

STATUSES = tuple(f"status {number}" for number in range(1, 7))  # the six of US policy, most urgent first
INACTIVE = 6  # beside them: on the list, and offered nothing
Six = tuple[float, float, float, float, float, float]
Seven = tuple[float, float, float, float, float, float, float]

# Calibrated (docs/simulation.md): a year's chance, as a rate, to go from the status of the row to that of the column;
# the last of both is being inactive.
CHANGES: tuple[Seven, ...] = (
    (0.00, 1.00, 0.20, 0.30, 0.00, 0.00, 0.50),
    (0.80, 0.00, 0.40, 0.50, 0.00, 0.05, 0.50),
    (0.20, 0.90, 0.00, 0.50, 0.00, 0.05, 0.80),
    (0.05, 0.30, 0.20, 0.00, 0.02, 0.10, 2.50),
    (0.03, 0.20, 0.10, 0.40, 0.00, 0.20, 2.00),
    (0.03, 0.15, 0.10, 0.35, 0.01, 0.00, 1.20),
    (0.02, 0.05, 0.05, 0.40, 0.02, 0.15, 0.00),
)
# Calibrated: the registry's findings are those at transplant; in which status who has them (row) is first listed.
LISTED_IN: tuple[Six, ...] = (
    (0.55, 0.00, 0.00, 0.45, 0.00, 0.00),
    (0.00, 0.62, 0.08, 0.20, 0.00, 0.10),
    (0.00, 0.00, 0.80, 0.20, 0.00, 0.00),
    (0.00, 0.00, 0.00, 0.72, 0.00, 0.28),
    (0.00, 0.00, 0.00, 0.00, 1.00, 0.00),
    (0.00, 0.00, 0.00, 0.00, 0.00, 1.00),
)


@dataclass(frozen=True)
class World:
    """Rates and rules of a waiting list; the defaults are those of the US heart list of 2022.

    All rates are per year. docs/simulation.md describes what is calibrated, and to what; `steady_state` compares the
    defaults with the published figures.

    Parameters
    ----------
    year, law : float, str
        The year of `lifeyears.data.Population`, and the registry's world: who comes, and how life follows.
    listed_per_year, donors_per_year : float
        New candidates, and hearts offered; both arrive at random (Poisson).
    waiting_at_start, burn_in_years : int, float
        Who waits when the burn-in begins; after it, under the US rules, all policies start from the same list.
    death_rates, leaving_rates : seven floats
        Of dying on the list, and of leaving it for another reason, by status; the last while inactive.
    status_changes : seven rows of seven floats
        Rates of going from one status (row) to another (column); the last is being inactive: on the list, and offered
        nothing.
    listed_in : six rows of six floats
        In which status (column) a candidate with the findings of a status (row) is listed.
    frailty : float
        Spread, on the log scale, of the death rate within a status: it goes with creatinine, bilirubin, albumin,
        sodium and age (as if these were independent: 0.5 results in 0.59).
    suitable : float
        Chance that a heart that fits by blood group, distance and size is offered at all: centres screen hearts in
        advance, and antibodies rule some out (the chance falls by the share of donors they react with).
    acceptance : six floats
        Log-odds, by status, that an offered heart of middling quality is taken.
    quality : float
        Spread of a heart's quality on the log-odds of being taken, half from what is recorded of the donor.
    most_offers : int
        After so many refusals a heart is lost.
    reach_nm, zones_nm : float, floats
        Hearts go no further than the reach; those within the first zone come first, and so on (the US policy has
        zones of its own).
    size_match : two floats, or None
        Least and largest ratio of the donor's predicted heart mass to the candidate's; None lets any heart go.
    tau : float
        The horizon for life-years.

    Examples
    --------
    >>> World().listed_per_year, World(listed_per_year=200).scaled(0.1).listed_per_year
    (4446.0, 20.0)
    >>> World(donors_per_year=-1)
    Traceback (most recent call last):
    lifeyears.errors.RequestError: donors_per_year must be at least 0; got -1
    """

    year: float = 2022.5
    law: str = "registry"
    listed_per_year: float = 4446.0
    donors_per_year: float = 4300.0
    waiting_at_start: int = 3600  # then some 3,000 stay: not all are of the blood groups that wait long
    burn_in_years: float = 3.0
    death_rates: Seven = (1.70, 0.44, 0.17, 0.05, 0.06, 0.035, 0.07)
    leaving_rates: Seven = (0.50, 0.30, 0.20, 0.05, 0.10, 0.05, 0.32)
    status_changes: tuple[Seven, ...] = CHANGES
    listed_in: tuple[Six, ...] = LISTED_IN
    frailty: float = 0.5
    suitable: float = 0.12
    acceptance: Six = (-0.8, -1.9, -1.6, -1.3, -1.5, -1.7)
    quality: float = 2.0
    most_offers: int = 50
    reach_nm: float = 1500.0
    zones_nm: tuple[float, ...] = (500.0, 1000.0)
    size_match: tuple[float, float] | None = (0.75, 1.5)
    tau: float = 20.0

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, check_world_setting(field.name, getattr(self, field.name)))
        rows = np.array(self.listed_in)
        for number in np.flatnonzero(np.abs(rows.sum(axis=1) - 1) > 1e-6):
            raise RequestError(
                f"row {number + 1} of listed_in must sum to 1; it sums to {rows[number].sum():g}", names=("listed_in",)
            )
        if np.diag(np.array(self.status_changes)).any():
            raise RequestError("status_changes must be 0 from a status to itself", names=("status_changes",))
        if list(self.zones_nm) != sorted(self.zones_nm) or any(zone >= self.reach_nm for zone in self.zones_nm):
            raise RequestError(
                f"zones_nm must rise and stay below reach_nm ({self.reach_nm:g}); got {self.zones_nm}",
                names=("zones_nm", "reach_nm"),
            )
        if self.size_match is not None and not self.size_match[0] < self.size_match[1]:
            raise RequestError(
                f"size_match must be a smaller and a larger ratio; got {self.size_match}", names=("size_match",)
            )

    def scaled(self, factor: float) -> World:
        """The same world with so much less (or more) of everybody: candidates, hearts, and who waits at the start."""
        return replace(
            self,
            listed_per_year=self.listed_per_year * factor,
            donors_per_year=self.donors_per_year * factor,
            waiting_at_start=round(self.waiting_at_start * factor),
        )


# name: (least, largest, what kind)
LIMITS: dict[str, tuple[float, float, str]] = {
    "year": (1987.75, 2100, "number"),
    "listed_per_year": (0, 1e6, "number"),
    "donors_per_year": (0, 1e6, "number"),
    "waiting_at_start": (0, 1_000_000, "whole"),
    "burn_in_years": (0, 100, "number"),
    "death_rates": (0, 1000, "seven"),
    "leaving_rates": (0, 1000, "seven"),
    "status_changes": (0, 1000, "seven rows"),
    "listed_in": (0, 1, "six rows"),
    "frailty": (0, 3, "number"),
    "suitable": (0, 1, "number"),
    "acceptance": (-20, 20, "six"),
    "quality": (0, 20, "number"),
    "most_offers": (1, 10_000, "whole"),
    "reach_nm": (1, 20_000, "number"),
    "zones_nm": (0, 20_000, "some"),
    "size_match": (0, 100, "two or none"),
    "tau": (0.01, 1000, "number"),
}


def check_world_setting(name: str, value: object) -> object:
    """Return the value of a setting in its proper type.

    Raises
    ------
    RequestError
        If the value is not of the type, or not within the limits, of the setting.
    """
    if name == "law":
        return check_choice(name, value, WORLDS)
    low, high, kind = LIMITS[name]
    if kind == "two or none" and value is None:
        return None
    if kind == "number":
        return check_number(name, value, low, high)
    if kind == "whole":
        return check_whole(name, value, low, high)
    if kind in ("six rows", "seven rows"):
        size = 6 if kind == "six rows" else 7
        rows = _check_sequence(name, value, size, kind)
        return tuple(
            tuple(check_number(f"row {number} of {name}", each, low, high) for each in row)
            for number, row in enumerate(
                (_check_sequence(f"{name}, row {number}", row, size) for number, row in enumerate(rows, 1)), 1
            )
        )
    values = _check_sequence(name, value, {"six": 6, "seven": 7, "two or none": 2}.get(kind))
    return tuple(check_number(name, each, low, high) for each in values)


def _check_sequence(name: str, value: object, length: int | None, what: str = "numbers") -> Sequence[object]:
    if isinstance(value, (str, bytes)) or not isinstance(value, (Sequence, np.ndarray)):
        raise RequestError(f"{name} must be a list of {what}; got {value!r}")
    if length is not None and len(value) != length:
        raise RequestError(f"{name} must have {length} entries; got {len(value)}")
    return value  # type: ignore[return-value]
