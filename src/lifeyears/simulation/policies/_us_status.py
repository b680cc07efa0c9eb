"""The US policy for hearts (OPTN policy 6, adult donors) for the kernel: it runs the burn-in of every world."""

from __future__ import annotations

import numpy as np

from ..engine import make_order
from ..worlds.heart import N_STATES
from ._zones import US_CLASSES

US_STATUS_ORDER = make_order(
    {"waiting": 1.0}, zones=np.array(US_CLASSES.limits), classes=US_CLASSES.table, second_fit=1, n_states=N_STATES
)
