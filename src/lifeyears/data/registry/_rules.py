"""What one finding says about another: rules that a drawn recipient is made to keep, before anything is missing."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..._typing import BoolArray, FloatArray, IntArray
from ._draw import Drawn
from ._features import NEW_RULES, RECIPIENT, STATUSES, Choice

PUMPS_GO_HOME = 1998.0  # before, an assist device kept its patient in hospital


def _codes(name: str) -> dict[str, int]:
    spec = next(spec for spec in RECIPIENT if spec.name == name)
    assert isinstance(spec, Choice)
    return {level: code for code, level in enumerate(spec.levels)}


CARE, DIAGNOSIS = _codes("care_setting"), _codes("diagnosis")


def settle(drawn: Drawn, year: FloatArray) -> None:
    """Correct, in place, what cannot be true of one patient."""
    replaced = drawn["artificial_heart"] == 1
    for device in ("left_assist_device", "right_assist_device"):
        drawn[device] = np.where(replaced, 0, drawn[device])
    again = (drawn["diagnosis"] == DIAGNOSIS["retransplant"]) | (drawn["prior_transplant"] == 1)
    drawn["prior_transplant"] = again.astype(int)
    drawn["prior_sternotomy"] = np.where(again, 1, drawn["prior_sternotomy"])
    _settle_care(drawn, year)
    _settle_pressures(drawn)


def _settle_care(drawn: Drawn, year: FloatArray) -> None:
    bedside = ("ventilator", "ecmo", "balloon_pump", "right_assist_device")
    intensive = np.any([drawn[name] == 1 for name in bedside], axis=0)
    kept = (drawn["artificial_heart"] == 1) | ((drawn["left_assist_device"] == 1) & (year < PUMPS_GO_HOME))
    least = np.where(intensive, CARE["intensive care"], np.where(kept, CARE["ward"], CARE["home"]))
    drawn["care_setting"] = np.maximum(drawn["care_setting"], least)


def _settle_pressures(drawn: Drawn) -> None:
    """Diastolic below systolic; wedge pressure not above the mean, as blood flows downhill."""
    systolic = drawn["pulmonary_systolic"]
    diastolic = drawn["pulmonary_diastolic"] = np.minimum(drawn["pulmonary_diastolic"], systolic - 4)
    mean, wedge = (systolic + 2 * diastolic) / 3, drawn["wedge_pressure"]
    mirrored = np.maximum(np.floor(mean - 0.5 * (wedge - mean)), 2)
    drawn["wedge_pressure"] = np.where(wedge > mean, mirrored, wedge)


def settle_waiting(drawn: Drawn, status: IntArray) -> None:
    """Scale the days of waiting, in place, to what is typical of a status; none is longer in a status than listed."""
    typical = np.array(list(STATUSES.values()), dtype=float)[status]
    days = np.minimum(np.round(drawn["days_on_list"] * typical / np.exp(4.3)), 4000)
    drawn["days_on_list"] = days
    drawn["days_in_status"] = np.minimum(drawn["days_in_status"], days)


def draw_status(drawn: Drawn, year: FloatArray, rng: np.random.Generator) -> IntArray:
    """Draw the urgency by the rules of its time: devices, drugs, ward, and some exceptions. Codes of `STATUSES`."""
    yes = {name: drawn[name] == 1 for name in
           ("ecmo", "ventilator", "right_assist_device", "balloon_pump", "artificial_heart", "inotropes",
            "left_assist_device", "dialysis")}  # fmt: skip
    exception = rng.random(len(year))
    inside = drawn["care_setting"] >= CARE["ward"]
    intensive = drawn["care_setting"] == CARE["intensive care"]
    failing = yes["ecmo"] | yes["right_assist_device"] | yes["ventilator"]
    pumped = yes["balloon_pump"] | yes["artificial_heart"] | (intensive & (exception < 0.55))
    dripped = yes["inotropes"] & inside
    stable = yes["left_assist_device"] | yes["inotropes"]
    rare = np.isin(drawn["diagnosis"], [DIAGNOSIS[name] for name in ("restrictive", "congenital", "retransplant")])
    six = np.select(
        [failing, pumped, dripped, stable | rare | (exception > 0.35), yes["dialysis"] | (exception > 0.30)],
        [0, 1, 2, 3, 4],
        5,
    )
    three = np.select(
        [failing | pumped | dripped, stable & (exception < 0.30), stable | (exception > 0.50)], [0, 0, 1], 2
    )
    two = np.where(failing | pumped | dripped, 0, 1)
    first = {name: code for code, name in enumerate(STATUSES)}
    return np.select(
        [year < 1999.0, year < NEW_RULES],
        [first["before 1999: 1"] + two, first["1A"] + three],
        first["status 1"] + six,
    )


def estimate_filtration_rate(creatinine: pd.Series, age: pd.Series, male: BoolArray) -> pd.Series:
    """Estimate the glomerular filtration rate by the CKD-EPI formula of 2021."""
    kappa, alpha = np.where(male, 0.9, 0.7), np.where(male, -0.302, -0.241)
    ratio = creatinine / kappa
    rate = 142 * np.minimum(ratio, 1) ** alpha * np.maximum(ratio, 1) ** -1.2 * 0.9938**age * np.where(male, 1, 1.012)
    return rate.clip(3, 150).round()
