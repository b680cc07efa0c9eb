"""The US policy for hearts (OPTN policy 6, adult donors): classes by status and zone, then time on the list."""

from __future__ import annotations

import numpy as np

from ..engine import BY_CLASS, make_order
from ..worlds.heart import N_STATES

# The first class of a status (row) in a zone (250, 500, 1000, 1500, 2500 nautical miles, nation): primary blood groups
# are in the class itself, secondary ones in the next.
US_ZONES = np.array([250.0, 500.0, 1000.0, 1500.0, 2500.0])
US_CLASSES = np.array(
    [
        [1, 1, 7, 21, 33, 45],
        [3, 3, 9, 23, 35, 47],
        [5, 13, 17, 25, 37, 49],
        [11, 27, 39, 51, 57, 63],
        [15, 29, 41, 53, 59, 65],
        [19, 31, 43, 55, 61, 67],
    ]
)
US_STATUS_ORDER = make_order(BY_CLASS, classes=US_CLASSES, class_zones=US_ZONES, n_states=N_STATES)
