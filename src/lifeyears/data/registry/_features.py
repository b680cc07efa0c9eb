"""What a simulated heart-transplant registry records: 46 numeric and 46 categorical features, and how they vary.

Every feature hangs on a few hidden factors of the patient or the donor (how sick, how large, kidneys, liver, lungs, how
sensitised), drifts with the years, and is missing more often in the years before it was collected.
"""

from __future__ import annotations

from dataclasses import dataclass, field

FIRST_YEAR, LAST_YEAR = 1987.75, 2024.0  # the registry begins in October 1987; the study ends with 2023
NEW_RULES = 2018.8  # October 2018: six statuses in place of three, and hearts travel further


@dataclass(frozen=True)
class Numeric:
    """A number: centre and spread at the middle of the study, within limits.

    `per_decade` is its drift; `factors` are the shares of its spread that hidden factors carry; a `log` feature has
    its mean and sd on the log scale; `skew` gives the distribution a longer tail above (or, negative, below), as that
    of a shifted log-normal; `missing` is the share missing in the first and the last years.
    """

    name: str
    mean: float
    sd: float
    low: float
    high: float
    factors: dict[str, float] = field(default_factory=dict)
    per_decade: float = 0.0
    log: bool = False
    skew: float = 0.0
    missing: tuple[float, float] = (0.0, 0.0)
    digits: int = 0


@dataclass(frozen=True)
class Flag:
    """Yes or no: how often in some `years` (first, middle and last unless given), and what makes it likelier."""

    name: str
    share: tuple[float, ...]
    factors: dict[str, float] = field(default_factory=dict)
    missing: tuple[float, float] = (0.0, 0.0)
    years: tuple[float, ...] = (FIRST_YEAR, (FIRST_YEAR + LAST_YEAR) / 2, LAST_YEAR)


@dataclass(frozen=True)
class Choice:
    """One of several categories, with shares in the first and the last years; ordered ones follow hidden factors."""

    name: str
    levels: tuple[str, ...]
    first: tuple[float, ...]
    last: tuple[float, ...]
    factors: dict[str, float] = field(default_factory=dict)
    missing: tuple[float, float] = (0.0, 0.0)


