"""Where the transplant centres of a simulated registry lie, and where its donors are: a flat map in nautical miles.

The map has the eleven regions of US transplantation at roughly their true places. Centres are made up: each lies in
one region, a few are large and many small.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..._typing import FloatArray, IntArray

N_CENTRES = 120
# region: (share of transplants, miles east and north of the middle of the country, how far it spreads)
REGIONS: dict[str, tuple[float, float, float, float]] = {
    "1": (0.04, 1210, 260, 45),
    "2": (0.115, 970, 120, 80),
    "3": (0.12, 520, -390, 190),
    "4": (0.10, 0, -360, 150),
    "5": (0.16, -950, -180, 210),
    "6": (0.04, -1140, 510, 120),
    "7": (0.09, 380, 270, 140),
    "8": (0.07, 90, 90, 170),
    "9": (0.075, 1090, 190, 55),
    "10": (0.09, 610, 150, 90),
    "11": (0.10, 760, -120, 130),
}


@dataclass(frozen=True, eq=False)
class Centres:
    """The centres, the largest first: share of all transplants, code of the region, miles east and north."""

    share: FloatArray
    region: IntArray
    east: FloatArray
    north: FloatArray

    def names(self) -> list[str]:
        return [f"C{number:03d}" for number in range(len(self.share))]


@cache
def list_centres() -> Centres:
    """List the centres, which are the same in every registry."""
    size = 1 / (np.arange(N_CENTRES) + 8.0)
    share = size / size.sum()
    target_share, east, north, spread = np.array(list(REGIONS.values())).T
    target_share = target_share / target_share.sum()
    region = np.empty(N_CENTRES, dtype=int)
    assigned_share = np.zeros(len(target_share))
    for number in range(N_CENTRES):  # each goes where most is lacking, so that the regions' shares come out
        region[number] = np.argmax(target_share - assigned_share)
        assigned_share[region[number]] += share[number]
    away = np.random.default_rng(1987).standard_normal((2, N_CENTRES)) * spread[region]
    return Centres(share, region, east[region] + away[0], north[region] + away[1])


def draw_places_near(centre: IntArray, distance: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draw a place at this distance from each centre, in any direction: miles east and north."""
    known, bearing = list_centres(), rng.uniform(0, 2 * np.pi, len(centre))
    return known.east[centre] + distance * np.cos(bearing), known.north[centre] + distance * np.sin(bearing)


def draw_places(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draw places of donors where people live: by the regions' shares, scattered within them."""
    share, east, north, spread = np.array(list(REGIONS.values())).T
    region = rng.choice(len(share), n, p=share / share.sum())
    away = rng.standard_normal((2, n)) * 1.2 * spread[region]
    return east[region] + away[0], north[region] + away[1]


def measure_distance(centre: IntArray, east: FloatArray, north: FloatArray) -> FloatArray:
    """Measure the nautical miles from each centre to a place."""
    known = list_centres()
    miles: FloatArray = np.hypot(known.east[centre] - east, known.north[centre] - north)
    return miles
