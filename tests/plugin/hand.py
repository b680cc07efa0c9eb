"""A cohort of two groups, and what the toys make of it, by hand.

Group 1: 30 events at time 8 and 30 censored at time 6. Group 0: 60 events at time 2. With a horizon of 8:

- events / total time is 30 / (30·8 + 30·6) = 1/14 in group 1 and 60 / (60·2) = 1/2 in group 0;
- expected life within 8 is (1 − e^(−8/14))·14 and (1 − e^(−8/2))·2;
- the optimist's relevance is 8 for everybody in group 1 (the censored are taken to reach 8) and 2 in group 0, so that
  in every fold the mean relevance at the top is 8 by the model and 2 by its reverse.
"""

import math

import pandas as pd

TAU = 8.0
RATES = {1: 1 / 14, 0: 1 / 2}
EXPECTED_LIFE = {group: (1 - math.exp(-rate * TAU)) / rate for group, rate in RATES.items()}
RELEVANCE = {1: 8.0, 0: 2.0}
TOP_BY_MODEL, TOP_BY_REVERSED = 8.0, 2.0


def cohort():
    """Return the table, one row per patient."""
    group = [1] * 60 + [0] * 60
    years = [8.0] * 30 + [6.0] * 30 + [2.0] * 60
    died = [1] * 30 + [0] * 30 + [1] * 60
    table = pd.DataFrame({"group": group, "years": years, "died": died})
    return table.sample(frac=1, random_state=0, ignore_index=True)