RECIPIENT: tuple[Numeric | Flag | Choice, ...] = (
    Numeric("age", 53.0, 11.5, 18, 80, {"age": 1.0}, per_decade=1.2, skew=-0.3),
    Numeric("height_cm", 174.0, 9.5, 140, 205, {"size": 0.75}, missing=(0.03, 0.0)),
    Numeric("weight_kg", 81.0, 16.5, 38, 160, {"size": 0.6, "weight": 0.7}, per_decade=2.2, missing=(0.03, 0.0)),
    Numeric("creatinine", 0.26, 0.36, 0.3, 9, {"kidney": 0.8, "sick": 0.2}, log=True, missing=(0.25, 0.01), digits=2),
    Numeric("bilirubin", -0.25, 0.60, 0.1, 20, {"liver": 0.75, "sick": 0.3}, log=True, missing=(0.35, 0.02), digits=2),
    Numeric("albumin", 3.7, 0.6, 1.5, 5.5, {"liver": -0.4, "sick": -0.4}, missing=(0.85, 0.03), digits=1),
    Numeric("sodium", 136.5, 4.2, 115, 152, {"sick": -0.4}, missing=(0.8, 0.03)),
    Numeric("urea_nitrogen", 3.10, 0.50, 4, 130, {"kidney": 0.65, "sick": 0.3}, log=True, missing=(0.6, 0.03)),
    Numeric("hemoglobin", 12.1, 2.0, 6, 18, {"sick": -0.4, "kidney": -0.3}, missing=(0.8, 0.05), digits=1),
    Numeric("systolic_pressure", 106.0, 15.0, 60, 190, {"sick": -0.4}, missing=(0.6, 0.05)),
    Numeric("heart_rate", 85.0, 15.0, 40, 160, {"sick": 0.4}, missing=(0.7, 0.05)),
    Numeric("pulmonary_systolic", 42.0, 13.5, 12, 100, {"lungs": 0.85}, missing=(0.3, 0.04)),
    Numeric("pulmonary_diastolic", 20.5, 8.0, 3, 55, {"lungs": 0.8}, missing=(0.3, 0.04)),
    Numeric("wedge_pressure", 18.5, 8.5, 2, 50, {"lungs": 0.75, "sick": 0.2}, missing=(0.35, 0.06)),
    Numeric("cardiac_output", 4.4, 1.3, 1.2, 11, {"sick": -0.35, "size": 0.3}, missing=(0.35, 0.05), digits=1),
    Numeric("ejection_fraction", 22.0, 9.0, 5, 75, {"sick": -0.25}, missing=(0.7, 0.08)),
    Numeric("peak_oxygen_uptake", 12.0, 3.2, 5, 30, {"sick": -0.45, "age": -0.2}, missing=(0.75, 0.4), digits=1),
    Numeric("antibodies_class_1", -0.5, 2.2, 0, 100, {"sensitised": 0.85}, log=True, missing=(0.3, 0.1)),
    Numeric("antibodies_class_2", -1.0, 2.2, 0, 100, {"sensitised": 0.75}, log=True, missing=(0.6, 0.1)),
    Numeric("days_on_list", 4.3, 1.45, 0, 4000, {"size": 0.15}, log=True),
    Numeric("days_in_status", 3.0, 1.35, 0, 2500, {"sick": -0.4}, log=True, missing=(0.4, 0.02)),
    Flag("ventilator", (0.04, 0.025, 0.015), {"sick": 1.2}),
    Flag("ecmo", (0.003, 0.006, 0.01, 0.06, 0.065), {"sick": 1.6}, years=(1988, 2006, 2018.5, 2019.5, 2024)),
    Flag("balloon_pump", (0.06, 0.06, 0.09, 0.32, 0.36), {"sick": 1.0}, years=(1988, 2006, 2018.5, 2019.5, 2024)),
    Flag(
        "left_assist_device",
        (0.01, 0.10, 0.20, 0.42, 0.46, 0.34, 0.28),
        {"size": 0.2},
        years=(1988, 1996, 2005, 2013, 2018.5, 2020, 2024),
    ),
    Flag("right_assist_device", (0.01, 0.035, 0.03), {"sick": 0.8}),
    Flag("artificial_heart", (0.005, 0.006, 0.008), {"sick": 0.6}),
    Flag("inotropes", (0.45, 0.44, 0.40), {"sick": 0.7}, missing=(0.1, 0.0)),
    Flag("defibrillator", (0.05, 0.65, 0.78), {"age": 0.1}, missing=(0.5, 0.01)),
    Flag("dialysis", (0.015, 0.025, 0.045), {"kidney": 1.6}, missing=(0.3, 0.01)),
    Flag("diabetes", (0.14, 0.25, 0.29), {"weight": 0.4, "age": 0.3}, missing=(0.2, 0.01)),
    Flag("hypertension", (0.3, 0.45, 0.5), {"age": 0.2, "weight": 0.2}, missing=(0.4, 0.1)),
    Flag("lung_disease", (0.04, 0.04, 0.05), {"age": 0.3}, missing=(0.4, 0.15)),
    Flag("stroke_history", (0.03, 0.055, 0.07), {"age": 0.2}, missing=(0.35, 0.02)),
    Flag("vascular_disease", (0.03, 0.03, 0.03), {"age": 0.4}, missing=(0.35, 0.1)),
    Flag("malignancy", (0.03, 0.06, 0.09), {"age": 0.4}, missing=(0.3, 0.01)),
    Flag("smoking_history", (0.55, 0.48, 0.42), {"age": 0.2}, missing=(0.7, 0.02)),
    Flag("prior_sternotomy", (0.38, 0.45, 0.38), {"age": 0.2}, missing=(0.25, 0.02)),
    Flag("prior_transplant", (0.005, 0.008, 0.01), {"sensitised": 0.6}),
    Flag("recent_infection", (0.09, 0.11, 0.09), {"sick": 0.6}, missing=(0.1, 0.01)),
    Flag("transfusions", (0.2, 0.22, 0.18), {"sick": 0.4, "sensitised": 0.4}, missing=(0.3, 0.05)),
    Flag("cmv_positive", (0.56, 0.58, 0.6), {"age": 0.2}, missing=(0.25, 0.02)),
    Flag("hepatitis_b_core", (0.05, 0.05, 0.04), {}, missing=(0.5, 0.03)),
    Flag("hepatitis_c", (0.02, 0.02, 0.02), {}, missing=(0.5, 0.02)),
    Flag("works_for_income", (0.12, 0.11, 0.14), {"sick": -0.6}, missing=(0.6, 0.08)),
    Choice("sex", ("male", "female"), (0.82, 0.18), (0.72, 0.28)),
    Choice("blood_group", ("O", "A", "B", "AB"), (0.40, 0.42, 0.13, 0.05), (0.40, 0.40, 0.15, 0.05)),
    Choice(
        "diagnosis",
        ("dilated", "ischemic", "restrictive", "congenital", "valvular", "retransplant", "other"),
        (0.43, 0.46, 0.01, 0.01, 0.04, 0.03, 0.02),
        (0.55, 0.28, 0.05, 0.04, 0.015, 0.03, 0.035),
    ),
    Choice(
        "functional_status",
        ("no limits", "some help", "much help"),
        (0.22, 0.45, 0.33),
        (0.14, 0.34, 0.52),
        {"sick": 0.6},
        missing=(0.3, 0.02),
    ),
    Choice("care_setting", ("home", "ward", "intensive care"), (0.48, 0.17, 0.35), (0.30, 0.20, 0.50), {"sick": 0.8}),
)

