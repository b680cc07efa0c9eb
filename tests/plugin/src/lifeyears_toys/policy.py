"""A policy for allocation and simulation."""

import numpy as np


class Youngest:
    """Offer an organ to the youngest candidate first."""

    def scores(self, candidates, donor, now):
        return -np.asarray(candidates["age"], dtype=float)
