"""Classes that come before all scores: zones of distance, statuses within them, and blood groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...checks import check_number, check_whole
from ...errors import RequestError
from ..worlds.heart import STATUSES

if TYPE_CHECKING:
    from ..._typing import AnyArray, IntArray, Json


@dataclass(frozen=True)
class Zones:
    """Who comes before all others, whatever the scores.

    Parameters
    ----------
    limits : sequence of float
        Limits of distance in nautical miles, rising: those within the first are offered a heart first, then those
        within the second, and so on; the last zone is all that is beyond the last limit. None at all means one zone.
    classes : six rows of whole numbers, optional
        The class of each status (row) in each zone (column): an earlier class comes first. By default the zone
        decides, and the status does not.
    primary_first : bool
        Whether, within a class, primary blood groups come before secondary ones. With `classes`, the secondary ones
        are in the class after (as if 1 were added).

    Examples
    --------
    >>> Zones((500, 1000)).classify([1, 6], [700.0, 100.0], [True, True])
    array([1, 0])
    >>> US_CLASSES.classify([1, 1, 3], [100.0, 700.0, 300.0], [False, True, True])
    array([ 2,  7, 13])
    """

    limits: tuple[float, ...] = ()
    classes: tuple[tuple[int, ...], ...] | None = None
    primary_first: bool = False

    def __post_init__(self) -> None:
        limits = tuple(check_number("a limit of zones", each, 0, 20_000) for each in _check_list(self.limits))
        if list(limits) != sorted(set(limits)):
            raise RequestError(f"the limits of zones must rise; got {', '.join(f'{each:g}' for each in limits)}")
        object.__setattr__(self, "limits", limits)
        if not isinstance(self.primary_first, bool):
            raise RequestError(f"primary_first of zones must be true or false; got {self.primary_first!r}")
        if self.classes is not None:
            rows = tuple(
                tuple(check_whole("a class of zones", each, 0, 10_000) for each in _check_list(row))
                for row in _check_list(self.classes)
            )
            if len(rows) != len(STATUSES) or any(len(row) != len(limits) + 1 for row in rows):
                raise RequestError(
                    f"the classes of zones must have {len(STATUSES)} rows, one per status, of {len(limits) + 1} "
                    "numbers, one per zone"
                )
            object.__setattr__(self, "classes", rows)

    @cached_property
    def table(self) -> IntArray:
        """The class by status (row) and zone (column)."""
        if self.classes is not None:
            return np.array(self.classes, dtype=np.int64)
        row = np.arange(len(self.limits) + 1, dtype=np.int64) * (2 if self.primary_first else 1)
        return np.tile(row, (len(STATUSES), 1))

    def classify(self, status: AnyArray, distance: AnyArray, primary: AnyArray) -> IntArray:
        """Return the class of each candidate, given the status (1 to 6), the distance and the match of blood groups."""
        zone = np.searchsorted(np.array(self.limits), np.asarray(distance), side="left")
        classes = self.table[np.asarray(status) - 1, zone]
        return np.asarray(classes + (self.primary_first & ~np.asarray(primary, dtype=bool)))

    def describe(self) -> list[float] | Json:
        """Return plain values, as a configuration file holds them."""
        if self.classes is None and not self.primary_first:
            return list(self.limits)
        described: Json = {"limits": list(self.limits), "primary_first": self.primary_first}
        return described if self.classes is None else described | {"classes": [list(row) for row in self.classes]}


def as_zones(zones: object) -> Zones:
    """Return zones from limits, a mapping of the parameters of `Zones`, or itself."""
    if isinstance(zones, Zones):
        return zones
    if isinstance(zones, dict):
        unknown = [name for name in zones if name not in ("limits", "classes", "primary_first")]
        if unknown:
            raise RequestError(f"zones have no {unknown[0]!r}; they have limits, classes, primary_first")
        return Zones(**zones)
    return Zones(zones)  # type: ignore[arg-type] # it checks


def _check_list(values: object) -> Sequence[object]:
    if isinstance(values, (str, bytes)) or not isinstance(values, (Sequence, np.ndarray)):
        raise RequestError(f"zones must be limits of distance, such as [500, 1000], or a Zones; got {values!r}")
    return values  # type: ignore[return-value]


# OPTN policy 6, adult donors: the first class of a status (row) in a zone (250, 500, 1000, 1500, 2500 nautical miles,
# nation); primary blood groups are in the class itself, secondary ones in the next.
US_CLASSES = Zones(
    limits=(250.0, 500.0, 1000.0, 1500.0, 2500.0),
    classes=(
        (1, 1, 7, 21, 33, 45),
        (3, 3, 9, 23, 35, 47),
        (5, 13, 17, 25, 37, 49),
        (11, 27, 39, 51, 57, 63),
        (15, 29, 41, 53, 59, 65),
        (19, 31, 43, 55, 61, 67),
    ),
    primary_first=True,
)