DONOR: tuple[Numeric | Flag | Choice, ...] = (
    Numeric("donor_age", 31.0, 11.5, 12, 70, {"donor_age": 1.0}, per_decade=1.1, skew=0.3),
    Numeric("donor_height_cm", 174.0, 9.5, 140, 205, {"donor_size": 0.75}),
    Numeric("donor_weight_kg", 80.0, 16.0, 38, 160, {"donor_size": 0.6, "donor_weight": 0.7}, per_decade=2.0),
    Numeric("donor_creatinine", 0.08, 0.48, 0.2, 12, {"donor_kidney": 0.9}, log=True, missing=(0.2, 0.0), digits=2),
    Numeric("donor_bilirubin", -0.35, 0.55, 0.1, 15, {"donor_liver": 0.8}, log=True, missing=(0.35, 0.01), digits=2),
    Numeric("donor_urea_nitrogen", 2.65, 0.50, 2, 120, {"donor_kidney": 0.6}, log=True, missing=(0.2, 0.01)),
    Numeric("donor_ast", 3.9, 0.85, 5, 3000, {"donor_liver": 0.7}, log=True, missing=(0.35, 0.01)),
    Numeric("donor_alt", 3.6, 0.85, 5, 3000, {"donor_liver": 0.7}, log=True, missing=(0.35, 0.01)),
    Numeric("donor_sodium", 147.5, 8.0, 118, 185, {}, missing=(0.4, 0.01)),
    Numeric("donor_ejection_fraction", 61.5, 7.0, 30, 82, {"donor_age": -0.1}, missing=(0.75, 0.01)),
    Numeric("donor_hematocrit", 30.0, 4.8, 15, 52, {}, missing=(0.5, 0.02), digits=1),
    Numeric("donor_ph", 7.41, 0.07, 6.9, 7.7, {}, missing=(0.5, 0.02), digits=2),
    Numeric("donor_hospital_days", 1.1, 0.55, 0, 60, {}, log=True, per_decade=0.12, missing=(0.4, 0.0)),
    Flag("donor_diabetes", (0.015, 0.03, 0.045), {"donor_age": 0.5, "donor_weight": 0.3}, missing=(0.3, 0.01)),
    Flag("donor_hypertension", (0.08, 0.15, 0.17), {"donor_age": 0.9, "donor_weight": 0.3}, missing=(0.3, 0.01)),
    Flag("donor_smoking", (0.30, 0.20, 0.10), {"donor_age": 0.5}, missing=(0.45, 0.02)),
    Flag("donor_cocaine", (0.07, 0.13, 0.22), {}, missing=(0.5, 0.02)),
    Flag("donor_heavy_alcohol", (0.13, 0.15, 0.17), {"donor_age": 0.4}, missing=(0.45, 0.02)),
    Flag("donor_cmv_positive", (0.55, 0.59, 0.62), {"donor_age": 0.2}, missing=(0.1, 0.0)),
    # taken since the virus can be cured
    Flag("donor_hepatitis_c", (0.003, 0.003, 0.08, 0.10), {}, missing=(0.3, 0.0), years=(1988, 2016, 2019, 2024)),
    Flag("donor_infection", (0.2, 0.35, 0.65), {}, missing=(0.4, 0.01)),
    Flag("donor_inotropes", (0.6, 0.55, 0.45), {}, missing=(0.3, 0.01)),
    Flag("donor_coronary_disease", (0.02, 0.04, 0.06), {"donor_age": 0.9}, missing=(0.8, 0.2)),
    Flag("donor_circulatory_death", (0.0, 0.0, 0.03, 0.16), {}, years=(1988, 2019.9, 2020.5, 2024)),
    Choice("donor_sex", ("male", "female"), (0.72, 0.28), (0.70, 0.30)),
    Choice("donor_blood_group", ("O", "A", "B", "AB"), (0.50, 0.37, 0.10, 0.03), (0.49, 0.37, 0.11, 0.03)),
    Choice(
        "donor_cause_of_death",
        ("head trauma", "stroke", "anoxia", "other"),
        (0.68, 0.26, 0.04, 0.02),
        (0.36, 0.15, 0.46, 0.03),
    ),
)

SUBGROUPS: tuple[Choice, ...] = (
    Choice(
        "race_ethnicity",
        ("white", "black", "hispanic", "asian", "other"),
        (0.85, 0.09, 0.04, 0.01, 0.01),
        (0.59, 0.25, 0.11, 0.04, 0.01),
    ),
    Choice(
        "insurance", ("private", "medicare", "medicaid", "other"), (0.68, 0.18, 0.09, 0.05), (0.45, 0.35, 0.16, 0.04)
    ),
)

# How much likelier a category is for some people than `Choice` says: blood groups (O, A, B, AB) by race and ethnicity,
# insurance (private, Medicare, Medicaid, other) below and from 65 on.
GROUPS_BY_RACE = {"black": (1.10, 0.65, 1.80, 1.0), "hispanic": (1.25, 0.80, 0.85, 0.6), "asian": (0.90, 0.7, 2.2, 1.7)}
INSURANCE_BY_AGE = {"younger": (1.15, 0.72, 1.25, 1.0), "from 65": (0.50, 2.40, 0.30, 0.8)}

# Urgency, most urgent first, and the typical days of waiting in it: 1 and 2 before 1999, 1A, 1B and 2 until the new
# rules, then six statuses.
STATUSES = {
    "before 1999: 1": 35, "before 1999: 2": 180, "1A": 45, "1B": 90, "2": 170,
    "status 1": 7, "status 2": 13, "status 3": 26, "status 4": 67, "status 5": 95, "status 6": 110,
}  # fmt: skip

# Transplants a year in the United States, adults, roughly; the registry's first year counts a quarter of a year.
TRANSPLANTS_A_YEAR = (
    (1987, 350), (1988, 1450), (1989, 1520), (1990, 1850), (1991, 1880), (1992, 1900), (1993, 2000), (1994, 2050),
    (1995, 2070), (1996, 2050), (1997, 2000), (1998, 2040), (1999, 1900), (2000, 1920), (2001, 1930), (2002, 1870),
    (2003, 1770), (2004, 1720), (2005, 1810), (2006, 1870), (2007, 1880), (2008, 1800), (2009, 1850), (2010, 1970),
    (2011, 1950), (2012, 2010), (2013, 2120), (2014, 2230), (2015, 2350), (2016, 2740), (2017, 2810), (2018, 2950),
    (2019, 3030), (2020, 3190), (2021, 3350), (2022, 3668), (2023, 4092),
)  # fmt: skip
